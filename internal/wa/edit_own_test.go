package wa_test

import (
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// edit replaces the text of an own message.
func (a *account) edit(m bridge.Message, text string, mentions ...bridge.JID) error {
	_, err := a.manager.Send(testContext(a.t), bridge.Outgoing{To: m.Chat, Content: bridge.TextEdit{Target: m, Text: text, Mentions: mentions}})
	return err
}

func (a *account) revoke(m bridge.Message) error {
	_, err := a.manager.Send(testContext(a.t), bridge.Outgoing{To: m.Chat, Content: bridge.Revocation{Target: m}})
	return err
}

// sendStored sends a text and returns its stored row.
func (a *account) sendStored(to bridge.JID, text string) bridge.Message {
	a.t.Helper()
	sent, err := a.send(to, text)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.message(sent.Chat, sent.ID)
}

// shows waits until phones display a message as wanted.
func shows(t *testing.T, id string, want simnet.Bubble, phones ...*simnet.Phone) {
	t.Helper()
	for _, p := range phones {
		if err := p.WaitBubble(testContext(t), id, want); err != nil {
			got, _ := p.Bubble(id)
			t.Fatalf("a phone shows %+v, want %+v: %v", got, want, err)
		}
	}
}

// group creates a group of the account and others, with by as the admin.
func (a *account) group(by *simnet.Phone, byNumber bool, members ...*simnet.Phone) (*simnet.Group, bridge.JID) {
	a.t.Helper()
	g, err := by.CreateGroup(testContext(a.t), simnet.GroupOptions{Subject: "Readers", Members: members, ByNumber: byNumber})
	if err != nil {
		a.t.Fatal(err)
	}
	jid := bridge.JID(g.JID().String())
	eventually(a.t, "the group is known", func() bool {
		known, err := a.store.Group(testContext(a.t), jid)
		return err == nil && len(known.Participants) == len(members)+1
	})
	return g, jid
}

// TestChange_IsSeenByPhones: edits and deletions of own messages, in direct chats
// (by number and by LID alone) and in groups of both kinds, reach the other side's
// phones and the account's own.
func TestChange_IsSeenByPhones(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend, other := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Robin")
	hidden, err := network.NewPhone(testContext(t), simnet.PhoneOptions{Number: "15550100303", Name: "Kim", LIDChats: true})
	if err != nil {
		t.Fatal(err)
	}
	hidden.WithholdMapping(true)
	if _, err := hidden.SendText(testContext(t), a.phone.LID(), "guess who"); err != nil {
		t.Fatal(err)
	}
	_, byLID := a.group(friend, false, a.phone, other)
	_, byNumber := a.group(friend, true, a.phone, other)
	for name, c := range map[string]struct {
		chat   bridge.JID
		phones []*simnet.Phone
	}{
		"number":          {jidOf(friend), []*simnet.Phone{friend, a.phone}},
		"LID":             {bridge.JID(hidden.LID().String()), []*simnet.Phone{hidden, a.phone}},
		"group by LID":    {byLID, []*simnet.Phone{friend, other, a.phone}},
		"group by number": {byNumber, []*simnet.Phone{friend, other, a.phone}},
	} {
		m := a.sendStored(c.chat, "befor "+name)
		if err := a.edit(m, "after "+name); err != nil {
			t.Fatal(name, err)
		}
		shows(t, m.ID, simnet.Bubble{Text: "after " + name, Edited: true}, c.phones...)
		got := a.message(m.Chat, m.ID)
		if got.Content != "after "+name || got.EditedAt == nil || got.DeletedAt != nil || len(got.Raw) == 0 {
			t.Errorf("%s, edited: stored %+v", name, got)
		}
		if err := a.revoke(got); err != nil {
			t.Fatal(name, err)
		}
		shows(t, m.ID, simnet.Bubble{Deleted: true}, c.phones...)
		if got = a.message(m.Chat, m.ID); got.Content != "" || got.DeletedAt == nil || len(got.Raw) != 0 {
			t.Errorf("%s, deleted: stored %+v", name, got)
		}
	}
}

// TestEditOwn_Mentions in the chat's form of address, with the caller's text in the
// store.
func TestEditOwn_Mentions(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	_, chat := a.group(friend, false, a.phone)
	m := a.sendStored(chat, "hello")
	text := "hello @" + friend.PN().User
	if err := a.edit(m, text, jidOf(friend)); err != nil {
		t.Fatal(err)
	}
	shows(t, m.ID, simnet.Bubble{Text: "hello @" + friend.LID().User, Edited: true}, friend)
	change, err := friend.Received(ctx, func(r *simnet.Received) bool { return r.Message.Message.GetProtocolMessage() != nil })
	if err != nil {
		t.Fatal(err)
	}
	info := change.Message.Message.GetProtocolMessage().GetEditedMessage().GetExtendedTextMessage().GetContextInfo()
	if people := info.GetMentionedJID(); len(people) != 1 || people[0] != friend.LID().String() {
		t.Errorf("the edit mentions %v", people)
	}
	got := a.message(chat, m.ID)
	if got.Content != text || got.ContextInfo == nil || len(got.ContextInfo.MentionedJID) != 1 || got.ContextInfo.MentionedJID[0] != jidOf(friend) {
		t.Errorf("stored %q, %+v", got.Content, got.ContextInfo)
	}
}

// TestEditOwn_Captions are sent without the file, which the store keeps.
func TestEditOwn_Captions(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	for name, send := range map[string]func() (simnet.MessageID, error){
		"image": func() (simnet.MessageID, error) {
			return a.phone.SendImage(ctx, friend.PN(), simnet.Media{Data: []byte("picture"), Caption: "befor"})
		},
		"video": func() (simnet.MessageID, error) {
			return a.phone.SendVideo(ctx, friend.PN(), simnet.Media{Data: []byte("film"), Caption: "befor"})
		},
		"document": func() (simnet.MessageID, error) {
			return a.phone.SendDocument(ctx, friend.PN(), simnet.Media{Data: []byte("paper"), Caption: "befor", FileName: "a.pdf"})
		},
	} {
		id, err := send()
		if err != nil {
			t.Fatal(name, err)
		}
		eventually(t, "the own "+name, func() bool {
			_, err := a.store.Message(ctx, jidOf(friend), id)
			return err == nil
		})
		before := a.message(jidOf(friend), id)
		if err := a.edit(before, "after"); err != nil {
			t.Fatal(name, err)
		}
		shows(t, id, simnet.Bubble{Text: "after", Edited: true}, friend)
		got := a.message(jidOf(friend), id)
		if got.Content != "after" || got.MessageType != before.MessageType || got.Media == nil || got.Media.Caption != "after" ||
			string(got.Media.Ref.MediaKey) != string(before.Media.Ref.MediaKey) {
			t.Errorf("%s: stored %+v with %+v", name, got, got.Media)
		}
	}
}

// TestRevocation_ByAnAdmin: other people's messages in groups, with their author in
// the key. Phones ignore revocations by others.
func TestRevocation_ByAnAdmin(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend, other := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Robin")
	for _, byNumber := range []bool{false, true} {
		g, chat := a.group(friend, byNumber, a.phone, other)
		id, err := other.SendText(ctx, g.JID(), "spam")
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the message", func() bool { _, err := a.store.Message(ctx, chat, id); return err == nil })
		// Phones and the store ignore revocations by members who are not admins.
		if err := a.revoke(a.message(chat, id)); err != nil {
			t.Fatal(err)
		}
		mark := a.sendStored(chat, "mark")
		shows(t, mark.ID, simnet.Bubble{Text: "mark"}, friend, other)
		shows(t, id, simnet.Bubble{Text: "spam"}, friend, other)
		if got := a.message(chat, id); got.DeletedAt != nil {
			t.Errorf("deleted without the right to: %+v", got)
		}
		if err := g.Promote(ctx, friend, a.phone); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the account is an admin", func() bool { return a.isAdmin(chat) })
		if err := a.revoke(a.message(chat, id)); err != nil {
			t.Fatal(err)
		}
		shows(t, id, simnet.Bubble{Deleted: true}, friend, other, a.phone)
		if got := a.message(chat, id); got.DeletedAt == nil || got.Content != "" || len(got.Raw) != 0 {
			t.Errorf("stored %+v", got)
		}
	}
}

func (a *account) isAdmin(chat bridge.JID) bool {
	g, err := a.store.Group(testContext(a.t), chat)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, p := range g.Participants {
		if p.JID == jidOf(a.phone) {
			return p.IsAdmin
		}
	}
	return false
}

// TestChange_WithoutAnAnswer leaves the stored message unchanged; the repeated call
// sends the same stanza with the same time, and completes it.
func TestChange_WithoutAnAnswer(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	a.manager.SetWaits(time.Second, time.Minute, 0)
	friend := newPhone(t, network, "15550100301", "Sam")
	m := a.sendStored(jidOf(friend), "befor")
	key := &bridge.SendKey{Key: "K", Route: "PATCH", BodyHash: []byte("hash")}
	edit := bridge.Outgoing{To: m.Chat, Content: bridge.TextEdit{Target: m, Text: "after"}, Key: key}
	a.device().FailSends(simnet.SendFault{LoseAck: true}, simnet.SendFault{LoseAck: true})
	if _, err := a.manager.Send(ctx, edit); bridge.CodeOf(err) != bridge.CodeSendTimeout {
		t.Fatalf("without an answer: %v", err)
	}
	if got := a.message(m.Chat, m.ID); got.Content != "befor" || got.EditedAt != nil {
		t.Errorf("stored %+v", got)
	}
	bound, found, err := a.store.SendKey(ctx, "K")
	if err != nil || !found || !bound.TakenAt.IsZero() || bound.ChangedAt.IsZero() {
		t.Fatalf("key %+v, %v, %v", bound, found, err)
	}
	edit.Key = &bridge.SendKey{Key: "K", Route: "PATCH", BodyHash: []byte("hash"), MsgID: bound.MsgID, ChangedAt: bound.ChangedAt}
	if _, err := a.manager.Send(ctx, edit); err != nil {
		t.Fatal(err)
	}
	if got := a.message(m.Chat, m.ID); got.Content != "after" || got.EditedAt == nil || !got.EditedAt.Equal(bound.ChangedAt.Time) {
		t.Errorf("stored %+v", got)
	}
	if bound, _, err = a.store.SendKey(ctx, "K"); err != nil || bound.TakenAt.IsZero() {
		t.Errorf("key %+v, %v", bound, err)
	}
	shows(t, m.ID, simnet.Bubble{Text: "after", Edited: true}, friend)
	var times []int64
	for _, r := range friend.Messages() {
		if change := r.Message.Message.GetProtocolMessage(); change != nil {
			times = append(times, change.GetTimestampMS())
			if r.Info.ID != bound.MsgID || change.GetTimestampMS() != bound.ChangedAt.UnixMilli() {
				t.Errorf("an edit %s of %d, want %s of %d", r.Info.ID, change.GetTimestampMS(), bound.MsgID, bound.ChangedAt.UnixMilli())
			}
		}
	}
	if len(times) == 0 {
		t.Error("no edit came")
	}
}

// TestChange_Refused by the network changes nothing.
func TestChange_Refused(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	m := a.sendStored(jidOf(friend), "befor")
	for _, change := range []func() error{func() error { return a.edit(m, "after") }, func() error { return a.revoke(m) }} {
		a.device().FailSends(simnet.SendFault{Code: 400})
		if err := change(); bridge.CodeOf(err) != bridge.CodeSendRefused {
			t.Errorf("got %v, want %s", err, bridge.CodeSendRefused)
		}
	}
	if got := a.message(m.Chat, m.ID); got.Content != "befor" || got.EditedAt != nil || got.DeletedAt != nil {
		t.Errorf("stored %+v", got)
	}
}

// TestChange_NotStored is reported: the call may be repeated.
func TestChange_NotStored(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	m := a.sendStored(jidOf(friend), "befor")
	eventually(t, "the receipt", func() bool { return a.delivered(m.Chat, "befor") })
	friend.Disconnect()
	a.manager.BeforeTry(func() { a.fault.Set(bridge.Fail(bridge.CodeStorageUnavailable, "the disk is full")) })
	if err := a.edit(m, "after"); bridge.CodeOf(err) != bridge.CodeStorageUnavailable {
		t.Errorf("got %v, want %s", err, bridge.CodeStorageUnavailable)
	}
	a.manager.BeforeTry(nil)
	a.fault.Set(nil)
	if err := a.edit(m, "after"); err != nil {
		t.Fatal(err)
	}
	if got := a.message(m.Chat, m.ID); got.Content != "after" {
		t.Errorf("stored %+v", got)
	}
}
