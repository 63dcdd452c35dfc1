package urlguard

import (
	"errors"
	"fmt"
)

// Error explains to the person who gave a URL why it was not fetched.
// It names no address that a look-up brought to light, and no part of the URL.
type Error struct {
	Reason string
	cause  error
}

// Error returns the sentence for the caller.
func (e *Error) Error() string { return "fetch failed: " + e.Reason }

// Unwrap returns the cause, or nil. It may name addresses: it is for the
// operator's log, never for the caller.
func (e *Error) Unwrap() error { return e.cause }

// refuse returns a decision of the guard: nothing failed, so there is no cause.
func refuse(format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...)}
}

// broke returns the error for a failure of the network or of the other side.
func broke(cause error, format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...), cause: cause}
}

func (g *Guard) refusal() error { return refuse("the URL does not lead to a public address") }

func errTooLarge(limit int64) error { return refuse("larger than %s", size(limit)) }

// isRefusal reports whether an error is a decision of the guard.
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
