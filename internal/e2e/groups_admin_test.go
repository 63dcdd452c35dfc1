package e2e

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// administered is a group that the bridge administers, with its members' phones.
type administered struct {
	testing.TB
	c   *cast
	jid bridge.JID
	in  simnet.JID
}

// shows waits until phones show the group as wanted.
func (g administered) shows(wanted func(simnet.GroupView) bool, phones ...*simnet.Phone) {
	g.Helper()
	for _, p := range phones {
		if view, err := p.WaitGroup(within(g), g.in, wanted); err != nil {
			g.Fatalf("%s shows %+v: %v", p.Name(), view, err)
		}
	}
}

// stored returns the API's current view of the group.
func (g administered) stored() bridge.StoredGroup {
	g.Helper()
	return must(g.c.bridge.api.Group(within(g), g.jid))(g).Stored
}

// is checks the API's current view.
func (g administered) is(what string, holds func(bridge.StoredGroup) bool) {
	g.Helper()
	if got := g.stored(); !holds(got) {
		g.Errorf("after %s: %+v", what, got)
	}
}

// change changes members and returns the outcome for each.
func (g administered) change(action bridge.ParticipantAction, people ...bridge.JID) []bridge.ParticipantStatus {
	g.Helper()
	var statuses []bridge.ParticipantStatus
	for _, result := range callOnce[bridge.GroupCreated](g, g.c.bridge, "POST", g.path("/participants"), object{"action": action, "participants": people}, "").Participants {
		statuses = append(statuses, result.Status)
	}
	return statuses
}

func (g administered) path(suffix string) string { return path("/api/groups/%s", g.in) + suffix }

// changedGroup is the answer to a change of a group.
type changedGroup struct{ Changed []string }

func numberOf(p *simnet.Phone) bridge.JID { return bridge.JID(p.PN().String()) }
func lidOf(p *simnet.Phone) bridge.JID    { return bridge.JID(p.LID().String()) }

// wireForm returns a JID in the form of phones.
func wireForm(jid bridge.JID) simnet.JID { return simnet.JID{User: jid.User(), Server: jid.Server()} }

func has(g bridge.StoredGroup, p *simnet.Phone) bool {
	return slices.ContainsFunc(g.Participants, func(m bridge.Participant) bool { return m.JID == numberOf(p) })
}

// TestGroupAdmin_AsAnAdmin creates a group and changes everything in it: the
// members' phones show each change, and so does the API with its answer.
func TestGroupAdmin_AsAnAdmin(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	api, dora := c.bridge.api, must(c.network.NewPhone(within(t), simnet.PhoneOptions{Number: "49151000077", Name: "Dora"}))(t)
	dora.AllowAdding("none")
	nobody := bridge.PhoneJID("49151000999")

	people := []bridge.JID{numberOf(c.anna), lidOf(c.ben), numberOf(dora), nobody}
	made := callOnce[bridge.GroupCreated](t, c.bridge, "POST", "/api/groups", object{"name": "Readers ✨", "participants": people}, "make")
	g := administered{TB: t, c: c, jid: made.JID, in: wireForm(made.JID)}
	var statuses []bridge.ParticipantStatus
	for _, result := range made.Participants {
		statuses = append(statuses, result.Status)
	}
	if want := []bridge.ParticipantStatus{"done", "done", "invite_required", "not_on_network"}; !slices.Equal(statuses, want) || made.Name != "Readers ✨" {
		t.Fatalf("made %+v", made)
	}
	g.is("making it", func(s bridge.StoredGroup) bool {
		return s.Name == "Readers ✨" && len(s.Participants) == 3 && has(s, c.anna) && has(s, c.ben) && !has(s, dora) && s.OwnerJID == numberOf(c.owner)
	})
	g.shows(func(v simnet.GroupView) bool {
		return v.HasAdmin(c.owner) && v.Has(c.anna) && v.Has(c.ben) && !v.Has(dora)
	}, c.anna, c.ben, c.owner)
	c.bridge.sends(t, object{"jid": string(g.jid), "text": "welcome"})

	invite := made.Participants[2].Invite
	if invite == nil || invite.ExpiresAt.IsZero() {
		t.Fatalf("Dora's result: %+v", made.Participants[2])
	}
	if err := dora.Client().JoinGroupWithInvite(within(t), g.in, c.owner.PN(), invite.Code, invite.ExpiresAt.Unix()); err != nil {
		t.Fatalf("Dora's invitation: %v", err)
	}
	g.shows(func(v simnet.GroupView) bool { return v.Has(dora) }, c.anna)

	t.Run("settings", func(t *testing.T) { changesSettings(t, g) })
	t.Run("members", func(t *testing.T) { changesMembers(t, g, dora) })
	t.Run("link", func(t *testing.T) { changesLink(t, g) })

	if err := api.CallOnce(within(t), "POST", g.path("/leave"), nil, "leave", nil); err != nil {
		t.Fatal(err)
	}
	g.is("leaving", func(s bridge.StoredGroup) bool { return !has(s, c.owner) && has(s, c.anna) })
	g.shows(func(v simnet.GroupView) bool { return !v.Has(c.owner) && len(v.Admins) > 0 }, c.anna)
	if detail := must(api.Group(within(t), g.jid))(t); detail.Live != nil {
		t.Errorf("live after leaving: %+v", detail.Live)
	}
	for _, call := range []struct{ method, suffix, body string }{
		{"PATCH", "", `{"name":"x"}`},
		{"POST", "/participants", `{"action":"remove","participants":["` + string(numberOf(c.anna)) + `"]}`},
		{"POST", "/leave", ``},
		{"GET", "/invite", ``},
		{"DELETE", "/invite", ``},
	} {
		refused(t, c.bridge.Do(call.method, g.path(call.suffix), call.body), http.StatusBadRequest, bridge.CodeNotInGroup, "not in that group")
	}
	if err := api.CallOnce(within(t), "POST", g.path("/leave"), nil, "leave", nil); err != nil {
		t.Errorf("the same call again: %v", err)
	}
}

