package store

import (
	"testing"

	"bridged/internal/bridge"
)

// quotes returns a message of alice that quotes another one.
func quotes(id string, seconds int, q bridge.Quoted) bridge.Message {
	m := says(alice, alice, id, seconds, "an answer")
	q.Origin, q.MessageType = bridge.QuoteEmbedded, bridge.TypeText
	m.ContextInfo, m.Quoted = &bridge.ContextInfo{QuotedMsgID: &q.MsgID, QuotedSenderJID: q.SenderJID}, &q
	return m
}

// TestQuoted_FromMeIsNullIfUnknown, never false: by nobody, or by a LID while the account's
// is not known.
func TestQuoted_FromMeIsNullIfUnknown(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Owner{PN: me}, quotes("A1", 1, bridge.Quoted{MsgID: "Q1", ChatJID: alice}),
		quotes("A2", 2, bridge.Quoted{MsgID: "Q2", ChatJID: alice, SenderJID: meLID}), quotes("A3", 3, bridge.Quoted{MsgID: "Q3", ChatJID: alice, SenderJID: bob}))
	for id, want := range map[string]*bool{"A1": nil, "A2": nil, "A3": ptr(false)} {
		if got := message(t, s, alice, id).Quoted.FromMe; (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %v", id, got)
		}
	}
	save(t, s, owner())
	if got := message(t, s, alice, "A2").Quoted; !got.IsFromMe() || got.SenderJID != me {
		t.Errorf("once the own LID is known: %+v", got)
	}
}

// TestQuoted_OfAnotherChatIsNeverLookedUp: a message here that has the same id is another
// one, and a reader of one chat learns nothing of the other.
func TestQuoted_OfAnotherChatIsNeverLookedUp(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Contact{JID: bob, PushName: ptr("Bob")}, says(club, bob, "Q1", 1, "the real words"), says(alice, alice, "Q1", 1, "other words"),
		quotes("A1", 2, bridge.Quoted{MsgID: "Q1", ChatJID: club, SenderJID: bob, Content: "claimed words"}))
	for only, name := range map[bridge.JID]string{"": "Bob", alice: ""} {
		var chats []bridge.JID
		if only != "" {
			chats = []bridge.JID{only}
		}
		m, err := s.MessageFor(t.Context(), chats, alice, "A1")
		if err != nil {
			t.Fatal(err)
		}
		want := bridge.Quoted{MsgID: "Q1", ChatJID: club, SenderJID: bob, PushName: name, MessageType: bridge.TypeText, Content: "claimed words", Origin: bridge.QuoteEmbedded}
		if got := *m.Quoted; got.FromMe == nil || *got.FromMe {
			t.Errorf("fromMe: %v", got.FromMe)
		} else if got.FromMe = nil; got != want {
			t.Errorf("a reader of %q sees %+v", only, got)
		}
	}
}

// TestQuoted_IsStoredOnceTheMessageComes, and under any of its ids; and the copy again once
// the message is too old.
func TestQuoted_IsStoredOnceTheMessageComes(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), quotes("A1", 9, bridge.Quoted{MsgID: "Q1", ChatJID: alice, SenderJID: alice, Content: "claimed"}))
	if got := message(t, s, alice, "A1").Quoted; got.Origin != bridge.QuoteEmbedded || got.Content != "claimed" {
		t.Errorf("before: %+v", got)
	}
	save(t, s, says(alice, alice, "Q1", 1, "the real words"))
	if got := message(t, s, alice, "A1").Quoted; got.Origin != bridge.QuoteStored || got.Content != "the real words" || got.MsgID != "Q1" || got.ChatJID != alice {
		t.Errorf("after: %+v", got)
	}
	if _, err := s.Retain(t.Context(), at(5).Time); err != nil {
		t.Fatal(err)
	}
	if got := message(t, s, alice, "A1").Quoted; got.Origin != bridge.QuoteEmbedded || got.Content != "claimed" {
		t.Errorf("once it was removed: %+v", got)
	}
}
