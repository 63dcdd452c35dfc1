package groups

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// changedGroup is the answer to a change of a group.
type changedGroup struct{ Changed []string }

func has(g bridge.StoredGroup, p *simnet.Phone) bool {
	return slices.ContainsFunc(g.Participants, func(m bridge.Participant) bool { return m.JID == NumberOf(p) })
}

// TestGroupAdmin_AsAnAdmin creates a group and changes everything in it: the
// members' phones show each change, and so does the API with its answer.
func TestGroupAdmin_AsAnAdmin(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	api, dora := c.Bridge.API, Must(c.Network.NewPhone(Within(t), simnet.PhoneOptions{Number: "49151000077", Name: "Dora"}))(t)
	dora.AllowAdding("none")
	nobody := bridge.PhoneJID("49151000999")

	people := []bridge.JID{NumberOf(c.Anna), LidOf(c.Ben), NumberOf(dora), nobody}
	made := CallOnce[bridge.GroupCreated](t, c.Bridge, "POST", "/api/groups", Object{"name": "Readers ✨", "participants": people}, "make")
	g := Administered{TB: t, C: c, JID: made.JID, In: WireForm(made.JID)}
	var statuses []bridge.ParticipantStatus
	for _, result := range made.Participants {
		statuses = append(statuses, result.Status)
	}
	if want := []bridge.ParticipantStatus{"done", "done", "invite_required", "not_on_network"}; !slices.Equal(statuses, want) || made.Name != "Readers ✨" {
		t.Fatalf("made %+v", made)
	}
	g.Is("making it", func(s bridge.StoredGroup) bool {
		return s.Name == "Readers ✨" && len(s.Participants) == 3 && has(s, c.Anna) && has(s, c.Ben) && !has(s, dora) && s.OwnerJID == NumberOf(c.Owner)
	})
	g.Shows(func(v simnet.GroupView) bool {
		return v.HasAdmin(c.Owner) && v.Has(c.Anna) && v.Has(c.Ben) && !v.Has(dora)
	}, c.Anna, c.Ben, c.Owner)
	c.Bridge.Sends(t, Object{"jid": string(g.JID), "text": "welcome"})

	invite := made.Participants[2].Invite
	if invite == nil || invite.ExpiresAt.IsZero() {
		t.Fatalf("Dora's result: %+v", made.Participants[2])
	}
	if err := dora.Client().JoinGroupWithInvite(Within(t), g.In, c.Owner.PN(), invite.Code, invite.ExpiresAt.Unix()); err != nil {
		t.Fatalf("Dora's invitation: %v", err)
	}
	g.Shows(func(v simnet.GroupView) bool { return v.Has(dora) }, c.Anna)

	t.Run("settings", func(t *testing.T) { changesSettings(t, g) })
	t.Run("members", func(t *testing.T) { changesMembers(t, g, dora) })
	t.Run("link", func(t *testing.T) { changesLink(t, g) })

	if err := api.CallOnce(Within(t), "POST", g.Path("/leave"), nil, "leave", nil); err != nil {
		t.Fatal(err)
	}
	g.Is("leaving", func(s bridge.StoredGroup) bool { return !has(s, c.Owner) && has(s, c.Anna) })
	g.Shows(func(v simnet.GroupView) bool { return !v.Has(c.Owner) && len(v.Admins) > 0 }, c.Anna)
	if detail := Must(api.Group(Within(t), g.JID))(t); detail.Live != nil {
		t.Errorf("live after leaving: %+v", detail.Live)
	}
	for _, call := range []struct{ method, suffix, body string }{
		{"PATCH", "", `{"name":"x"}`},
		{"POST", "/participants", `{"action":"remove","participants":["` + string(NumberOf(c.Anna)) + `"]}`},
		{"POST", "/leave", ``},
		{"GET", "/invite", ``},
		{"DELETE", "/invite", ``},
	} {
		Refused(t, c.Bridge.Do(call.method, g.Path(call.suffix), call.body), http.StatusBadRequest, bridge.CodeNotInGroup, "not in that group")
	}
	if err := api.CallOnce(Within(t), "POST", g.Path("/leave"), nil, "leave", nil); err != nil {
		t.Errorf("the same call again: %v", err)
	}
}

