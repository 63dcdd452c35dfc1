package waha

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/compat/compattest"
	"bridged/internal/webhook/format"
)

const (
	inClub  = `{"chatId":"120363025246125486@g.us"`
	g1      = "false_120363025246125486@g.us_G1_15550100301@c.us"
	chats   = "/api/default/chats/120363025246125486@g.us"
	club    = "/api/default/groups/120363025246125486@g.us"
	labels  = "/api/default/labels"
	profile = "/api/default/profile"
	members = `{"participants":[{"id":"15550100301@c.us"}]}`
)

// reaches names every route; a new one fails the test until it is named here.
var reaches = []compattest.Try{
	{Route: "GET /health"},
	{Route: "GET /api/version"},
	{Route: "GET /api/server/version"},

	{Route: "POST /api/sendText", Body: inClub + `,"text":"x"}`, Scope: toSend},
	{Route: "POST /api/sendText", Body: inClub + `,"text":"x","mentions":["all"]}`, Scope: toSend},
	{Route: "GET /api/sendText", Query: "?phone=120363025246125486@g.us&text=x", Scope: toSend},
	{Route: "POST /api/reply", Body: inClub + `,"text":"x","reply_to":"` + g1 + `"}`, Scope: toSend},
	{Route: "POST /api/sendImage", Body: inClub + `,"file":{"url":"https://example.org/a.png"}}`, Scope: toSend},
	{Route: "POST /api/sendFile", Body: inClub + `,"file":{"data":"aGVsbG8="}}`, Scope: toSend},
	{Route: "POST /api/sendVideo", Body: inClub + `,"file":{"data":"aGVsbG8="}}`, Scope: toSend},
	{Route: "POST /api/sendVoice", Body: inClub + `,"file":{"data":"aGVsbG8="}}`, Scope: toSend},
	{Route: "POST /api/sendLocation", Body: inClub + `,"latitude":1,"longitude":2}`, Scope: toSend},
	{Route: "POST /api/sendPoll", Body: inClub + `,"poll":{"name":"When?","options":["a","b"]}}`, Scope: toSend},
	{Route: "POST /api/sendContactVcard", Body: inClub + `,"contacts":[{"fullName":"Sam"}]}`, Scope: toSend},
	{Route: "POST /api/forwardMessage", Body: inClub + `,"messageId":"` + g1 + `"}`, Scope: toSend},
	{Route: "POST /api/sendPollVote", Body: inClub + `,"pollMessageId":"` + g1 + `","votes":["a"]}`, Scope: toSend},
	{Route: "PUT /api/star", Body: inClub + `,"messageId":"` + g1 + `","star":true}`, Scope: toSend},
	{Route: "PUT /api/reaction", Body: `{"messageId":"` + g1 + `","reaction":"👍"}`, Scope: toSend},
	{Route: "POST /api/sendSeen", Body: inClub + `}`, Scope: toSend},
	{Route: "POST /api/startTyping", Body: inClub + `}`, Scope: toSend},
	{Route: "POST /api/stopTyping", Body: inClub + `}`, Scope: toSend},
	{Route: "GET /api/messages", Query: "?chatId=120363025246125486@g.us&limit=0", Scope: toRead},

	{Route: "GET /api/contacts", Query: "?contactId=15550100301@c.us", Scope: toRead},
	{Route: "GET /api/contacts/about", Query: "?contactId=15550100301@c.us", Scope: toRead},
	{Route: "GET /api/contacts/all", Scope: toRead},
	{Route: "GET /api/contacts/check-exists", Query: "?phone=15550100301", Scope: toRead},
	{Route: "GET /api/contacts/profile-picture", Query: "?contactId=15550100399", Scope: toRead},

	{Route: "GET /api/sessions", Scope: toRead, Whole: true},
	{Route: "POST /api/sessions", Body: `{"name":"default"}`, Scope: toRead, Whole: true},
	{Route: "GET /api/sessions/{session}", Path: "/api/sessions/default", Scope: toRead, Whole: true},
	{Route: "PUT /api/sessions/{session}", Path: "/api/sessions/default", Body: `{"config":{"webhooks":[]}}`, Scope: toManage, Also: toRead, Whole: true},
	{Route: "GET /api/sessions/{session}/me", Path: "/api/sessions/default/me"},
	{Route: "POST /api/sessions/{session}/start", Path: "/api/sessions/default/start", Scope: toManage, Also: toRead, Whole: true},
	{Route: "POST /api/sessions/{session}/restart", Path: "/api/sessions/default/restart", Scope: toManage, Also: toRead, Whole: true},
	{Route: "POST /api/sessions/{session}/logout", Path: "/api/sessions/default/logout", Scope: toManage, Also: toRead, Whole: true},
	{Route: "GET /api/files/default/{file}", Path: "/api/files/default/" + g1 + ".jpeg", Scope: toRead},

	{Route: "GET /api/default/auth/qr", Path: "/api/default/auth/qr", Scope: toRead, Whole: true},
	{Route: "POST /api/default/auth/request-code", Path: "/api/default/auth/request-code", Body: `{"phoneNumber":"15550100200","method":null}`, Scope: toManage, Whole: true},
	{Route: "GET /api/default/chats", Path: "/api/default/chats", Query: "?limit=0&offset=0", Scope: toRead},
	{Route: "GET /api/default/chats/overview", Path: "/api/default/chats/overview", Scope: toRead},
	{Route: "GET /api/default/chats/{chat}/messages", Path: chats + "/messages", Scope: toRead},
	{Route: "POST /api/default/chats/{chat}/messages/read", Path: chats + "/messages/read", Scope: toSend},
	{Route: "GET /api/default/chats/{chat}/messages/{message}", Path: chats + "/messages/" + g1, Scope: toRead},
	{Route: "PUT /api/default/chats/{chat}/messages/{message}", Path: chats + "/messages/" + g1, Body: `{"text":"x"}`, Scope: toSend},
	{Route: "DELETE /api/default/chats/{chat}/messages/{message}", Path: chats + "/messages/" + g1, Scope: toSend},

	{Route: "POST /api/default/chats/{chat}/messages/{message}/pin", Path: chats + "/messages/" + g1 + "/pin", Body: `{"duration":604800}`, Scope: toSend},
	{Route: "POST /api/default/chats/{chat}/messages/{message}/unpin", Path: chats + "/messages/" + g1 + "/unpin", Scope: toSend},
	{Route: "PUT /api/default/contacts/{contact}", Path: "/api/default/contacts/15550100301@c.us", Body: `{"firstName":"Grace","lastName":"Hopper"}`, Scope: toSend},
	{Route: "GET /api/default/labels", Path: labels, Scope: toRead},
	{Route: "POST /api/default/labels", Path: labels, Body: `{"name":"Lead","color":null,"colorHex":"#ff9485"}`, Scope: toSend, Whole: true},
	{Route: "PUT /api/default/labels/{label}", Path: labels + "/1", Body: `{"name":"Lead","color":1}`, Scope: toSend, Whole: true},
	{Route: "DELETE /api/default/labels/{label}", Path: labels + "/1", Scope: toSend, Whole: true},
	{Route: "GET /api/default/labels/{label}/{chat}", Path: labels + "/chats/120363025246125486@g.us", Scope: toRead},
	{Route: "GET /api/default/labels/{label}/{chat}", Path: labels + "/1/chats", Scope: toRead},
	{Route: "PUT /api/default/labels/chats/{chat}", Path: labels + "/chats/120363025246125486@g.us", Body: `{"labels":[{"id":"1"}]}`, Scope: toSend, Also: toRead},
	{Route: "GET /api/default/profile", Path: profile, Scope: toRead},
	{Route: "PUT /api/default/profile/name", Path: profile + "/name", Body: `{"name":"Ada"}`, Scope: toManage, Whole: true},
	{Route: "PUT /api/default/profile/status", Path: profile + "/status", Body: `{"status":"at work"}`, Scope: toManage, Whole: true},
	{Route: "PUT /api/default/profile/picture", Path: profile + "/picture", Body: `{"file":{"data":"` + compattest.Picture + `"}}`, Scope: toManage, Whole: true},
	{Route: "DELETE /api/default/profile/picture", Path: profile + "/picture", Scope: toManage, Whole: true},

	{Route: "GET /api/default/groups/join-info", Path: "/api/default/groups/join-info", Query: "?code=AbCdEfGhIjKlMnOp", Scope: toRead, Whole: true},
	{Route: "GET /api/default/groups", Path: "/api/default/groups", Scope: toRead},
	{Route: "POST /api/default/groups", Path: "/api/default/groups", Body: `{"name":"x",` + members[1:], Scope: toSend, Whole: true},
	{Route: "POST /api/default/groups/join", Path: "/api/default/groups/join", Body: `{"code":"AbCdEfGhIjKlMnOp"}`, Scope: toSend, Whole: true},
	{Route: "GET /api/default/groups/{group}", Path: club, Scope: toRead},
	{Route: "GET /api/default/groups/{group}/participants", Path: club + "/participants", Scope: toRead},
	{Route: "POST /api/default/groups/{group}/participants/add", Path: club + "/participants/add", Body: members, Scope: toSend},
	{Route: "POST /api/default/groups/{group}/participants/remove", Path: club + "/participants/remove", Body: members, Scope: toSend},
	{Route: "POST /api/default/groups/{group}/admin/promote", Path: club + "/admin/promote", Body: members, Scope: toSend},
	{Route: "POST /api/default/groups/{group}/admin/demote", Path: club + "/admin/demote", Body: members, Scope: toSend},
	{Route: "PUT /api/default/groups/{group}/subject", Path: club + "/subject", Body: `{"subject":"x"}`, Scope: toSend},
	{Route: "PUT /api/default/groups/{group}/description", Path: club + "/description", Body: `{"description":"x"}`, Scope: toSend},
	{Route: "PUT /api/default/groups/{group}/picture", Path: club + "/picture", Body: `{"file":{"data":"` + compattest.Picture + `"}}`, Scope: toSend},
	{Route: "DELETE /api/default/groups/{group}/picture", Path: club + "/picture", Scope: toSend},
	{Route: "PUT /api/default/groups/{group}/settings/security/info-admin-only", Path: club + "/settings/security/info-admin-only", Body: `{"adminsOnly":true}`, Scope: toSend},
	{Route: "PUT /api/default/groups/{group}/settings/security/messages-admin-only", Path: club + "/settings/security/messages-admin-only", Body: `{"adminsOnly":true}`, Scope: toSend},
	{Route: "GET /api/default/groups/{group}/invite-code", Path: club + "/invite-code", Scope: toRead},
	{Route: "POST /api/default/groups/{group}/invite-code/revoke", Path: club + "/invite-code/revoke", Scope: toSend},
	{Route: "POST /api/default/groups/{group}/leave", Path: club + "/leave", Scope: toSend},
}

