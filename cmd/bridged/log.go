package main

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
)

// newLog is the program's log on w: JSON, or lines for people when w is a
// terminal.
func newLog(w io.Writer, level zerolog.Level, format string) zerolog.Logger {
	if format == "console" || format == "" && isTerminal(w) {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
