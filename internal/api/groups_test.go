package api_test

import (
	"bytes"
	"context"
	"image"
	jpegs "image/jpeg"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

const link = "https://chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv"

// groupAdmin is the double of the account's administration of groups. do decides
// about each call, which is one of the types below or of package bridge.
type groupAdmin struct {
	do      func(call any) error
	results func(people []bridge.JID) []bridge.ParticipantResult // of changes of members; nil is done for each
	asking  func() []bridge.JoinRequest                          // nil is Alan

	mu    sync.Mutex
	calls []any // guarded by mu
}

type (
	patchCall struct {
		Group bridge.JID
		Patch bridge.GroupPatch
	}
	linkCall     struct{ Group bridge.JID }
	invitedCall  struct{ Code string }
	requestsCall struct{ Group bridge.JID }
	revokeCall   struct {
		Group  bridge.JID
		Before string
	}
	pictureCall struct {
		Group  bridge.JID
		Size   image.Point // of the JPEG; none removes the picture
		Before *string
	}
	joinCall struct {
		Code  string
		Again bool
	}
	leaveCall struct {
		Group bridge.JID
		Again bool
	}
)

func (g *groupAdmin) called(call any) error {
	g.mu.Lock()
	g.calls = append(g.calls, call)
	g.mu.Unlock()
	return g.do(call)
}

// made returns the calls so far.
func (g *groupAdmin) made() []any {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]any(nil), g.calls...)
}

func (g *groupAdmin) CreateGroup(_ context.Context, group bridge.NewGroup) (bridge.GroupCreated, error) {
	return bridge.GroupCreated{JID: "120363000000000001@g.us", Name: group.Name, Participants: doneAll(group.Participants)}, g.called(group)
}

func (g *groupAdmin) ChangeGroup(_ context.Context, jid bridge.JID, patch bridge.GroupPatch) ([]string, error) {
	return []string{"name"}, g.called(patchCall{jid, patch})
}

func (g *groupAdmin) ChangeParticipants(_ context.Context, change bridge.ParticipantsChange) ([]bridge.ParticipantResult, error) {
	results := doneAll
	if g.results != nil {
		results = g.results
	}
	return results(change.Participants), g.called(change)
}

func (g *groupAdmin) JoinRequests(_ context.Context, jid bridge.JID) ([]bridge.JoinRequest, error) {
	if g.asking != nil {
		return g.asking(), g.called(requestsCall{jid})
	}
	at := bridge.At(noon)
	return []bridge.JoinRequest{{JID: alan, DisplayName: "Alan", RequestedAt: &at, Named: alan}}, g.called(requestsCall{jid})
}

func (g *groupAdmin) GroupLink(_ context.Context, jid bridge.JID) (bridge.GroupLink, error) {
	return bridge.GroupLink{JID: jid, Link: link, Code: strings.TrimPrefix(link, bridge.InviteLinkPrefix)}, g.called(linkCall{jid})
}

func (g *groupAdmin) RevokeGroupLink(_ context.Context, jid bridge.JID, before string) (bridge.GroupLink, error) {
	return bridge.GroupLink{JID: jid, Link: bridge.InviteLinkPrefix + "NewNewNewNewNewNewNewNe", Code: "NewNewNewNewNewNewNewNe"}, g.called(revokeCall{jid, before})
}

func (g *groupAdmin) GroupPicture(context.Context, bridge.JID) (string, error) {
	return "the old one", nil
}

func (g *groupAdmin) SetGroupPicture(_ context.Context, jid bridge.JID, picture []byte, before *string) (string, error) {
	if picture == nil {
		return "", g.called(pictureCall{jid, image.Point{}, before})
	}
	head, err := jpegs.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return "", err
	}
	return "the new one", g.called(pictureCall{jid, image.Pt(head.Width, head.Height), before})
}

func (g *groupAdmin) InvitedGroup(_ context.Context, code string) (bridge.InvitedGroup, error) {
	link := bridge.GroupLink{JID: club, Link: bridge.InviteLinkPrefix + code, Code: code}
	return bridge.InvitedGroup{GroupLink: link, Name: "Readers", Participants: 12}, g.called(invitedCall{code})
}