func newScene(t *testing.T) compattest.Scene {
	return compattest.NewScene(t, New, "X-Api-Key", map[bridge.WebhookFormat]format.Format{bridge.FormatWAHA: Format{}})
}

func TestTokens_EveryRouteWithEveryScope(t *testing.T) {
	patterns := make([]string, len(routes))
	for i, r := range routes {
		patterns[i] = r.Pattern
	}
	newScene(t).EveryScope(patterns, reaches)
}

// The webhooks of the session are those of the caller: one that may see those of other
// tokens leaves them alone.
func TestSession_HasItsCallersWebhooks(t *testing.T) {
	scene := newScene(t)
	n8n := scene.Token(nil, bridge.ScopeRead, bridge.ScopeManage).Secret
	set := func(token, list string) string {
		t.Helper()
		got := scene.Ask(compattest.Try{Route: "PUT /api/sessions/default", Body: `{"config":{"webhooks":[` + list + `]}}`}, token)
		if got.Code != http.StatusOK {
			t.Fatal(got.Code, got.Body)
		}
		return got.Body.String()
	}
	set(n8n, `{"url":"https://n8n.example/waha"}`)
	if shown := set(compattest.Operator, `{"url":"https://other.example/waha"}`); strings.Contains(shown, "n8n.example") {
		t.Errorf("the operator's session is %s", shown)
	}
	set(compattest.Operator, "")
	if shown := scene.Ask(compattest.Try{Route: "GET /api/sessions/default"}, n8n).Body.String(); !strings.Contains(shown, "https://n8n.example/waha") {
		t.Errorf("the token's session is %s", shown)
	}
}