func changesSettings(t *testing.T, g administered) {
	g.TB = t
	members := []*simnet.Phone{g.c.anna, g.c.ben, g.c.owner}
	patch := func(p object, want ...string) {
		t.Helper()
		if changed := callOnce[changedGroup](t, g.c.bridge, "PATCH", g.path(""), p, "").Changed; !slices.Equal(changed, want) {
			t.Errorf("changed %v, want %v", changed, want)
		}
	}
	name, topic := "Re-readers", "Chapter two"
	all := object{"name": name, "topic": topic, "isAnnounce": true, "isLocked": true, "disappearingSeconds": 604800}
	patch(all, "name", "topic", "isAnnounce", "isLocked", "disappearingSeconds")
	g.is("changing all", func(s bridge.StoredGroup) bool {
		return s.Name == name && s.Topic == topic && s.IsAnnounce && s.IsLocked && s.Expiration == 604800
	})
	g.shows(func(v simnet.GroupView) bool {
		return v.Name == name && v.Topic == topic && v.Announce && v.Locked && v.Ephemeral == 604800
	}, members...)
	patch(all)
	topic = "Chapter three"
	patch(object{"topic": topic, "isLocked": true}, "topic")
	g.shows(func(v simnet.GroupView) bool { return v.Topic == topic }, members...)
	patch(object{"topic": "", "isAnnounce": false, "isLocked": false, "disappearingSeconds": 0}, "topic", "isAnnounce", "isLocked", "disappearingSeconds")
	g.is("changing back", func(s bridge.StoredGroup) bool {
		return s.Name == name && s.Topic == "" && !s.IsAnnounce && !s.IsLocked && s.Expiration == 0
	})
	g.shows(func(v simnet.GroupView) bool { return v.Topic == "" && !v.Announce && !v.Locked && v.Ephemeral == 0 }, members...)
	events := must(g.c.bridge.api.EventPage(within(t), client.EventQuery{After: "0", Chats: []bridge.JID{g.jid}}, 500, 0))(t)
	if !slices.ContainsFunc(events.Events, func(e bridge.Event) bool { return e.Type == bridge.EventGroupUpdated }) ||
		!slices.ContainsFunc(events.Events, func(e bridge.Event) bool { return e.Type == bridge.EventChatUpdated }) {
		t.Errorf("the log has %+v", events.Events)
	}
}

