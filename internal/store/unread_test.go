package store

import (
	"testing"
	"time"

	"bridged/internal/bridge"
)

// chatOf is a chat that must be there.
func chatOf(t testing.TB, s *Store, jid bridge.JID) bridge.Chat {
	t.Helper()
	c, err := s.Chat(t.Context(), jid)
	if err != nil {
		t.Fatalf("read the chat %s: %v", jid, err)
	}
	return c
}

func wantUnread(t testing.TB, s *Store, jid bridge.JID, want int, after string) {
	t.Helper()
	if got := chatOf(t, s, jid).UnreadCount; got != want {
		t.Errorf("%s: %d unread, want %d", after, got, want)
	}
}

func iRead(chat bridge.JID, ids ...string) bridge.ChatRead {
	return bridge.ChatRead{Chat: chat, IDs: ids}
}

func TestUnread_CountsWhatCameSinceTheAccountReadTheChat(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(alice, alice, "A1", 1, "one"), says(alice, alice, "A2", 2, "two"), placeholder(alice, alice, "A3", 3))
	wantUnread(t, s, alice, 3, "three came")
	save(t, s, says(alice, alice, "A3", 3, "readable now"), says(alice, alice, "A1", 1, "one"))
	wantUnread(t, s, alice, 3, "told again")
	save(t, s, iRead(alice, "A1", "NONE"))
	wantUnread(t, s, alice, 2, "one was read")
	save(t, s, iRead(alice, "A1"))
	wantUnread(t, s, alice, 2, "read again")
	save(t, s, iRead(alice, "A3", "A2"))
	wantUnread(t, s, alice, 0, "all were read")
	save(t, s, says(alice, alice, "A0", 0, "late"))
	wantUnread(t, s, alice, 1, "an older one came late")
	save(t, s, says(alice, alice, "A4", 4, "four"), bridge.Deletion{Chat: alice, Target: "A4", By: alice, Timestamp: at(5)})
	wantUnread(t, s, alice, 2, "one that was deleted shows as deleted")
	past, mine := says(alice, alice, "I1", -5, "long ago"), iSay(alice, "I2", -4, "me, too")
	past.Imported, mine.Imported, mine.Status = true, true, nil
	save(t, s, past, mine, says(alice, alice, "A5", 5, "five"), iRead(alice, "A4"))
	wantUnread(t, s, alice, 1, "what was taken over from the phone is not new")
	save(t, s, iRead(bob, "A4"), bridge.ChatRead{Chat: bob, Until: at(9)}, bridge.ChatMarkedUnread{Chat: bob})
	if _, err := s.Chat(t.Context(), bob); bridge.CodeOf(err) != bridge.CodeNotFound {
		t.Errorf("a chat that is not stored was made: %v", err)
	}
}

// TestUnread_EndsWithWhatTheAccountWrites: a message counts once it has left.
func TestUnread_EndsWithWhatTheAccountWrites(t *testing.T) {
	t.Parallel()
	typed := iSay(alice, "M1", 2, "typed on the phone")
	typed.Status = nil
	for name, facts := range map[string][]bridge.Fact{
		"typed on the phone": {typed},
		"accepted":           {iSay(alice, "M1", 2, "hi"), bridge.SendResult{Chat: alice, ID: "M1", Status: bridge.DeliverySent, Timestamp: at(3)}},
		"proven by a receipt": {
			iSay(alice, "M1", 2, "hi"),
			bridge.SendResult{Chat: alice, ID: "M1", Status: bridge.DeliveryFailed},
			bridge.Receipt{Chat: alice, IDs: []string{"M1"}, From: alice, Status: bridge.DeliveryRead, Timestamp: at(4)},
		},
	} {
		s := newStore(t)
		save(t, s, owner(), says(alice, alice, "A1", 1, "hello?"), says(alice, alice, "A2", 2, "hello??"))
		save(t, s, facts[0])
		if len(facts) > 1 {
			wantUnread(t, s, alice, 2, name+": still to be sent")
		}
		save(t, s, facts[1:]...)
		wantUnread(t, s, alice, 0, name)
		save(t, s, says(alice, alice, "A3", 2, "in the same second"))
		wantUnread(t, s, alice, 1, name+", and an answer")
	}
	s := newStore(t)
	save(t, s, owner(), says(alice, alice, "A1", 1, "hello?"), iSay(alice, "M1", 2, "hi"),
		bridge.SendResult{Chat: alice, ID: "M1", Status: bridge.DeliveryFailed})
	wantUnread(t, s, alice, 1, "nothing left")
}

func TestUnread_FollowsTheListOfChatsOnThePhone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(club, bob, "G1", 1, "one"), says(club, alice, "G2", 2, "two"), says(club, bob, "G3", 3, "three"))
	save(t, s, bridge.ChatRead{Chat: club, Until: at(2)})
	wantUnread(t, s, club, 1, "marked as read before the third came")
	save(t, s, says(club, bob, "G3b", 3, "in the same second"), bridge.ChatRead{Chat: club, Until: at(3), Last: []string{"G2", "G3"}})
	wantUnread(t, s, club, 1, "marked as read before another of that second came")
	save(t, s, bridge.ChatRead{Chat: club, Until: at(9), Last: []string{"unknown"}})
	wantUnread(t, s, club, 0, "marked as read")
	save(t, s, bridge.ChatMarkedUnread{Chat: club})
	wantUnread(t, s, club, 1, "marked as unread")
	save(t, s, says(club, bob, "G4", 4, "four"))
	wantUnread(t, s, club, 1, "marked as unread, and one came")
	save(t, s, says(club, bob, "G5", 5, "five"))
	wantUnread(t, s, club, 2, "two came")
	save(t, s, iRead(club, "G5"), bridge.ChatMarkedUnread{Chat: club}, iRead(club, "G5"))
	wantUnread(t, s, club, 0, "marked as unread, and read")
}

