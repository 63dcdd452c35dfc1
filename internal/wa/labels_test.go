package wa_test

import (
	"testing"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// labelOf returns a member's stored label.
func (a *account) labelOf(group, member bridge.JID) string {
	a.t.Helper()
	g, err := a.store.Group(testContext(a.t), group)
	if err != nil {
		return ""
	}
	for _, p := range g.Participants {
		if p.JID == member {
			return p.Label
		}
	}
	return "(no member)"
}

func TestLabels_OfMembersAreStored(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: "Crew", Members: []*simnet.Phone{a.phone}})
	if err != nil {
		t.Fatal(err)
	}
	jid := bridge.JID(group.JID().String())
	is := func(member *simnet.Phone, want string) {
		t.Helper()
		eventually(t, "the label "+want, func() bool { return a.labelOf(jid, jidOf(member)) == want })
	}
	set := func(member *simnet.Phone, label string) {
		t.Helper()
		if err := member.SetLabel(ctx, group, label); err != nil {
			t.Fatal(err)
		}
		is(member, label)
	}
	set(friend, "Captain ⚓")
	set(a.phone, "Cook") // of the account itself
	before := len(a.messages(jid))
	if _, err := friend.SendText(ctx, group.JID(), "ahoy", simnet.Labelled("Admiral", time.Now().Add(time.Minute))); err != nil {
		t.Fatal(err)
	}
	is(friend, "Admiral")
	if _, err := friend.SendText(ctx, group.JID(), "from long ago", simnet.Labelled("Cabin boy", time.Now().Add(-time.Hour))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both messages", func() bool { return len(a.messages(jid)) == before+2 })
	is(friend, "Admiral")
	if err := group.SetSubject(ctx, friend, "The crew"); err != nil { // this event does not include the members' labels
		t.Fatal(err)
	}
	eventually(t, "the new name", func() bool { g, err := a.store.Group(ctx, jid); return err == nil && g.Name == "The crew" })
	is(friend, "Admiral")
}

// The phone sends a new device the labels of members.
func TestLabels_ComeWithTheHistory(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := startAccount(t, network, t.TempDir())
	a.phone = newPhone(t, network, accountNumber, "Alex")
	friend := newPhone(t, network, "15550100301", "Sam")
	group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: "Crew", Members: []*simnet.Phone{a.phone}})
	if err != nil {
		t.Fatal(err)
	}
	a.phone.SetPast(simnet.Past{With: group.JID(), Name: "Crew", Labels: map[types.JID]string{friend.LID(): "Captain"}})
	a.pair()
	eventually(t, "the label", func() bool { return a.labelOf(bridge.JID(group.JID().String()), jidOf(friend)) == "Captain" })
}
