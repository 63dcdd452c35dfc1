package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"bridged/internal/bridge"
)

// Size is a number of bytes. It may be written with a unit.
type Size int64

// Days is a number of days. It may be written as a duration.
type Days int

// TimeOfDay is the time since midnight, in minutes.
type TimeOfDay int

// String returns the time as hours and minutes.
func (t TimeOfDay) String() string { return fmt.Sprintf("%02d:%02d", t/60, t%60) }

// Duration returns the time since midnight.
func (t TimeOfDay) Duration() time.Duration { return time.Duration(t) * time.Minute }

func parseTimeOfDay(s string) (TimeOfDay, error) {
	at, err := time.Parse("15:04", strings.TrimSpace(s))
	if err != nil {
		return 0, errors.New("a time of day from 00:00 to 23:59, such as 03:30")
	}
	return TimeOfDay(60*at.Hour() + at.Minute()), nil
}

// valueParsers parse types of variables that can be written in several ways. Their errors
// continue the sentence "it must be".
func valueParsers() map[reflect.Type]env.ParserFunc {
	return map[reflect.Type]env.ParserFunc{
		reflect.TypeFor[bool]():                 func(s string) (any, error) { return parseSwitch(s) },
		reflect.TypeFor[int]():                  func(s string) (any, error) { return parseCount(s) },
		reflect.TypeFor[time.Duration]():        func(s string) (any, error) { return ParseDuration(s) },
		reflect.TypeFor[Size]():                 func(s string) (any, error) { return parseSize(s) },
		reflect.TypeFor[Days]():                 func(s string) (any, error) { return parseDays(s) },
		reflect.TypeFor[TimeOfDay]():            func(s string) (any, error) { return parseTimeOfDay(s) },
		reflect.TypeFor[bridge.HistoryImport](): func(s string) (any, error) { return parseHistory(s) },
	}
}

func parseSwitch(s string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "on", "1", "t", "y":
		return true, nil
	case "false", "no", "off", "0", "f", "n":
		return false, nil
	default:
		return false, errors.New("true or false")
	}
}

func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err == nil {
		return n, nil
	}
	return 0, errors.New("a number")
}

// A day has 24 hours, whatever the time zone does.
const day = 24 * time.Hour

// longPart matches the years, months (of 30 days), weeks and days at the start of a duration.
var longPart = regexp.MustCompile(`^(?:([0-9]{1,5})y)?(?:([0-9]{1,5})mo)?(?:([0-9]{1,5})w)?(?:([0-9]{1,5})d)?`)

// ParseDuration parses a duration of package time, which may start with years, months, weeks and
// days: 60s, 1h30m, 30d, 2w, 6mo, 1y.
func ParseDuration(s string) (time.Duration, error) {
	if d, ok := readDuration(strings.TrimSpace(s)); ok {
		return d, nil
	}
	return 0, errors.New("a duration such as 60s, 5m, 12h or 30d")
}

func readDuration(s string) (time.Duration, bool) {
	part := longPart.FindStringSubmatch(s)
	if part[0] != "" {
		days := 0
		for i, unit := range []int{365, 30, 7, 1} {
			count, _ := strconv.Atoi(part[i+1]) // digits or ""
			days += count * unit
		}
		s = strconv.Itoa(24*days) + "h" + s[len(part[0]):]
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}

func parseDays(s string) (Days, error) {
	s = strings.TrimSpace(s)
	if n, err := strconv.Atoi(s); err == nil {
		return Days(n), nil
	}
	const must = "a number of days, such as 30 or 30d"
	d, ok := readDuration(s)
	if !ok {
		return 0, errors.New(must)
	}
	if d%day != 0 {
		return 0, errors.New("a whole " + must[2:])
	}
	return Days(d / day), nil
}

// parseHistory parses how much of the phone's history is imported: a choice, or a time span such
// as 1y, 6mo or 90d.
func parseHistory(s string) (bridge.HistoryImport, error) {
	s = strings.TrimSpace(s)
	choice := bridge.HistoryImport(strings.ToLower(s))
	switch choice {
	case bridge.HistoryOff, bridge.HistoryRecent, bridge.HistoryFull:
		return choice, nil
	}
	const must = "off, recent, full, or how far back, such as 1y, 6mo or 90d"
	span, ok := readDuration(s)
	switch {
	case !ok:
		return "", errors.New(must)
	case span < day || span%day != 0 || span > bridge.MaxHistoryDays*day:
		return "", fmt.Errorf("%s: whole days, at most %d", must, bridge.MaxHistoryDays)
	}
	return bridge.HistoryOfDays(int(span / day)), nil
}

// sizeUnits maps units to bytes. MB is a million, MiB and M are 1024 × 1024, as in GNU's tools.
var sizeUnits = map[string]float64{
	"": 1, "b": 1,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
	"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

func parseSize(s string) (Size, error) {
	value := strings.ToLower(strings.TrimSpace(s))
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return Size(n), nil
	}
	digits := strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz")
	number, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	unit, known := sizeUnits[value[len(digits):]]
	if size := number * unit; err == nil && known && math.Abs(size) < math.MaxInt64 { // false for NaN
		return Size(size), nil
	}
	return 0, errors.New("a number of bytes, such as 104857600, or a size such as 100MB, 1GB or 512MiB")
}

// String returns the size in the largest unit that divides it.
func (b Size) String() string {
	for _, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := Size(sizeUnits[strings.ToLower(unit)]); b != 0 && b%size == 0 {
			return strconv.FormatInt(int64(b/size), 10) + unit
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

func durationText(d time.Duration) string {
	if d != 0 && d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