func changesMembers(t *testing.T, g administered, dora *simnet.Phone) {
	g.TB = t
	c := g.c
	expect := func(got []bridge.ParticipantStatus, want ...bridge.ParticipantStatus) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("became %v, want %v", got, want)
		}
	}
	expect(g.change("add", numberOf(c.carla), numberOf(c.anna)), "done", "already_member")
	g.is("adding", func(s bridge.StoredGroup) bool { return has(s, c.carla) })
	c.bridge.sends(t, object{"jid": string(g.jid), "text": "hello Carla"})
	if _, err := c.carla.ReceivedText(within(t), "hello Carla"); err != nil {
		t.Fatal(err)
	}
	g.shows(func(v simnet.GroupView) bool { return v.Has(c.carla) }, c.anna, c.carla)
	expect(g.change("promote", lidOf(c.carla)), "done")
	g.shows(func(v simnet.GroupView) bool { return v.HasAdmin(c.carla) }, c.ben)
	expect(g.change("demote", numberOf(c.carla)), "done")
	g.is("demoting", func(s bridge.StoredGroup) bool { return len(s.Participants) == 5 && !s.Participants[1].IsAdmin })
	expect(g.change("remove", numberOf(c.carla), numberOf(dora)), "done", "done")
	g.is("removing", func(s bridge.StoredGroup) bool { return !has(s, c.carla) && !has(s, dora) })
	g.shows(func(v simnet.GroupView) bool { return !v.Has(c.carla) && !v.Has(dora) }, c.anna, c.carla)
	expect(g.change("remove", numberOf(c.carla)), "not_a_member")
	expect(g.change("promote", numberOf(c.carla)), "not_a_member")
	expect(g.change("add", numberOf(dora), bridge.PhoneJID("49151000998")), "invite_required", "not_on_network")
	handle, _ := c.network.Group(g.in)
	if err := handle.Leave(within(t), c.ben); err != nil {
		t.Fatal(err)
	}
	expect(g.change("add", numberOf(c.ben)), "recently_left")
	handle.Limit(2)
	expect(g.change("add", numberOf(c.carla)), "group_full")
	handle.Limit(1024)
	refused(t, c.bridge.Post(g.path("/participants"), object{"action": "remove", "participants": []string{c.owner.LID().String()}}),
		http.StatusBadRequest, bridge.CodeInvalid, "/leave")
}

func changesLink(t *testing.T, g administered) {
	g.TB = t
	first := callOnce[bridge.GroupLink](t, g.c.bridge, "GET", g.path("/invite"), nil, "")
	if !strings.HasSuffix(first.Link, first.Code) || !strings.HasPrefix(first.Link, bridge.InviteLinkPrefix) {
		t.Errorf("link %+v", first)
	}
	second := callOnce[bridge.GroupLink](t, g.c.bridge, "DELETE", g.path("/invite"), nil, "revoke")
	if again := callOnce[bridge.GroupLink](t, g.c.bridge, "DELETE", g.path("/invite"), nil, "revoke"); again != second || second.Link == first.Link {
		t.Errorf("revoked %s: %s, then %s", first.Link, second.Link, again.Link)
	}
	g.shows(func(v simnet.GroupView) bool { return v.Link == second.Link }, g.c.anna)
	if present := callOnce[bridge.GroupLink](t, g.c.bridge, "GET", g.path("/invite"), nil, ""); present != second {
		t.Errorf("the link is %+v", present)
	}
	if _, err := g.c.carla.Client().JoinGroupWithLink(within(t), first.Link); err == nil {
		t.Error("the old link lets in")
	}
}

// TestGroupAdmin_AsAMember tries admins' actions as a plain member.
func TestGroupAdmin_AsAMember(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	group := newGroup(t, c.ben, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{c.owner, c.anna}})
	g := administered{TB: t, c: c, jid: bridge.JID(group.JID().String()), in: group.JID()}
	eventually(t, func() error { _, err := c.bridge.api.Group(within(t), g.jid); return err })
	name, topic := "Chor", "Mondays"
	half := object{"name": name, "topic": topic, "isAnnounce": true, "isLocked": true}
	for _, call := range []struct{ method, suffix, body string }{
		{"PATCH", "", `{"isAnnounce":true}`},
		{"PATCH", "", `{"isLocked":true}`},
		{"POST", "/participants", `{"action":"add","participants":["` + string(numberOf(c.carla)) + `"]}`},
		{"POST", "/participants", `{"action":"promote","participants":["` + string(numberOf(c.owner)) + `"]}`},
		{"GET", "/invite", ``},
		{"DELETE", "/invite", ``},
	} {
		refused(t, c.bridge.Do(call.method, g.path(call.suffix), call.body), http.StatusBadRequest, bridge.CodeNotAdmin, "only an admin")
	}
	// Members may change the first two fields, but not the third.
	err := c.bridge.api.CallOnce(within(t), "PATCH", g.path(""), half, "half", nil)
	var failed *client.Error
	if !errors.As(err, &failed) || failed.Code != bridge.CodeNotAdmin || !slices.Equal(failed.Changed, []string{"name", "topic"}) || !strings.Contains(failed.Message, "isAnnounce was not") {
		t.Errorf("half a change: %+v", err)
	}
	g.is("half a change", func(s bridge.StoredGroup) bool { return s.Name == name && s.Topic == topic && !s.IsAnnounce })
	g.shows(func(v simnet.GroupView) bool { return v.Name == name && v.Topic == topic && !v.Announce }, c.anna, c.ben)
	if err := group.Promote(within(t), c.ben, c.owner); err != nil {
		t.Fatal(err)
	}
	// With the key, the call continues where it stopped.
	if changed := callOnce[changedGroup](t, c.bridge, "PATCH", g.path(""), half, "half").Changed; !slices.Equal(changed, []string{"isAnnounce", "isLocked"}) {
		t.Errorf("the rest: %v", changed)
	}
	if err := group.Demote(within(t), c.ben, c.owner); err != nil {
		t.Fatal(err)
	}
	refused(t, c.bridge.Do("PATCH", g.path(""), `{"name":"mine"}`), http.StatusBadRequest, bridge.CodeNotAdmin, "only an admin")

	community := newGroup(t, c.owner, simnet.GroupOptions{Subject: "Town", Community: true, Members: []*simnet.Phone{c.anna}})
	town := administered{TB: t, c: c, jid: bridge.JID(community.JID().String()), in: community.JID()}
	eventually(t, func() error { _, err := c.bridge.api.Group(within(t), town.jid); return err })
	for _, call := range []struct{ method, suffix, body string }{
		{"PATCH", "", `{"name":"City","isAnnounce":true}`},
		{"POST", "/leave", ``},
		{"POST", "/participants", `{"action":"add","participants":["` + string(numberOf(c.carla)) + `"]}`},
	} {
		refused(t, c.bridge.Do(call.method, town.path(call.suffix), call.body), http.StatusBadRequest, bridge.CodeNotAChat, "community")
	}
	if changed := callOnce[changedGroup](t, c.bridge, "PATCH", town.path(""), object{"name": name}, "").Changed; !slices.Equal(changed, []string{"name"}) {
		t.Errorf("a community's name: %v", changed)
	}
}

