// Package shell implements the commands that use a running bridge, for people and for cron: they list chats
// and messages, search, send, and follow events.
//
// It is a client of the API with the caller's token. It prints tables or lines with local times that fit the
// terminal, or the API's JSON, one object per line. Names and texts come from other people, so their control
// characters are escaped ([Printable]).
package shell

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Shell carries out commands on a running bridge.
type Shell struct {
	API   *client.Client
	Out   io.Writer        // for results
	Notes io.Writer        // for remarks
	Width int              // columns of the terminal; 0 if Out is not a terminal
	Color bool             // whether names and times may be highlighted
	JSON  bool             // prints one object per line, for programs
	Now   func() time.Time // in the caller's time zone
}

func (s *Shell) printJSON(value any) error {
	return PrintJSON(s.Out, value)
}

func (s *Shell) note(format string, args ...any) error {
	return Printf(s.Notes, format+"\n", args...)
}

// all returns the items of a slice for [list].
func all[T any](items []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// list prints at most limit items as JSON or in a table. 0 means no limit. It notes none if there are no items.
func list[T any](s *Shell, items iter.Seq2[T, error], limit int, none string, columns []column, row func(T) []string) error {
	var rows [][]string
	printed := 0
	for item, err := range items {
		if err == nil && s.JSON {
			err = s.printJSON(item)
		}
		if err != nil {
			return err
		}
		if !s.JSON {
			rows = append(rows, row(item))
		}
		if printed++; printed == limit {
			break
		}
	}
	switch {
	case s.JSON:
		return nil
	case len(rows) == 0:
		return s.note("%s", none)
	}
	return s.table(columns, rows)
}

// Error is a failure with a hint on what to do about it.
type Error struct {
	Err  error
	Hint string // lines
}

// Error returns the failure without the hint.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// UsageError is the error of a wrong command line.
type UsageError struct{ error }

// Usage returns a [UsageError].
func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

func hinted(err error, format string, args ...any) error {
	return &Error{err, fmt.Sprintf(format, args...)}
}

// hints complete the API's sentences, which are for programs.
var hints = map[bridge.Code]string{
	bridge.CodeUnauthorized:     "set BRIDGE_TOKEN to the bridge's token, or to one of: bridged token create",
	bridge.CodeForbidden:        "BRIDGE_TOKEN may do everything; create a token for this with: bridged token create NAME --scopes read,send",
	bridge.CodeSendDisabled:     "start the bridge with ENABLE_SEND=true",
	bridge.CodeNotConnected:     "find the fault with: bridged doctor",
	bridge.CodeNotFound:         "look for it with: bridged chats, or bridged messages CHAT --ids",
	bridge.CodeNotOnNetwork:     "a number needs its country code, as in +1 555 123-4567",
	bridge.CodeInternal:         "the bridge's log says why",
	bridge.CodeMediaTooLarge:    "MEDIA_MAX_BYTES is the bridge's limit",
	bridge.CodeUnsupportedMedia: "send, with --document, sends a file as it is",
}

// Explain adds a hint to an error of the API that has none.
func Explain(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if _, hinted := errors.AsType[*Error](err); hinted || !ok {
		return err
	}
	hint := hints[refused.Code]
	if refused.RetryAfter > 0 {
		hint = strings.TrimPrefix(hint+"\ntry again in "+refused.RetryAfter.Round(time.Second).String(), "\n")
	}
	if hint == "" {
		return err
	}
	return &Error{err, hint}
}