// What is one click away in clients does nothing, and is refused in a form that they read.
func TestRoutes_RefusesWhatBridgedDoesNotDo(t *testing.T) {
	s := newScene(t)
	for _, route := range []string{
		"DELETE /api/default/chats/15550100301@c.us", "DELETE /api/default/chats/15550100301@c.us/messages", "POST /api/server/stop",
		"DELETE /api/sessions/default", "POST /api/sessions/default/stop", "POST /api/screenshot", "GET /api/default/labels/1/messages",
		"POST /api/default/status/text", "GET /api/default/channels", "POST /api/default/presence", "GET /api/apps", "POST /api/keys", "POST /api/sendButtons",
	} {
		got := s.Ask(compattest.Try{Route: route, Body: `{}`}, compattest.Operator)
		if got.Code != 501 || !strings.Contains(got.Body.String(), "bridged does not do this") {
			t.Errorf("%s: %d %s", route, got.Code, got.Body)
		}
	}
}

// A session that is not ours is named, wherever the call had its name.
func TestSession_IsNamedWhereItIsNotOurs(t *testing.T) {
	s := newScene(t)
	for _, r := range []compattest.Try{
		{Route: "GET /api/sessions/mine"},
		{Route: "GET /api/mine/chats"},
		{Route: "GET /api/mine/labels"},
		{Route: "GET /api/mine/profile/name"},
		{Route: "GET /api/messages", Query: "?session=mine&chatId=15550100301"},
		{Route: "POST /api/sendText", Body: `{"session":"mine","chatId":"15550100301","text":"x"}`},
	} {
		if got := s.Ask(r, compattest.Operator); got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.Body.String(), `"session":"mine"`) {
			t.Errorf("%s: %d %s", r.Route, got.Code, got.Body)
		}
	}
}

