package wa_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
)

// groupChanges returns the changes of the group events after a number, in order.
func (a *account) groupChanges(after int64) (changes []*bridge.GroupChanges) {
	a.t.Helper()
	page, err := a.store.Events(testContext(a.t), store.EventQuery{After: after, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventGroupUpdated}}, Limit: 100})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, e := range page.Events {
		changes = append(changes, e.Changes.Group)
	}
	return changes
}

// changesTo runs a change of a group, and checks the only event that follows.
func (a *account) changesTo(what string, change func() error, want bridge.GroupChanges) {
	a.t.Helper()
	ctx := testContext(a.t)
	after, err := a.store.LastEvent(ctx)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := change(); err != nil {
		a.t.Fatalf("%s: %v", what, err)
	}
	if err := a.device().WaitQuiet(ctx); err != nil {
		a.t.Fatal(err)
	}
	if diff := cmp.Diff([]*bridge.GroupChanges{&want}, a.groupChanges(after), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(want, "At")); diff != "" {
		a.t.Errorf("%s: %s", what, diff)
	}
}

// TestGroupChanges_OfPhonesSayWhoDidWhat: each change that a phone makes is one event with one
// change, in groups of LIDs and of numbers.
func TestGroupChanges_OfPhonesSayWhoDidWhat(t *testing.T) {
	t.Parallel()
	for name, byNumber := range map[string]bool{"by LID": false, "by number": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGroupAccount(t)
			ctx, sam, kim := g.ctx, jidOf(g.sam), jidOf(g.kim)
			var group *simnet.Group
			account := []bridge.JID{jidOf(g.phone)}
			g.changesTo("a new group", func() (err error) {
				group, err = g.sam.CreateGroup(ctx, simnet.GroupOptions{Subject: "Crew", Members: []*simnet.Phone{g.phone}, ByNumber: byNumber})
				return err
			}, bridge.GroupChanges{By: sam, Added: account})
			people := []bridge.JID{kim}
			g.changesTo("adding", func() error { return group.Add(ctx, g.sam, g.kim) }, bridge.GroupChanges{By: sam, Added: people})
			g.changesTo("promoting", func() error { return group.Promote(ctx, g.sam, g.kim) }, bridge.GroupChanges{By: sam, Promoted: people})
			g.changesTo("demoting", func() error { return group.Demote(ctx, g.sam, g.kim) }, bridge.GroupChanges{By: sam, Demoted: people})
			g.changesTo("renaming", func() error { return group.SetSubject(ctx, g.sam, "Crew 2") }, bridge.GroupChanges{By: sam, Subject: &bridge.Change[string]{Old: "Crew", New: "Crew 2"}})
			g.changesTo("describing", func() error { return group.SetTopic(ctx, g.sam, "up") }, bridge.GroupChanges{By: sam, Topic: &bridge.Change[string]{New: "up"}})
			g.changesTo("announcing", func() error { return group.SetAnnounce(ctx, g.sam, true) }, bridge.GroupChanges{By: sam, IsAnnounce: &bridge.Change[bool]{New: true}})
			g.changesTo("letting everyone add", func() error { return group.SetAddMode(ctx, g.sam, true) }, bridge.GroupChanges{By: sam, MemberAddMode: &bridge.Change[bridge.MemberAddMode]{Old: "admins", New: "everyone"}})
			g.changesTo("removing", func() error { return group.Remove(ctx, g.sam, g.kim) }, bridge.GroupChanges{By: sam, Removed: people})
			g.changesTo("adding again", func() error { return group.Add(ctx, g.sam, g.kim) }, bridge.GroupChanges{By: sam, Added: people})
			g.changesTo("leaving", func() error { return group.Leave(ctx, g.kim) }, bridge.GroupChanges{By: kim, Left: people})
			g.changesTo("removing the account", func() error { return group.Remove(ctx, g.sam, g.phone) }, bridge.GroupChanges{By: sam, Removed: account})
			g.changesTo("adding the account again", func() error { return group.Add(ctx, g.sam, g.phone) }, bridge.GroupChanges{By: sam, Added: account})
		})
	}
}

