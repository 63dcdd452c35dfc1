package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// wantLast compares the last message in the list of chats and in the chat.
func wantLast(t testing.TB, s *Store, jid bridge.JID, id, content, after string) {
	t.Helper()
	for _, c := range append(chats(t, s, bridge.ChatQuery{}), chatOf(t, s, jid)) {
		if c.JID != s.Canonical(jid) {
			continue
		}
		if last := c.LastMessage; last == nil || last.ID != id || last.Content != content || last.Timestamp != *c.LastMessageAt {
			t.Errorf("%s: got %+v, want %s %q", after, last, id, content)
		}
	}
}

func TestLastMessage_FollowsWhatHappensToIt(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Contact{JID: alice, PushName: ptr("Ali")}, bridge.Identity{PN: alice, LID: aliceLID})
	save(t, s, says(aliceLID, aliceLID, "A1", 10, "one"), says(alice, alice, "A2", 20, "two"))
	wantLast(t, s, alice, "A2", "two", "two came")
	if last := chatOf(t, s, alice).LastMessage; last.SenderJID != alice || last.PushName != "Ali" || last.FromMe || last.MessageType != "conversation" {
		t.Errorf("got %+v", last)
	}
	save(t, s, says(alice, alice, "A0", 5, "late"))
	wantLast(t, s, alice, "A2", "two", "an older one came late")
	save(t, s, says(alice, alice, "A3", 20, "in the same second"))
	wantLast(t, s, alice, "A3", "in the same second", "one of the same second")
	save(t, s, bridge.Edit{Chat: alice, Target: "A3", Editor: alice, Timestamp: at(30), New: says(alice, alice, "A3", 20, "edited")})
	wantLast(t, s, alice, "A3", "edited", "an edit")
	save(t, s, bridge.Deletion{Chat: alice, Target: "A3", By: alice, Timestamp: at(31)})
	wantLast(t, s, alice, "A3", "", "a deletion")
	if last := chatOf(t, s, alice).LastMessage; last.DeletedAt == nil || *last.DeletedAt != at(31) || last.Status != nil {
		t.Errorf("a deletion: got %+v", last)
	}
	save(t, s, iSay(alice, "M1", 40, "mine"))
	wantLast(t, s, alice, "M1", "mine", "an own one")
	if last := chatOf(t, s, alice).LastMessage; last.DeletedAt != nil || last.Status == nil || *last.Status != bridge.DeliveryPending {
		t.Errorf("an own one: got %+v", last)
	}
	save(t, s, bridge.SendResult{Chat: alice, ID: "M1", Status: bridge.DeliverySent, Timestamp: at(15)})
	wantLast(t, s, alice, "A3", "", "the network gave the own one an earlier time")
	if _, err := s.Retain(t.Context(), at(1000).Time); err != nil {
		t.Fatal(err)
	}
	if c := chatOf(t, s, alice); c.LastMessage != nil || c.LastMessageAt != nil {
		t.Errorf("nothing is left, but %+v", c)
	}
}

func TestLastMessage_IsCutBetweenSigns(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	family := "👩‍👩‍👧"
	save(t, s, says(alice, alice, "A1", 1, strings.Repeat("ä", 198)+family+strings.Repeat("z", 60_000)))
	if got := chatOf(t, s, alice).LastMessage.Content; got != strings.Repeat("ä", 198) {
		t.Errorf("%d characters, ending in %q", utf8.RuneCountInString(got), got[len(got)-8:])
	}
	save(t, s, says(bob, bob, "B1", 1, strings.Repeat("z", 300)))
	if got := chatOf(t, s, bob).LastMessage.Content; len(got) != bridge.MaxPreview {
		t.Errorf("%d characters", len(got))
	}
}

// TestLastMessage_SaysWhatItsFileIs: lists of chats name a file, a voice note and a view-once message as such.
func TestLastMessage_SaysWhatItsFileIs(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	voice, paper, once := says(alice, alice, "A1", 1, ""), says(bob, bob, "B1", 1, ""), says(club, alice, "C1", 1, "")
	voice.MessageType, voice.Media = "audioMessage", &bridge.Media{Type: bridge.MediaAudio, PTT: true, DurationSec: 3}
	paper.MessageType, paper.Media = "documentMessage", &bridge.Media{Type: bridge.MediaDocument, FileName: "plan.pdf", Size: 7}
	once.MessageType, once.ViewOnce = bridge.TypeUndecryptable, true
	save(t, s, owner(), bridge.Group{JID: club, Name: "Club"}, voice, paper, once)
	for chat, want := range map[bridge.JID]bridge.LastMedia{alice: {Type: bridge.MediaAudio, PTT: true}, bob: {Type: bridge.MediaDocument, FileName: "plan.pdf"}} {
		if got := chatOf(t, s, chat).LastMessage; got.Media == nil || *got.Media != want || got.ViewOnce {
			t.Errorf("%s: got %+v", chat, got)
		}
	}
	if got := chatOf(t, s, club).LastMessage; got.Media != nil || !got.ViewOnce {
		t.Errorf("got %+v", got)
	}
	save(t, s, bridge.Deletion{Chat: bob, Target: "B1", By: bob, Timestamp: at(2)})
	if got := chatOf(t, s, bob).LastMessage; got.Media != nil || got.DeletedAt == nil {
		t.Errorf("after the deletion: %+v", got)
	}
}

// TestPlans_OfTheLastMessagesAreLookUps: the list costs its page, however many
// messages its chats have.
func TestPlans_OfTheLastMessagesAreLookUps(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	p := plan(t, s, read.LastMessagesQuery, []any{"[1]"})
	if strings.Contains(p, "TEMP B-TREE") || strings.Contains(p, "SCAN m") ||
		!strings.Contains(p, "SEARCH m USING INTEGER PRIMARY KEY") || !strings.Contains(p, "messages_by_time (chat=?)") {
		t.Errorf("planned as\n%s", p)
	}
}

func TestSearch_MatchesNameTheirChatAndFile(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	picture := says(club, alice, "P1", 2, "needle in a picture")
	picture.MessageType, picture.Media = "imageMessage", &bridge.Media{Type: bridge.MediaImage, MimeType: "image/jpeg", Width: 3, Caption: picture.Content}
	save(t, s, owner(), bridge.Group{JID: club, Name: "Club"}, picture, iSay(bob, "M1", 1, "my needle"))
	got := matchesOf(t, s, bridge.SearchQuery{Q: "needle"})
	if len(got) != 2 || got[0].ChatName != "Club" || got[0].FromMe || got[0].MessageType != "imageMessage" ||
		got[0].Media == nil || got[0].Media.Width != 3 || got[0].Media.DownloadURL != bridge.DownloadPath(club, "P1") {
		t.Errorf("got %+v", got)
	}
	if got[1].ChatName != bob.User() || !got[1].FromMe || got[1].Media != nil {
		t.Errorf("got %+v", got[1])
	}
}
