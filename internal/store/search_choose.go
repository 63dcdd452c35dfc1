package store

import "strings"

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
