package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// A message depends only on the seed and its number, so that an interrupted
// filling can be completed.
func TestCorpus_IsTheSameAgain(t *testing.T) {
	t.Parallel()
	one, other := newCorpus(7, 5000, 100), newCorpus(7, 5000, 100)
	for i := range 50 {
		other.facts(i)
	}
	if diff := cmp.Diff(one.facts(4321), other.facts(4321)); diff != "" {
		t.Error(diff)
	}
	if other.seed++; cmp.Equal(one.facts(1), other.facts(1)) {
		t.Error("another seed makes the same message")
	}
	if one.facts(1)[0].(bridge.Message).ID == one.facts(2)[0].(bridge.Message).ID {
		t.Error("two messages have the same id")
	}
}

func TestCorpus_IsLikeAnAccount(t *testing.T) {
	t.Parallel()
	const n = 20_000
	c := newCorpus(1, n, 2000)
	sizes, files, text := map[bridge.JID]int{}, 0, strings.Builder{}
	for i := range n {
		m := c.facts(i)[0].(bridge.Message)
		sizes[m.Chat]++
		text.WriteString(m.Content)
		if m.Media != nil {
			files++
		}
	}
	if share := float64(sizes[c.chats[0].jid]) / n; share < 0.036 || share > 0.048 {
		t.Errorf("the largest chat has %.1f %% of the messages, want about 4.2", 100*share)
	}
	if share := float64(files) / n; share < 0.06 || share > 0.1 {
		t.Errorf("%.1f %% of the messages have files, want about 8", 100*share)
	}
	for _, letters := range []string{"Straße", "İ", "ς", "й", "ال", "ש", "क", "ท", "の", "谢", "안녕", "😂"} {
		if !strings.Contains(text.String(), letters) {
			t.Errorf("no message has %q", letters)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	got := []string{number(0), number(0.123), number(1), number(1.26), number(9.97), number(12.6), number(1234), number(5_000_000)}
	want := []string{"0", "0.12", "1", "1.3", "10", "13", "1,234", "5,000,000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
