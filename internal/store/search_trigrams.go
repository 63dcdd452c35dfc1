package store

import (
	"strings"
	"unicode/utf8"
)

// The search index knows of every block of messages which 1-, 2- and 3-grams
// its folded texts contain. A text that contains q contains all grams of q, so
// the blocks that have them all are the only ones to look into.
//
// A gram is spelled as one word of SQLite's ascii tokenizer, for which letters,
// digits and everything beyond ASCII belong to words. Other ASCII characters
// are moved to where they do; should the letters that live there (Thaana, NKo)
// be meant, a block too many is looked into, never one too few.

// gramLength is the length of the longest grams in characters.
const gramLength = 3

// movedTo is where ASCII characters that end words are moved.
const movedTo = 0x0780

func spell(r rune) rune {
	if r < utf8.RuneSelf && !('a' <= r && r <= 'z' || '0' <= r && r <= '9') {
		return movedTo + r
	}
	return r
}

// gramSet collects the distinct grams of a block's texts.
type gramSet struct {
	seen map[string]struct{}
	text strings.Builder // all of them, separated by spaces
	// spelled is the text at hand in its spelling, and starts where each of its
	// characters begins; both are kept to be used again.
	spelled []byte
	starts  []int
}

func newGramSet() *gramSet { return &gramSet{seen: make(map[string]struct{}, 2048)} }

// add enters all grams of a folded text.
func (g *gramSet) add(folded string) {
	g.spell(folded)
	for i := range len(g.starts) - 1 {
		for n := 1; n <= gramLength && i+n < len(g.starts); n++ {
			g.enter(g.spelled[g.starts[i]:g.starts[i+n]])
		}
	}
}

func (g *gramSet) spell(folded string) {
	g.spelled, g.starts = g.spelled[:0], g.starts[:0]
	for _, r := range folded {
		g.starts = append(g.starts, len(g.spelled))
		g.spelled = utf8.AppendRune(g.spelled, spell(r))
	}
	g.starts = append(g.starts, len(g.spelled))
}

func (g *gramSet) enter(gram []byte) {
	if _, seen := g.seen[string(gram)]; seen {
		return
	}
	g.seen[string(gram)] = struct{}{}
	g.text.WriteByte(' ')
	g.text.Write(gram)
}

// maxQueryGrams bounds how many grams a search asks for. Long texts are rare
// enough by the first of theirs, and what is found is compared as a whole.
const maxQueryGrams = 24

// gramQuery returns the full-text query for the blocks that may contain a folded
// text: all of its longest grams.
func gramQuery(folded string) string {
	g := newGramSet()
	g.spell(folded)
	n := min(gramLength, len(g.starts)-1)
	var words []string
	for i := 0; i+n < len(g.starts) && len(words) < maxQueryGrams; i++ {
		word := string(g.spelled[g.starts[i]:g.starts[i+n]])
		if _, seen := g.seen[word]; !seen {
			g.seen[word] = struct{}{}
			words = append(words, `"`+word+`"`)
		}
	}
	return strings.Join(words, " AND ")
}
