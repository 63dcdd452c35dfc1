package bridge

import "time"

// timeLayout is RFC 3339 in UTC with exactly three decimals.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a moment as the API shows it: UTC with milliseconds,
// "2026-11-21T08:15:30.000Z".
type Time struct{ time.Time }

// At is t as the API shows it.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// Millis is the moment ms milliseconds after the Unix epoch.
func Millis(ms int64) Time { return Time{time.UnixMilli(ms).UTC()} }

// String is the API's form.
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
