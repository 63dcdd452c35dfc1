package search

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"bridged/internal/folding"
	"bridged/internal/store/db"
)

// A gram is spelled as one word of SQLite's ascii tokenizer, for which letters,
// digits and everything beyond ASCII belong to words. Other ASCII characters
// are moved to Thaana and NKo: a search for these letters looks into a pack too many,
// never into one too few.

// gramLength limits the length of grams, in characters. With four the
// index is twice as large as with three, and a text of common words names a
// tenth of the packs.
const gramLength = 4

// movedTo is where ASCII characters that end words are moved.
const movedTo = 0x0780

// bareSign ends the words for grams that a pack has only without accents. These are longer than
// any gram.
const bareSign = "\u0080"

func spell(r rune) rune {
	if r < utf8.RuneSelf && !('a' <= r && r <= 'z' || '0' <= r && r <= '9') {
		return movedTo + r
	}
	return r
}

// chatWord stands for a chat among the grams of its packs. It is longer than any gram.
func chatWord(chat int64) string { return "chat" + strconv.FormatInt(chat, 10) }

// gramSet collects the distinct grams of a pack's texts.
type gramSet struct {
	seen map[string]struct{}
	text strings.Builder // all of them, separated by spaces
	spelling
}

// spelling holds the text at hand in its spelling, and where each of its characters
// begins; both are kept to be used again.
type spelling struct {
	spelled []byte
	starts  []int
}

func newGramSet() *gramSet { return &gramSet{seen: make(map[string]struct{}, 4096)} }

