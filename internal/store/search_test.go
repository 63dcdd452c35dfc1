package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"bridged/internal/bridge"
	"bridged/internal/folding"
	"bridged/internal/longtest"
	"bridged/internal/search"
	"bridged/internal/store/read"
)

func contains(content, q string, by bridge.Fold) bool {
	if by == bridge.FoldAccents {
		return strings.Contains(withoutAccents(content), withoutAccents(q))
	}
	return strings.Contains(foldedOnce(content), foldedOnce(q))
}

// foldedOnce and withoutAccents store their results: the naive scan folds the same texts many times.
var (
	foldedOnce     = remembered(folding.Fold)
	withoutAccents = remembered(func(text string) string { return stripAccents(folding.Fold(text)) })
)

func remembered(f func(string) string) func(string) string {
	var known sync.Map
	return func(text string) string {
		if result, ok := known.Load(text); ok {
			return result.(string)
		}
		result := f(text)
		known.Store(text, result)
		return result
	}
}

// stripAccents leaves out the marks of letters of scripts that can be searched without them.
func stripAccents(folded string) string {
	var b strings.Builder
	loses := false
	for _, r := range norm.NFD.String(folded) {
		if !unicode.Is(unicode.Mn, r) {
			loses = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
		} else if loses {
			continue
		}
		b.WriteRune(r)
	}
	return norm.NFC.String(b.String())
}

// folds has the ways to search.
var folds = []bridge.Fold{"", bridge.FoldAccents}

func TestSearch_MatchesInEveryScript(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	texts := []string{
		"Straße nach Köln", "STRASSE", "İstanbul'da ŞİŞLİ", "ΟΔΟΣ ΟΔΥΣΣΕΩΣ", "οδός", "Привет, МИР", "مرحبا بالعالم", "שלום עולם",
		"東京タワー", "ｶﾀｶﾅ", "100% sure_thing", "it's \"quoted\" \\ back", "👩‍👩‍👧 family 👍🏽", "cafe\u0301", "naïve CAFÉ",
		"a*b OR c NEAR d", "line\nbreak", "ﬁne ﬂow", "ΐ and \u03aa\u0301", "नमस्ते", "x", "",
	}
	for i, text := range texts {
		save(t, s, says(alice, alice, fmt.Sprintf("A%02d", i), i, text))
	}
	for _, q := range append(slices.Clone(texts[:len(texts)-1]),
		"strasse", "STRASSE", "straße", "i̇stanbul", "İSTANBUL", "şi̇şli", "οδος", "ΟΔΌΣ", "привет", "мир", "%", "_", "'", "\"", "\\",
		"👩", "👍", "\u200d", "café", "CAFE\u0301", "cafe", "*", "OR", "fi", "ﬁ", "ΐ", "京", "тт", "\u0301", "zzz", "st", "X") {
		for _, by := range folds {
			want := []string{}
			for i, text := range slices.Backward(texts) {
				if contains(text, q, by) {
					want = append(want, fmt.Sprintf("A%02d", i))
				}
			}
			sameList(t, fmt.Sprintf("search %q %s", q, by), matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: q, Fold: by})), want)
			sameList(t, fmt.Sprintf("filter %q %s", q, by), ids(messages(t, s, bridge.MessageQuery{Chat: alice, Q: q, Fold: by})), want)
		}
	}
}

// Each row has the spellings that a search without accents finds with any of them.
func TestSearch_WithoutAccents(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"Sofía", "SOFIA", "sofi\u0301a"},
		{"Nguyễn Thị Ánh", "nguyen thi anh"},
		{"Ёлка", "елка", "ЕЛКА"},
		{"Ἀθηνᾶ", "αθηνα"},
		{"שָׁלוֹם", "שלום"},
		{"مُحَمَّد أحمد", "محمد احمد"},
		{"Straße nach Köln", "STRASSE NACH KOLN"},
	} {
		s := newStore(t)
		save(t, s, says(alice, alice, "X", 0, "nothing of it"))
		for i, text := range same {
			save(t, s, says(alice, alice, fmt.Sprint(i), i+1, "… "+text+" …"))
		}
		for _, q := range same {
			if got := matchesOf(t, s, bridge.SearchQuery{Q: q, Fold: bridge.FoldAccents}); len(got) != len(same) {
				t.Errorf("%s is found in %d messages, want %d", q, len(got), len(same))
			}
		}
	}
	s := newStore(t)
	save(t, s, says(alice, alice, "1", 1, "がっこう"), says(alice, alice, "2", 2, "हिन्दी"), says(alice, alice, "3", 3, "한글"))
	for _, other := range []string{"かっこう", "हन्द", "하"} {
		if got := matchesOf(t, s, bridge.SearchQuery{Q: other, Fold: bridge.FoldAccents}); len(got) != 0 {
			t.Errorf("%s is found in %q, where the mark makes another letter", other, got[0].Content)
		}
	}
}

