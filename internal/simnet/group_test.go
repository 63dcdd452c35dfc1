package simnet_test

import (
	"errors"
	"regexp"
	"slices"
	"testing"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet"
)

func newGroup(t *testing.T, owner *simnet.Phone, opts simnet.GroupOptions) *simnet.Group {
	t.Helper()
	g, err := owner.CreateGroup(within(t), opts)
	if err != nil {
		t.Fatalf("create the group: %v", err)
	}
	return g
}

func TestGroups_CarryMessagesInEitherAddressingMode(t *testing.T) {
	for _, byNumber := range []bool{false, true} {
		name := map[bool]string{false: "by LID", true: "by number"}[byNumber]
		t.Run(name, func(t *testing.T) {
			n, own, anna, c := pair(t)
			ben := newPhone(t, n, "4915100000003", "Ben")
			id := map[bool]string{false: "", true: "4915100000002-1600000000"}[byNumber]
			g := newGroup(t, anna, simnet.GroupOptions{Subject: "Hikers", Members: []*simnet.Phone{own, ben}, ByNumber: byNumber, ID: id})
			if id == "" && !regexp.MustCompile(`^120363\d{12}$`).MatchString(g.JID().User) {
				t.Errorf("its id is %s, not one as the network makes them", g.JID().User)
			}
			joined := await[*events.JoinedGroup](c, nil)
			if joined.Name != "Hikers" || len(joined.Participants) != 3 || joined.JID != g.JID() {
				t.Errorf("joined %+v", joined.GroupInfo)
			}
			sender, alt, mode := anna.LID(), anna.PN(), types.AddressingModeLID
			if byNumber {
				sender, alt, mode = anna.PN(), anna.LID(), types.AddressingModePN
			}
			mustSend(t, anna, g.JID(), "first")
			if m := c.text("first"); m.Info.Sender != sender || m.Info.SenderAlt != alt || m.Info.Chat != g.JID() || m.Info.AddressingMode != mode {
				t.Errorf("first: %+v", m.Info)
			}
			mustReceive(t, ben, "first")
			mustSend(t, own, g.JID(), "mine")
			if m := c.text("mine"); !m.Info.IsFromMe || m.Info.Chat != g.JID() {
				t.Errorf("mine: %+v", m.Info)
			}
			c.send(g.JID(), "from the companion")
			for _, p := range []*simnet.Phone{own, anna, ben} {
				mustReceive(t, p, "from the companion")
			}
			info, err := c.cli.GetGroupInfo(within(t), g.JID())
			if err != nil || info.Name != "Hikers" || info.AddressingMode != mode || len(info.Participants) != 3 {
				t.Errorf("info %+v: %v", info, err)
			}
			if p := info.Participants[0]; p.JID != sender || !p.IsSuperAdmin || p.LID != anna.LID() || p.PhoneNumber != anna.PN() {
				t.Errorf("first participant %+v", p)
			}
		})
	}
}