// TestUnread_IsToldWhereNoMessageTellsIt: what a message tells has no event of
// its own.
func TestUnread_IsToldWhereNoMessageTellsIt(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(alice, alice, "A1", 1, "one"), says(alice, alice, "A2", 2, "two"))
	for _, step := range []struct {
		fact bridge.Fact
		want []string
	}{
		{iRead(alice, "A1"), []string{"chat.updated " + string(alice)}},
		{iRead(alice, "A1"), nil},
		{bridge.ChatMarkedUnread{Chat: alice}, []string{"chat.updated " + string(alice)}},
		{bridge.ChatMarkedUnread{Chat: alice}, nil},
		{bridge.ChatRead{Chat: alice, Until: at(5)}, []string{"chat.updated " + string(alice)}},
		{says(alice, alice, "A3", 3, "three"), []string{"message.created A3"}},
		{bridge.ChatSettings{Chat: alice, Pinned: ptr(true)}, []string{"chat.updated " + string(alice)}},
		{bridge.ChatSettings{Chat: alice, Pinned: ptr(true)}, nil},
	} {
		before := len(logged(t, s))
		save(t, s, step.fact)
		if got := logged(t, s)[before:]; len(got) != len(step.want) || len(got) > 0 && got[0] != step.want[0] {
			t.Errorf("%+v: got %v, want %v", step.fact, got, step.want)
		}
	}
}

func TestUnread_FollowsRemovalAndMerges(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(alice, alice, "A1", -9000, "old"), says(alice, alice, "A2", 2, "new"), says(alice, alice, "A3", 3, "newer"))
	if _, err := s.Retain(t.Context(), at(-100).Time); err != nil {
		t.Fatal(err)
	}
	wantUnread(t, s, alice, 2, "the oldest was removed")
	save(t, s, iRead(alice, "A2"))
	if _, err := s.Retain(t.Context(), at(3).Time); err != nil {
		t.Fatal(err)
	}
	wantUnread(t, s, alice, 1, "one that was read was removed")

	// Under the LID: the same message once more, two others, and an answer between them.
	save(t, s, says(aliceLID, aliceLID, "A3", 3, "newer"), says(aliceLID, aliceLID, "L1", 4, "by LID"), iRead(aliceLID, "L1"),
		says(aliceLID, aliceLID, "L2", 5, "by LID"), says(alice, alice, "A4", 6, "by number"))
	wantUnread(t, s, alice, 2, "by number")
	wantUnread(t, s, aliceLID, 1, "by LID")
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	wantUnread(t, s, alice, 2, "since L1 was read, in both")
	if last := chatOf(t, s, alice).LastMessage; last == nil || last.ID != "A4" {
		t.Errorf("last message: %+v", last)
	}
}

func TestSettings_OfAChatAreKeptAndWaitForIt(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	later := bridge.At(time.Now().Add(time.Hour))
	save(t, s, owner(), says(alice, alice, "A1", 1, "hello"),
		bridge.ChatSettings{Chat: alice, Archived: ptr(true), Pinned: ptr(true), MutedUntil: &later},
		bridge.ChatSettings{Chat: alice, Pinned: ptr(false)})
	if c := chatOf(t, s, alice); !c.Archived || c.Pinned || c.MutedUntil == nil || !c.MutedUntil.Equal(later.Time) {
		t.Errorf("got %+v", c)
	}
	save(t, s, bridge.ChatSettings{Chat: alice, MutedUntil: ptr(bridge.At(time.Now().Add(-time.Minute)))})
	if c := chatOf(t, s, alice); c.MutedUntil != nil {
		t.Errorf("muted until %v, which is over", c.MutedUntil)
	}

	// The account's state alone makes no chat, but is kept for it, also where it was told under the other JID.
	save(t, s, bridge.ChatSettings{Chat: bobLID, Archived: ptr(true)}, bridge.ChatSettings{Chat: club, Pinned: ptr(true)},
		bridge.ChatSettings{Chat: carol, Archived: ptr(true)}, bridge.ChatSettings{Chat: carol, Archived: ptr(false)})
	if list := chats(t, s, bridge.ChatQuery{}); len(list) != 1 {
		t.Fatalf("chats: %+v", list)
	}
	save(t, s, bridge.Identity{PN: bob, LID: bobLID}, says(bob, bob, "B1", 2, "hi"), says(club, bob, "G1", 3, "all"), says(carol, carol, "C1", 4, "hi"))
	for jid, want := range map[bridge.JID][2]bool{bob: {true, false}, club: {false, true}, carol: {false, false}} {
		if c := chatOf(t, s, jid); c.Archived != want[0] || c.Pinned != want[1] {
			t.Errorf("%s: archived %t, pinned %t, want %v", jid, c.Archived, c.Pinned, want)
		}
	}
}

// TestSettings_ReachAChatWhoseNumberIsLearnedLate: told under the number while
// the chat is known by the LID.
func TestSettings_ReachAChatWhoseNumberIsLearnedLate(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(bobLID, bobLID, "B1", 1, "hi"), bridge.ChatSettings{Chat: bob, Archived: ptr(true)})
	save(t, s, bridge.Identity{PN: bob, LID: bobLID})
	if c := chatOf(t, s, bob); !c.Archived {
		t.Errorf("got %+v", c)
	}
}
