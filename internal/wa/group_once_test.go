package wa_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
)

// groupAccount is an account whose changes of groups may lose their answers.
type groupAccount struct {
	*account
	network   *simnet.Network
	sam, kim  *simnet.Phone
	ctx       context.Context
	forgetful func(tag string, skip int) // loses the answer to a later query
}

func newGroupAccount(t *testing.T) groupAccount {
	network := newNetwork(t)
	g := groupAccount{account: newAccount(t, network), network: network, ctx: testContext(t)}
	g.sam, g.kim = newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Kim")
	g.manager.SetWaits(time.Second, time.Minute, 0)
	g.forgetful = func(tag string, skip int) {
		g.device().FailQueries(simnet.IQFault{Namespace: "w:g2", Tag: tag, LoseAnswer: true, Times: 1, Skip: skip})
	}
	return g
}

// make makes a group, and fails the test if that fails.
func (g groupAccount) make(group bridge.NewGroup) bridge.JID {
	g.t.Helper()
	made, err := g.manager.CreateGroup(g.ctx, group)
	if err != nil {
		g.t.Fatal(err)
	}
	return made.JID
}

// unknown checks that the outcome of a change is unknown.
func (g groupAccount) unknown(err error) {
	g.t.Helper()
	if bridge.CodeOf(err) != bridge.CodeSendTimeout {
		g.t.Fatalf("the lost answer is %v", err)
	}
}

// Repeated calls after lost answers find their groups by their keys or, if the
// network drops these, by their distinguishing marks.
func TestGroupsOnce_GroupsWithoutTheirKeysAreFound(t *testing.T) {
	t.Parallel()
	g := newGroupAccount(t)
	g.network.DropCreateKeys()
	group := bridge.NewGroup{Name: "Found", Participants: []bridge.JID{jidOf(g.sam)}, Key: "K1"}
	older := g.make(group)
	for key := range 2 { // each call knows the earlier groups, and those of the other calls
		group.Key, group.Again = "K", false
		g.forgetful("create", 0)
		_, err := g.manager.CreateGroup(g.ctx, group)
		g.unknown(err)
		group.Again = true
		group.Known = append(group.Known, older)
		older = g.make(group)
		if slices.Contains(group.Known, older) {
			t.Errorf("call %d found the group of another", key)
		}
	}
	// A group that was never created is created; another person's group with that
	// name does not count.
	other, err := g.sam.CreateGroup(g.ctx, simnet.GroupOptions{Subject: "Theirs", Members: []*simnet.Phone{g.phone}})
	if err != nil {
		t.Fatal(err)
	}
	if made := g.make(bridge.NewGroup{Name: "Theirs", Participants: group.Participants, Key: "K4", Again: true}); made == bridge.JID(other.JID().String()) {
		t.Error("took another account's group for the account's")
	}
	if groups, err := g.phone.Client().GetJoinedGroups(g.ctx); err != nil || len(groups) != 5 {
		t.Errorf("%d groups, %v", len(groups), err)
	}
}

// A group found by its distinguishing marks belongs to the call from then on: no
// other call finds it.
func TestGroupsOnce_AGroupThatWasFoundIsTheCalls(t *testing.T) {
	t.Parallel()
	g := newGroupAccount(t)
	g.network.DropCreateKeys()
	calls := []bridge.NewGroup{{Key: "K1"}, {Key: "K2"}}
	for i := range calls {
		calls[i].Name, calls[i].Participants = "Found", []bridge.JID{jidOf(g.sam)}
		if err := g.store.Save(g.ctx, bridge.KeyedRequest{ID: calls[i].Key, Plan: []byte("[]")}); err != nil {
			t.Fatal(err)
		}
		g.forgetful("create", 0)
		_, err := g.manager.CreateGroup(g.ctx, calls[i])
		g.unknown(err)
	}
	var made []bridge.JID
	for _, call := range calls {
		known, err := g.store.GroupsMadeElse(g.ctx, call.Key)
		if err != nil {
			t.Fatal(err)
		}
		call.Again, call.Known = true, known
		made = append(made, g.make(call))
	}
	if made[0] == made[1] {
		t.Errorf("both calls have made %s", made[0])
	}
}

