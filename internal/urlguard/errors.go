package urlguard

import (
	"errors"
	"fmt"
)

// Error says why a URL was not fetched, in words for whoever gave the URL.
// It names no address that a look-up brought to light, and no part of the URL.
type Error struct {
	Reason string
	cause  error
}

// Error is the sentence for the caller.
func (e *Error) Error() string { return "fetch failed: " + e.Reason }

// Unwrap returns what lay behind it, or nil. It may name addresses: it is for the
// operator's log, never for the caller.
func (e *Error) Unwrap() error { return e.cause }

// refuse is a decision of the guard's own: nothing failed, so there is no cause.
func refuse(format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...)}
}

// broke is a failure of the network or of the other side.
func broke(cause error, format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...), cause: cause}
}

func errNotPublic() error { return refuse("the URL does not lead to a public address") }

func errTooLarge(limit int64) error { return refuse("larger than %s", size(limit)) }

// isRefusal tells the guard's own decisions from what happened on the way.
func isRefusal(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.cause == nil
}

func size(n int64) string {
	const mib = 1 << 20
	if n >= mib && n%mib == 0 {
		return fmt.Sprintf("%d MiB", n/mib)
	}
	return fmt.Sprintf("%d bytes", n)
}
