package shell

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"bridged/internal/client"
)

// Shell does what a command asks of a running bridge.
type Shell struct {
	API   *client.Client
	Out   io.Writer        // takes what was asked for
	Notes io.Writer        // takes what else there is to say
	Width int              // columns of the terminal that Out is; 0 where it is none
	Color bool             // names and times may be set off
	JSON  bool             // one object a line, for programs
	Now   func() time.Time // in the zone of the person
}

// printJSON prints a value on a line of its own. What would act on a terminal is
// escaped, as JSON permits.
func (s *Shell) printJSON(value any) error {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	return s.print("%s\n", EscapeUnsafe(strings.TrimSuffix(b.String(), "\n")))
}

// EscapeUnsafe escapes what is unsafe in the strings of a JSON text. All of it
// lies in the basic plane.
func EscapeUnsafe(text string) string {
	if !strings.ContainsFunc(text, IsUnsafe) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if IsUnsafe(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// note says something beside the output.
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
