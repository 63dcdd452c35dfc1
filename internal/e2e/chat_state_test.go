package e2e

import (
	"fmt"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/appstate"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// TestChatState_ShowsOnThePhone: what the API changes of a chat shows on the phone, in the
// list of chats and in the log, and stays after a restart.
func TestChatState_ShowsOnThePhone(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	pair(t, p, owner)
	chat := bridge.PhoneJID(friend.Number())
	say(t, friend, owner.PN(), "hello")
	eventually(t, func() error { _, err := p.api.Chat(within(t), chat); return err })
	if err := p.api.MarkRead(within(t), chat, "", ""); err != nil {
		t.Fatal(err)
	}
	before := len(p.allEvents("&types=chat.updated"))
	until := bridge.At(time.Now().Add(time.Hour).Truncate(time.Second))
	if err := p.api.UpdateChat(within(t), chat, client.ChatChange{MutedUntil: &until}, "mute"); err != nil {
		t.Fatal(err)
	}
	if err := network.Settle(within(t)); err != nil {
		t.Fatal(err)
	}
	if log := p.allEvents("&types=chat.updated")[before:]; len(log) != 1 || log[0].Chat.MutedUntil == nil || !log[0].Chat.MutedUntil.Equal(until.Time) {
		t.Errorf("the log has %+v", log)
	}
	if err := p.api.UpdateChat(within(t), chat, client.ChatChange{Pinned: new(true), Unread: new(true)}, ""); err != nil {
		t.Fatal(err)
	}
	shown := must(owner.ChatState(within(t), friend.PN()))(t)
	if want := (simnet.ChatState{Pinned: true, Unread: true, Muted: true, MutedUntil: until.Local()}); shown != want {
		t.Errorf("the phone shows %+v, want %+v", shown, want)
	}
	p.restart()
	p.becomes(bridge.StateOpen)
	if err := p.api.UpdateChat(within(t), chat, client.ChatChange{MutedUntil: &until}, "mute"); err != nil { // as after a lost answer
		t.Fatal(err)
	}
	stored := must(p.api.Chat(within(t), chat))(t)
	if !stored.Pinned || stored.UnreadCount != 1 || stored.MutedUntil == nil || !stored.MutedUntil.Equal(until.Time) {
		t.Errorf("stored %+v", stored)
	}

	// The phone takes all of it back, and the bridge follows.
	if err := p.api.UpdateChat(within(t), chat, client.ChatChange{Archived: new(true)}, ""); err != nil {
		t.Fatal(err)
	}
	if shown := must(owner.ChatState(within(t), friend.LID()))(t); !shown.Archived || shown.Pinned {
		t.Errorf("the phone shows %+v", shown)
	}
	if err := owner.SendAppState(within(t), appstate.BuildArchive(friend.LID(), false, time.Time{}, nil)); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		c, err := p.api.Chat(within(t), chat)
		if err == nil && c.Archived {
			err = fmt.Errorf("still archived")
		}
		return err
	})
}

// TestBlock_ShowsOnThePhone and in the contact, after a restart, too.
func TestBlock_ShowsOnThePhone(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	pair(t, p, owner)
	chat := bridge.PhoneJID(friend.Number())
	say(t, friend, owner.PN(), "hello")
	eventually(t, func() error { _, err := p.api.Chat(within(t), chat); return err })
	if err := p.api.Block(within(t), chat, "block"); err != nil {
		t.Fatal(err)
	}
	p.restart()
	p.becomes(bridge.StateOpen)
	if err := p.api.Block(within(t), chat, "block"); err != nil {
		t.Fatal(err)
	}
	isBlocked := func(want bool) {
		t.Helper()
		eventually(t, func() error {
			found := must(p.api.Contacts(within(t), bridge.ContactQuery{Q: friend.Number()}))(t)
			if len(found.Items) != 1 || found.Items[0].IsBlocked != want || owner.Blocks(friend.Account) != want {
				return fmt.Errorf("the contacts are %+v; the network blocks: %v", found.Items, owner.Blocks(friend.Account))
			}
			return nil
		})
	}
	isBlocked(true)
	if err := owner.Block(within(t), friend.PN(), false); err != nil {
		t.Fatal(err)
	}
	isBlocked(false)
}