// No body within 1 MiB takes a multiple of it in memory, on any route and with any token.
func TestBodies_HoldLittleMemory(t *testing.T) { newScene(t).HostileBodies(reaches) }

// A change of the session that is refused, for any reason, leaves its webhooks as they were;
// and the values of their headers are not shown again.
func TestSession_ARefusedChangeChangesNothing(t *testing.T) {
	s := newScene(t)
	const first, second = `{"url":"https://one.example/a","customHeaders":[{"name":"X-Key","value":"hidden"}]}`, `{"url":"https://two.example/b","events":["message"]}`
	put := func(token, list string) int {
		return s.Ask(compattest.Try{Route: "PUT /api/sessions/default", Body: `{"config":{"webhooks":[` + list + `]}}`}, token).Code
	}
	shown := func() string {
		var session struct {
			Config struct{ Webhooks json.RawMessage }
		}
		if err := json.Unmarshal(s.Ask(compattest.Try{Route: "GET /api/sessions/default"}, compattest.Operator).Body.Bytes(), &session); err != nil {
			t.Fatal(err)
		}
		return string(session.Config.Webhooks)
	}
	if status := put(compattest.Operator, first+","+second); status != 200 {
		t.Fatalf("made: %d", status)
	}
	want := shown()
	if !strings.Contains(want, "one.example") || !strings.Contains(want, "X-Key") || strings.Contains(want, "hidden") {
		t.Errorf("shown as %s", want)
	}
	for name, list := range map[string]string{
		"a bad address last":   `{"url":"https://three.example/c"},` + strings.Replace(second, "message", "session.status", 1) + `,{"url":"nowhere"}`,
		"a private address":    `{"url":"https://three.example/c"},{"url":"http://127.0.0.1/"}`,
		"a bad header of one":  strings.Replace(second, "message", "session.status", 1) + `,` + strings.Replace(first, "X-Key", "Host", 1),
		"more than one may be": second + strings.Repeat(`,{"url":"https://three.example/c"}`, 60),
	} {
		if status := put(compattest.Operator, list); status != 400 || shown() != want {
			t.Errorf("%s: %d, then %s, want %s", name, status, shown(), want)
		}
	}
	blind := s.Token([]bridge.JID{compattest.Club}, toRead, toManage) // which may not see the account's state
	if status := put(blind.Secret, first); status != 403 {
		t.Errorf("by a token for one chat: %d", status)
	}
	hooks, err := s.Options.Client.WithToken(blind.Secret).Webhooks(t.Context())
	if err != nil || len(hooks) != 0 {
		t.Errorf("a refused one has made %v, %v", hooks, err)
	}
}
