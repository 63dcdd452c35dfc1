package shell

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"bridged/internal/bridge"
)

// joiner joins two emoji into one.
const joiner = '\u200d'

// columnsOf returns the width of a text in columns. Wide characters have two, accents none.
func columnsOf(s string) int {
	columns, isJoined := 0, false
	for _, r := range s {
		columns += runeColumns(r, isJoined)
		isJoined = r == joiner
	}
	return columns
}

func runeColumns(r rune, isJoined bool) int {
	switch {
	case isJoined,
		unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf),
		r >= 0x1160 && r <= 0x11ff,   // vowels and finals of Korean syllables
		r >= 0x1f3fb && r <= 0x1f3ff: // skin tones
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut cuts a text to a width in columns and adds an ellipsis. It also limits the bytes, as accents have no
// width.
func cut(s string, most int) string {
	if columnsOf(s) <= most && len(s) <= 16*most {
		return s
	}
	return s[:fitting(s, most-1)] + "…"
}

// fitting returns the number of bytes of a text that fit into a number of columns.
func fitting(s string, most int) int {
	columns, isJoined := 0, false
	for i, r := range s {
		columns += runeColumns(r, isJoined)
		isJoined = r == joiner
		if columns > most || i > 16*most {
			return i
		}
	}
	return len(s)
}

// Wrap breaks a printable text into lines of at most a number of columns, at spaces if possible.
func Wrap(s string, most int) (lines []string) {
	for line := range strings.SplitSeq(s, "\n") {
		for columnsOf(line) > most {
			end := fitting(line, most)
			if end == 0 { // a wide character in one column
				break
			}
			if space := strings.LastIndexByte(line[:end], ' '); space > end/2 {
				end = space
			}
			lines = append(lines, line[:end])
			line = strings.TrimPrefix(line[end:], " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// leftToRight is the LEFT-TO-RIGHT MARK.
const leftToRight = "\u200e"

// anchored surrounds a text with marks if it runs from right to left, so that the rest of the line does not move.
func anchored(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
	}) {
		return leftToRight + s + leftToRight
	}
	return s
}

// Printable returns s with escapes for the characters that would move the cursor, start a line or reverse
// text on a terminal. Other people choose names, message ids and texts.
func Printable(s string) string {
	return escaped(s, func(r rune) string { return strings.Trim(strconv.QuoteRuneToASCII(r), "'") })
}

// EscapeUnsafe escapes the unsafe characters in a JSON text. All of them are in the basic plane.
func EscapeUnsafe(text string) string {
	return escaped(text, func(r rune) string { return fmt.Sprintf(`\u%04x`, r) })
}

func escaped(s string, escape func(rune) string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, IsUnsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if IsUnsafe(r) {
			b.WriteString(escape(r))
		} else {
			b.WriteRune(r) // U+FFFD for invalid UTF-8
		}
	}
	return b.String()
}

// PrintableLines is Printable for a text of several lines.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}

// link matches a link of Markdown.
var link = regexp.MustCompile(`\[([^]]*)\]\(([^#)]*)([^)]*)\)`)

// PlainMarkdown returns a sentence of a page under docs/ for terminals: without code marks, and with the
// targets of its links.
func PlainMarkdown(text, page string) string {
	text = link.ReplaceAllStringFunc(text, func(found string) string {
		parts := link.FindStringSubmatch(found)
		return parts[1] + ": docs/" + cmp.Or(parts[2], page) + parts[3]
	})
	return strings.ReplaceAll(text, "`", "")
}

// PrintJSON prints a value as JSON on one line. Characters that act on a terminal are escaped.
func PrintJSON(w io.Writer, value any) error {
	line, err := bridge.EncodeJSON(value)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, EscapeUnsafe(string(line)))
	return err
}

// IsUnsafe reports whether r acts on a terminal instead of being shown.
func IsUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

// oneLine returns a printable text on one line, with single spaces.
func oneLine(s string) string { return Printable(strings.Join(strings.Fields(s), " ")) }

// Printf prints to a terminal; every argument that is not a number is made printable.
func Printf(w io.Writer, format string, args ...any) error {
	for i, arg := range args {
		switch arg.(type) {
		case int, int64:
		default:
			args[i] = Printable(fmt.Sprint(arg))
		}
	}
	_, err := fmt.Fprintf(w, format, args...)
	return err
}
