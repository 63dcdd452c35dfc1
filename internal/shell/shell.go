// Package shell is the bridge at a command line, for people and for cron: lists of
// chats and messages, searching, sending, and following the events.
//
// It is a client of the API with the caller's token. It prints tables or lines for
// people, with local times, cut to the terminal; or JSON, one object a line, as the
// API has them.
//
// Other people choose names and texts. None of them acts on the terminal: characters
// that would move the cursor, start a line or reverse the text are printed as escapes
// ([Printable]).
package shell

import (
	"io"
	"iter"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Shell carries out commands on a running bridge.
type Shell struct {
	API   *client.Client
	Out   io.Writer        // for results
	Notes io.Writer        // for remarks
	Width int              // columns of the terminal that Out is; 0 where it is none
	Color bool             // whether names and times may be highlighted
	JSON  bool             // one object a line, for programs
	Now   func() time.Time // in the zone of the person
}

// printJSON prints a value on a line of its own.
func (s *Shell) printJSON(value any) error {
	line, err := bridge.EncodeJSON(value)
	if err != nil {
		return err
	}
	return s.print("%s\n", EscapeUnsafe(string(line)))
}

func (s *Shell) note(format string, args ...any) error {
	return Printf(s.Notes, format+"\n", args...)
}

// list prints items as JSON, one a line, or returns their rows for a table: limit of
// them at most, 0 for all.
func list[T any](s *Shell, items iter.Seq2[T, error], limit int, row func(T) []string) (rows [][]string, err error) {
	printed := 0
	for item, err := range items {
		if err == nil && s.JSON {
			err = s.printJSON(item)
		}
		if err != nil {
			return nil, err
		}
		if !s.JSON {
			rows = append(rows, row(item))
		}
		if printed++; printed == limit {
			break
		}
	}
	return rows, nil
}
