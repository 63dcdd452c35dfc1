package receiving

import (
	"fmt"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/appstate"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestChatState_ShowsOnThePhone: what the API changes of a chat shows on the phone, in the
// list of chats and in the log, and stays after a restart.
func TestChatState_ShowsOnThePhone(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	Pair(t, p, owner)
	chat := bridge.PhoneJID(friend.Number())
	Say(t, friend, owner.PN(), "hello")
	Eventually(t, func() error { _, err := p.API.Chat(Within(t), chat); return err })
	if err := p.API.MarkRead(Within(t), chat, "", ""); err != nil {
		t.Fatal(err)
	}
	before := len(p.AllEvents("&types=chat.updated"))
	until := bridge.At(time.Now().Add(time.Hour).Truncate(time.Second))
	if err := p.API.UpdateChat(Within(t), chat, client.ChatChange{MutedUntil: &until}, "mute"); err != nil {
		t.Fatal(err)
	}
	if err := network.Settle(Within(t)); err != nil {
		t.Fatal(err)
	}
	if log := p.AllEvents("&types=chat.updated")[before:]; len(log) != 1 || log[0].Chat.MutedUntil == nil || !log[0].Chat.MutedUntil.Equal(until.Time) {
		t.Errorf("the log has %+v", log)
	}
	if err := p.API.UpdateChat(Within(t), chat, client.ChatChange{Pinned: new(true), Unread: new(true)}, ""); err != nil {
		t.Fatal(err)
	}
	shown := Must(owner.ChatState(Within(t), friend.PN()))(t)
	if want := (simnet.ChatState{Pinned: true, Unread: true, Muted: true, MutedUntil: until.Local()}); shown != want {
		t.Errorf("the phone shows %+v, want %+v", shown, want)
	}
	p.Restart()
	p.Becomes(bridge.StateOpen)
	if err := p.API.UpdateChat(Within(t), chat, client.ChatChange{MutedUntil: &until}, "mute"); err != nil { // as after a lost answer
		t.Fatal(err)
	}
	stored := Must(p.API.Chat(Within(t), chat))(t)
	if !stored.Pinned || stored.UnreadCount != 1 || stored.MutedUntil == nil || !stored.MutedUntil.Equal(until.Time) {
		t.Errorf("stored %+v", stored)
	}

	// The phone takes all of it back, and the bridge follows.
	if err := p.API.UpdateChat(Within(t), chat, client.ChatChange{Archived: new(true)}, ""); err != nil {
		t.Fatal(err)
	}
	if shown := Must(owner.ChatState(Within(t), friend.LID()))(t); !shown.Archived || shown.Pinned {
		t.Errorf("the phone shows %+v", shown)
	}
	if err := owner.SendAppState(Within(t), appstate.BuildArchive(friend.LID(), false, time.Time{}, nil)); err != nil {
		t.Fatal(err)
	}
	Eventually(t, func() error {
		c, err := p.API.Chat(Within(t), chat)
		if err == nil && c.Archived {
			err = fmt.Errorf("still archived")
		}
		return err
	})
}

// TestBlock_ShowsOnThePhone and in the contact, after a restart, too.
func TestBlock_ShowsOnThePhone(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	Pair(t, p, owner)
	chat := bridge.PhoneJID(friend.Number())
	Say(t, friend, owner.PN(), "hello")
	Eventually(t, func() error { _, err := p.API.Chat(Within(t), chat); return err })
	if err := p.API.Block(Within(t), chat, "block"); err != nil {
		t.Fatal(err)
	}
	p.Restart()
	p.Becomes(bridge.StateOpen)
	if err := p.API.Block(Within(t), chat, "block"); err != nil {
		t.Fatal(err)
	}
	isBlocked := func(want bool) {
		t.Helper()
		Eventually(t, func() error {
			found := Must(p.API.Contacts(Within(t), bridge.ContactQuery{Q: friend.Number()}))(t)
			if len(found.Items) != 1 || found.Items[0].IsBlocked != want || owner.Blocks(friend.Account) != want {
				return fmt.Errorf("the contacts are %+v; the network blocks: %v", found.Items, owner.Blocks(friend.Account))
			}
			return nil
		})
	}
	isBlocked(true)
	if err := owner.Block(Within(t), friend.PN(), false); err != nil {
		t.Fatal(err)
	}
	isBlocked(false)
}