// TestGroupChanges_OfTheAccountNameTheAccount: changes through the API are logged once, by the
// account.
func TestGroupChanges_OfTheAccountNameTheAccount(t *testing.T) {
	t.Parallel()
	g := newGroupAccount(t)
	me, kim := jidOf(g.phone), jidOf(g.kim)
	var jid bridge.JID
	g.changesTo("a new group", func() error {
		jid = g.make(bridge.NewGroup{Name: "Crew", Participants: []bridge.JID{jidOf(g.sam)}, Key: "K"})
		return nil
	}, bridge.GroupChanges{By: me, Added: []bridge.JID{me}})
	members := func(action bridge.ParticipantAction) func() error {
		return func() error {
			_, err := g.manager.ChangeParticipants(g.ctx, bridge.ParticipantsChange{Group: jid, Action: action, Participants: []bridge.JID{kim}})
			return err
		}
	}
	people, name := []bridge.JID{kim}, "Crew 2"
	g.changesTo("adding", members(bridge.ParticipantAdd), bridge.GroupChanges{By: me, Added: people})
	g.changesTo("promoting", members("promote"), bridge.GroupChanges{By: me, Promoted: people})
	g.changesTo("demoting", members("demote"), bridge.GroupChanges{By: me, Demoted: people})
	g.changesTo("removing", members("remove"), bridge.GroupChanges{By: me, Removed: people})
	g.changesTo("renaming", func() error {
		_, err := g.manager.ChangeGroup(g.ctx, jid, bridge.GroupPatch{Name: &name})
		return err
	}, bridge.GroupChanges{By: me, Subject: &bridge.Change[string]{Old: "Crew", New: name}})
	g.changesTo("letting admins alone add", func() error {
		_, err := g.manager.ChangeGroup(g.ctx, jid, bridge.GroupPatch{MemberAddMode: new(bridge.AddedByAdmins)})
		return err
	}, bridge.GroupChanges{By: me, MemberAddMode: &bridge.Change[bridge.MemberAddMode]{Old: "everyone", New: "admins"}})
	wire, err := types.ParseJID(string(jid))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.sam.WaitGroup(g.ctx, wire, func(v simnet.GroupView) bool { return v.Name == name && !v.AddedByAll }); err != nil {
		t.Errorf("on a phone: %v", err)
	}
	if live, err := g.manager.LiveGroup(g.ctx, jid); err != nil || live.MemberAddMode != bridge.AddedByAdmins {
		t.Errorf("live %+v, %v", live, err)
	}
	g.changesTo("leaving", func() error { return g.manager.LeaveGroup(g.ctx, jid, false) }, bridge.GroupChanges{By: me, Left: []bridge.JID{me}})
}

// TestGroupNames_WithoutASubjectFollowTheMembers: the name changes when members join or leave.
func TestGroupNames_WithoutASubjectFollowTheMembers(t *testing.T) {
	t.Parallel()
	g := newGroupAccount(t)
	group, err := g.sam.CreateGroup(g.ctx, simnet.GroupOptions{Members: []*simnet.Phone{g.phone}})
	if err != nil {
		t.Fatal(err)
	}
	jid := bridge.JID(group.JID().String())
	named := func(want string) {
		t.Helper()
		eventually(t, "the group's name "+want, func() bool {
			stored, err := g.store.Group(g.ctx, jid)
			return err == nil && stored.Name == want
		})
	}
	named("+" + g.sam.Number())
	if _, err := g.sam.Send(g.ctx, group.JID(), keyed("hello")); err != nil {
		t.Fatal(err)
	}
	named("Sam")
	if err := group.Add(g.ctx, g.sam, g.kim); err != nil {
		t.Fatal(err)
	}
	named("Sam, +" + g.kim.Number())
	if err := group.SetSubject(g.ctx, g.sam, "Crew"); err != nil {
		t.Fatal(err)
	}
	named("Crew")
}
