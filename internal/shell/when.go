package shell

import (
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// when returns a moment in local time: on a terminal as short as it is clear, and
// elsewhere always in full.
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

// momentLayouts are the forms of moments in local time.
var momentLayouts = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"}

// moment reads a moment as people write it: how long ago, a local time, or one
// with its zone.
func (s *Shell) moment(flag, text string) (*bridge.Time, error) {
	if text == "" {
		return nil, nil
	}
	now := s.Now()
	if ago, ok := parseAgo(text); ok {
		return moment(now.Add(-ago)), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return moment(t), nil
	}
	for _, layout := range momentLayouts {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return moment(t), nil
		}
	}
	if t, err := time.ParseInLocation("15:04", text, now.Location()); err == nil {
		return moment(time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location())), nil
	}
	return nil, usage("%s must be how long ago (90m, 12h, 3d, 2w), a local time (2026-11-21, 2026-11-21 08:15, 08:15), or one with its zone (2026-11-21T08:15:30Z)", flag)
}

func moment(t time.Time) *bridge.Time {
	at := bridge.At(t)
	return &at
}

// parseAgo reads a duration, which may be in days or weeks.
func parseAgo(text string) (time.Duration, bool) {
	const day = 24 * time.Hour
	for unit, length := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if n, err := strconv.Atoi(strings.TrimSuffix(text, unit)); err == nil && strings.HasSuffix(text, unit) && n >= 0 && n < 36500 {
			return time.Duration(n) * length, true
		}
	}
	ago, err := time.ParseDuration(text)
	return ago, err == nil && ago >= 0
}
