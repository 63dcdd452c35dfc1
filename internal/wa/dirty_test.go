package wa_test

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestDirty_GroupsAreReadAnew: the network has not kept the changes of groups, and reports
// that with a login. All groups are read with one query, and the report is cleared.
func TestDirty_GroupsAreReadAnew(t *testing.T) {
	t.Parallel()
	ctx, network := testContext(t), newNetwork(t)
	a := newAccount(t, network)
	sam, kim := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Kim")
	group, jid := a.group(sam, false, a.phone)
	device := a.device()
	if err := device.WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	device.MissGroupChanges(true) // a login meanwhile would read the groups too early
	if err := group.SetSubject(ctx, sam, "Writers"); err != nil {
		t.Fatal(err)
	}
	if err := group.Add(ctx, sam, kim); err != nil {
		t.Fatal(err)
	}
	other, err := sam.CreateGroup(ctx, simnet.GroupOptions{Subject: "New", Members: []*simnet.Phone{a.phone}})
	if err != nil {
		t.Fatal(err)
	}
	device.MissGroupChanges(false)
	device.Drop()
	eventually(t, "the changes", func() bool {
		g, err := a.store.Group(ctx, jid)
		return err == nil && g.Name == "Writers" && len(g.Participants) == 3
	})
	eventually(t, "the new group", func() bool {
		g, err := a.store.Group(ctx, bridge.JID(other.JID().String()))
		return err == nil && g.Name == "New"
	})
	eventually(t, "the end of the report", func() bool { return !device.Dirty("groups") })
	queries, logins := device.Queries("w:g2"), device.Counters().Logins
	device.Drop()
	if err := device.WaitLogins(ctx, logins+1); err != nil {
		t.Fatal(err)
	}
	a.waitState(bridge.StateOpen)
	if got := device.Queries("w:g2") - queries; got != 0 {
		t.Errorf("%d queries about groups after the next login, want 0", got)
	}
}
