package shell

import (
	"encoding/json"
	"fmt"
	"io"
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
	line := strings.TrimSuffix(b.String(), "\n")
	if strings.ContainsFunc(line, IsUnsafe) {
		line = escapeUnsafe(line)
	}
	return s.print("%s\n", line)
}

// escapeUnsafe escapes what is unsafe in the strings of a JSON text. All of it
// lies in the basic plane.
func escapeUnsafe(text string) string {
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
	for i, arg := range args {
		args[i] = Printable(fmt.Sprint(arg))
	}
	_, err := fmt.Fprintf(s.Notes, format+"\n", args...)
	return err
}