func (g *groupAdmin) JoinGroup(_ context.Context, code string, again bool) (bridge.GroupJoin, error) {
	return bridge.GroupJoin{JID: club, Status: bridge.GroupPending}, g.called(joinCall{code, again})
}

func (g *groupAdmin) JoinInvited(_ context.Context, m bridge.Message, again bool) (bridge.GroupJoin, error) {
	return bridge.GroupJoin{JID: m.GroupInvite.JID, Status: bridge.GroupJoined}, g.called(joinCall{m.GroupInvite.Code, again})
}

func (g *groupAdmin) LeaveGroup(_ context.Context, jid bridge.JID, again bool) error {
	return g.called(leaveCall{jid, again})
}

func doneAll(people []bridge.JID) (results []bridge.ParticipantResult) {
	for _, jid := range people {
		results = append(results, bridge.ParticipantResult{JID: jid, Status: bridge.ParticipantDone})
	}
	return results
}

func TestGroups_WhatIsAskedFor(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Identity{PN: grace, LID: graceLID})
	name, topic, on, week := "Name", "", true, uint32(604800)
	for _, c := range []struct {
		method, path, body string
		want               any
	}{
		{
			"PATCH", "/api/groups/" + string(club), `{"name":"Name","topic":"","isAnnounce":true,"isLocked":null,"disappearingSeconds":604800}`,
			patchCall{club, bridge.GroupPatch{Name: &name, Topic: &topic, IsAnnounce: &on, Disappearing: &week}},
		},
		{
			"POST", "/api/groups/" + string(club) + "/participants", `{"action":"promote","participants":["` + string(graceLID) + `","` + string(alan) + `","` + string(grace) + `"]}`,
			bridge.ParticipantsChange{Group: club, Action: bridge.ParticipantPromote, Participants: []bridge.JID{grace, alan}},
		},
		{"PATCH", "/api/groups/" + string(club), `{"joinApproval":true}`, patchCall{club, bridge.GroupPatch{JoinApproval: &on}}},
		{"PATCH", "/api/groups/" + string(club), `{"memberAddMode":"admins"}`, patchCall{club, bridge.GroupPatch{MemberAddMode: new(bridge.AddedByAdmins)}}},
		{"GET", "/api/groups/" + string(club) + "/requests", "", requestsCall{club}},
		{
			"POST", "/api/groups/" + string(club) + "/requests", `{"action":"reject","participants":["` + string(alan) + `"]}`,
			bridge.ParticipantsChange{Group: club, Action: bridge.ParticipantReject, Participants: []bridge.JID{alan}},
		},
		{"GET", "/api/groups/" + string(club) + "/invite", "", linkCall{club}},
		{"DELETE", "/api/groups/" + string(club) + "/invite", "", revokeCall{club, ""}},
		{"POST", "/api/groups/join", `{"link":"chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv?mode=ac_t"}`, joinCall{"AbCdEfGhIjKlMnOpQrStUv", false}},
		{"POST", "/api/groups/join", `{"link":"AbCdEfGhIjKlMnOpQrStUv"}`, joinCall{"AbCdEfGhIjKlMnOpQrStUv", false}},
		{"POST", "/api/groups/" + string(club) + "/leave", "{}", leaveCall{club, false}},
	} {
		before := len(s.account.groupAdmin.made())
		s.Do(c.method, c.path, c.body).Want(http.StatusOK)
		if diff := cmp.Diff([]any{c.want}, s.account.groupAdmin.made()[before:]); diff != "" {
			t.Errorf("%s %s: %s", c.method, c.path, diff)
		}
	}
	s.Do("POST", "/api/groups", `{"name":"New ones","participants":["`+string(grace)+`"]}`).Want(http.StatusOK)
	made := s.account.groupAdmin.made()
	if group := made[len(made)-1].(bridge.NewGroup); group.Key == "" || group.Again || group.Name != "New ones" {
		t.Errorf("created as %+v", group)
	}
}

