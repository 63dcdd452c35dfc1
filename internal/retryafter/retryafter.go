// Package retryafter reads for how long a server asks to be left alone.
package retryafter

import (
	"net/http"
	"strconv"
	"time"
)

// Parse returns the pause in a Retry-After header, in seconds or until a date (RFC 9110, section
// 10.2.3): at most longest, or 0 if the header is invalid.
func Parse(value string, now time.Time, longest time.Duration) time.Duration {
	seconds, err := strconv.Atoi(value)
	if err == nil {
		return min(time.Duration(max(seconds, 0)), longest/time.Second) * time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), longest)
}
