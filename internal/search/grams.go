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
	"bridged/internal/sqlite"
)

// A gram is written as one word of SQLite's ascii tokenizer. For it, letters, digits and all
// characters beyond ASCII are part of words. Other ASCII characters are moved to the Thaana and
// NKo blocks. A search for these letters therefore reads a pack too many at times, but never
// misses one.

// gramLength is the longest gram, in characters. With 4 the index is twice as large as with 3,
// and a search for common words reads a tenth of the packs.
const gramLength = 4

// movedTo is the code point to which ASCII characters that end words are moved.
const movedTo = 0x0780

// strippedSign ends the words of grams that occur in a pack only after its accents are stripped. Such
// a word is longer than any gram.
const strippedSign = "\u0080"

func encode(r rune) rune {
	if r < utf8.RuneSelf && !('a' <= r && r <= 'z' || '0' <= r && r <= '9') {
		return movedTo + r
	}
	return r
}

// chatWord returns the word that stands for a chat in the grams of its packs. It is longer than
// any gram.
func chatWord(chat int64) string { return "chat" + strconv.FormatInt(chat, 10) }

// gramSet collects the distinct grams of a pack's texts.
type gramSet struct {
	seen map[string]struct{}
	text strings.Builder // all grams, separated by spaces
	encoder
}

// encoder holds the current text in its encoded form and the offset of each of its characters.
// Both buffers are reused.
type encoder struct {
	encoded []byte
	starts  []int
}

func newGramSet() *gramSet { return &gramSet{seen: make(map[string]struct{}, 4096)} }

// grams returns all grams of a folded text. Each is valid until the next text.
func (s *encoder) grams(folded []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		s.encode(folded)
		for i := range s.characters() {
			for n := 1; n <= gramLength && i+n < len(s.starts); n++ {
				if !yield(s.gram(i, n)) {
					return
				}
			}
		}
	}
}

func (s *encoder) encode(folded []byte) {
	s.encoded, s.starts = s.encoded[:0], s.starts[:0]
	for len(folded) > 0 {
		r, size := utf8.DecodeRune(folded)
		folded = folded[size:]
		s.starts = append(s.starts, len(s.encoded))
		s.encoded = utf8.AppendRune(s.encoded, encode(r))
	}
	s.starts = append(s.starts, len(s.encoded))
}

func (s *encoder) characters() int { return len(s.starts) - 1 }

// gram returns n characters from the i-th on.
func (s *encoder) gram(i, n int) []byte { return s.encoded[s.starts[i]:s.starts[i+n]] }

// enterStripped adds the grams of accent-stripped texts. A gram of gramLength characters that no text
// of the pack contains with its accents is also added with [strippedSign].
func (g *gramSet) enterStripped(texts []byte) {
	var marked []byte
	for text := range bytes.SplitSeq(texts, []byte{textEnd}) {
		for gram := range g.grams(text) {
			if g.enter(gram) && utf8.RuneCount(gram) == gramLength {
				marked = append(append(marked[:0], gram...), strippedSign...)
				g.enter(marked)
			}
		}
	}
}

// enter adds a gram and reports whether it was new.
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
	// mostGrams is the number of grams of a text that a search asks for, at most.
	mostGrams = 6
	// fewPacks is the expected number of packs at which a search stops adding grams: reading one
	// pack costs as much as passing some hundred entries of the index.
	fewPacks = 4
)

// gramQuery returns the FTS5 query for the packs that may contain a folded text, with or without
// accents. If chats are given, only their packs match. For a long text it uses the rarest grams.
func gramQuery(folded string, stripped bool, chats []int64, rare *rarity, packs float64) string {
	var words []string
	if len(chats) > 0 {
		var names []string
		for _, chat := range chats {
			names = append(names, `"`+chatWord(chat)+`"`)
		}
		words = append(words, "("+strings.Join(names, " OR ")+")")
	}
	var s encoder
	s.encode([]byte(folded))
	n := min(gramLength, s.characters())
	for _, i := range s.choose(n, stripped, rare, packs) {
		gram := s.gram(i, n)
		word := `"` + string(gram) + `"`
		if !stripped && n == gramLength && rare.isMostlyStripped(gram) {
			word = "(" + word + ` NOT "` + string(gram) + strippedSign + `")`
		}
		words = append(words, word)
	}
	return strings.Join(words, " AND ")
}

