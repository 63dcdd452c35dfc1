package webhook

import (
	"testing"
	"time"

	"bridged/internal/fuzzbudget"
)

// A receiver makes the bridge wait for a bounded time, whatever it asks for.
func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"5", "-1", "99999999999999999999", "Wed, 21 Oct 2026 07:28:00 GMT", "", "1.5", "9223372036854775807"} {
		f.Add(value)
	}
	now := time.Date(2026, 10, 21, 7, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value string) {
		fuzzbudget.Usual.Check(t, len(value), func() {
			if wait := retryAfter(value, now); wait < 0 || wait > longestAsked {
				t.Errorf("%q is %v", value, wait)
			}
		})
	})
}
