package shell

import (
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// when formats a time in the local zone. On a terminal it omits the date of today and the year.
func (s *Shell) when(at *bridge.Time) string {
	if at == nil {
		return ""
	}
	now := s.Now()
	t := at.In(now.Location())
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch {
	case s.Width == 0:
		return t.Format("2006-01-02 15:04:05")
	case t.After(now):
		return t.Format("2006-01-02 15:04")
	case !t.Before(midnight):
		return t.Format("15:04")
	case !t.Before(midnight.AddDate(0, 0, -6)):
		return t.Format("Mon 15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2006-01-02")
}

// momentLayouts are the layouts of local times.
var momentLayouts = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"}

// moment parses a duration before now, a local time, or a time with its zone. It returns nil for "".
func (s *Shell) moment(flag, text string) (*bridge.Time, error) {
	if text == "" {
		return nil, nil
	}
	now := s.Now()
	if ago, ok := parseAgo(text); ok {
		return new(bridge.At(now.Add(-ago))), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return new(bridge.At(t)), nil
	}
	if _, err := time.Parse("15:04", text); err == nil {
		text = now.Format("2006-01-02 ") + text
	}
	for _, layout := range momentLayouts {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return new(bridge.At(t)), nil
		}
	}
	return nil, Usage("%s must be how long ago (90m, 12h, 3d, 2w), a local time (2026-11-21, 2026-11-21 08:15, 08:15), or one with its zone (2026-11-21T08:15:30Z)", flag)
}

// future parses a duration from now, a local time, or a time with its zone. A time of day that is over is that
// of tomorrow. It returns nil for "".
func (s *Shell) future(flag, text string) (*bridge.Time, error) {
	if in, ok := parseAgo(text); ok {
		return new(bridge.At(s.Now().Add(in))), nil
	}
	at, err := s.moment(flag, text)
	if err != nil {
		return nil, Usage("%s must be how long from now (90m, 12h, 3d, 2w), a local time (2026-11-21 08:15, 08:15), or one with its zone (2026-11-21T08:15:30Z)", flag)
	}
	if _, err := time.Parse("15:04", text); err == nil && at.Before(s.Now()) {
		at = new(bridge.At(at.AddDate(0, 0, 1)))
	}
	return at, nil
}

// parseAgo parses a duration, which may be in days or weeks.
func parseAgo(text string) (time.Duration, bool) {
	const day = 24 * time.Hour
	for unit, length := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if count, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.Atoi(count)
			return time.Duration(n) * length, err == nil && n >= 0 && n < 36500
		}
	}
	ago, err := time.ParseDuration(text)
	return ago, err == nil && ago >= 0
}
