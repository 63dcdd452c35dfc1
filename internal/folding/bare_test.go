package folding_test

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"bridged/internal/folding"
	"bridged/internal/fuzzbudget"
)

// bareByDefinition decomposes each letter of a folded text and leaves the marks of the five
// scripts out. A vowel sign that only decomposes into marks is a letter of its own.
func bareByDefinition(folded string) string {
	var b strings.Builder
	loses := false
	for _, r := range folded {
		for i, part := range []rune(norm.NFD.String(string(r))) {
			isMark := unicode.Is(unicode.Mn, part) && (i > 0 || unicode.Is(unicode.Mn, r))
			if !isMark && i == 0 {
				loses = unicode.In(part, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
			}
			if !isMark || !loses {
				b.WriteRune(part)
			}
		}
	}
	return norm.NFC.String(b.String())
}

func TestBare_OfEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r > 0x11000 && r%17 != 0 && !unicode.Is(unicode.Mn, r) { // there are no letters of the five scripts
			continue
		}
		for _, s := range []string{string(r), string(r) + "\u0301", "a" + string(r) + "\u05b8"} {
			folded := folding.Fold(s)
			if got, want := folding.Bare(folded), bareByDefinition(folded); got != want {
				t.Fatalf("%q is %q without accents, want %q", folded, got, want)
			}
		}
	}
}

func TestAppendBare_KeepsWhatSeparatesTexts(t *testing.T) {
	got := folding.AppendBare([]byte("before "), []byte("sof\u00eda\xff\u0301\xffa long one that is plain, \u0451\xff"))
	if want := "before sofia\xff\u0301\xffa long one that is plain, \u0435\xff"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzBare(f *testing.F) {
	for _, s := range []string{"Sofía", "e\u0301\u0345\u0323", "\u1fc1\u0301", "Ѷ\u0311", "אָ\u05bc", "أ\u0650", "が\u0301", "\u1100\u1161\u0301", "<\u0338", "ᾷ", "ﬁ\u0301", "Ａ\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fuzzbudget.Usual.Check(t, len(s), func() {
			folded := folding.Fold(s)
			bare := folding.Bare(folded)
			if want := bareByDefinition(folded); bare != want {
				t.Errorf("%q is %q without accents, want %q", folded, bare, want)
			}
			if again := folding.Bare(bare); again != bare {
				t.Errorf("%q is %q without accents", bare, again)
			}
		})
	})
}

func BenchmarkAppendBare(b *testing.B) {
	for name, text := range map[string]string{"English": "the rain in spain ", "Spanish": "mañana vendrá Sofía ", "Vietnamese": "nguyễn thị ánh ", "Chinese": "明天下午三点见面", "Arabic": "السلام عليكم أحمد "} {
		b.Run(name, func(b *testing.B) {
			texts := []byte(strings.Repeat(text, 4096/len(text)))
			b.SetBytes(int64(len(texts)))
			var bare []byte
			for b.Loop() {
				bare = folding.AppendBare(bare[:0], texts)
			}
		})
	}
}
