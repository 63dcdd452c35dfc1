package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// TestYardstick_FindsWhatTheStoreFinds: times can only be compared if the answers are
// the same.
func TestYardstick_FindsWhatTheStoreFinds(t *testing.T) {
	t.Parallel()
	filled := &filledStore{corpus: newCorpus(1, 3000, 10), dir: t.TempDir()}
	s, err := store.Open(t.Context(), store.Options{Path: filled.file(), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	facts := filled.corpus.people()
	for i := range filled.corpus.messages {
		facts = append(facts, filled.corpus.facts(i)...)
	}
	if err := saveAll(t.Context(), s, facts); err != nil {
		t.Fatal(err)
	}
	y, err := openYardstick(t.Context(), filled.file())
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	for _, text := range []string{"the", "tomorrow", "谢谢", "zqxj"} {
		page, err := s.Search(t.Context(), bridge.SearchQuery{Q: text, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, match := range page.Items {
			found = append(found, match.MsgID)
		}
		plain, err := y.Search(t.Context(), text, 50)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(found) // the scan is in the order of seq
		slices.Sort(plain)
		if text != "zqxj" && len(plain) == 0 {
			t.Errorf("no message has %q", text)
		}
		if len(plain) < 50 {
			if diff := cmp.Diff(plain, found); diff != "" {
				t.Errorf("%q (-plain +store): %s", text, diff)
			}
		}
	}
	chat := filled.corpus.chats[0].jid
	page, err := s.Messages(t.Context(), bridge.MessageQuery{Chat: chat, Limit: 20, Offset: 30, Order: bridge.OrderDesc})
	if err != nil {
		t.Fatal(err)
	}
	var newest []string
	for _, m := range page.Items {
		newest = append(newest, m.ID)
	}
	if plain, err := y.Page(t.Context(), chat, 20, 30); err != nil || !slices.Equal(plain, newest) {
		t.Errorf("a page: %v, %v, want %v", plain, err, newest)
	}
}