// grams returns all grams of a folded text, each of them valid until the next text.
func (s *spelling) grams(folded []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		s.spell(folded)
		for i := range s.characters() {
			for n := 1; n <= gramLength && i+n < len(s.starts); n++ {
				if !yield(s.gram(i, n)) {
					return
				}
			}
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

// enterBare enters the grams of texts without accents, and marks with [bareSign] those of
// gramLength characters that no text of the pack has with its accents.
func (g *gramSet) enterBare(texts []byte) {
	var marked []byte
	for text := range bytes.SplitSeq(texts, []byte{textEnd}) {
		for gram := range g.grams(text) {
			if g.enter(gram) && utf8.RuneCount(gram) == gramLength {
				marked = append(append(marked[:0], gram...), bareSign...)
				g.enter(marked)
			}
		}
	}
}

// enter adds a gram, and reports whether it was not there.
func (g *gramSet) enter(gram []byte) bool {
	if _, seen := g.seen[string(gram)]; seen {
		return false
	}
	g.seen[string(gram)] = struct{}{}
	g.text.WriteByte(' ')
	g.text.Write(gram)
	return true
}

const (
	// mostGrams limits the grams of a text that are asked for.
	mostGrams = 6
	// fewPacks limits the packs that are looked into rather than asking for one gram
	// more: to look into a pack costs as much as to pass some hundred in the index.
	fewPacks = 4
)

// gramQuery returns the full-text query for the packs that may contain a folded
// text, with or without accents, in some chats if any are named. Of long texts it asks for
// the rarest grams.
func gramQuery(folded string, bare bool, chats []int64, rare *rarity, packs float64) string {
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
	for _, i := range s.choose(n, bare, rare, packs) {
		gram := s.gram(i, n)
		word := `"` + string(gram) + `"`
		if !bare && n == gramLength && rare.isMostlyBare(gram) {
			word = "(" + word + ` NOT "` + string(gram) + bareSign + `")`
		}
		words = append(words, word)
	}
	return strings.Join(words, " AND ")
}

// choose returns where the grams of length n begin that are worth asking for: the
// rarest, until it is cheaper to look into the packs that are left. First come those that
// do not overlap a chosen one: overlapping grams mostly stand in the same packs.
func (s *spelling) choose(n int, bare bool, rare *rarity, packs float64) (chosen []int) {
	left, shares := make([]int, s.characters()-n+1), make([]float64, s.characters()-n+1)
	for i := range left {
		left[i], shares[i] = i, rare.share(s.gram(i, n), bare)
	}
	overlaps := func(i int) (count int) {
		if slices.ContainsFunc(chosen, func(at int) bool { return i < at+n && at < i+n }) {
			count = 1
		}
		return count
	}
	better := func(i, j int) int {
		return cmp.Or(cmp.Compare(overlaps(i), overlaps(j)), cmp.Compare(shares[i], shares[j]))
	}
	for len(left) > 0 && len(chosen) < mostGrams && (len(chosen) == 0 || packs > fewPacks) {
		best := slices.MinFunc(left, better)
		left = slices.DeleteFunc(left, func(i int) bool { return i == best })
		chosen = append(chosen, best)
		packs *= shares[best]
	}
	return chosen
}

// rarity estimates from a sample, by hashes, which share of the packs has a gram. A wrong
// estimate makes a search slower, never wrong.
type rarity struct {
	packs  int // of the sample
	counts [1 << rarityBits]uint8
	bare   [1 << rarityBits]uint8 // of packs that have it only without accents
}

const (
	rarityBits = 18
	// sampleSize counts the packs of the sample; a count must hold it.
	sampleSize = 250
	// sampleAgain says how much longer the index must have become to sample again.
	sampleAgain = 1.25
)

var raritySeed = maphash.MakeSeed()

func rarityOf(gram []byte) uint64 { return maphash.Bytes(raritySeed, gram) >> (64 - rarityBits) }

// share returns which share of the packs has a gram, never 0: packs beside the sample may
// have it. Without a sample every gram counts as common.
func (r *rarity) share(gram []byte, bare bool) float64 {
	if r == nil || r.packs == 0 {
		return 1
	}
	h := rarityOf(gram)
	count := float64(r.counts[h])
	if bare {
		count += float64(r.bare[h])
	}
	return (count + 0.5) / float64(r.packs)
}

// isMostlyBare reports whether more packs have a gram only without accents than otherwise.
func (r *rarity) isMostlyBare(gram []byte) bool {
	if r == nil {
		return false
	}
	h := rarityOf(gram)
	return r.bare[h] > r.counts[h]
}

// sampling has the buffers for counting.
type sampling struct {
	spelling
	bare   []byte
	lastIn [1 << rarityBits]uint8 // the last pack that had a gram
}

// add counts the grams of a pack's texts, each once.
func (r *rarity) add(texts, accents []byte, s *sampling) {
	r.packs++
	r.count(&r.counts, texts, s)
	if len(accents) > 0 {
		s.bare, _ = folding.AppendStripped(s.bare[:0], texts, accents)
		r.count(&r.bare, s.bare, s)
	}
}

// count counts the grams that the pack at hand was not seen to have.
func (r *rarity) count(counts *[1 << rarityBits]uint8, texts []byte, s *sampling) {
	for gram := range s.grams(texts) {
		if h := rarityOf(gram); s.lastIn[h] != uint8(r.packs) {
			s.lastIn[h] = uint8(r.packs)
			counts[h]++
		}
	}
}

// sample estimates rarities anew if the index has become much longer.
func (x *Index) sample(ctx context.Context) error {
	err := x.store.View(ctx, func(c *db.Conn) {
		indexed := lastIndexed(c)
		if float64(indexed+1) < sampleAgain*float64(x.sampledAt) || indexed == noneIndexed {
			return
		}
		x.rarity.Store(x.samplePacks(c, indexed))
		x.sampledAt = indexed + 1
	})
	if err != nil {
		return fmt.Errorf("sample the search index: %w", err)
	}
	return nil
}

// packToSample selects a pack from a number on.
const packToSample = "SELECT texts, accents FROM packs WHERE id >= ? AND texts IS NOT NULL ORDER BY id LIMIT 1 OFFSET ?"

func (x *Index) samplePacks(c *db.Conn, indexed int64) *rarity {
	random := rand.New(rand.NewPCG(uint64(indexed), 0)) // the same sample of the same store
	found, s, perBlock := new(rarity), new(sampling), (1<<x.blockBits)/x.packSize
	var texts, accents db.Raw
	for range sampleSize {
		block := random.Int64N(indexed + 1)
		if c.Find(packToSample, []any{firstPack(block), random.IntN(perBlock)}, &texts, &accents) {
			found.add(texts, accents, s)
		}
	}
	return found
}
