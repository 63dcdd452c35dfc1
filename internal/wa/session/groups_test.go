package session

import (
	"errors"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet"
)

// TestQuirk_AGroupWhoseAnswerIsLostIsMadeTwice: whatsmeow repeats the query by
// itself on the next connection. That is why changes of groups do not go through
// it.
func TestQuirk_AGroupWhoseAnswerIsLostIsMadeTwice(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx := plainContext(t)
	count := func() int {
		t.Helper()
		groups, err := c.phone.Client().GetJoinedGroups(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return len(groups)
	}
	c.device.FailQueries(simnet.IQFault{Namespace: "w:g2", Tag: "create", LoseAnswer: true, HangUp: true, Times: 1})
	if _, err := c.CreateGroup(ctx, whatsmeow.ReqCreateGroup{Name: "Twice", Participants: []types.JID{c.friend.PN()}}); err != nil {
		t.Fatal(err)
	}
	if got := count(); got != 2 {
		t.Errorf("whatsmeow made %d groups", got)
	}
	c.device.FailQueries(simnet.IQFault{Namespace: "w:g2", Tag: "create", LoseAnswer: true, HangUp: true, Times: 1})
	node := waBinary.Node{
		Tag: "create", Attrs: waBinary.Attrs{"subject": "Once", "key": "K"},
		Content: []waBinary.Node{{Tag: "participant", Attrs: waBinary.Attrs{"jid": c.friend.PN()}}},
	}
	_, err := clientOf(c).ChangeGroups(ctx, types.GroupServerJID, node, time.Minute)
	var lost *whatsmeow.DisconnectedError
	if !errors.As(err, &lost) {
		t.Errorf("a lost answer is %v", err)
	}
	if got := count(); got != 3 {
		t.Errorf("%d groups, want one more than 2", got)
	}
}

// TestQuirk_MembersThatAreNotedGetTheNextMessage, before the network reports them.
func TestQuirk_MembersThatAreNotedGetTheNextMessage(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx := plainContext(t)
	group, err := c.phone.CreateGroup(ctx, simnet.GroupOptions{Subject: "crew"})
	if err != nil {
		t.Fatal(err)
	}
	l := clientOf(c)
	for _, change := range []struct {
		events.GroupInfo
		want int
	}{{events.GroupInfo{}, 1}, {events.GroupInfo{Join: []types.JID{c.friend.LID()}}, 2}, {events.GroupInfo{Leave: []types.JID{c.friend.LID()}}, 1}} {
		if change.want != 1 || len(change.Leave) > 0 {
			change.JID = group.JID()
			l.NoteMembers(&change.GroupInfo)
		}
		members, err := l.groupMembers(ctx, group.JID())
		if err != nil || len(members) != change.want {
			t.Errorf("after %+v: %v, %v", change.GroupInfo, members, err)
		}
	}
}
