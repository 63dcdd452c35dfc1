package store

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

func TestMessage_ShowsEveryFieldThatWasSaved(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := bridge.Message{
		Chat: club, ID: "A1", SenderJID: alice, PushName: "Alice", MessageType: "imageMessage", Content: "Look",
		ContextInfo: &bridge.ContextInfo{
			QuotedMsgID: ptr("Q1"), QuotedSenderJID: bob, MentionedJID: []bridge.JID{carol},
			Mentions: []bridge.Mention{{JID: carol}},
		},
		Timestamp: at(1),
		Media: &bridge.Media{
			Type: bridge.MediaImage, MimeType: "image/jpeg", Size: 123, Caption: "Look", Width: 4, Height: 3,
			Ref: bridge.MediaRef{DirectPath: "/v/1", MediaKey: []byte("key"), FileSHA256: []byte("plain"), FileEncSHA256: []byte("cipher")},
		},
		Raw: []byte{1, 2, 3}, ViewOnce: true, Expiration: 86400,
	}
	save(t, s, m, bridge.Identity{PN: alice, LID: aliceLID})

	want := m
	want.SenderLID, want.Reactions, want.ExpiresAt = aliceLID, []bridge.MessageReaction{}, ptr(at(86401))
	want.Quoted = &bridge.Quoted{MsgID: "Q1", ChatJID: club, SenderJID: bob, MessageType: bridge.TypeUnknown, Origin: bridge.QuoteEmbedded}
	want.Media = ptr(*m.Media)
	want.Media.DownloadURL = bridge.DownloadPath(club, "A1")
	if diff := cmp.Diff(want, message(t, s, club, "A1")); diff != "" {
		t.Error(diff)
	}
	want.Raw, want.Expiration, want.Media.Ref = nil, 0, bridge.MediaRef{}
	if diff := cmp.Diff([]bridge.Message{want}, historyOf(t, s, club)); diff != "" {
		t.Error(diff)
	}
}

func TestSave_IsHarmlessWhenRepeated(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	facts := []bridge.Fact{
		owner(),
		bridge.Contact{JID: alice, Name: ptr("Alice A.")},
		bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: alice, IsAdmin: true}, {JID: me}}},
		says(club, alice, "A1", 1, "one"),
		iSay(club, "M1", 2, "two"),
		bridge.SendResult{Chat: club, ID: "M1", Status: bridge.DeliverySent, Timestamp: at(3)},
		bridge.Receipt{Chat: club, IDs: []string{"M1"}, From: alice, Status: bridge.DeliveryRead},
		bridge.ReactionChange{Chat: club, Target: "M1", Sender: alice, Emoji: "👍", Timestamp: at(4)},
		bridge.Edit{Chat: club, Target: "A1", Editor: alice, Timestamp: at(5), New: says(club, alice, "A1", 5, "one, edited")},
		bridge.Deletion{Chat: club, Target: "A1", By: alice, Timestamp: at(6)},
		bridge.GroupChange{JID: club, Name: ptr("The Club"), Joined: []bridge.Participant{{JID: bob}}, Timestamp: at(7)},
		bridge.Status{Status: bridge.StateOpen, HasSession: true},
	}
	save(t, s, facts...)
	before, history := logged(t, s), historyOf(t, s, club)
	for _, f := range facts[3:] { // the whole group fact is from before the change
		if _, isChange := f.(bridge.GroupChange); !isChange {
			save(t, s, f)
		}
	}
	save(t, s, facts[10])
	sameList(t, "events", logged(t, s), before)
	if diff := cmp.Diff(history, historyOf(t, s, club)); diff != "" {
		t.Error(diff)
	}
}

func TestSave_KeepsAllFactsOfAStanzaOrNone(t *testing.T) {
	t.Parallel()
	s, fault := newFailingStore(t)
	wakeUp := s.Changed()
	fault.Set(errors.New("the drill"))
	err := s.Save(context.Background(), bridge.Identity{PN: alice, LID: aliceLID}, says(alice, alice, "A1", 1, "hello"))
	if err == nil {
		t.Fatal("saved in spite of the drill")
	}
	select {
	case <-wakeUp:
		t.Error("readers were woken for nothing")
	default:
	}
	if got := s.Canonical(aliceLID); got != aliceLID {
		t.Errorf("an identity was learned from a failed write: %s", got)
	}
	sameList(t, "events", logged(t, s), []string{})

	fault.Set(nil)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID}, says(aliceLID, aliceLID, "A1", 1, "hello"))
	<-wakeUp
	sameList(t, "history", ids(historyOf(t, s, alice)), []string{"A1"})
	sameList(t, "events", logged(t, s), []string{"chat.updated " + string(alice), "message.created A1"})
}

