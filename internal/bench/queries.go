package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// benchQueries are texts to search for, of one kind.
type benchQueries struct {
	name  string
	goal  benchGoal
	texts []string
}

// benchEach is how many texts of each kind are searched for.
const benchEach = 12

// benchKind chooses texts that the store has from least to most times.
type benchKind struct {
	benchQueries
	least, most int
	propose     func(i int) string
}

// kinds are the kinds of texts, by how often they are found.
func (c *benchCorpus) kinds() []benchKind {
	r := rand.New(rand.NewPCG(c.seed, 42))
	n, languages := c.messages, len(benchLanguages)
	common := min(500, n/100)
	spaced := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13}
	odd := []rune("龘ẅ§ÿ¶Ωщъßǆ麟ㅋ7½ҐЉქ〆Ħ€")
	kind := func(name string, goal benchGoal, least, most int, propose func(i int) string) benchKind {
		return benchKind{benchQueries{name: name, goal: goal}, least, most, propose}
	}
	return []benchKind{
		kind("absent, unusual letters", benchGoal{2, 10, 100}, 0, 0, func(i int) string {
			l := benchLanguages[i%languages]
			return l.absent[i/languages%len(l.absent)] + strings.Repeat("x", i/(2*languages))
		}),
		kind("absent word of common letters", benchGoal{10, 40, 50}, 0, 0, func(i int) string {
			words := c.words[i%languages]
			return words[3+r.IntN(40)] + words[3+r.IntN(40)] + words[3+r.IntN(40)]
		}),
		kind("absent phrase of common words", benchGoal{10, 40, 50}, 0, 0, func(i int) string {
			words := c.words[spaced[i%len(spaced)]]
			return words[3+r.IntN(40)] + " " + words[10+r.IntN(40)] + " " + words[3+r.IntN(40)]
		}),
		kind("rare word", benchGoal{5, 30, 100}, 1, 20, func(i int) string {
			return c.words[i%languages][benchWords/2+r.IntN(benchWords/2)]
		}),
		kind("middling word", benchGoal{5, 20, 0}, n/5000, n/200, func(i int) string {
			return c.words[i%languages][50+r.IntN(3000)]
		}),
		kind("common word, newest 100", benchGoal{3, 8, 0}, common, n, func(i int) string {
			return c.words[i%languages][r.IntN(12)]
		}),
		kind("one or two characters, rare", benchGoal{5, 15, 0}, 0, 20, func(i int) string {
			first := string(odd[i%len(odd)])
			if i < len(odd) {
				return first
			}
			return first + string(odd[r.IntN(len(odd))])
		}),
		kind("one or two characters, common", benchGoal{3, 8, 0}, common, n, func(i int) string {
			letters := []rune(c.words[i%languages][r.IntN(20)])
			return string(letters[:min(len(letters), 1+i%2)])
		}),
	}
}

// queries chooses the texts. The choice depends on the corpus alone.
func (b *bench) queries(ctx context.Context, s *benchServer) ([]benchQueries, error) {
	var list []benchQueries
	for _, kind := range s.corpus.kinds() {
		q, err := kind.choose(ctx, s)
		if err != nil {
			return nil, err
		}
		if len(q.texts) > 0 { // a small corpus may have none of a kind
			list = append(list, q)
		}
	}
	return list, nil
}

// benchProposals is how many texts are tried at most.
const benchProposals = 600

func (k benchKind) choose(ctx context.Context, s *benchServer) (benchQueries, error) {
	q := k.benchQueries
	chosen := map[string]bool{}
	enough := k.most + 1
	if k.most == s.corpus.messages {
		enough = k.least
	}
	for i := 0; i < benchProposals && len(q.texts) < benchEach; i++ {
		text := k.propose(i)
		if chosen[text] {
			continue
		}
		chosen[text] = true
		hits, err := s.hits(ctx, text, enough)
		if err != nil {
			return q, err
		}
		if hits >= k.least && hits <= k.most {
			q.texts = append(q.texts, text)
		}
	}
	return q, nil
}

// hits counts the messages that have a text, until there are enough.
func (s *benchServer) hits(ctx context.Context, text string, enough int) (int, error) {
	count, cursor := 0, ""
	for {
		var page struct {
			Count      int
			NextCursor *string
		}
		path := fmt.Sprintf("/api/messages/search?limit=%d&q=%s", min(500, enough), url.QueryEscape(text))
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		if err := s.get(ctx, path, &page); err != nil {
			return 0, err
		}
		count += page.Count
		if page.NextCursor == nil || count >= enough {
			return count, nil
		}
		cursor = *page.NextCursor
	}
}
