package retryafter_test

import (
	"testing"
	"time"

	"bridged/internal/fuzzbudget"
	"bridged/internal/retryafter"
)

// A server makes the bridge wait for a bounded time, whatever it asks for.
func FuzzParse(f *testing.F) {
	for _, value := range []string{"5", "-1", "99999999999999999999", "Wed, 21 Oct 2026 07:28:00 GMT", "", "1.5", "9223372036854775807"} {
		f.Add(value)
	}
	now := time.Date(2026, 10, 21, 7, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value string) {
		fuzzbudget.Usual.Check(t, len(value), func() {
			if wait := retryafter.Parse(value, now, time.Hour); wait < 0 || wait > time.Hour {
				t.Errorf("%q is %v", value, wait)
			}
		})
	})
}
