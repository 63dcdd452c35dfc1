package wa_test

import (
	"slices"
	"testing"

	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
)

// guarded creates a group of the account's with approval of new members.
func (a *account) guarded(members ...*simnet.Phone) (*simnet.Group, bridge.JID, string) {
	a.t.Helper()
	ctx := testContext(a.t)
	group, err := a.phone.CreateGroup(ctx, simnet.GroupOptions{Subject: "Readers", Members: members})
	if err != nil {
		a.t.Fatal(err)
	}
	jid := bridge.JID(group.JID().String())
	eventually(a.t, "the group", func() bool { g, err := a.store.Group(ctx, jid); return err == nil && g.Name == "Readers" })
	on := true
	if changed, err := a.manager.ChangeGroup(ctx, jid, bridge.GroupPatch{JoinApproval: &on}); err != nil || !slices.Equal(changed, []string{"joinApproval"}) {
		a.t.Fatalf("changed %v, %v", changed, err)
	}
	link, err := group.Link(ctx, a.phone)
	if err != nil {
		a.t.Fatal(err)
	}
	return group, jid, link
}

// asking returns the log's requests to join after an event: "+" and "-" with their
// JIDs.
func (a *account) asking(after int64) (told []string) {
	a.t.Helper()
	page, err := a.store.Events(testContext(a.t), store.EventQuery{After: after, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventGroupUpdated}}})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, e := range page.Events {
		if e.JoinRequests == nil {
			continue
		}
		for _, r := range e.JoinRequests.Created {
			told = append(told, "+"+string(r.JID))
		}
		for _, r := range e.JoinRequests.Revoked {
			told = append(told, "-"+string(r.JID))
		}
	}
	return told
}

func (a *account) waitAsking(after int64, want ...string) {
	a.t.Helper()
	eventually(a.t, "the log's requests to join", func() bool { return slices.Equal(a.asking(after), want) })
}

func TestJoinRequests_AreReportedListedAndDecided(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	anna, ben, carla := newPhone(t, network, "15550100301", "Anna"), newPhone(t, network, "15550100302", "Ben"), newPhone(t, network, "15550100303", "Carla")
	group, jid, link := a.guarded()
	ask := func(p *simnet.Phone) {
		t.Helper()
		if _, err := p.Client().JoinGroupWithLink(ctx, link); err != nil {
			t.Fatal(err)
		}
	}
	last, err := a.store.LastEvent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ask(anna)
	ask(ben)
	ask(carla)
	plus := func(p *simnet.Phone) string { return "+" + string(jidOf(p)) }
	a.waitAsking(last, plus(anna), plus(ben), plus(carla))
	requests, err := a.manager.JoinRequests(ctx, jid)
	if err != nil || len(requests) != 3 || requests[0].JID != jidOf(anna) || requests[0].LID != bridge.JID(anna.LID().String()) || requests[0].RequestedAt == nil {
		t.Errorf("requests %+v, %v", requests, err)
	}
	decide := func(action bridge.ParticipantAction, again bool, people ...bridge.JID) (statuses []bridge.ParticipantStatus) {
		t.Helper()
		results, err := a.manager.ChangeParticipants(ctx, bridge.ParticipantsChange{Group: jid, Action: action, Participants: people, Again: again})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			statuses = append(statuses, r.Status)
		}
		return statuses
	}
	unknown := bridge.PhoneJID("15550100999")
	if got := decide(bridge.ParticipantApprove, false, jidOf(anna), unknown); !slices.Equal(got, []bridge.ParticipantStatus{bridge.ParticipantDone, bridge.ParticipantNotOnNetwork}) {
		t.Errorf("approved: %v", got)
	}
	g, err := a.store.Group(ctx, jid)
	if err != nil || len(g.Participants) != 2 { // with the answer
		t.Errorf("members %+v, %v", g.Participants, err)
	}
	if _, err := anna.WaitGroup(ctx, group.JID(), func(v simnet.GroupView) bool { return v.Has(anna) }); err != nil {
		t.Error(err)
	}
	if got := decide(bridge.ParticipantReject, false, bridge.JID(ben.LID().String())); !slices.Equal(got, []bridge.ParticipantStatus{bridge.ParticipantDone}) {
		t.Errorf("rejected: %v", got)
	}
	a.waitAsking(last, plus(anna), plus(ben), plus(carla), "-"+string(jidOf(ben)))
	for action, again := range map[bridge.ParticipantAction]bridge.ParticipantStatus{bridge.ParticipantApprove: bridge.ParticipantDone, bridge.ParticipantReject: bridge.ParticipantDone} {
		if got := decide(action, false, jidOf(ben)); !slices.Equal(got, []bridge.ParticipantStatus{bridge.ParticipantNoRequest}) {
			t.Errorf("%s without a request: %v", action, got)
		}
		if got := decide(action, true, jidOf(ben)); !slices.Equal(got, []bridge.ParticipantStatus{again}) {
			t.Errorf("%s again: %v", action, got)
		}
	}
	if err := group.Withdraw(ctx, carla); err != nil {
		t.Fatal(err)
	}
	a.waitAsking(last, plus(anna), plus(ben), plus(carla), "-"+string(jidOf(ben)), "-"+string(jidOf(carla)))
	ask(carla)
	group.Limit(2)
	if got := decide(bridge.ParticipantApprove, false, jidOf(carla)); !slices.Equal(got, []bridge.ParticipantStatus{bridge.ParticipantFull}) {
		t.Errorf("into a full group: %v", got)
	}
}