func TestGroups_ChangesAreAnnounced(t *testing.T) {
	n, own, anna, c := pair(t)
	ben := newPhone(t, n, "4915100000003", "Ben")
	g := newGroup(t, anna, simnet.GroupOptions{Subject: "Hikers", Members: []*simnet.Phone{own}})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	change := func(what string, match func(*events.GroupInfo) bool) {
		t.Helper()
		await(c, match)
	}
	must(g.Add(within(t), anna, ben))
	change("add", func(e *events.GroupInfo) bool { return slices.Contains(e.Join, ben.LID()) })
	mustSend(t, ben, g.JID(), "here I am")
	c.text("here I am")
	c.send(g.JID(), "welcome")
	mustReceive(t, ben, "welcome")
	must(g.Promote(within(t), anna, ben))
	change("promote", func(e *events.GroupInfo) bool { return slices.Contains(e.Promote, ben.LID()) })
	must(g.SetSubject(within(t), ben, "Climbers"))
	change("subject", func(e *events.GroupInfo) bool { return e.Name != nil && e.Name.Name == "Climbers" })
	must(g.SetTopic(within(t), ben, "up"))
	change("topic", func(e *events.GroupInfo) bool { return e.Topic != nil && e.Topic.Topic == "up" })
	must(g.SetTopic(within(t), ben, ""))
	change("topic gone", func(e *events.GroupInfo) bool { return e.Topic != nil && e.Topic.TopicDeleted })
	must(g.SetLocked(within(t), ben, true))
	change("locked", func(e *events.GroupInfo) bool { return e.Locked != nil && e.Locked.IsLocked })
	must(g.SetEphemeral(within(t), ben, 86400))
	change("ephemeral", func(e *events.GroupInfo) bool { return e.Ephemeral != nil && e.Ephemeral.DisappearingTimer == 86400 })
	must(g.SetAnnounce(within(t), ben, true))
	change("announce", func(e *events.GroupInfo) bool { return e.Announce != nil && e.Announce.IsAnnounce })
	if _, err := own.SendText(within(t), g.JID(), "may I?"); !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		t.Errorf("a plain member wrote into an announcement group: %v", err)
	}
	if err := g.SetSubject(within(t), own, "Swimmers"); !errors.Is(err, simnet.ErrNotAllowed) {
		t.Errorf("a plain member renamed a locked group: %v", err)
	}
	must(g.Demote(within(t), anna, ben))
	change("demote", func(e *events.GroupInfo) bool { return slices.Contains(e.Demote, ben.LID()) })
	must(g.Leave(within(t), ben))
	change("leave", func(e *events.GroupInfo) bool { return slices.Contains(e.Leave, ben.LID()) })
	must(g.Remove(within(t), anna, own))
	change("remove", func(e *events.GroupInfo) bool { return slices.Contains(e.Leave, own.LID()) })
	if _, err := c.cli.GetGroupInfo(within(t), g.JID()); !errors.Is(err, whatsmeow.ErrNotInGroup) {
		t.Errorf("info of a group that one was removed from: %v", err)
	}
	if _, err := c.cli.GetGroupInfo(within(t), types.NewJID("120363000000000000", types.GroupServer)); !errors.Is(err, whatsmeow.ErrGroupNotFound) {
		t.Errorf("info of a group that is not there: %v", err)
	}
}

func TestGroups_TheClientManagesThem(t *testing.T) {
	n, own, anna, c := pair(t)
	ben := newPhone(t, n, "4915100000003", "Ben")
	mustSend(t, anna, own.PN(), "hi")
	c.text("hi")
	info, err := c.cli.CreateGroup(within(t), whatsmeow.ReqCreateGroup{Name: "Made here", Participants: []types.JID{anna.PN()}})
	if err != nil {
		t.Fatal(err)
	}
	if err = n.Settle(within(t)); err != nil {
		t.Fatal(err)
	}
	c.send(info.JID, "welcome")
	mustReceive(t, anna, "welcome")
	added, err := c.cli.UpdateGroupParticipants(within(t), info.JID, []types.JID{ben.PN()}, whatsmeow.ParticipantChangeAdd)
	if err != nil || len(added) != 1 || added[0].Error != 0 {
		t.Fatalf("added %+v: %v", added, err)
	}
	if err = c.cli.SetGroupName(within(t), info.JID, "Renamed"); err != nil {
		t.Fatal(err)
	}
	if err = c.cli.SetGroupTopic(within(t), info.JID, "", "", "topic"); err != nil {
		t.Fatal(err)
	}
	g, ok := n.Group(info.JID)
	if !ok || g.Name() != "Renamed" || len(g.Members()) != 3 {
		t.Errorf("the group is %q with %v", g.Name(), g.Members())
	}
	joined, err := c.cli.GetJoinedGroups(within(t))
	if err != nil || len(joined) != 1 || joined[0].Topic != "topic" {
		t.Errorf("joined %+v: %v", joined, err)
	}
	link, err := c.cli.GetGroupInviteLink(within(t), info.JID, false)
	if err != nil || link == "" {
		t.Errorf("invite %q: %v", link, err)
	}
	if err = c.cli.LeaveGroup(within(t), info.JID); err != nil {
		t.Fatal(err)
	}
	if len(g.Members()) != 2 {
		t.Errorf("members after leaving: %v", g.Members())
	}
}

func TestGroups_ReceiptsReachTheSender(t *testing.T) {
	_, own, anna, c := pair(t)
	g := newGroup(t, anna, simnet.GroupOptions{Subject: "Hikers", Members: []*simnet.Phone{own}})
	id := c.send(g.JID(), "who reads?")
	r := mustReceive(t, anna, "who reads?")
	if err := anna.MarkRead(within(t), r); err != nil {
		t.Fatal(err)
	}
	receipt := await(c, func(e *events.Receipt) bool {
		return slices.Contains(e.MessageIDs, id) && e.Type == types.ReceiptTypeRead
	})
	if receipt.Chat != g.JID() || receipt.Sender.User != anna.LID().User {
		t.Errorf("read receipt %+v", receipt.MessageSource)
	}
}