func TestSearch_FoldsCaseBeyondASCII(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"ß", "SS"}, {"ẞ", "ss"}, {"Σ", "ς"}, {"İ", "i\u0307"}, {"Å", "å"}, {"ΐ", "\u03aa\u0301"}, {"Ǆ", "ǆ"}, {"K", "k"}, {"ﬃ", "FFI"}, {"Է", "է"}, {"Ა", "ა"},
	} {
		if got, want := folding.Fold(pair[0]), folding.Fold(pair[1]); got != want {
			t.Errorf("%s folds to %q, %s to %q", pair[0], got, pair[1], want)
		}
	}
}

func TestSearch_RefusesABlankQuery(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, q := range []string{"", " ", "\n\t"} {
		_, err := s.Search(context.Background(), bridge.SearchQuery{Q: q})
		wantCode(t, err, bridge.CodeInvalid)
	}
}

func TestSearch_ShowsWhereAMatchIs(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := says(club, aliceLID, "A1", 1, "hello")
	m.PushName = "Ali"
	save(t, s, m, bridge.Identity{PN: alice, LID: aliceLID})
	got := matchesOf(t, s, bridge.SearchQuery{Q: "HELL"})
	want := bridge.Match{
		ChatJID: club, ChatName: club.User(), MsgID: "A1", SenderJID: alice, SenderLID: aliceLID, PushName: "Ali", IsGroup: true,
		MessageType: "conversation", Content: "hello", Timestamp: at(1),
	}
	if len(got) != 1 || got[0] != want {
		t.Errorf("matches: %+v", got)
	}
}

// alphabet has the traps of folding and of LIKE, and few enough letters for
// chance hits.
var alphabet = []string{
	"a", "A", "b", "ß", "SS", "s", "İ", "i", "ı", "I", "\u0307", "ς", "Σ", "σ", "é", "e\u0301", "\u0301", "к", "К",
	"語", "ह", "ि", "ع", "👩", "\u200d", "👧", "👍🏽", "%", "_", "\\", "'", "\"", " ", "\n", "*", "0", "ﬁ", "f", "\x00", "\xff",
	"e", "ё", "е", "أ", "ا", "\u064e", "が", "か", "ạ\u0302",
}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// world is a store beside the plain list of what it holds, for comparing with
// a naive scan.
type world struct {
	t    *testing.T
	s    *Store
	r    *rand.Rand
	list []posted
}

type posted struct {
	chat, sender bridge.JID
	id, text     string
	ts           bridge.Time
	seq          int
	kind         string // its message type
	media        bridge.MediaType
	hasLink      bool
	fromMe       bool
	starred      bool
	transcript   string
}

// has reports whether a text stands in a message, or in its transcript.
func (m posted) has(q string, by bridge.Fold) bool {
	return contains(m.text, q, by) || m.transcript != "" && contains(m.transcript, q, by)
}

var worldChats = []bridge.JID{alice, bob, carol, club, "120363000000000002@g.us", "120363000000000003@g.us"}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, s: newStore(t), r: rand.New(rand.NewPCG(seed, 1))}
	w.s.Tuning, w.s.index.OfSender = read.Tuning{Small: 30, Page: bridge.PageBytes, Look: 40}, 2
	save(t, w.s, owner())
	return w
}

// write adds messages whose timestamps come roughly, not exactly, in order.
func (w *world) write(n int) {
	var facts []bridge.Fact
	for range n {
		i := len(w.list)
		m := posted{
			chat: worldChats[w.r.IntN(len(worldChats))], id: fmt.Sprintf("W%05d", i), seq: i,
			text: randomText(w.r, w.r.IntN(25)), ts: at(pace * (i/3 + w.r.IntN(40))),
		}
		if w.r.IntN(50) == 0 {
			m.ts = at(pace * w.r.IntN(2*i/3+1))
		}
		m.sender = []bridge.JID{alice, bob}[w.r.IntN(2)]
		if !m.chat.IsGroup() {
			m.sender = m.chat
		}
		message := w.dress(&m)
		facts = append(facts, message)
		if w.r.IntN(6) == 0 {
			m.starred = true
			facts = append(facts, bridge.Star{Chat: m.chat, Target: m.id, By: me, Starred: true, Timestamp: at(1)})
		}
		w.list = append(w.list, m)
	}
	save(w.t, w.s, facts...)
}

