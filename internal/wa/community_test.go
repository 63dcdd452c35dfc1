package wa_test

import (
	"bytes"
	"database/sql"
	"path/filepath"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// keyed returns a text with a secret of its own, as in the apps.
func keyed(text string) *waE2E.Message {
	return &waE2E.Message{Conversation: proto.String(text), MessageContextInfo: &waE2E.MessageContextInfo{MessageSecret: bytes.Repeat([]byte{7}, 32)}}
}

// announcements creates a community with the account in it, and returns its own
// group and its announcement group.
func (a *account) announcements(by *simnet.Phone, members ...*simnet.Phone) (parent, news *simnet.Group) {
	a.t.Helper()
	ctx := testContext(a.t)
	members = append(members, a.phone)
	parent, err := by.CreateGroup(ctx, simnet.GroupOptions{Subject: "Town", Community: true, Members: members})
	if err != nil {
		a.t.Fatal(err)
	}
	if news, err = by.CreateGroup(ctx, simnet.GroupOptions{Subject: "News", AnnouncementsOf: parent, Members: members}); err != nil {
		a.t.Fatal(err)
	}
	return parent, news
}

// TestCommunity_ReactionsAreEncrypted in announcement groups, both ways, even those
// to a message whose secret whatsmeow has dropped.
func TestCommunity_ReactionsAreEncrypted(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	admin, reader := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Robin")
	_, news := a.announcements(admin, reader)
	chat := bridge.JID(news.JID().String())
	a.device().HoldBack("NEWS1")
	for _, id := range []string{"NEWS1", "NEWS2"} {
		if _, err := admin.Send(ctx, news.JID(), keyed(id), simnet.WithID(id)); err != nil {
			t.Fatal(err)
		}
		got, err := reader.ReceivedID(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reader.ReactEncrypted(ctx, got, "👍"); err != nil {
			t.Fatal(err)
		}
	}
	reacted := func(id string, count int) func() bool {
		return func() bool {
			m, err := a.store.Message(ctx, chat, id)
			return err == nil && len(m.Reactions) == count && m.Reactions[0].SenderJID == jidOf(reader)
		}
	}
	eventually(t, "the reaction behind its message", reacted("NEWS2", 1))
	a.device().Release()
	eventually(t, "the reaction that came first", reacted("NEWS1", 1))

	for round, emoji := range []string{"🎉", ""} {
		if round == 1 {
			forgetSecrets(t, dir)
		}
		_, err := a.manager.Send(ctx, bridge.Outgoing{To: chat, Content: bridge.Reaction{Target: a.message(chat, "NEWS2"), Emoji: emoji}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := admin.Received(ctx, func(r *simnet.Received) bool {
			return r.Message.Message.GetEncReactionMessage() != nil && r.Info.PushName == "Alex" && r.Info.ID != "" && opens(t, admin, r, emoji)
		})
		if err != nil {
			t.Fatalf("reaction %q: %v", emoji, err)
		}
		if key := got.Message.Message.GetEncReactionMessage().GetTargetMessageKey(); key.GetID() != "NEWS2" || key.GetParticipant() != admin.LID().String() {
			t.Errorf("the reaction is about %v", key)
		}
	}
	eventually(t, "the own reaction is taken off", reacted("NEWS2", 1))
}

func opens(t *testing.T, p *simnet.Phone, r *simnet.Received, emoji string) bool {
	t.Helper()
	reaction, err := p.OpenReaction(testContext(t), r)
	if err != nil {
		t.Errorf("a phone cannot read the reaction: %v", err)
		return true
	}
	return reaction.GetText() == emoji
}

// forgetSecrets removes whatsmeow's secrets of messages.
func forgetSecrets(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "session.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(testContext(t), "DELETE FROM whatsmeow_message_secrets"); err != nil {
		t.Fatal(err)
	}
}

// TestCommunity_CommentsQuoteTheirMessage, even if they come before it.
func TestCommunity_CommentsQuoteTheirMessage(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	admin, reader := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Robin")
	_, news := a.announcements(admin, reader)
	if err := news.Promote(ctx, admin, reader); err != nil {
		t.Fatal(err)
	}
	chat := bridge.JID(news.JID().String())
	a.device().HoldBack("NEWS")
	if _, err := admin.Send(ctx, news.JID(), keyed("news"), simnet.WithID("NEWS")); err != nil {
		t.Fatal(err)
	}
	got, err := reader.ReceivedID(ctx, "NEWS")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"EARLY1", "EARLY2"} {
		if _, err := reader.Comment(ctx, got, "comment "+id, simnet.WithID(id)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the places of the comments", func() bool { return len(a.messages(chat)) == 2 })
	if m := a.message(chat, "EARLY1"); m.MessageType != bridge.TypeUndecryptable || m.Content != "" {
		t.Errorf("before its message: %+v", m)
	}
	a.device().Release()
	eventually(t, "the message", func() bool { return len(a.messages(chat)) == 3 })
	if _, err := reader.Comment(ctx, got, "comment LATE", simnet.WithID("LATE")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the last comment", func() bool { return len(a.messages(chat)) == 4 })
	for _, id := range []string{"EARLY1", "EARLY2", "LATE"} {
		m := a.message(chat, id)
		if m.MessageType != "conversation" || m.Content != "comment "+id || m.PushName != "Robin" || m.SenderJID != jidOf(reader) {
			t.Errorf("comment: %+v", m)
		}
		if c := m.ContextInfo; c == nil || c.QuotedMsgID == nil || *c.QuotedMsgID != "NEWS" || c.QuotedSenderJID != jidOf(admin) {
			t.Errorf("%s quotes %+v", id, c)
		}
	}
}

// TestCommunity_IsNoChat: it cannot be written to, and the error names the group to
// use.
func TestCommunity_IsNoChat(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	admin := newPhone(t, network, "15550100301", "Sam")
	parent, news := a.announcements(admin)
	for range 2 { // asked of the network, then remembered
		_, err := a.send(bridge.JID(parent.JID().String()), "hello")
		if bridge.CodeOf(err) != bridge.CodeNotAChat {
			t.Errorf("got %v, want %s", err, bridge.CodeNotAChat)
		}
	}
	if list := a.messages(bridge.JID(parent.JID().String())); len(list) != 0 {
		t.Errorf("stored: %+v", list)
	}
	page, err := a.store.Chats(ctx, bridge.ChatQuery{Kind: bridge.KindCommunity})
	if err != nil || len(page.Items) != 1 || page.Items[0].JID != bridge.JID(parent.JID().String()) {
		t.Errorf("the communities: %+v, %v", page.Items, err)
	}
	if err := news.Promote(ctx, admin, a.phone); err != nil {
		t.Fatal(err)
	}
	if _, err := a.send(bridge.JID(news.JID().String()), "hello"); err != nil {
		t.Error(err)
	}
}