// choose returns the offsets of the grams of length n to ask for: the rarest ones, until reading
// the remaining packs is cheaper. It prefers grams that do not overlap a chosen one, because
// overlapping grams mostly occur in the same packs.
func (s *encoder) choose(n int, stripped bool, rare *rarity, packs float64) (chosen []int) {
	left, frequencies := make([]int, s.characters()-n+1), make([]float64, s.characters()-n+1)
	for i := range left {
		left[i], frequencies[i] = i, rare.frequency(s.gram(i, n), stripped)
	}
	overlaps := func(i int) (count int) {
		if slices.ContainsFunc(chosen, func(at int) bool { return i < at+n && at < i+n }) {
			count = 1
		}
		return count
	}
	better := func(i, j int) int {
		return cmp.Or(cmp.Compare(overlaps(i), overlaps(j)), cmp.Compare(frequencies[i], frequencies[j]))
	}
	for len(left) > 0 && len(chosen) < mostGrams && (len(chosen) == 0 || packs > fewPacks) {
		best := slices.MinFunc(left, better)
		left = slices.DeleteFunc(left, func(i int) bool { return i == best })
		chosen = append(chosen, best)
		packs *= frequencies[best]
	}
	return chosen
}

// rarity estimates the fraction of packs that contain a gram, from a sample, with hashes of the
// grams as keys. A wrong estimate makes a search slower, never wrong.
type rarity struct {
	packs    int // in the sample
	counts   [1 << rarityBits]uint8
	stripped [1 << rarityBits]uint8 // packs that have the gram only after accents are stripped
}

const (
	rarityBits = 18
	// sampleSize is the number of packs in the sample. It must fit into a count.
	sampleSize = 250
	// sampleAgain is the growth of the index that triggers a new sample.
	sampleAgain = 1.25
)

var raritySeed = maphash.MakeSeed()

func rarityOf(gram []byte) uint64 { return maphash.Bytes(raritySeed, gram) >> (64 - rarityBits) }

// frequency returns the estimated fraction of packs that contain a gram. It is never 0, as packs
// outside the sample may contain it. Without a sample every gram counts as common.
func (r *rarity) frequency(gram []byte, stripped bool) float64 {
	if r == nil || r.packs == 0 {
		return 1
	}
	h := rarityOf(gram)
	count := float64(r.counts[h])
	if stripped {
		count += float64(r.stripped[h])
	}
	return (count + 0.5) / float64(r.packs)
}

// isMostlyStripped reports whether most packs of a gram have it only after accents are stripped.
func (r *rarity) isMostlyStripped(gram []byte) bool {
	if r == nil {
		return false
	}
	h := rarityOf(gram)
	return r.stripped[h] > r.counts[h]
}

// sampling holds the buffers for counting.
type sampling struct {
	encoder
	stripped []byte
	lastIn   [1 << rarityBits]uint8 // the last pack that contained a gram, by hash
}

// add counts the distinct grams of a pack.
func (r *rarity) add(texts, accents []byte, s *sampling) {
	r.packs++
	r.count(&r.counts, texts, s)
	if len(accents) > 0 {
		s.stripped, _ = folding.AppendStripped(s.stripped[:0], texts, accents)
		r.count(&r.stripped, s.stripped, s)
	}
}

// count counts the grams that were not yet seen in the current pack.
func (r *rarity) count(counts *[1 << rarityBits]uint8, texts []byte, s *sampling) {
	for gram := range s.grams(texts) {
		if h := rarityOf(gram); s.lastIn[h] != uint8(r.packs) {
			s.lastIn[h] = uint8(r.packs)
			counts[h]++
		}
	}
}

// sample takes a new sample if the index has grown enough.
func (x *Index) sample(ctx context.Context) error {
	err := x.store.View(ctx, func(c *sqlite.Conn) {
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

// packToSample selects a pack at or after a pack number.
const packToSample = "SELECT texts, accents FROM packs WHERE id >= ? AND texts IS NOT NULL ORDER BY id LIMIT 1 OFFSET ?"

func (x *Index) samplePacks(c *sqlite.Conn, indexed int64) *rarity {
	random := rand.New(rand.NewPCG(uint64(indexed), 0)) // the same store gets the same sample
	found, s, perBlock := new(rarity), new(sampling), (1<<x.blockBits)/x.packSize
	var texts, accents sqlite.Raw
	for range sampleSize {
		block := random.Int64N(indexed + 1)
		if c.Find(packToSample, []any{firstPack(block), random.IntN(perBlock)}, &texts, &accents) {
			found.add(texts, accents, s)
		}
	}
	return found
}
