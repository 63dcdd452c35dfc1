package folding_test

import (
	"math/rand/v2"
	"slices"
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
				loses = part == 'ـ' || unicode.In(part, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
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
			if got, want := folding.StripAccents(folded), bareByDefinition(folded); got != want {
				t.Fatalf("%q is %q without accents, want %q", folded, got, want)
			}
		}
	}
}

func TestAppendStripped_KeepsWhatSeparatesTexts(t *testing.T) {
	texts := []byte("sof\u00eda\xff\u0301\xffa long one that is plain, \u0451\xff")
	got, _ := folding.AppendStripped([]byte("before "), texts, folding.AppendAccents(nil, texts))
	if want := "before sofia\xff\u0301\xffa long one that is plain, \u0435\xff"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAppendStripped_OfAccentsFarApart: a byte counts what stays between two of them.
func TestAppendStripped_OfAccentsFarApart(t *testing.T) {
	for between := range 3 * 0xFF {
		gap := strings.Repeat("x", between)
		texts := []byte(gap + "\u00ed" + gap + "\u1ebf" + gap + "e\u0323\u0301")
		got, ok := folding.AppendStripped(nil, texts, folding.AppendAccents(nil, texts))
		if want := gap + "i" + gap + "e" + gap + "e"; string(got) != want || !ok {
			t.Fatalf("with %d between them: %q, want %q", between, got, want)
		}
	}
}

// TestAppendStripped_ThatIsDamagedIsNoticed where accents stand at no letter: it must not bring
// the program down.
func TestAppendStripped_ThatIsDamagedIsNoticed(t *testing.T) {
	texts := []byte("the caf\u00e9 \u662f e\u0301")
	accents := folding.AppendAccents(nil, texts)
	noticed := 0
	for at := range accents {
		for value := range 0x100 {
			damaged := slices.Clone(accents)
			if damaged[at] = byte(value); damaged[at] == accents[at] {
				continue
			}
			if _, ok := folding.AppendStripped(nil, texts, damaged); !ok {
				noticed++
			}
		}
	}
	for n := range texts {
		if _, ok := folding.AppendStripped(nil, texts[:n], accents); !ok {
			noticed++
		}
	}
	if most := 2*0xFF + len(texts); noticed < most-10 {
		t.Errorf("damage was noticed %d times of %d", noticed, most)
	}
}

// TestMayHaveAccents_SaysWhereTheyMatter: a text for which they do not is found in the same
// texts with them and without.
func TestMayHaveAccents_SaysWhereTheyMatter(t *testing.T) {
	signs := []rune("ae\u00e9\u0435\u0451\u05d0\u05b8\u0301\u0308 1.\u304b\u304c\u3099\u0915\u093f\u094d\u662f\uff21\u2329")
	r := rand.New(rand.NewPCG(1, 1))
	text := func(most int) string {
		var runes []rune
		for range 1 + r.IntN(most) {
			runes = append(runes, signs[r.IntN(len(signs))])
		}
		return folding.Fold(string(runes))
	}
	for range 200_000 {
		whole, part := text(12), folding.FoldStripped(text(3))
		if folding.MayHaveAccents(part) {
			continue
		}
		if with, without := strings.Contains(whole, part), strings.Contains(folding.StripAccents(whole), part); with != without {
			t.Fatalf("%q is in %q: %t, without accents: %t", part, whole, with, without)
		}
	}
}

func FuzzBare(f *testing.F) {
	for _, s := range []string{"Sofía", "e\u0301\u0345\u0323", "\u1fc1\u0301", "Ѷ\u0311", "אָ\u05bc", "أ\u0650", "が\u0301", "\u1100\u1161\u0301", "<\u0338", "ᾷ", "ﬁ\u0301", "Ａ\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fuzzbudget.Usual.Check(t, len(s), func() {
			folded := folding.Fold(s)
			bare := folding.StripAccents(folded)
			if want := bareByDefinition(folded); bare != want {
				t.Errorf("%q is %q without accents, want %q", folded, bare, want)
			}
			if again := folding.StripAccents(bare); again != bare {
				t.Errorf("%q is %q without accents", bare, again)
			}
		})
	})
}

func BenchmarkAppendStripped(b *testing.B) {
	for name, text := range map[string]string{"English": "the rain in spain ", "Spanish": "mañana vendrá Sofía ", "Vietnamese": "nguyễn thị ánh ", "Chinese": "明天下午三点见面", "Arabic": "السلام عليكم أحمد "} {
		b.Run(name, func(b *testing.B) {
			texts := []byte(strings.Repeat(text, 4096/len(text)))
			b.SetBytes(int64(len(texts)))
			accents := folding.AppendAccents(nil, texts)
			var bare []byte
			for b.Loop() {
				bare, _ = folding.AppendStripped(bare[:0], texts, accents)
			}
		})
	}
}
