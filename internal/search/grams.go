package search

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

const (
	// mostGrams is how many grams of a text are asked for at most.
	mostGrams = 6
	// fewPacks is how many packs are looked into rather than asking for one gram
	// more: to look into a pack costs as much as to pass some hundred in the index.
	fewPacks = 4
)

// gramQuery returns the full-text query for the packs that may contain a folded
// text, in some chats if any are named. Of long texts the rarest grams do: what
// is found is compared as a whole.
func gramQuery(folded string, chats []int64, rare *rarity, packs float64) string {
	var words []string
	if len(chats) > 0 {
		var names []string
		for _, chat := range chats {
			names = append(names, `"`+chatWord(chat)+`"`)
		}
		words = append(words, "("+strings.Join(names, " OR ")+")")
	}
	var s spelling
	s.spell([]byte(folded))
	n := min(gramLength, s.characters())
	for _, i := range s.choose(n, rare, packs) {
		words = append(words, `"`+string(s.gram(i, n))+`"`)
	}
	return strings.Join(words, " AND ")
}

// candidate is a gram of a query.
type candidate struct {
	at     int
	share  float64
	chosen bool
}

// choose returns where the grams of length n begin that are worth asking for: the
// rarest, and of those that do not overlap a chosen one, until so few packs are
// left that it is cheaper to look into them. Overlapping grams mostly stand in
// the same packs.
func (s *spelling) choose(n int, rare *rarity, packs float64) []int {
	candidates := make([]candidate, s.characters()-n+1)
	for i := range candidates {
		candidates[i] = candidate{at: i, share: rare.share(s.gram(i, n))}
	}
	var chosen []int
	for len(chosen) < min(mostGrams, len(candidates)) && (len(chosen) == 0 || packs > fewPacks) {
		best := -1
		for i, c := range candidates {
			if c.chosen {
				continue
			}
			if best < 0 || candidates[i].better(candidates[best], chosen, n) {
				best = i
			}
		}
		candidates[best].chosen = true
		chosen = append(chosen, candidates[best].at)
		packs *= candidates[best].share
	}
	return chosen
}

// better reports whether c is to be chosen before another gram.
func (c candidate) better(other candidate, chosen []int, n int) bool {
	free, otherFree := c.isFree(chosen, n), other.isFree(chosen, n)
	if free != otherFree {
		return free
	}
	return c.share < other.share
}

// isFree reports whether a gram overlaps no chosen one.
func (c candidate) isFree(chosen []int, n int) bool {
	for _, at := range chosen {
		if c.at < at+n && at < c.at+n {
			return false
		}
	}
	return true
}