func TestSave_SurvivesAPanicInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	func() {
		defer func() { _ = recover() }()
		_ = s.write(context.Background(), func(tx *writeTx) {
			tx.saveMessage(says(alice, alice, "A1", 1, "half"))
			panic("the drill")
		})
	}()
	sameList(t, "events", logged(t, s), []string{})
	save(t, s, says(alice, alice, "A1", 1, "whole"))
	sameList(t, "history", ids(historyOf(t, s, alice)), []string{"A1"})
}

func TestSave_IgnoresWhatIsNoChat(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(bridge.StatusBroadcast, alice, "S1", 1, "status"), says("", alice, "S2", 1, "nowhere"))
	if got := chats(t, s, bridge.ChatQuery{}); len(got) != 0 {
		t.Errorf("chats: %v", got)
	}
}

func TestFill_PutsTheRealMessageInThePlaceholdersPlace(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, placeholder(alice, alice, "A1", 1))
	save(t, s, says(alice, alice, "A2", 1, "second"))
	real := says(alice, alice, "A1", 30, "first")
	save(t, s, real)
	save(t, s, real)
	save(t, s, placeholder(alice, alice, "A1", 1))

	got := historyOf(t, s, alice)
	sameList(t, "order", ids(got), []string{"A1", "A2"})
	if got[0].Content != "first" || got[0].MessageType != "conversation" || got[0].EditedAt != nil {
		t.Errorf("filled message: %+v", got[0])
	}
	if raw := message(t, s, alice, "A1").Raw; string(raw) != "raw of A1" {
		t.Errorf("raw: %q", raw)
	}
	sameList(t, "events", logged(t, s), []string{
		"chat.updated " + string(alice), "message.created A1", "message.created A2", "message.updated A1",
	})
}

func TestFill_LeavesADeletionInPlace(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, placeholder(alice, alice, "A1", 1), bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(2)})
	save(t, s, says(alice, alice, "A1", 1, "taken back"))
	m := message(t, s, alice, "A1")
	if m.Content != "" || m.DeletedAt == nil || len(m.Raw) != 0 {
		t.Errorf("message: %+v", m)
	}
}

func TestFill_IsForTheSenderAlone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID}, bridge.Identity{PN: bob, LID: bobLID})
	save(t, s, placeholder(club, alice, "A1", 1))
	save(t, s, says(club, bob, "A1", 1, "not mine"))
	if m := message(t, s, club, "A1"); m.MessageType != bridge.TypeUndecryptable {
		t.Errorf("somebody else filled the placeholder: %+v", m)
	}
	save(t, s, says(club, aliceLID, "A1", 1, "mine"))
	if m := message(t, s, club, "A1"); m.Content != "mine" {
		t.Errorf("content: %q", m.Content)
	}
}

func TestStatus_IsLoggedWithoutWhatPairingNeeds(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	status := bridge.Status{
		Status: bridge.StateNeedsPair, PairingCode: ptr("ABCD-EFGH"), QR: ptr("2@secret"), Since: at(1),
		Passkey: &bridge.Passkey{PublicKey: json.RawMessage(`{"challenge":"secret"}`)},
	}
	save(t, s, status)
	status.QR = ptr("2@another")
	save(t, s, status)
	sameList(t, "events", logged(t, s), []string{"account.status "})
	var data string
	err := s.Read(context.Background(), func(r *read.Snapshot) {
		r.Find("SELECT data FROM events", nil, &data)
	})
	if err != nil {
		t.Fatal(err)
	}
	var got bridge.Status
	if err := json.Unmarshal([]byte(data), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(bridge.Status{Status: bridge.StateNeedsPair, Since: at(1)}, got); diff != "" {
		t.Error(diff)
	}
}
