package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// unreadOf returns the ids of what has not been told in a chat, in pages.
func unreadOf(t *testing.T, s *Store, chat bridge.JID, upTo string) (ids []string, page bridge.UnreadPage) {
	t.Helper()
	page, err := s.Unread(t.Context(), chat, upTo)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range page.Messages {
		ids = append(ids, m.ID)
	}
	return ids, page
}

func wantUntold(t *testing.T, s *Store, upTo string, want ...string) bridge.UnreadPage {
	t.Helper()
	got, page := unreadOf(t, s, alice, upTo)
	if !slices.Equal(got, want) {
		t.Errorf("not told up to %q: %v, want %v", upTo, got, want)
	}
	return page
}

// TestUnread_TellsEachOnce: what the account has answered still wants its ticks; what
// another device has told of does not.
func TestUnread_TellsEachOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	past := says(alice, alice, "I1", -5, "long ago")
	past.Imported = true
	save(t, s, owner(), past, says(alice, alice, "A1", 1, "one"), says(alice, alice, "A2", 2, "two"), says(bob, bob, "B1", 2, "elsewhere"),
		placeholder(alice, alice, "A3", 3), iSay(alice, "M1", 4, "mine"), bridge.SendResult{Chat: alice, ID: "M1", Status: bridge.DeliverySent})
	wantUnread(t, s, alice, 0, "the account has answered")
	wantUntold(t, s, "", "A1", "A2")
	page := wantUntold(t, s, "A1", "A1")
	save(t, s, bridge.ChatRead{Chat: alice, Seq: page.UpTo})
	wantUntold(t, s, "", "A2")
	save(t, s, says(alice, alice, "A0", 0, "late"), bridge.ChatRead{Chat: alice, Until: at(9)})
	wantUnread(t, s, alice, 0, "marked as read in the list")
	wantUntold(t, s, "", "A2", "A0")
	save(t, s, iRead(alice, "A2"))
	wantUntold(t, s, "", "A0")
	page = wantUntold(t, s, "M1")
	save(t, s, bridge.ChatRead{Chat: alice, Seq: page.UpTo})
	wantUntold(t, s, "", "A0")
	if _, err := s.Unread(t.Context(), club, ""); bridge.CodeOf(err) != bridge.CodeNotFound {
		t.Errorf("of no chat: %v", err)
	}
}

// TestUnread_IsTakenInPages, none of which looks at what was told.
func TestUnread_IsTakenInPages(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var facts []bridge.Fact
	for i := range read.UnreadPage + 5 {
		facts = append(facts, says(alice, alice, fmt.Sprintf("A%04d", i), i, "x"))
	}
	save(t, s, append([]bridge.Fact{owner()}, facts...)...)
	_, page := unreadOf(t, s, alice, "")
	if len(page.Messages) != read.UnreadPage || !page.More {
		t.Fatalf("%d messages, more %v", len(page.Messages), page.More)
	}
	save(t, s, bridge.ChatRead{Chat: alice, Seq: page.UpTo})
	wantUnread(t, s, alice, 5, "the first page")
	ids, page := unreadOf(t, s, alice, "")
	if len(ids) != 5 || ids[0] != fmt.Sprintf("A%04d", read.UnreadPage) || page.More {
		t.Errorf("then %v, more %v", ids, page.More)
	}
	// What is sorted is what is unread: the index knows arrivals, too.
	if p := plan(t, s, read.UnreadQuery, []any{1, 0, 100, time.Now().UnixMilli()}); !strings.HasPrefix(p, "SEARCH messages USING INDEX messages_by_time (chat=? AND timestamp>?)") {
		t.Errorf("planned as %s", p)
	}
}

// TestUnread_OfAMergedChat tells rather twice than not at all.
func TestUnread_OfAMergedChat(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(aliceLID, aliceLID, "A1", 1, "by LID"), says(alice, alice, "A2", 2, "by number"), iRead(alice, "A2"))
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	wantUntold(t, s, "", "A1", "A2")
}

// TestUnread_OfAMergedChatIsWhatNobodyWasToldOf: what came under the other name after
// all of the first was told, which is how people usually get a second one.
func TestUnread_OfAMergedChatIsWhatNobodyWasToldOf(t *testing.T) {
	t.Parallel()
	for _, first := range []bridge.JID{alice, aliceLID} {
		s := newStore(t)
		second := map[bridge.JID]bridge.JID{alice: aliceLID, aliceLID: alice}[first]
		save(t, s, owner(), says(first, first, "A1", 1, "told"), says(first, first, "A2", 2, "told"), iRead(first, "A2"))
		save(t, s, says(second, second, "A3", 3, "new"), says(second, second, "A4", 4, "new"))
		save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
		wantUntold(t, s, "", "A3", "A4")
		save(t, s, iRead(alice, "A3"))
		wantUntold(t, s, "", "A4")
	}
}
