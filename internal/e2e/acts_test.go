package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// TestActs_AreSeenByPhones: edits, deletions, read receipts and typing by the
// bridge show on the other side, in the store, in searches and in the log.
func TestActs_AreSeenByPhones(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	pair(t, p, owner)
	chat := bridge.PhoneJID(friend.Number())
	if err := friend.Watch(within(t), owner); err != nil {
		t.Fatal(err)
	}

	// An edit: after a restart its key still gets the same answer.
	sent := must(p.api.Send(within(t), client.Text{To: chat, Text: "the-first-text"}, ""))(t)
	edited := must(p.api.Edit(within(t), chat, sent.ID, "the-second-text", nil, "edit"))(t)
	p.shows(friend, sent.ID, simnet.Bubble{Text: "the-second-text", Edited: true})
	p.shows(owner, sent.ID, simnet.Bubble{Text: "the-second-text", Edited: true})
	m := must(p.api.Message(within(t), chat, sent.ID))(t)
	if m.Content != "the-second-text" || m.EditedAt == nil {
		t.Errorf("stored %+v", m)
	}
	for text, want := range map[string]int{"the-first-text": 0, "the-second-text": 1} {
		if found := must(p.api.Search(within(t), bridge.SearchQuery{Q: text}))(t); len(found.Items) != want {
			t.Errorf("a search for %s finds %d", text, len(found.Items))
		}
	}
	p.restart()
	p.becomes(bridge.StateOpen)
	again := must(p.api.Edit(within(t), chat, sent.ID, "the-second-text", nil, "edit"))(t)
	edited.Replayed = true
	if again != edited {
		t.Errorf("repeated: %+v, want %+v", again, edited)
	}

	// That text and a file, deleted for everyone.
	paper := bytes.Repeat([]byte("the-deleted-paper "), 40)
	file := must(p.api.SendFile(within(t), client.Upload{To: chat, Type: bridge.MediaDocument, FileName: "the-deleted-name.txt", Caption: "the-deleted-caption"},
		bytes.NewReader(paper), ""))(t)
	path := "/api/messages/media/" + chat.Escaped() + "/" + file.ID
	p.Get(path).Want(http.StatusOK)
	secrets := map[string][]byte{
		"the first text": []byte("the-first-text"), "the second text": []byte("the-second-text"), "the file": []byte("the-deleted-paper"),
		"the caption": []byte("the-deleted-caption"), "the file name": []byte("the-deleted-name"),
	}
	for _, id := range []string{sent.ID, file.ID} {
		must(p.api.Delete(within(t), chat, id, ""))(t)
		p.shows(friend, id, simnet.Bubble{Deleted: true})
		p.shows(owner, id, simnet.Bubble{Deleted: true})
	}
	p.vanishes(secrets)
	refused(t, p.Get(path), http.StatusNotFound, bridge.CodeNotFound)
	changes := map[string]int{}
	for _, e := range p.allEvents("&types=message.updated") {
		changes[e.Message.ID]++
		if e.Message.DeletedAt == nil {
			t.Errorf("the log shows %+v", e.Message)
		}
	}
	if changes[sent.ID] != 2 || changes[file.ID] != 1 {
		t.Errorf("the log has changes %v", changes)
	}

	// Two messages marked as read, and typing an answer.
	one, two := say(t, friend, owner.PN(), "one"), say(t, friend, owner.PN(), "two")
	unread := func(want int) {
		t.Helper()
		eventually(t, func() error {
			c, err := p.api.Chat(within(t), chat)
			if err == nil && c.UnreadCount != want {
				err = fmt.Errorf("%d unread, want %d", c.UnreadCount, want)
			}
			return err
		})
	}
	unread(2)
	if err := p.api.MarkRead(within(t), chat, one, ""); err != nil {
		t.Fatal(err)
	}
	unread(1)
	if err := p.api.MarkRead(within(t), chat, "", ""); err != nil {
		t.Fatal(err)
	}
	unread(0)
	for _, id := range []simnet.MessageID{one, two} {
		must(friend.WaitReceipt(within(t), id, types.ReceiptTypeRead))(t)
	}
	if err := p.api.Call(within(t), "POST", "/api/chats/"+chat.Escaped()+"/typing", object{"state": bridge.TypingText}, nil); err != nil {
		t.Fatal(err)
	}
	sees := func(typing string, available bool) {
		t.Helper()
		if err := friend.WaitTyping(within(t), owner.PN(), owner, typing); err != nil {
			t.Fatal(err)
		}
		if err := friend.WaitAvailable(within(t), owner, available); err != nil {
			t.Fatal(err)
		}
	}
	sees(simnet.Typing, true)
	must(p.api.Send(within(t), client.Text{To: chat, Text: "three"}, ""))(t)
	sees("", false)
}

// shows waits until a phone displays a message as wanted.
func (p *process) shows(phone *simnet.Phone, id string, want simnet.Bubble) {
	p.t.Helper()
	if err := phone.WaitBubble(within(p.t), id, want); err != nil {
		got, _ := phone.Bubble(id)
		p.t.Fatalf("a phone shows %+v, want %+v: %v", got, want, err)
	}
}
