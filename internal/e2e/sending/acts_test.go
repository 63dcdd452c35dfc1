package sending

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestActs_AreSeenByPhones: edits, deletions, read receipts and typing by the
// bridge show on the other side, in the store, in searches and in the log.
func TestActs_AreSeenByPhones(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	Pair(t, p, owner)
	chat := bridge.PhoneJID(friend.Number())
	if err := friend.Watch(Within(t), owner); err != nil {
		t.Fatal(err)
	}

	// An edit: after a restart its key still gets the same answer.
	sent := Must(p.API.Send(Within(t), client.Text{To: chat, Text: "the-first-text"}, ""))(t)
	edited := Must(p.API.Edit(Within(t), chat, sent.ID, "the-second-text", nil, "edit"))(t)
	showsOn(p, friend, sent.ID, simnet.Bubble{Text: "the-second-text", Edited: true})
	showsOn(p, owner, sent.ID, simnet.Bubble{Text: "the-second-text", Edited: true})
	m := Must(p.API.Message(Within(t), chat, sent.ID))(t)
	if m.Content != "the-second-text" || m.EditedAt == nil {
		t.Errorf("stored %+v", m)
	}
	for text, want := range map[string]int{"the-first-text": 0, "the-second-text": 1} {
		if found := Must(p.API.Search(Within(t), bridge.SearchQuery{Q: text}))(t); len(found.Items) != want {
			t.Errorf("a search for %s finds %d", text, len(found.Items))
		}
	}
	p.Restart()
	p.Becomes(bridge.StateOpen)
	again := Must(p.API.Edit(Within(t), chat, sent.ID, "the-second-text", nil, "edit"))(t)
	edited.Replayed = true
	if again != edited {
		t.Errorf("repeated: %+v, want %+v", again, edited)
	}

	// That text and a file, deleted for everyone.
	paper := bytes.Repeat([]byte("the-deleted-paper "), 40)
	file := Must(p.API.SendFile(Within(t), client.Upload{To: chat, Type: bridge.MediaDocument, FileName: "the-deleted-name.txt", Caption: "the-deleted-caption"},
		bytes.NewReader(paper), ""))(t)
	path := "/api/messages/media/" + chat.Escaped() + "/" + file.ID
	p.Get(path).Want(http.StatusOK)
	secrets := map[string][]byte{
		"the first text": []byte("the-first-text"), "the second text": []byte("the-second-text"), "the file": []byte("the-deleted-paper"),
		"the caption": []byte("the-deleted-caption"), "the file name": []byte("the-deleted-name"),
	}
	for _, id := range []string{sent.ID, file.ID} {
		Must(p.API.Delete(Within(t), chat, id, ""))(t)
		showsOn(p, friend, id, simnet.Bubble{Deleted: true})
		showsOn(p, owner, id, simnet.Bubble{Deleted: true})
	}
	p.Vanishes(secrets)
	Refused(t, p.Get(path), http.StatusNotFound, bridge.CodeNotFound)
	changes := map[string]int{}
	for _, e := range p.AllEvents("&types=message.updated") {
		changes[e.Message.ID]++
		if e.Message.DeletedAt == nil {
			t.Errorf("the log shows %+v", e.Message)
		}
	}
	if changes[sent.ID] != 2 || changes[file.ID] != 1 {
		t.Errorf("the log has changes %v", changes)
	}

	// Two messages marked as read, and typing an answer.
	one, two := Say(t, friend, owner.PN(), "one"), Say(t, friend, owner.PN(), "two")
	unread := func(want int) {
		t.Helper()
		Eventually(t, func() error {
			c, err := p.API.Chat(Within(t), chat)
			if err == nil && c.UnreadCount != want {
				err = fmt.Errorf("%d unread, want %d", c.UnreadCount, want)
			}
			return err
		})
	}
	unread(2)
	if err := p.API.MarkRead(Within(t), chat, one, ""); err != nil {
		t.Fatal(err)
	}
	unread(1)
	if err := p.API.MarkRead(Within(t), chat, "", ""); err != nil {
		t.Fatal(err)
	}
	unread(0)
	for _, id := range []simnet.MessageID{one, two} {
		Must(friend.WaitReceipt(Within(t), id, types.ReceiptTypeRead))(t)
	}
	if err := p.API.Call(Within(t), "POST", "/api/chats/"+chat.Escaped()+"/typing", Object{"state": bridge.TypingText}, nil); err != nil {
		t.Fatal(err)
	}
	sees := func(typing string, available bool) {
		t.Helper()
		if err := friend.WaitTyping(Within(t), owner.PN(), owner, typing); err != nil {
			t.Fatal(err)
		}
		if err := friend.WaitAvailable(Within(t), owner, available); err != nil {
			t.Fatal(err)
		}
	}
	sees(simnet.Typing, true)
	Must(p.API.Send(Within(t), client.Text{To: chat, Text: "three"}, ""))(t)
	sees("", false)
}

