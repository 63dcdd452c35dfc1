package shell

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s as it can be shown on a terminal, on one line: what would
// move the cursor, start a line or turn the writing round is written as an
// escape. Strangers choose names, message ids and texts.
func Printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, IsUnsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if IsUnsafe(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r) // U+FFFD for what is not UTF-8
		}
	}
	return b.String()
}

// PrintableLines returns s as Printable does, but keeps its line breaks.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}

// IsUnsafe reports whether r does anything but show itself.
func IsUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

// oneLine returns a text on one line, every stretch of space as one.
func oneLine(s string) string { return Printable(strings.Join(strings.Fields(s), " ")) }

// Printf prints to a terminal; every argument is made printable.
func Printf(w io.Writer, format string, args ...any) error {
	for i, arg := range args {
		args[i] = Printable(fmt.Sprint(arg))
	}
	_, err := fmt.Fprintf(w, format, args...)
	return err
}
