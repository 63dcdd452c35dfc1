package store

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The search index knows of every pack of messages which sequences of one to four
// characters (grams) its folded texts contain, and of which chats they are. A
// text that contains q contains all grams of q, so the packs that have them all
// are the only ones to look into.
//
// A gram is spelled as one word of SQLite's ascii tokenizer, for which letters,
// digits and everything beyond ASCII belong to words. Other ASCII characters
// are moved to where they do; should the letters that live there (Thaana, NKo)
// be meant, a pack too many is looked into, never one too few.

// gramLength is the length of the longest grams in characters. With four the
// index is twice as large as with three, and a text of common words names a
// tenth of the packs.
const gramLength = 4

// movedTo is where ASCII characters that end words are moved.
const movedTo = 0x0780

func spell(r rune) rune {
	if r < utf8.RuneSelf && !('a' <= r && r <= 'z' || '0' <= r && r <= '9') {
		return movedTo + r
	}
	return r
}

// chatWord stands for a chat among the grams of its packs. It is longer than any
// of them.
func chatWord(chat int64) string { return "chat" + strconv.FormatInt(chat, 10) }

// gramSet collects the distinct grams of a pack's texts.
type gramSet struct {
	seen map[string]struct{}
	text strings.Builder // all of them, separated by spaces
	spelling
}

// spelling is the text at hand in its spelling, and where each of its characters
// begins; both are kept to be used again.
type spelling struct {
	spelled []byte
	starts  []int
}

func newGramSet() *gramSet { return &gramSet{seen: make(map[string]struct{}, 4096)} }

// add enters all grams of a folded text.
func (g *gramSet) add(folded []byte) {
	g.spell(folded)
	for i := range g.characters() {
		for n := 1; n <= gramLength && i+n < len(g.starts); n++ {
			g.enter(g.gram(i, n))
		}
	}
}

func (s *spelling) spell(folded []byte) {
	s.spelled, s.starts = s.spelled[:0], s.starts[:0]
	for len(folded) > 0 {
		r, size := utf8.DecodeRune(folded)
		folded = folded[size:]
		s.starts = append(s.starts, len(s.spelled))
		s.spelled = utf8.AppendRune(s.spelled, spell(r))
	}
	s.starts = append(s.starts, len(s.spelled))
}

func (s *spelling) characters() int { return len(s.starts) - 1 }

// gram returns the n characters from the i-th on.
func (s *spelling) gram(i, n int) []byte { return s.spelled[s.starts[i]:s.starts[i+n]] }

func (g *gramSet) enter(gram []byte) {
	if _, seen := g.seen[string(gram)]; seen {
		return
	}
	g.seen[string(gram)] = struct{}{}
	g.text.WriteByte(' ')
	g.text.Write(gram)
}