// showsOn waits until a phone displays a message as wanted.
func showsOn(p *Process, phone *simnet.Phone, id string, want simnet.Bubble) {
	p.T.Helper()
	if err := phone.WaitBubble(Within(p.T), id, want); err != nil {
		got, _ := phone.Bubble(id)
		p.T.Fatalf("a phone shows %+v, want %+v: %v", got, want, err)
	}
}

// TestPins_ShowOnPhones: pins of own and received messages, in a chat and in a group, and their end.
func TestPins_ShowOnPhones(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	Pair(t, p, owner)
	group := NewGroup(t, friend, simnet.GroupOptions{Subject: "Walks", Members: []*simnet.Phone{owner}})
	chat, walks := bridge.PhoneJID(friend.Number()), bridge.JID(group.JID().String())
	stored := func(in bridge.JID, id string, pinned bool) {
		t.Helper()
		Eventually(t, func() error {
			m, err := p.API.Message(Within(t), in, id)
			if err == nil && (m.PinnedUntil != nil) != pinned {
				err = fmt.Errorf("pinned until %v, want pinned: %v", m.PinnedUntil, pinned)
			}
			return err
		})
	}
	for in, to := range map[bridge.JID]types.JID{chat: owner.PN(), walks: group.JID()} {
		theirs := Say(t, friend, to, "theirs")
		stored(in, theirs, false)
		own := Must(p.API.Send(Within(t), client.Text{To: in, Text: "own"}, ""))(t)
		for id, text := range map[string]string{theirs: "theirs", own.ID: "own"} {
			pinned := Must(p.API.Pin(Within(t), in, id, "7d", "pin-"+id))(t)
			if again := Must(p.API.Pin(Within(t), in, id, "7d", "pin-"+id))(t); !again.Replayed || again.ID != pinned.ID {
				t.Errorf("repeated: %+v, want %+v", again, pinned)
			}
			showsOn(p, friend, id, simnet.Bubble{Text: text, Pinned: true})
			showsOn(p, owner, id, simnet.Bubble{Text: text, Pinned: true})
			stored(in, id, true)
			Must(p.API.Unpin(Within(t), in, id, ""))(t)
			showsOn(p, friend, id, simnet.Bubble{Text: text})
			stored(in, id, false)
		}
		// A member pins it, and the account unpins it.
		Must(friend.Pin(Within(t), to, simnet.JID{}, theirs, 24*time.Hour))(t)
		stored(in, theirs, true)
		Must(p.API.Unpin(Within(t), in, theirs, ""))(t)
		stored(in, theirs, false)
	}
}

// TestVotes_AreOpenedByPhones: votes in polls of others and of the account, in a chat and in a group.
func TestVotes_AreOpenedByPhones(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	Pair(t, p, owner)
	group := NewGroup(t, friend, simnet.GroupOptions{Subject: "Walks", Members: []*simnet.Phone{owner}})
	chat, options := bridge.PhoneJID(friend.Number()), []string{"Saturday", "Sunday"}
	for in, to := range map[bridge.JID]types.JID{chat: owner.PN(), bridge.JID(group.JID().String()): group.JID()} {
		theirs := Must(friend.SendPoll(Within(t), to, "When?", options, 1))(t)
		Eventually(t, func() error { _, err := p.API.Message(Within(t), in, theirs); return err })
		own := Must(p.API.Send(Within(t), client.Poll{To: in, Name: "Where?", Values: options}, ""))(t)
		for _, poll := range []string{theirs, own.ID} {
			var last *simnet.Received
			for _, vote := range [][]string{{"Sunday"}, {"Saturday"}, nil} {
				Must(p.API.Vote(Within(t), in, poll, vote, ""))(t)
				before := last
				for _, phone := range []*simnet.Phone{friend, owner} {
					sawBefore := before == nil
					received := Must(phone.Received(Within(t), func(r *simnet.Received) bool {
						if r.Message.Message.GetPollUpdateMessage().GetPollCreationMessageKey().GetID() != poll {
							return false
						}
						isNew := sawBefore
						sawBefore = sawBefore || r.Info.ID == before.Info.ID
						return isNew
					}))(t)
					if chosen := Must(phone.OpenVote(Within(t), received, options))(t); !slices.Equal(chosen, vote) {
						t.Errorf("a phone opens a vote for %v, want %v", chosen, vote)
					}
					last = received
				}
				var voted []string
				for _, option := range Must(p.API.Message(Within(t), in, poll))(t).Poll.Options {
					if slices.Equal(option.Voters, []bridge.JID{bridge.PhoneJID(owner.Number())}) {
						voted = append(voted, option.Name)
					}
				}
				if !slices.Equal(voted, vote) {
					t.Errorf("stored are votes for %v, want %v", voted, vote)
				}
			}
		}
	}
}