func changesSettings(t *testing.T, g Administered) {
	g.TB = t
	members := []*simnet.Phone{g.C.Anna, g.C.Ben, g.C.Owner}
	patch := func(p Object, want ...string) {
		t.Helper()
		if changed := CallOnce[changedGroup](t, g.C.Bridge, "PATCH", g.Path(""), p, "").Changed; !slices.Equal(changed, want) {
			t.Errorf("changed %v, want %v", changed, want)
		}
	}
	name, topic := "Re-readers", "Chapter two"
	all := Object{"name": name, "topic": topic, "isAnnounce": true, "isLocked": true, "disappearingSeconds": 604800}
	patch(all, "name", "topic", "isAnnounce", "isLocked", "disappearingSeconds")
	g.Is("changing all", func(s bridge.StoredGroup) bool {
		return s.Name == name && s.Topic == topic && s.IsAnnounce && s.IsLocked && s.Expiration == 604800
	})
	g.Shows(func(v simnet.GroupView) bool {
		return v.Name == name && v.Topic == topic && v.Announce && v.Locked && v.Ephemeral == 604800
	}, members...)
	patch(all)
	topic = "Chapter three"
	patch(Object{"topic": topic, "isLocked": true}, "topic")
	g.Shows(func(v simnet.GroupView) bool { return v.Topic == topic }, members...)
	patch(Object{"topic": "", "isAnnounce": false, "isLocked": false, "disappearingSeconds": 0}, "topic", "isAnnounce", "isLocked", "disappearingSeconds")
	g.Is("changing back", func(s bridge.StoredGroup) bool {
		return s.Name == name && s.Topic == "" && !s.IsAnnounce && !s.IsLocked && s.Expiration == 0
	})
	g.Shows(func(v simnet.GroupView) bool { return v.Topic == "" && !v.Announce && !v.Locked && v.Ephemeral == 0 }, members...)
	events := Must(g.C.Bridge.API.EventPage(Within(t), client.EventQuery{After: "0", Chats: []bridge.JID{g.JID}}, 500, 0))(t)
	if !slices.ContainsFunc(events.Events, func(e bridge.Event) bool { return e.Type == bridge.EventGroupUpdated }) ||
		!slices.ContainsFunc(events.Events, func(e bridge.Event) bool { return e.Type == bridge.EventChatUpdated }) {
		t.Errorf("the log has %+v", events.Events)
	}
}

func changesMembers(t *testing.T, g Administered, dora *simnet.Phone) {
	g.TB = t
	c := g.C
	expect := func(got []bridge.ParticipantStatus, want ...bridge.ParticipantStatus) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("became %v, want %v", got, want)
		}
	}
	expect(g.Change("add", NumberOf(c.Carla), NumberOf(c.Anna)), "done", "already_member")
	g.Is("adding", func(s bridge.StoredGroup) bool { return has(s, c.Carla) })
	c.Bridge.Sends(t, Object{"jid": string(g.JID), "text": "hello Carla"})
	if _, err := c.Carla.ReceivedText(Within(t), "hello Carla"); err != nil {
		t.Fatal(err)
	}
	g.Shows(func(v simnet.GroupView) bool { return v.Has(c.Carla) }, c.Anna, c.Carla)
	expect(g.Change("promote", LidOf(c.Carla)), "done")
	g.Shows(func(v simnet.GroupView) bool { return v.HasAdmin(c.Carla) }, c.Ben)
	expect(g.Change("demote", NumberOf(c.Carla)), "done")
	g.Is("demoting", func(s bridge.StoredGroup) bool { return len(s.Participants) == 5 && !s.Participants[1].IsAdmin })
	expect(g.Change("remove", NumberOf(c.Carla), NumberOf(dora)), "done", "done")
	g.Is("removing", func(s bridge.StoredGroup) bool { return !has(s, c.Carla) && !has(s, dora) })
	g.Shows(func(v simnet.GroupView) bool { return !v.Has(c.Carla) && !v.Has(dora) }, c.Anna, c.Carla)
	expect(g.Change("remove", NumberOf(c.Carla)), "not_a_member")
	expect(g.Change("promote", NumberOf(c.Carla)), "not_a_member")
	expect(g.Change("add", NumberOf(dora), bridge.PhoneJID("49151000998")), "invite_required", "not_on_network")
	handle, _ := c.Network.Group(g.In)
	if err := handle.Leave(Within(t), c.Ben); err != nil {
		t.Fatal(err)
	}
	expect(g.Change("add", NumberOf(c.Ben)), "recently_left")
	handle.Limit(2)
	expect(g.Change("add", NumberOf(c.Carla)), "group_full")
	handle.Limit(1024)
	Refused(t, c.Bridge.Post(g.Path("/participants"), Object{"action": "remove", "participants": []string{c.Owner.LID().String()}}),
		http.StatusBadRequest, bridge.CodeInvalid, "/leave")
}

