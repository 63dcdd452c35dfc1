package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable returns s as it can be shown on a terminal, on one line: what would
// move the cursor, start a line or turn the writing round is written as an
// escape. Strangers choose names, message ids and texts.
func printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, isUnsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isUnsafe(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r) // U+FFFD for what is not UTF-8
		}
	}
	return b.String()
}

// printableLines returns s as printable does, but keeps its line breaks.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// isUnsafe reports whether r does anything but show itself.
func isUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

// printf prints to a terminal; every argument is made printable.
func printf(w io.Writer, format string, args ...any) error {
	for i, arg := range args {
		args[i] = printable(fmt.Sprint(arg))
	}
	_, err := fmt.Fprintf(w, format, args...)
	return err
}
