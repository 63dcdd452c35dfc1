package shell

import (
	"strings"
	"testing"

	"bridged/internal/fuzzbudget"
)

// Nothing that a stranger wrote acts on a terminal.
func FuzzPrintable(f *testing.F) {
	for _, text := range []string{"\x1b[2J", "a\r\nb\tc", "\u202eab", "\xff", "\u200d", strings.Repeat("\x07", 100)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzbudget.Usual.Check(t, len(text), func() {
			if shown := Printable(text); strings.ContainsFunc(shown, IsUnsafe) {
				t.Errorf("%q is printed as %q", text, shown)
			}
			if strings.ContainsAny(oneLine(text), "\n\r") {
				t.Errorf("%q is more than a line", text)
			}
			PrintableLines(text)
		})
	})
}