// pace spreads the messages over some days.
const pace = 1800

// change edits and deletes some messages.
func (w *world) change(n int) {
	for range n {
		m := &w.list[w.r.IntN(len(w.list))]
		if w.r.IntN(3) == 0 {
			m.text, m.media, m.hasLink, m.transcript, m.starred = "", "", false, "", false
			save(w.t, w.s, bridge.Deletion{Chat: m.chat, Target: m.id, By: m.sender, Timestamp: at(99999)})
			continue
		}
		if m.text == "" || m.media != "" {
			continue
		}
		m.kind, m.text, m.hasLink = "conversation", randomText(w.r, 1+w.r.IntN(25)), false
		if w.r.IntN(3) == 0 {
			w.addLink(m)
		}
		save(w.t, w.s, bridge.Edit{
			Chat: m.chat, Target: m.id, Editor: m.sender, Timestamp: at(99999),
			New: bridge.Message{MessageType: "conversation", Content: m.text},
		})
	}
}

func (w *world) randomQuery() string {
	if w.r.IntN(2) == 0 && len(w.list) > 0 { // a piece of something written
		m := w.list[w.r.IntN(len(w.list))]
		runes := []rune([]string{m.text, m.transcript, m.text + m.transcript, m.transcript + m.text}[w.r.IntN(4)])
		if len(runes) > 0 {
			from := w.r.IntN(len(runes))
			to := from + 1 + w.r.IntN(min(5, len(runes)-from))
			if q := string(runes[from:to]); !search.IsBlank(q) {
				return q
			}
		}
	}
	for {
		if q := randomText(w.r, 1+w.r.IntN(4)); !search.IsBlank(q) {
			return q
		}
	}
}

// found is what a naive scan finds, newest first.
func (w *world) found(keep func(posted) bool) []string {
	var hits []posted
	for _, m := range w.list {
		if keep(m) {
			hits = append(hits, m)
		}
	}
	slices.SortFunc(hits, func(a, b posted) int {
		if c := b.ts.Compare(a.ts.Time); c != 0 {
			return c
		}
		return b.seq - a.seq
	})
	list := make([]string, len(hits))
	for i, m := range hits {
		list[i] = m.id
	}
	return list
}

// ask compares one random search and one random history with the naive scan.
func (w *world) ask() {
	q := bridge.SearchQuery{
		Q: w.randomQuery(), Limit: []int{1, 3, 10, 500}[w.r.IntN(4)],
		Fold: folds[w.r.IntN(2)], ChatType: []bridge.ChatType{bridge.ChatsAll, bridge.ChatsGroup, bridge.ChatsIndividual, ""}[w.r.IntN(4)],
	}
	h := bridge.MessageQuery{
		Chat: worldChats[w.r.IntN(len(worldChats))], Q: q.Q, Fold: q.Fold, Limit: q.Limit, Offset: []int{0, 0, 1, 7}[w.r.IntN(4)],
		Order: []bridge.Order{bridge.OrderAsc, bridge.OrderDesc}[w.r.IntN(2)],
	}
	if w.r.IntN(3) == 0 {
		q.Since = ptr(at(pace * w.r.IntN(len(w.list)/2)))
		h.Since = q.Since
	}
	if w.r.IntN(3) == 0 {
		q.Until = ptr(at(pace * w.r.IntN(len(w.list)/2)))
		h.Until = q.Until
	}
	if w.r.IntN(4) == 0 {
		h.Sender = alice
	}
	if w.r.IntN(4) == 0 {
		q.Only = worldChats[w.r.IntN(len(worldChats)):][:w.r.IntN(2)]
	}
	inRange := func(m posted) bool {
		return m.has(q.Q, q.Fold) && (q.Since == nil || !m.ts.Before(q.Since.Time)) && (q.Until == nil || !m.ts.After(q.Until.Time))
	}
	w.compare(fmt.Sprintf("%+v", q), w.searchAll(q), w.found(func(m posted) bool {
		return inRange(m) && (q.Only == nil || slices.Contains(q.Only, m.chat)) && (q.ChatType != bridge.ChatsGroup || m.chat.IsGroup()) && (q.ChatType != bridge.ChatsIndividual || !m.chat.IsGroup())
	}))
	want := w.found(func(m posted) bool {
		return inRange(m) && m.chat == h.Chat && (h.Sender == "" || m.sender == h.Sender)
	})
	if h.Order == bridge.OrderAsc {
		slices.Reverse(want)
	}
	want = want[min(h.Offset, len(want)):]
	w.compare(fmt.Sprintf("%+v", h), w.historyAll(h), want)
}