func TestGroups_BadInput(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	name, topic := strings.Repeat("ä", 100), strings.Repeat("ä", 2048)
	many := `"` + strings.Repeat(string(grace)+`","`, 1023) + string(alan) + `"`
	const create, members = "POST /api/groups", "POST /api/groups/120363025246125486@g.us/participants"
	const requests = "POST /api/groups/120363025246125486@g.us/requests"
	const patch, join = "PATCH /api/groups/120363025246125486@g.us", "POST /api/groups/join"
	for _, c := range []struct{ call, body, says string }{
		{create, `{"participants":["` + string(grace) + `"]}`, "name must have 1 to 100 characters"},
		{create, `{"name":" \t","participants":["` + string(grace) + `"]}`, "name must have"},
		{create, `{"name":"` + name + `x","participants":["` + string(grace) + `"]}`, "name must have"},
		{create, `{"name":7,"participants":["` + string(grace) + `"]}`, "name must be a string"},
		{create, `{"name":"x"}`, "participants must hold 1 to 1023"},
		{create, `{"name":"x","participants":"` + string(grace) + `"}`, "participants must be an array"},
		{create, `{"name":"x","participants":[1]}`, "participants[0] must be a string"},
		{create, `{"name":"x","participants":["15557654321"]}`, "did you mean"},
		{create, `{"name":"x","participants":["` + string(club) + `"]}`, "participants must name a person"},
		{create, `{"name":"x","participants":[` + many + `]}`, "participants must hold 1 to 1023 people"},
		{create, `{"name":"x","participants":["` + string(grace) + `"],"topic":"y"}`, "topic is not a field"},
		{create, `{"name":"x","name":"y","participants":["` + string(grace) + `"]}`, "name is given twice"},
		{patch, `{}`, "give at least one of"},
		{patch, `{"name":null}`, "give at least one of"},
		{patch, `{"name":""}`, "name must have"},
		{patch, `{"name":"` + name + `x"}`, "name must have"},
		{patch, `{"topic":"` + topic + `x"}`, "topic must have at most 2048"},
		{patch, `{"topic":false}`, "topic must be a string"},
		{patch, `{"isAnnounce":"yes"}`, "isAnnounce must be true or false"},
		{patch, `{"isLocked":1}`, "isLocked must be true or false"},
		{patch, `{"disappearingSeconds":60}`, "disappearingSeconds must be 0, 86400"},
		{patch, `{"disappearingSeconds":-1}`, "disappearingSeconds must be an integer of 0 or more"},
		{patch, `{"disappearingSeconds":"0"}`, "disappearingSeconds must be an integer"},
		{patch, `{"subject":"x"}`, "subject is not a field"},
		{members, `{"participants":["` + string(grace) + `"]}`, "action must be add, remove, promote or demote"},
		{members, `{"action":"kick","participants":["` + string(grace) + `"]}`, "action must be"},
		{members, `{"action":"add"}`, "participants must hold"},
		{members, `{"action":"add","participants":["status@broadcast"]}`, "participants must name a person"},
		{members, `{"action":"add","participants":["` + string(grace) + `"],"jid":"x"}`, "jid is not a field"},
		{members, `{"action":"approve","participants":["` + string(grace) + `"]}`, "action must be add, remove, promote or demote"},
		{requests, `{"action":"add","participants":["` + string(grace) + `"]}`, "action must be approve or reject"},
		{requests, `{"action":"approve"}`, "participants must hold"},
		{patch, `{"memberAddMode":"all"}`, "memberAddMode must be admins or everyone"},
		{patch, `{"joinApproval":"on"}`, "joinApproval must be true or false"},
		{join, `{}`, "link must be the link of a group"},
		{join, `{"link":"https://example.com/AbCdEfGhIjKlMnOpQrStUv"}`, "link must be"},
		{join, `{"link":"https://chat.whatsapp.com/"}`, "link must be"},
		{join, `{"link":"https://chat.whatsapp.com/` + strings.Repeat("A", 200) + `"}`, "link must be"},
		{join, `{"link":"` + link + `","chatJid":"` + string(grace) + `","msgId":"M1"}`, "either link, or chatJid and msgId"},
		{join, `{"chatJid":"` + string(grace) + `"}`, "either link, or chatJid and msgId"},
		{join, `{"chatJid":"nobody","msgId":"M1"}`, "chatJid"},
		{join, `{"link":["x"]}`, "link must be a string"},
		{join, `{"link":"` + link + `","jid":"x"}`, "jid is not a field"},
		{"POST /api/groups/" + string(club) + "/leave", `{"jid":"x"}`, "jid is not a field"},
		{"POST /api/groups/" + string(grace) + "/leave", `{}`, "the path must name a group"},
		{"PATCH /api/groups/" + string(grace), `{"name":"x"}`, "the path must name a group"},
		{"GET /api/groups/" + string(grace) + "/invite", ``, "the path must name a group"},
		{"DELETE /api/groups/nobody/invite", ``, "the path"},
		{"POST /api/groups/" + string(hidden) + "/participants", `{"action":"add","participants":["` + string(grace) + `"]}`, "the path must name a group"},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		got := s.Do(method, path, c.body).Want(http.StatusBadRequest)
		if got.Code() != "invalid_request" || !strings.Contains(got.Error(), c.says) {
			t.Errorf("%s %.60s: %s %q, want %q", c.call, c.body, got.Code(), got.Error(), c.says)
		}
	}
	if calls := s.account.groupAdmin.made(); len(calls) != 0 {
		t.Errorf("asked for %+v", calls)
	}
	s.Do("PATCH", "/api/groups/"+string(club), `{"name":"`+name+`","topic":"`+topic+`"}`).Want(http.StatusOK)
}