func changesLink(t *testing.T, g Administered) {
	g.TB = t
	first := CallOnce[bridge.GroupLink](t, g.C.Bridge, "GET", g.Path("/invite"), nil, "")
	if !strings.HasSuffix(first.Link, first.Code) || !strings.HasPrefix(first.Link, bridge.InviteLinkPrefix) {
		t.Errorf("link %+v", first)
	}
	second := CallOnce[bridge.GroupLink](t, g.C.Bridge, "DELETE", g.Path("/invite"), nil, "revoke")
	if again := CallOnce[bridge.GroupLink](t, g.C.Bridge, "DELETE", g.Path("/invite"), nil, "revoke"); again != second || second.Link == first.Link {
		t.Errorf("revoked %s: %s, then %s", first.Link, second.Link, again.Link)
	}
	g.Shows(func(v simnet.GroupView) bool { return v.Link == second.Link }, g.C.Anna)
	if present := CallOnce[bridge.GroupLink](t, g.C.Bridge, "GET", g.Path("/invite"), nil, ""); present != second {
		t.Errorf("the link is %+v", present)
	}
	if _, err := g.C.Carla.Client().JoinGroupWithLink(Within(t), first.Link); err == nil {
		t.Error("the old link lets in")
	}
}

// TestGroupAdmin_AsAMember tries admins' actions as a plain member.
func TestGroupAdmin_AsAMember(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	group := NewGroup(t, c.Ben, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{c.Owner, c.Anna}})
	g := Administered{TB: t, C: c, JID: bridge.JID(group.JID().String()), In: group.JID()}
	Eventually(t, func() error { _, err := c.Bridge.API.Group(Within(t), g.JID); return err })
	name, topic := "Chor", "Mondays"
	half := Object{"name": name, "topic": topic, "isAnnounce": true, "isLocked": true}
	for _, call := range []struct{ method, suffix, body string }{
		{"PATCH", "", `{"isAnnounce":true}`},
		{"PATCH", "", `{"isLocked":true}`},
		{"POST", "/participants", `{"action":"add","participants":["` + string(NumberOf(c.Carla)) + `"]}`},
		{"POST", "/participants", `{"action":"promote","participants":["` + string(NumberOf(c.Owner)) + `"]}`},
		{"GET", "/invite", ``},
		{"DELETE", "/invite", ``},
	} {
		Refused(t, c.Bridge.Do(call.method, g.Path(call.suffix), call.body), http.StatusBadRequest, bridge.CodeNotAdmin, "only an admin")
	}
	// Members may change the first two fields, but not the third.
	err := c.Bridge.API.CallOnce(Within(t), "PATCH", g.Path(""), half, "half", nil)
	var failed *client.Error
	if !errors.As(err, &failed) || failed.Code != bridge.CodeNotAdmin || !slices.Equal(failed.Changed, []string{"name", "topic"}) || !strings.Contains(failed.Message, "isAnnounce was not") {
		t.Errorf("half a change: %+v", err)
	}
	g.Is("half a change", func(s bridge.StoredGroup) bool { return s.Name == name && s.Topic == topic && !s.IsAnnounce })
	g.Shows(func(v simnet.GroupView) bool { return v.Name == name && v.Topic == topic && !v.Announce }, c.Anna, c.Ben)
	if err := group.Promote(Within(t), c.Ben, c.Owner); err != nil {
		t.Fatal(err)
	}
	// With the key, the call continues where it stopped.
	if changed := CallOnce[changedGroup](t, c.Bridge, "PATCH", g.Path(""), half, "half").Changed; !slices.Equal(changed, []string{"isAnnounce", "isLocked"}) {
		t.Errorf("the rest: %v", changed)
	}
	if err := group.Demote(Within(t), c.Ben, c.Owner); err != nil {
		t.Fatal(err)
	}
	Refused(t, c.Bridge.Do("PATCH", g.Path(""), `{"name":"mine"}`), http.StatusBadRequest, bridge.CodeNotAdmin, "only an admin")

	community := NewGroup(t, c.Owner, simnet.GroupOptions{Subject: "Town", Community: true, Members: []*simnet.Phone{c.Anna}})
	town := Administered{TB: t, C: c, JID: bridge.JID(community.JID().String()), In: community.JID()}
	Eventually(t, func() error { _, err := c.Bridge.API.Group(Within(t), town.JID); return err })
	for _, call := range []struct{ method, suffix, body string }{
		{"PATCH", "", `{"name":"City","isAnnounce":true}`},
		{"POST", "/leave", ``},
		{"POST", "/participants", `{"action":"add","participants":["` + string(NumberOf(c.Carla)) + `"]}`},
	} {
		Refused(t, c.Bridge.Do(call.method, town.Path(call.suffix), call.body), http.StatusBadRequest, bridge.CodeNotAChat, "community")
	}
	if changed := CallOnce[changedGroup](t, c.Bridge, "PATCH", town.Path(""), Object{"name": name}, "").Changed; !slices.Equal(changed, []string{"name"}) {
		t.Errorf("a community's name: %v", changed)
	}
}