// Repeated calls after lost answers find every other change already made.
func TestGroupsOnce_ChangesAreFoundMade(t *testing.T) {
	t.Parallel()
	g := newGroupAccount(t)
	jid := g.make(bridge.NewGroup{Name: "Crew", Participants: []bridge.JID{jidOf(g.sam)}, Key: "K"})
	for _, action := range []bridge.ParticipantAction{"add", "promote", "demote", "remove"} {
		change := bridge.ParticipantsChange{Group: jid, Action: action, Participants: []bridge.JID{jidOf(g.kim)}}
		g.forgetful(string(action), 0)
		_, err := g.manager.ChangeParticipants(g.ctx, change)
		g.unknown(err)
		change.Again = true
		if results, err := g.manager.ChangeParticipants(g.ctx, change); err != nil || results[0].Status != bridge.ParticipantDone {
			t.Errorf("%s: %+v, %v", action, results, err)
		}
	}
	before, err := g.manager.GroupLink(g.ctx, jid)
	if err != nil {
		t.Fatal(err)
	}
	g.forgetful("invite", 0)
	_, err = g.manager.RevokeGroupLink(g.ctx, jid, "")
	g.unknown(err)
	present, err := g.manager.GroupLink(g.ctx, jid)
	if again, err2 := g.manager.RevokeGroupLink(g.ctx, jid, before.Code); err != nil || err2 != nil || again != present || again == before {
		t.Errorf("the link was %s, then %s, and is %s: %v, %v", before.Code, present.Code, again.Code, err, err2)
	}
	name, locked := "Crew 2", true
	g.forgetful("locked", 0)
	_, err = g.manager.ChangeGroup(g.ctx, jid, bridge.GroupPatch{Name: &name, IsLocked: &locked})
	g.unknown(err)
	if changed, err := g.manager.ChangeGroup(g.ctx, jid, bridge.GroupPatch{Name: &name, IsLocked: &locked}); err != nil || len(changed) != 0 {
		t.Errorf("changed %v, %v", changed, err)
	}
	g.forgetful("leave", 0)
	g.unknown(g.manager.LeaveGroup(g.ctx, jid, false))
	if err := g.manager.LeaveGroup(g.ctx, jid, true); err != nil {
		t.Error(err)
	}
	theirs, err := g.sam.CreateGroup(g.ctx, simnet.GroupOptions{Subject: "Theirs"})
	if err != nil {
		t.Fatal(err)
	}
	link, err := theirs.Link(g.ctx, g.sam)
	if err != nil {
		t.Fatal(err)
	}
	code := link[len(bridge.InviteLinkPrefix):]
	g.forgetful("invite", 0)
	_, err = g.manager.JoinGroup(g.ctx, code, false)
	g.unknown(err)
	if joined, err := g.manager.JoinGroup(g.ctx, code, true); err != nil || joined.Status != bridge.GroupJoined || joined.JID != bridge.JID(theirs.JID().String()) {
		t.Errorf("joined %+v, %v", joined, err)
	}

	g.phone.AllowAdding("none")
	invites, err := g.sam.CreateGroup(g.ctx, simnet.GroupOptions{Subject: "By invitation"})
	if err != nil {
		t.Fatal(err)
	}
	added, err := g.sam.Client().UpdateGroupParticipants(g.ctx, invites.JID(), []simnet.JID{g.phone.PN()}, whatsmeow.ParticipantChangeAdd)
	if err != nil || added[0].AddRequest == nil {
		t.Fatalf("adding the account: %+v, %v", added, err)
	}
	invitation := bridge.Message{SenderJID: jidOf(g.sam)}
	invitation.GroupInvite = &bridge.GroupInvite{JID: bridge.JID(invites.JID().String()), Code: added[0].AddRequest.Code, ExpiresAt: new(bridge.At(added[0].AddRequest.Expiration))}
	g.forgetful("accept", 0)
	_, err = g.manager.JoinInvited(g.ctx, invitation, false)
	g.unknown(err)
	if joined, err := g.manager.JoinInvited(g.ctx, invitation, true); err != nil || joined.JID != invitation.GroupInvite.JID {
		t.Errorf("joined by the invitation %+v, %v", joined, err)
	}
	if _, err := g.manager.JoinInvited(g.ctx, invitation, false); bridge.CodeOf(err) != bridge.CodeInviteInvalid {
		t.Errorf("joined by a used invitation: %v", err)
	}
	invitation.GroupInvite.ExpiresAt = new(bridge.At(time.Now().Add(-time.Second)))
	if _, err := g.manager.JoinInvited(g.ctx, invitation, false); bridge.CodeOf(err) != bridge.CodeInviteInvalid {
		t.Errorf("joined by an expired invitation: %v", err)
	}
}