// TestGroupAdmin_Joins joins groups by valid and invalid links.
func TestGroupAdmin_Joins(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	join := func(link string) apitest.Response { return c.bridge.Post("/api/groups/join", object{"link": link}) }
	group := newGroup(t, c.ben, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{c.anna}})
	g := administered{TB: t, c: c, jid: bridge.JID(group.JID().String()), in: group.JID()}
	link := must(group.Link(within(t), c.ben))(t)
	group.Limit(2)
	refused(t, join(link), http.StatusConflict, bridge.CodeGroupFull, "maximum number of members")
	group.Limit(1024)
	refused(t, join(bridge.InviteLinkPrefix+"AbCdEfGhIjKlMnOpQrStUv"), http.StatusNotFound, bridge.CodeInviteInvalid, "no group has this link")

	joined := callOnce[bridge.GroupJoin](t, c.bridge, "POST", "/api/groups/join", object{"link": link}, "join")
	if joined.JID != g.jid || joined.Status != bridge.GroupJoined {
		t.Errorf("joined %+v", joined)
	}
	g.is("joining", func(s bridge.StoredGroup) bool { return s.Name == "Choir" && has(s, c.owner) && has(s, c.anna) })
	g.shows(func(v simnet.GroupView) bool { return v.Has(c.owner) }, c.anna, c.ben)
	if again := callOnce[bridge.GroupJoin](t, c.bridge, "POST", "/api/groups/join", object{"link": link}, "join"); again != joined {
		t.Errorf("again: %+v", again)
	}
	refused(t, join(link), http.StatusConflict, bridge.CodeAlreadyInGroup, "already")
	c.bridge.sends(t, object{"jid": string(g.jid), "text": "here I am"})

	if err := group.Remove(within(t), c.ben, c.owner); err != nil {
		t.Fatal(err)
	}
	refused(t, join(link), http.StatusBadRequest, bridge.CodeJoinRefused, "ask an admin")
	if _, err := c.ben.Client().GetGroupInviteLink(within(t), g.in, true); err != nil {
		t.Fatal(err)
	}
	refused(t, join(link), http.StatusNotFound, bridge.CodeInviteInvalid, "revoked this link")

	closed := newGroup(t, c.anna, simnet.GroupOptions{Subject: "Board", Members: []*simnet.Phone{c.ben}})
	if err := closed.SetApproval(within(t), c.anna, true); err != nil {
		t.Fatal(err)
	}
	waits := callOnce[bridge.GroupJoin](t, c.bridge, "POST", "/api/groups/join", object{"link": must(closed.Link(within(t), c.anna))(t)}, "")
	if waits.JID != bridge.JID(closed.JID().String()) || waits.Status != bridge.GroupPending {
		t.Errorf("asked to be let in: %+v", waits)
	}
	if got := closed.Requests(); len(got) != 1 || got[0] != c.owner.LID() {
		t.Errorf("waiting: %v", got)
	}
	c.bridge.Get(path("/api/groups/%s", closed.JID())).Want(http.StatusNotFound)
	if err := closed.Approve(within(t), c.anna, c.owner); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error { _, err := c.bridge.api.Group(within(t), waits.JID); return err })
}