// What the network refuses comes with its name on every route.
func TestGroups_RefusalsHaveTheirStatus(t *testing.T) {
	t.Parallel()
	const invited = "/api/groups/invites/AbCdEfGhIjKlMnOpQrStUv"
	calls := []route{{method: "GET", path: invited}, {method: "GET", path: "/api/groups/" + string(club) + "/invite"}, {method: "GET", path: "/api/groups/" + string(club) + "/requests"}}
	for _, r := range everyRoute {
		if r.gated {
			calls = append(calls, r)
		}
	}
	s := stocked(t)
	for _, r := range calls {
		for code, status := range map[bridge.Code]int{
			bridge.CodeNotAdmin: 400, bridge.CodeNotInGroup: 400, bridge.CodeNotAChat: 400, bridge.CodeNotOnNetwork: 400, bridge.CodeJoinRefused: 400,
			bridge.CodeGroupFull: 409, bridge.CodeGroupChanged: 409, bridge.CodeAlreadyInGroup: 409, bridge.CodeRateLimited: 429,
			bridge.CodeSendRefused: 502, bridge.CodeInternal: 500, bridge.CodeNotConnected: 503, bridge.CodeSendTimeout: 504,
			bridge.CodeInviteInvalid: 404,
		} {
			if r.method == "GET" && (status == 409 || status == 504) || status == 404 && !strings.HasSuffix(r.path, "/join") && r.path != invited {
				continue
			}
			s.account.groupAdmin.do = func(any) error { return bridge.Fail(code, "no") }
			s.expect(r, r.body, string(code), status, string(code))
		}
	}
	s.account.groupAdmin.do = func(any) error {
		return &bridge.Error{Code: bridge.CodeNotAdmin, Msg: "no", Changed: []string{"name"}}
	}
	var half struct{ Changed []string }
	s.Do("PATCH", "/api/groups/"+string(club), `{"name":"x"}`).Want(http.StatusBadRequest).Decode(&half)
	if diff := cmp.Diff([]string{"name"}, half.Changed); diff != "" {
		t.Error(diff)
	}
}

func TestGroups_LargeBodies(t *testing.T) {
	t.Parallel()
	onEvery(t, changingGroups, func(t *testing.T, s *server, r route) {
		if r.method != "DELETE" && r.method != "PUT" {
			s.expect(r, `{"x":"`+strings.Repeat("x", 1<<20)+`"}`, "a large body", 413, "payload_too_large")
		}
	})
}
