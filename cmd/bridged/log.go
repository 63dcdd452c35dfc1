package main

import (
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"bridged/internal/shell"
)

// logTime is RFC 3339 with milliseconds.
const logTime = "2006-01-02T15:04:05.000Z07:00"

// newLog returns the program's log on w. Without a format it writes text to a terminal and JSON elsewhere.
// Only a terminal gets colours, unless NO_COLOR is set, which zerolog reads.
func newLog(w io.Writer, level zerolog.Level, format string) zerolog.Logger {
	if format == "console" || format == "" && isTerminal(w) {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: "15:04:05.000", NoColor: !isTerminal(w), FormatPrepare: makePrintable}
	} else {
		w = asciiControls{w}
	}
	zerolog.TimeFieldFormat = logTime
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}

// makePrintable makes every name and value of a log line printable, because zerolog does not quote names
// and messages.
func makePrintable(event map[string]any) error {
	for _, name := range slices.Collect(maps.Keys(event)) {
		value := printableValue(event[name])
		delete(event, name)
		event[shell.Printable(name)] = value
	}
	return nil
}

func printableValue(value any) any {
	switch value := value.(type) {
	case string:
		return shell.Printable(value)
	case []any:
		for i := range value {
			value[i] = printableValue(value[i])
		}
	case map[string]any:
		_ = makePrintable(value) // never fails
	}
	return value
}

// asciiControls escapes characters in lines of JSON that would act on a terminal: control characters
// outside ASCII, and the ones that change the direction of text.
type asciiControls struct{ out io.Writer }

// Write writes a line of the log.
func (a asciiControls) Write(line []byte) (int, error) {
	escaped := shell.EscapeUnsafe(strings.TrimSuffix(string(line), "\n"))
	if _, err := io.WriteString(a.out, escaped+"\n"); err != nil {
		return 0, err
	}
	return len(line), nil
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