// Refusals by the network have codes, and unknown ones keep their number.
func TestGroups_RefusalsAreNamed(t *testing.T) {
	t.Parallel()
	g := newGroupAccount(t)
	jid := g.make(bridge.NewGroup{Name: "Crew", Participants: []bridge.JID{jidOf(g.sam)}, Key: "K"})
	name, topic := "Crew 2", "up"
	calls := map[string]func() error{
		"create": func() error {
			_, err := g.manager.CreateGroup(g.ctx, bridge.NewGroup{Name: "x", Participants: []bridge.JID{jidOf(g.sam)}, Key: "K2"})
			return err
		},
		"subject": func() error { _, err := g.manager.ChangeGroup(g.ctx, jid, bridge.GroupPatch{Name: &name}); return err },
		"description": func() error {
			_, err := g.manager.ChangeGroup(g.ctx, jid, bridge.GroupPatch{Topic: &topic})
			return err
		},
		"promote": func() error {
			_, err := g.manager.ChangeParticipants(g.ctx, bridge.ParticipantsChange{Group: jid, Action: "promote", Participants: []bridge.JID{jidOf(g.sam)}})
			return err
		},
		"invite": func() error { _, err := g.manager.JoinGroup(g.ctx, "AbCdEfGhIjKlMnOpQrStUv", false); return err },
		"leave":  func() error { return g.manager.LeaveGroup(g.ctx, jid, false) },
	}
	for _, c := range []struct {
		tag  string
		code int
		want bridge.Code
	}{
		{"create", 429, bridge.CodeRateLimited},
		{"create", 406, bridge.CodeSendRefused},
		{"create", 463, bridge.CodeReachoutRestricted},
		{"create", 419, bridge.CodeGroupFull},
		{"create", 500, bridge.CodeNotConnected},
		{"create", 403, bridge.CodeSendRefused},
		{"subject", 401, bridge.CodeNotAdmin},
		{"subject", 403, bridge.CodeNotAdmin},
		{"subject", 404, bridge.CodeNotInGroup},
		{"subject", 406, bridge.CodeSendRefused},
		{"subject", 405, bridge.CodeSendRefused},
		{"subject", 429, bridge.CodeRateLimited},
		{"subject", 503, bridge.CodeNotConnected},
		{"description", 409, bridge.CodeGroupChanged},
		{"promote", 419, bridge.CodeGroupFull},
		{"promote", 403, bridge.CodeNotAdmin},
		{"invite", 400, bridge.CodeInviteInvalid},
		{"invite", 404, bridge.CodeInviteInvalid},
		{"invite", 406, bridge.CodeInviteInvalid},
		{"invite", 410, bridge.CodeInviteInvalid},
		{"invite", 401, bridge.CodeJoinRefused},
		{"invite", 403, bridge.CodeJoinRefused},
		{"invite", 409, bridge.CodeAlreadyInGroup},
		{"invite", 419, bridge.CodeGroupFull},
		{"invite", 429, bridge.CodeRateLimited},
		{"invite", 423, bridge.CodeSendRefused},
		{"leave", 405, bridge.CodeSendRefused},
		{"leave", 404, bridge.CodeNotInGroup},
	} {
		times := 1
		if c.tag == "description" {
			times = 2 // it replaces another member's description
		}
		g.device().FailQueries(simnet.IQFault{Namespace: "w:g2", Tag: c.tag, Code: c.code, Text: "no", Times: times})
		if err := calls[c.tag](); bridge.CodeOf(err) != c.want {
			t.Errorf("%s refused with %d: %v, want %s", c.tag, c.code, err, c.want)
		}
		g.device().ClearFaults()
	}
	if err := calls["description"](); err != nil {
		t.Error(err)
	}
}

// A description that another member has just changed is replaced.
func TestGroups_ATopicThatWasJustChanged(t *testing.T) {
	t.Parallel()
	g := newGroupAccount(t)
	jid := g.make(bridge.NewGroup{Name: "Crew", Participants: []bridge.JID{jidOf(g.sam)}, Key: "K"})
	topic := "mine"
	g.device().FailQueries(simnet.IQFault{Namespace: "w:g2", Tag: "description", Code: 409, Text: "conflict", Times: 1})
	if changed, err := g.manager.ChangeGroup(g.ctx, jid, bridge.GroupPatch{Topic: &topic}); err != nil || len(changed) != 1 {
		t.Fatal(changed, err)
	}
	if stored, err := g.store.Group(g.ctx, jid); err != nil || stored.Topic != topic {
		t.Errorf("stored %+v, %v", stored, err)
	}
}

