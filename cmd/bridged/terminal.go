package main

import (
	"fmt"
	"io"

	"bridged/internal/shell"
)

// printable returns s as it can be shown on a terminal, on one line.
func printable(s string) string { return shell.Printable(s) }

// printableLines returns s as printable does, but keeps its line breaks.
func printableLines(s string) string { return shell.PrintableLines(s) }

// isUnsafe reports whether r does anything but show itself.
func isUnsafe(r rune) bool { return shell.IsUnsafe(r) }

// printf prints to a terminal; every argument is made printable.
func printf(w io.Writer, format string, args ...any) error {
	for i, arg := range args {
		args[i] = printable(fmt.Sprint(arg))
	}
	_, err := fmt.Fprintf(w, format, args...)
	return err
}
