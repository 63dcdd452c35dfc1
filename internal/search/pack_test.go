package search

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// found returns the messages of a pack that contain a text.
func (p pack) found(t *testing.T, needle string) (seqs []int64) {
	t.Helper()
	for m, err := range p.matching(p.texts, []byte(needle)) {
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, m.seq)
	}
	return seqs
}

func TestPack_FindsWhatItsMessagesSay(t *testing.T) {
	var p pack
	for i, text := range []string{"one two", "", "two", "to", "", "wo", "a\x00b", "🥾 two two"} {
		p.enter(packed{seq: int64(100 + i*3), chat: int64(7 - i), timestamp: int64(-i * 1_000_000)}, []byte(text))
	}
	for needle, want := range map[string][]int64{
		"two": {100, 106, 121}, "o": {100, 106, 109, 115, 121}, "totwo": nil, "otw": nil, "a\x00b": {118}, "🥾": {121}, "one two": {100}, "ow": nil,
	} {
		if got := p.found(t, needle); !slices.Equal(got, want) {
			t.Errorf("%q is found in %v, want %v", needle, got, want)
		}
	}
	var all []packed
	for m, err := range p.all() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	if want := (packed{seq: 121, chat: 0, timestamp: -7_000_000}); len(all) != 8 || all[7] != want {
		t.Errorf("messages: %+v", all)
	}
}

// TestPack_ThatIsDamagedIsNoticed: it must not bring the program down.
func TestPack_ThatIsDamagedIsNoticed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	noticed := 0
	for range 2000 {
		var p pack
		for i := range 5 {
			p.enter(packed{seq: int64(i), chat: 1, timestamp: int64(i)}, []byte("some text"))
		}
		switch r.IntN(3) {
		case 0:
			p.messages = p.messages[:r.IntN(len(p.messages))]
		case 1:
			p.messages[r.IntN(len(p.messages))] = byte(r.IntN(256))
		case 2:
			p.texts = p.texts[:r.IntN(len(p.texts))]
		}
		for _, err := range p.matching(p.texts, []byte("text")) {
			if errors.Is(err, errPack) {
				noticed++
			}
		}
	}
	if noticed < 200 {
		t.Errorf("damage was noticed %d times", noticed)
	}
}

func TestGramQuery_AsksForTheRarest(t *testing.T) {
	rare := &rarity{packs: 100}
	for _, common := range []string{"have", "ave ", "ve y", "e yo", " you", "you "} {
		rare.counts[rarityOf([]byte(common))] = 60
	}
	words := func(q string, chats ...int64) []string {
		return strings.Split(gramQuery(q, false, chats, rare, 10_000), " AND ")
	}
	if got := words("have you seen"); len(got) > 3 || slices.Contains(got, `"have"`) {
		t.Errorf("asked for %q", got)
	}
	if got := words("have"); !slices.Equal(got, []string{`"have"`}) {
		t.Errorf("asked for %q", got)
	}
	if got := words("ha", 3, 4); !slices.Equal(got, []string{`("chat3" OR "chat4")`, `"ha"`}) {
		t.Errorf("asked for %q", got)
	}
	// Without a sample, grams that overlap least.
	if got := gramQuery("abcdefghijkl", false, nil, nil, 10_000); !strings.HasPrefix(got, `"abcd" AND "efgh" AND "ijkl"`) {
		t.Errorf("asked for %q", got)
	}
}
