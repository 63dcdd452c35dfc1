package folding_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"bridged/internal/folding"
	"bridged/internal/fuzzbudget"
)

// shown writes the marks of parts as brackets.
func shown(parts []folding.Part) string {
	var b strings.Builder
	for _, part := range parts {
		if part.Found {
			b.WriteString("[" + part.Text + "]")
		} else {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

func TestAround_MarksEverySpelling(t *testing.T) {
	for _, c := range []struct{ content, words, want string }{
		{"Treffpunkt ist die Hauptstraße 12", "STRASSE", "Treffpunkt ist die Haupt[straße] 12"},
		{"one  two\nthree", "ONE TWO", "[one two] three"},
		{"ΣΊΣΥΦΟΣ", "σίσυφος", "[ΣΊΣΥΦΟΣ]"},
		{"100 \u212a", "k", "100 [\u212a]"},
		{"daß es", "das", "[daß] es"},
		{"Maße", "ßE", "Ma[ße]"},
		{"MASSE", "maße", "[MASSE]"},
		{"the \ufb01nal o\ufb03ce", "FI", "the [\ufb01]nal o[\ufb03]ce"},
		{"ＡＢＣ ａｂｃ", "ａｂｃ", "[ＡＢＣ] [ａｂｃ]"},
		{"Cafe\u0301 and café", "CAFÉ", "[Cafe\u0301] and [café]"},
		{"café", "cafe\u0301", "[café]"},
		{"\u1100\u1161\u11a8 각", "각", "[\u1100\u1161\u11a8] [각]"},
		{"ᾳ and ΑΙ", "αι", "[ᾳ] and [ΑΙ]"},
		{"no no nonono", "no", "[no] [no] [nonono]"},
		{"ß", "s", "[ß]"},
		{"nothing of it", "xyz", "nothing of it"},
		{"nothing asked", "  ", "nothing asked"},
		{"", "x", ""},
		{"bad \xff byte", "bad", "[bad] \uFFFD byte"},
		{strings.Repeat("a", 100) + "needle" + strings.Repeat("b", 300), "needle", "…" + strings.Repeat("a", 60) + "[needle]" + strings.Repeat("b", 160) + "…"},
		{strings.Repeat("é", 1000) + "needle, Needle" + strings.Repeat("ß", 300), "NEEDLE", "…" + strings.Repeat("é", 60) + "[needle], [Needle]" + strings.Repeat("ß", 152) + "…"},
	} {
		if got := shown(folding.Around(c.content, c.words, "", 60, 160)); got != c.want {
			t.Errorf("%q in %.40q: %q, want %q", c.words, c.content, got, c.want)
		}
	}
}

// Texts that begin like the words at every place, and texts of signs that are slow to fold,
// take no longer than others: four of them took 6.5 seconds of a page.
func TestAround_IsLinear(t *testing.T) {
	for _, c := range []struct{ content, words string }{
		{strings.Repeat("a", 65_536), strings.Repeat("a", 6_000) + "b"},
		{strings.Repeat("é", 65_536), "é"},
		{strings.Repeat("e\u0301", 32_768), strings.Repeat("é", 6_000)},
		{"a" + strings.Repeat("\u0301", 65_535), "\u0301\u0301"},
	} {
		began := time.Now()
		for range 10 {
			folding.Around(c.content, c.words, "", 60, 160)
		}
		if took := time.Since(began); took > time.Minute { // they take a second; at every place, minutes
			t.Errorf("ten excerpts of %.20q took %v", c.content, took)
		}
	}
}

func TestName_MarksWithoutAccents(t *testing.T) {
	for _, c := range []struct{ name, words, want string }{
		{"Sofía Ramírez", "sofia", "[Sofía] Ramírez"},
		{"Sofi\u0301a", "SOFÍA", "[Sofi\u0301a]"},
		{"Ёлка", "елка", "[Ёлка]"},
		{"がく", "かく", "がく"},
		{"Noe\u0308\ufe0fl", "noel", "[Noe\u0308\ufe0fl]"},
	} {
		if got := shown(folding.Name(c.name, c.words)); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.words, c.name, got, c.want)
		}
	}
}

// Marks lose no character, and mark whatever the search finds.
func FuzzAround(f *testing.F) {
	for _, pair := range [][2]string{
		{"Hauptstraße", "STRASSE"},
		{"o\ufb03ce", "fi"},
		{"e\u0301\u0345\u0323", "é"},
		{"ᾳ\u0301", "ι"},
		{"\u1100\u1161\u11a8", "각"},
		{"ŉ ǰ İ", "i\u0307"},
		{"a" + strings.Repeat("\u0301", 40) + "b", "b"},
		{"\u0345\u0345 x", "ι"},
		{"\u09c7\u09be", "\u09cb"},
		{"\xff\xfe", "\uFFFD"},
		{"\u0301a", "a"},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, content, words string) {
		fuzzbudget.Usual.Check(t, len(content)+len(words), func() {
			plain := strings.Join(strings.Fields(strings.ToValidUTF8(content, "\uFFFD")), " ")
			for _, c := range []struct {
				parts []folding.Part
				fold  func(string) string
			}{{folding.Around(content, words, "", len(content), len(content)), folding.Fold}, {folding.Name(content, words), folding.FoldStripped}} {
				if got := folding.Plain(c.parts); got != plain {
					t.Errorf("%q is shown as %q", plain, got)
				}
				wanted := c.fold(strings.Join(strings.Fields(words), " "))
				found := slices.ContainsFunc(c.parts, func(p folding.Part) bool { return p.Found })
				if want := wanted != "" && strings.Contains(c.fold(plain), wanted); found != want {
					t.Errorf("%q in %q: marked %v, want %v", words, plain, found, want)
				}
			}
			short := folding.Plain(folding.Around(content, words, "", 3, 4))
			if !strings.Contains(plain, strings.TrimSuffix(strings.TrimPrefix(short, "…"), "…")) && !strings.Contains(plain, "…") {
				t.Errorf("%q is cut to %q", plain, short)
			}
		})
	})
}
