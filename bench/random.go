package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// longestSample limits the characters of a random text.
const longestSample = 20

// sample is a search for texts taken at random from the messages it covers,
// because people search mostly for texts they have read.
type sample struct {
	name  string
	goal  Goal
	chat  bridge.JID // empty for all
	kind  bridge.ChatType
	fold  bridge.Fold
	texts []string
}

// samples returns the searches in all chats, in each kind of chat, and in the
// largest chats.
func (b *bench) samples(c *corpus) []sample {
	const name = "any text of 1 to 20 characters"
	across, inside := Goal{P50: 3, P99: 20}, Goal{P50: 2, P90: 6, Worst: 20}
	samples := []sample{
		{name: name, goal: across},
		{name: name + ", without accents", goal: across, fold: bridge.FoldAccents},
		{name: name + ", groups", goal: across, kind: bridge.ChatsGroup},
		{name: name + ", individuals", goal: across, kind: bridge.ChatsIndividual},
	}
	for i, which := range []string{"largest", "second largest", "third largest"} {
		if i < len(c.chats) {
			samples = append(samples, sample{name: name + ", " + which + " chat", goal: inside, chat: c.chats[i].jid})
		}
	}
	samples = append(samples, sample{name: name + ", largest chat, without accents", goal: inside, chat: c.chats[0].jid, fold: bridge.FoldAccents})
	r := rand.New(rand.NewPCG(c.seed, 77))
	for i := range samples {
		samples[i].texts = c.sampleTexts(r, samples[i].chat, b.options.requests)
	}
	return samples
}

// sampleTexts cuts pieces out of messages, in random case.
func (c *corpus) sampleTexts(r *rand.Rand, chat bridge.JID, n int) []string {
	var texts []string
	for tries := 0; len(texts) < n && tries < 2000*n; tries++ {
		m := c.facts(r.IntN(c.messages))[0].(bridge.Message)
		runes, length := []rune(m.Content), 1+r.IntN(longestSample)
		if len(runes) < length || chat != "" && m.Chat != chat {
			continue
		}
		from := r.IntN(len(runes) - length + 1)
		text := string(runes[from : from+length])
		switch r.IntN(3) {
		case 0:
			text = strings.ToUpper(text)
		case 1:
			text = strings.ToLower(text)
		}
		if strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// task returns the requests.
func (q sample) task() task {
	task := task{part: "search", name: q.name, goal: q.goal}
	asTyped := q
	asTyped.fold = ""
	for _, text := range q.texts {
		task.paths = append(task.paths, q.path(text))
		if q.fold != "" {
			task.beside = append(task.beside, asTyped.path(text))
		}
	}
	return task
}

func (q sample) path(text string) string {
	path := searchPath(text)
	if q.chat != "" {
		path = client.HistoryPath(q.chat) + "?q=" + url.QueryEscape(text)
	}
	if q.fold != "" {
		path += "&fold=" + string(q.fold)
	}
	if q.kind != "" {
		path += "&chatType=" + string(q.kind)
	}
	return path
}

// measureRandom measures the samples and compares every answer with the one found
// by reading all messages.
func (b *bench) measureRandom(ctx context.Context, s *server) error {
	samples := b.samples(s.corpus)
	for _, q := range samples {
		if err := b.measure(ctx, s, q.task()); err != nil {
			return err
		}
	}
	all, err := s.plain.everything(ctx)
	if err != nil {
		return err
	}
	asked, wrong := 0, 0
	for _, q := range samples {
		for _, text := range q.texts {
			got, err := q.answer(ctx, s, text)
			if err != nil {
				return err
			}
			asked++
			if want := all.find(q, text, len(got)+1); !slices.Equal(got, want) {
				wrong++
			}
		}
	}
	b.report.value(Value{
		Part: "search", Name: fmt.Sprintf("of %d texts at random, answered otherwise than by reading everything", asked),
		Messages: s.corpus.messages, Value: float64(wrong), Unit: "searches", Goal: "0", Met: wrong == 0,
	})
	return nil
}

// answer returns the ids on the first page.
func (q sample) answer(ctx context.Context, s *server, text string) (ids []string, err error) {
	if q.chat != "" {
		page, err := s.api.Messages(ctx, bridge.MessageQuery{Chat: q.chat, Q: text, Fold: q.fold})
		for _, m := range page.Items {
			ids = append(ids, m.ID)
		}
		return ids, err
	}
	page, err := s.api.Search(ctx, bridge.SearchQuery{Q: text, Fold: q.fold, ChatType: q.kind})
	for _, m := range page.Items {
		ids = append(ids, m.MsgID)
	}
	return ids, err
}