func (w *world) compare(what string, got, want []string) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Fatalf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func (w *world) searchAll(q bridge.SearchQuery) []string {
	all := []string{}
	for pages := 0; ; pages++ {
		page, err := w.s.Search(context.Background(), q)
		if err != nil {
			w.t.Fatalf("search %+v: %v", q, err)
		}
		all = append(all, matchIDs(page.Items)...)
		if page.NextCursor == nil {
			return all
		}
		q.Cursor = *page.NextCursor
		q.Limit = min(2*q.Limit, 500) // so that a search of many hits ends
	}
}

func (w *world) historyAll(q bridge.MessageQuery) []string {
	all := []string{}
	for {
		page, err := w.s.Messages(context.Background(), q)
		if bridge.CodeOf(err) == bridge.CodeNotFound && len(w.found(func(m posted) bool { return m.chat == q.Chat })) == 0 {
			return all
		}
		if err != nil {
			w.t.Fatalf("history %+v: %v", q, err)
		}
		all = append(all, ids(page.Items)...)
		if page.NextCursor == nil {
			return all
		}
		q.Cursor, q.Offset = *page.NextCursor, 0
		q.Limit = min(2*q.Limit, 1000)
	}
}

// askPlain compares a page by offset, without a text, with the naive way.
func (w *world) askPlain() {
	h := bridge.MessageQuery{
		Chat: worldChats[w.r.IntN(len(worldChats))], Limit: 5, Offset: w.r.IntN(80),
		Order: []bridge.Order{bridge.OrderAsc, bridge.OrderDesc}[w.r.IntN(2)],
	}
	if w.r.IntN(2) == 0 {
		h.Since = ptr(at(pace * w.r.IntN(len(w.list)/2)))
	}
	if w.r.IntN(2) == 0 {
		h.Until = ptr(at(pace * w.r.IntN(len(w.list)/2)))
	}
	want := w.found(func(m posted) bool {
		return m.chat == h.Chat && (h.Since == nil || !m.ts.Before(h.Since.Time)) && (h.Until == nil || !m.ts.After(h.Until.Time))
	})
	if h.Order == bridge.OrderAsc {
		slices.Reverse(want)
	}
	w.compare(fmt.Sprintf("%+v", h), w.historyAll(h), want[min(h.Offset, len(want)):])
}

// worlds is how many made-up stores are compared with a naive scan:
// BRIDGED_SEARCH_WORLDS=150 makes some 100,000 queries.
func worlds(t *testing.T) uint64 {
	text := os.Getenv("BRIDGED_SEARCH_WORLDS")
	if text == "" {
		return longtest.Else[uint64](2, 3)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSearch_IsExactWhileMessagesComeIn counts hits while messages are saved
// and indexed: whatever was saved before a search began is found by it.
func TestSearch_IsExactWhileMessagesComeIn(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var saved atomic.Int64
	ended := make(chan error, 1)
	go func() {
		for i := range longtest.Else(150, 400) {
			err := s.Save(context.Background(), says(club, alice, fmt.Sprintf("N%d", i), i/7, fmt.Sprintf("a Nadel %d in the hay", i)),
				says(bob, bob, fmt.Sprintf("H%d", i), i/7, "only hay"))
			if err != nil {
				ended <- err
				return
			}
			saved.Add(1)
		}
		ended <- nil
	}()
	for done := false; !done; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			done = true
		default:
		}
		if saved.Load() == 0 {
			continue
		}
		before := int(saved.Load())
		if got := len(messages(t, s, bridge.MessageQuery{Chat: club, Q: "nadel", Limit: 1000})); got < before {
			t.Fatalf("%d hits in the chat of %d", got, before)
		}
		before = int(saved.Load())
		if got := len(matchesOf(t, s, bridge.SearchQuery{Q: "NADEL", Limit: 1000})); got < before {
			t.Fatalf("%d hits of %d", got, before)
		}
		settle(t, s)
	}
}

func TestSearch_AnswersAsANaiveScanDoes(t *testing.T) {
	t.Parallel()
	queries := longtest.Else(30, 60)
	for seed := range worlds(t) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed)
			for round := range 5 {
				w.write(100)
				if round%2 == 1 {
					settle(t, w.s)
				}
				w.transcribe(10)
				w.change(10)
				for range queries {
					w.ask()
					w.askPlain()
					w.askFiltered()
				}
			}
			if err := w.s.Reindex(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			for range queries {
				w.ask()
				w.askFiltered()
			}
			checkCounts(t, w.s)
		})
	}
}
