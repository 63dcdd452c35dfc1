package main

import (
	"context"
	"math/rand/v2"
	"strings"

	"bridged/internal/bridge"
)

// queries are search texts of one kind.
type queries struct {
	name  string
	goal  Goal
	texts []string
}

// queriesEach is the number of search texts of each kind.
const queriesEach = 12

// queryKind selects texts by their number of matches in the store.
type queryKind struct {
	queries
	least, most int
	propose     func(i int) string
}

// kinds returns the kinds of texts, by their number of matches.
func (c *corpus) kinds() []queryKind {
	r := rand.New(rand.NewPCG(c.seed, 42))
	n, all := c.messages, len(languages)
	common := min(500, n/100)
	spaced := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13}
	odd := []rune("龘ẅ§ÿ¶Ωщъßǆ麟ㅋ7½ҐЉქ〆Ħ€")
	kind := func(name string, goal Goal, least, most int, propose func(i int) string) queryKind {
		return queryKind{queries{name: name, goal: goal}, least, most, propose}
	}
	return []queryKind{
		kind("absent, unusual letters", Goal{P50: 2, P99: 10, Times: 100}, 0, 0, func(i int) string {
			l := languages[i%all]
			return l.absent[i/all%len(l.absent)] + strings.Repeat("x", i/(2*all))
		}),
		kind("absent word of common letters", Goal{P50: 10, P99: 40, Times: 50}, 0, 0, func(i int) string {
			words := c.words[i%all]
			return words[3+r.IntN(40)] + words[3+r.IntN(40)] + words[3+r.IntN(40)]
		}),
		kind("absent phrase of common words", Goal{P50: 10, P99: 40, Times: 50}, 0, 0, func(i int) string {
			words := c.words[spaced[i%len(spaced)]]
			return words[3+r.IntN(40)] + " " + words[10+r.IntN(40)] + " " + words[3+r.IntN(40)]
		}),
		kind("rare word", Goal{P50: 5, P99: 30, Times: 100}, 1, 20, func(i int) string {
			return c.words[i%all][vocabularySize/2+r.IntN(vocabularySize/2)]
		}),
		kind("middling word", Goal{P50: 5, P99: 20}, n/5000, n/200, func(i int) string {
			return c.words[i%all][50+r.IntN(3000)]
		}),
		kind("common word, newest 100", Goal{P50: 3, P99: 8}, common, n, func(i int) string {
			return c.words[i%all][r.IntN(12)]
		}),
		kind("one or two characters, rare", Goal{P50: 5, P99: 15}, 0, 20, func(i int) string {
			first := string(odd[i%len(odd)])
			if i < len(odd) {
				return first
			}
			return first + string(odd[r.IntN(len(odd))])
		}),
		kind("one or two characters, common", Goal{P50: 3, P99: 8}, common, n, func(i int) string {
			letters := []rune(c.words[i%all][r.IntN(20)])
			return string(letters[:min(len(letters), 1+i%2)])
		}),
	}
}

// queries chooses the search texts, which depend only on the corpus.
func (s *server) queries(ctx context.Context) ([]queries, error) {
	var list []queries
	for _, kind := range s.corpus.kinds() {
		q, err := kind.choose(ctx, s)
		if err != nil {
			return nil, err
		}
		if len(q.texts) > 0 { // a small corpus may lack a kind
			list = append(list, q)
		}
	}
	return list, nil
}

// proposals limits the texts to try.
const proposals = 600

func (k queryKind) choose(ctx context.Context, s *server) (queries, error) {
	q := k.queries
	chosen := map[string]bool{}
	enough := k.most + 1
	if k.most == s.corpus.messages {
		enough = k.least
	}
	for i := 0; i < proposals && len(q.texts) < queriesEach; i++ {
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

// hits counts the messages that contain a text, up to enough.
func (s *server) hits(ctx context.Context, text string, enough int) (count int, err error) {
	for _, err := range s.api.AllMatches(ctx, bridge.SearchQuery{Q: text, Limit: min(500, enough)}) {
		if err != nil {
			return 0, err
		}
		if count++; count >= enough {
			break
		}
	}
	return count, nil
}