// Baileys and others name the person as a participant, or only as the sender; a
// person added by a member is not the sender.
func TestJoinRequests_AreReadInEveryForm(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	anna, ben := newPhone(t, network, "15550100301", "Anna"), newPhone(t, network, "15550100302", "Ben")
	group, _, _ := a.guarded()
	last, err := a.store.LastEvent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	push := func(id, at string, sender *simnet.Phone, method, tag string, named ...*simnet.Phone) {
		t.Helper()
		change := waBinary.Node{Tag: tag, Attrs: waBinary.Attrs{}}
		if method != "" {
			change.Attrs["request_method"] = method
		}
		var people []waBinary.Node
		for _, p := range named {
			people = append(people, waBinary.Node{Tag: "participant", Attrs: waBinary.Attrs{"jid": p.LID(), "phone_number": p.PN()}})
		}
		change.Content = people
		a.device().Push(waBinary.Node{Tag: "notification", Attrs: waBinary.Attrs{
			"type": "w:gp2", "id": id, "t": at, "from": group.JID(),
			"participant": sender.LID(), "participant_pn": sender.PN(),
		}, Content: []waBinary.Node{change}})
	}
	const asked, revoked = "created_membership_requests", "revoked_membership_requests"
	push("1", "1790000001", anna, "invite_link", asked)
	push("2", "1790000001", anna, "invite_link", asked) // repeated
	push("3", "1790000002", anna, "non_admin_add", asked, ben)
	push("4", "1790000003", anna, "non_admin_add", asked)
	push("5", "1790000004", anna, "", revoked, ben)
	push("6", "1790000005", ben, "", asked)
	plusAnna, plusBen := "+"+string(jidOf(anna)), "+"+string(jidOf(ben))
	a.waitAsking(last, plusAnna, plusBen, "-"+string(jidOf(ben)), plusBen)
}

// The approval setting is read correctly from its changes and from descriptions of
// the group.
func TestJoinApproval_IsReadAsItIs(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: "Readers", Members: []*simnet.Phone{a.phone}})
	if err != nil {
		t.Fatal(err)
	}
	jid := bridge.JID(group.JID().String())
	for _, on := range []bool{true, false, true, false} {
		if err := group.SetApproval(ctx, friend, on); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the group's change", func() bool { g, err := a.store.Group(ctx, jid); return err == nil && g.JoinApproval == on })
		if live, err := a.manager.LiveGroup(ctx, jid); err != nil || live.JoinApproval != on {
			t.Errorf("live %+v, %v; want %v", live, err, on)
		}
	}
	on := true
	if _, err := a.manager.ChangeGroup(ctx, jid, bridge.GroupPatch{JoinApproval: &on}); bridge.CodeOf(err) != bridge.CodeNotAdmin {
		t.Errorf("without being an admin: %v", err)
	}
	if _, err := a.manager.JoinRequests(ctx, jid); bridge.CodeOf(err) != bridge.CodeNotAdmin {
		t.Errorf("listed without being an admin: %v", err)
	}
	_, err = a.manager.ChangeParticipants(ctx, bridge.ParticipantsChange{Group: jid, Action: bridge.ParticipantApprove, Participants: []bridge.JID{jidOf(friend)}})
	if bridge.CodeOf(err) != bridge.CodeNotAdmin {
		t.Errorf("decided without being an admin: %v", err)
	}
	if _, err := a.manager.JoinRequests(ctx, "120363999999999999@g.us"); bridge.CodeOf(err) != bridge.CodeNotInGroup {
		t.Errorf("of another group: %v", err)
	}
}
