package bridge

import (
	"errors"
	"time"
)

// timeLayout is RFC 3339 in UTC with exactly three decimals.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a moment in UTC with milliseconds, "2026-11-21T08:15:30.000Z".
type Time struct{ time.Time }

// The first and the last moment that RFC 3339 can write.
var (
	first = time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)
	last  = time.Date(9999, time.December, 31, 23, 59, 59, 999_000_000, time.UTC)
)

// At returns t as the API shows it, within the years 1 to 9999.
func At(t time.Time) Time {
	switch t = t.UTC().Truncate(time.Millisecond); {
	case t.Before(first):
		t = first
	case t.After(last):
		t = last
	}
	return Time{t}
}

// Millis returns the moment ms milliseconds after the Unix epoch.
func Millis(ms int64) Time { return At(time.UnixMilli(ms)) }

// String returns the API's form.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// MarshalJSON writes the API's form.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.String() + `"`), nil
}

// UnmarshalJSON reads any RFC 3339 moment.
func (t *Time) UnmarshalJSON(data []byte) error {
	var plain time.Time
	if err := plain.UnmarshalJSON(data); err != nil {
		return err
	}
	*t = At(plain)
	return nil
}

var errNoMoment = errors.New("must be a moment like 2026-11-21T08:15:30Z or a date like 2026-11-21")

// parseMoment reads RFC 3339, or a date alone, which is its first moment in UTC.
func parseMoment(text string) (t time.Time, isDate bool, err error) {
	if t, err = time.Parse(time.DateOnly, text); err == nil {
		return t, true, nil
	}
	if t, err = time.Parse(time.RFC3339, text); err != nil {
		return t, false, errNoMoment
	}
	return t, false, nil
}

// ParseSince reads the first moment of a range, as RFC 3339 or a date: the next one that a
// message can have.
func ParseSince(text string) (Time, error) {
	t, _, err := parseMoment(text)
	if at := At(t); !at.Equal(t) {
		t = at.Add(time.Millisecond)
	}
	return At(t), err
}

// ParseUntil reads the last moment of a range, as RFC 3339 or a date, which means its end.
func ParseUntil(text string) (Time, error) {
	t, isDate, err := parseMoment(text)
	if isDate {
		t = t.Add(24*time.Hour - time.Millisecond)
	}
	return At(t), err
}