// TestGroupAdmin_Joins joins groups by valid and invalid links.
func TestGroupAdmin_Joins(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	join := func(link string) apitest.Response { return c.Bridge.Post("/api/groups/join", Object{"link": link}) }
	group := NewGroup(t, c.Ben, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{c.Anna}})
	g := Administered{TB: t, C: c, JID: bridge.JID(group.JID().String()), In: group.JID()}
	link := Must(group.Link(Within(t), c.Ben))(t)
	group.Limit(2)
	Refused(t, join(link), http.StatusConflict, bridge.CodeGroupFull, "maximum number of members")
	group.Limit(1024)
	Refused(t, join(bridge.InviteLinkPrefix+"AbCdEfGhIjKlMnOpQrStUv"), http.StatusNotFound, bridge.CodeInviteInvalid, "no group has this link")

	code := strings.TrimPrefix(link, bridge.InviteLinkPrefix)
	before := Must(c.Bridge.API.InvitedGroup(Within(t), code))(t)
	if before.JID != g.JID || before.Name != "Choir" || before.Participants != 2 || before.OwnerJID != bridge.PhoneJID(c.Ben.Number()) || before.Link != link || before.JoinApproval {
		t.Errorf("the link leads to %+v", before)
	}
	preview := func(code string) apitest.Response { return c.Bridge.Get("/api/groups/invites/" + code) }
	Refused(t, preview("AbCdEfGhIjKlMnOpQrStUv"), http.StatusNotFound, bridge.CodeInviteInvalid, "no group has this link")
	Refused(t, preview("short"), http.StatusBadRequest, bridge.CodeInvalid, "link of a group")
	Refused(t, c.Bridge.Get(g.Path("")), http.StatusNotFound, bridge.CodeNotFound)

	joined := CallOnce[bridge.GroupJoin](t, c.Bridge, "POST", "/api/groups/join", Object{"link": link}, "join")
	if joined.JID != g.JID || joined.Status != bridge.GroupJoined {
		t.Errorf("joined %+v", joined)
	}
	g.Is("joining", func(s bridge.StoredGroup) bool { return s.Name == "Choir" && has(s, c.Owner) && has(s, c.Anna) })
	g.Shows(func(v simnet.GroupView) bool { return v.Has(c.Owner) }, c.Anna, c.Ben)
	if again := CallOnce[bridge.GroupJoin](t, c.Bridge, "POST", "/api/groups/join", Object{"link": link}, "join"); again != joined {
		t.Errorf("again: %+v", again)
	}
	Refused(t, join(link), http.StatusConflict, bridge.CodeAlreadyInGroup, "already")
	c.Bridge.Sends(t, Object{"jid": string(g.JID), "text": "here I am"})

	if err := group.Remove(Within(t), c.Ben, c.Owner); err != nil {
		t.Fatal(err)
	}
	Refused(t, join(link), http.StatusBadRequest, bridge.CodeJoinRefused, "ask an admin")
	if _, err := c.Ben.Client().GetGroupInviteLink(Within(t), g.In, true); err != nil {
		t.Fatal(err)
	}
	Refused(t, join(link), http.StatusNotFound, bridge.CodeInviteInvalid, "revoked this link")
	Refused(t, preview(code), http.StatusNotFound, bridge.CodeInviteInvalid, "revoked this link")

	closed := NewGroup(t, c.Anna, simnet.GroupOptions{Subject: "Board", Members: []*simnet.Phone{c.Ben}})
	if err := closed.SetApproval(Within(t), c.Anna, true); err != nil {
		t.Fatal(err)
	}
	waits := CallOnce[bridge.GroupJoin](t, c.Bridge, "POST", "/api/groups/join", Object{"link": Must(closed.Link(Within(t), c.Anna))(t)}, "")
	if waits.JID != bridge.JID(closed.JID().String()) || waits.Status != bridge.GroupPending {
		t.Errorf("asked to be let in: %+v", waits)
	}
	if got := closed.Requests(); len(got) != 1 || got[0] != c.Owner.LID() {
		t.Errorf("waiting: %v", got)
	}
	c.Bridge.Get(Path("/api/groups/%s", closed.JID())).Want(http.StatusNotFound)
	if err := closed.Approve(Within(t), c.Anna, c.Owner); err != nil {
		t.Fatal(err)
	}
	Eventually(t, func() error { _, err := c.Bridge.API.Group(Within(t), waits.JID); return err })
}
