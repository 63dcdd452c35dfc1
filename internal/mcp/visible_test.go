package mcp

import (
	"strings"
	"testing"
	"unicode"

	"bridged/internal/fuzzbudget"
)

func TestVisible_NothingActsOrHides(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ntext\twith 🧑\u200d🔧 and فارسی\u200cزبان": "plain\ntext\twith 🧑\u200d🔧 and فارسی\u200cزبان",
		"❤\ufe0f 🏳\ufe0f\u200d🌈 1\ufe0f\u20e3 👍🏽":        "❤\ufe0f 🏳\ufe0f\u200d🌈 1\ufe0f\u20e3 👍🏽",
		"left\u202eright":                        "left[U+202E]right",
		"\u2066isolated\u2069":                   "[U+2066]isolated[U+2069]",
		"\x1b[2Jcleared\r":                       "[U+001B][2Jcleared[U+000D]",
		"tag \U000e0041\U000e007f":               "tag [U+E0041][U+E007F]",
		"\ufeffmark and \u200bzero width":        "[U+FEFF]mark and [U+200B]zero width",
		"\u0085next line\u2028\u2029":            "[U+0085]next line[U+2028][U+2029]",
		"a\ufe0f\ufe01\U000e0100\U000e01ef":      "a[U+FE0F][U+FE01][U+E0100][U+E01EF]",
		"❤\ufe0f\ufe0f\ufe0e":                    "❤\ufe0f[U+FE0F][U+FE0E]",
		"\u3164\u115f\u1160\uffa0\u034f\u2800":   "[U+3164][U+115F][U+1160][U+FFA0][U+034F][U+2800]",
		"a\u200db \u200c 語\u200d\u200d語":         "a[U+200D]b [U+200C] 語[U+200D][U+200D]語",
		"\u00adsoft \u180bmongolian\u17b4 khmer": "[U+00AD]soft [U+180B]mongolian[U+17B4] khmer",
		"broken \xff\xfe":                        "broken [U+FFFD][U+FFFD]",
	} {
		if got := visible(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestCapped_CountsWhatIsSent(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 5, "longe [1 more characters]"},
		{strings.Repeat("\u202e", 100), 30, "[U+202E][U+202E][U+202E] [97 more characters]"},
		{`""""""`, 6, `""" [3 more characters]`},
		{"äöü", 2, "äö [1 more characters]"},
		{"", 0, ""},
	} {
		if got := capped(c.text, c.most); got != c.want {
			t.Errorf("%q in %d is %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\u202eb\x00")
	f.Add("❤\ufe0f\u3164\U000e0101")
	f.Fuzz(func(t *testing.T, s string) {
		fuzzbudget.Usual.Check(t, len(s), func() {
			got := visible(s)
			acts := func(r rune) bool {
				return r < ' ' && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && r != '\u200c' ||
					r >= 0x80 && r < 0xa0 || r >= 0xe0000 && r <= 0xe0fff || r == '\u2800'
			}
			if strings.ContainsFunc(got, acts) {
				t.Errorf("%q", got)
			}
			if short := capped(s, 50); jsonLength(short) > 50+len(" [12345678901 more characters]") {
				t.Errorf("%q takes %d characters", short, jsonLength(short))
			}
		})
	})
}
