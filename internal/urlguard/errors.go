package urlguard

import (
	"errors"
	"fmt"
)

// Error explains to the person who gave a URL why it was not fetched. It names neither
// addresses from a look-up nor a part of the URL.
type Error struct {
	Reason string
	cause  error
}

// Error returns the sentence for the caller.
func (e *Error) Error() string { return "fetch failed: " + e.Reason }

// Unwrap returns the cause, or nil. It may name addresses: it is for the operator's log.
func (e *Error) Unwrap() error { return e.cause }

// refuse returns the error for a decision of the guard.
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
	e, ok := errors.AsType[*Error](err)
	return ok && e.cause == nil
}

// is reports whether an error of a type is in the tree of another.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func size(n int64) string {
	const mib = 1 << 20
	if n >= mib && n%mib == 0 {
		return fmt.Sprintf("%d MiB", n/mib)
	}
	return fmt.Sprintf("%d bytes", n)
}
