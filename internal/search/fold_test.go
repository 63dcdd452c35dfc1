package search

import (
	"strings"
	"testing"
	"unicode"

	"bridged/internal/folding"
)

// TestColumns_NothingIsFoundAcross content and transcript: no text that is searched for has what
// stands between them, and marks that a transcript begins with are its own.
func TestColumns_NothingIsFoundAcross(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if folded := folding.Fold(string(r)); strings.Contains(folded, between) || strings.Contains(folding.StripAccents(folded), between) {
			t.Fatalf("%U folds to %q", r, folded)
		}
	}
	folded, bare := Columns("Äpfel", "\u0301Ähren")
	if folded != "äpfel"+between+"\u0301ähren" || bare != "apfel"+between+"\u0301ahren" {
		t.Errorf("%q, %q", folded, bare)
	}
	if folded, bare := Columns("", "words"); folded != between+"words" || bare != nil {
		t.Errorf("%q, %v", folded, bare)
	}
	if folded, bare := Columns("Éa", ""); folded != "éa" || bare != "ea" {
		t.Errorf("%q, %v", folded, bare)
	}
	if folded, bare := Columns("words", ""); folded != nil || bare != nil {
		t.Errorf("%v, %v", folded, bare)
	}
}