// Numbers that are looked up together may have other spellings, or no account.
func TestGroups_PeopleByNumbersNeverMet(t *testing.T) {
	t.Parallel()
	g := newGroupAccount(t)
	ana, err := g.network.NewPhone(g.ctx, simnet.PhoneOptions{Number: "551187654321", Name: "Ana", Dialled: []string{"5511987654321"}})
	if err != nil {
		t.Fatal(err)
	}
	people := []bridge.JID{bridge.PhoneJID("5511987654321"), jidOf(g.kim), bridge.PhoneJID("15550199999"), bridge.JID(g.sam.LID().String())}
	made, err := g.manager.CreateGroup(g.ctx, bridge.NewGroup{Name: "Crew", Participants: people, Key: "K"})
	if err != nil {
		t.Fatal(err)
	}
	want := []bridge.ParticipantStatus{bridge.ParticipantDone, bridge.ParticipantDone, bridge.ParticipantNotOnNetwork, bridge.ParticipantDone}
	for i, result := range made.Participants {
		if result.Status != want[i] {
			t.Errorf("%+v, want %s", result, want[i])
		}
	}
	if made.Participants[0].JID != jidOf(ana) || made.Participants[3].JID != jidOf(g.sam) {
		t.Errorf("named as %+v", made.Participants)
	}
	if _, err := g.manager.CreateGroup(g.ctx, bridge.NewGroup{Name: "Nobody", Participants: people[2:3], Key: "K2"}); bridge.CodeOf(err) != bridge.CodeNotOnNetwork {
		t.Errorf("a group without members: %v", err)
	}
}

// The account's own changes appear once in the log, although the network reports
// them, too.
func TestGroups_TheLogHasOwnChangesOnce(t *testing.T) {
	t.Parallel()
	g := newGroupAccount(t)
	tells := func(what string, change func() error, want ...bridge.EventType) {
		t.Helper()
		before := g.events()
		if err := change(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := g.device().WaitQuiet(g.ctx); err != nil {
			t.Fatal(err)
		}
		if got := g.events()[len(before):]; !slices.Equal(got, want) {
			t.Errorf("%s is logged as %v, want %v", what, got, want)
		}
	}
	var jid bridge.JID
	tells("a new group", func() error {
		jid = g.make(bridge.NewGroup{Name: "Crew", Participants: []bridge.JID{jidOf(g.sam)}, Key: "K"})
		return nil
	}, bridge.EventChatUpdated, bridge.EventGroupUpdated)
	name, topic, seconds := "Crew 2", "up", uint32(86400)
	patch := bridge.GroupPatch{Name: &name, Topic: &topic, Disappearing: &seconds}
	for range 2 {
		want := []bridge.EventType{bridge.EventChatUpdated, bridge.EventGroupUpdated, bridge.EventGroupUpdated, bridge.EventGroupUpdated}
		if patch.Name == nil {
			want = nil
		}
		tells("a change", func() error { _, err := g.manager.ChangeGroup(g.ctx, jid, patch); return err }, want...)
		patch = bridge.GroupPatch{Topic: &topic}
	}
	tells("a new member", func() error {
		_, err := g.manager.ChangeParticipants(g.ctx, bridge.ParticipantsChange{Group: jid, Action: "add", Participants: []bridge.JID{jidOf(g.kim)}})
		return err
	}, bridge.EventChatUpdated, bridge.EventGroupUpdated)
	tells("leaving", func() error { return g.manager.LeaveGroup(g.ctx, jid, false) }, bridge.EventChatUpdated, bridge.EventGroupUpdated)
}

// events returns the types of all events of groups, in order.
func (g groupAccount) events() (kinds []bridge.EventType) {
	g.t.Helper()
	page, err := g.store.Events(g.ctx, store.EventQuery{EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventChatUpdated, bridge.EventGroupUpdated}}, Limit: 1000})
	if err != nil {
		g.t.Fatal(err)
	}
	for _, event := range page.Events {
		kinds = append(kinds, event.Type)
	}
	return kinds
}

// A group of numbers names people by their numbers.
func TestGroups_MembersOfAGroupOfNumbers(t *testing.T) {
	t.Parallel()
	g := newGroupAccount(t)
	group, err := g.phone.CreateGroup(g.ctx, simnet.GroupOptions{Subject: "Old", Members: []*simnet.Phone{g.sam}, ByNumber: true, ID: accountNumber + "-1600000000"})
	if err != nil {
		t.Fatal(err)
	}
	jid := bridge.JID(group.JID().String())
	for _, action := range []bridge.ParticipantAction{"add", "promote", "demote", "remove"} {
		results, err := g.manager.ChangeParticipants(g.ctx, bridge.ParticipantsChange{Group: jid, Action: action, Participants: []bridge.JID{bridge.JID(g.kim.LID().String())}})
		if err != nil || results[0].Status != bridge.ParticipantDone {
			t.Errorf("%s: %+v, %v", action, results, err)
		}
	}
	if view, err := g.sam.WaitGroup(g.ctx, group.JID(), func(v simnet.GroupView) bool { return !v.Has(g.kim) && v.Has(g.phone) }); err != nil {
		t.Errorf("Sam shows %+v: %v", view, err)
	}
	if members := group.Members(); len(members) != 2 {
		t.Errorf("members %v", members)
	}
}
