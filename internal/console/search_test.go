package console

import (
	"strings"
	"testing"
	"time"
)

func TestExcerpt_MarksWhatWasFound(t *testing.T) {
	for _, c := range []struct{ content, q, want string }{
		{"Treffpunkt ist die Hauptstraße 12", "STRASSE", "Treffpunkt ist die Haupt[straße] 12"},
		{"one two", "ONE TWO", "[one two]"},
		{"ΣΊΣΥΦΟΣ", "σίσυφος", "[ΣΊΣΥΦΟΣ]"},
		{"100 \u212a", "k", "100 [\u212a]"},
		{"daß es", "das", "[daß] es"},
		{"Maße", "ßE", "Ma[ße]"},
		{"MASSE", "maße", "[MASSE]"},
		{"nothing of it", "xyz", "nothing of it"},
		{"", "x", ""},
		{strings.Repeat("a", 100) + "needle" + strings.Repeat("b", 300), "needle", "…" + strings.Repeat("a", 60) + "[needle]" + strings.Repeat("b", 160) + "…"},
	} {
		var got strings.Builder
		for _, p := range excerpt(c.content, c.q) {
			if p.Found {
				got.WriteString("[" + p.Text + "]")
			} else {
				got.WriteString(p.Text)
			}
		}
		if got.String() != c.want {
			t.Errorf("%q in %.40q: %q, want %q", c.q, c.content, got.String(), c.want)
		}
	}
}

// Texts that begin like the words at every place take no longer than others: four of
// them took 6.5 seconds of a page.
func TestExcerpt_IsLinear(t *testing.T) {
	content, q := strings.Repeat("a", 65_536), strings.Repeat("a", 6_000)+"b"
	began := time.Now()
	for range 100 {
		if got := excerpt(content, q); len(got) != 1 {
			t.Fatalf("found %d parts", len(got))
		}
	}
	if took := time.Since(began); took > time.Minute { // they take a tenth of a second; compared at every place, minutes
		t.Errorf("a hundred excerpts took %v", took)
	}
}
