package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
)

// route is a call of one route of the contract.
type route struct {
	method, path string
	body         string   // one that is accepted, "" where there is none
	headers      []string // that an accepted call needs

	invalid string // a body, or a query, that is refused
	missing string // a body, or a path, that names what is not stored
	socket  bool   // needs the account to be open
	sends   bool   // is behind the gate
	acts    bool   // and sends no message
	gated   bool   // is behind the gate, and changes groups
	own     bool   // is behind the gate, and changes the account
}

// everyRoute lists the protected routes, in the document's order.
var everyRoute = []route{
	{method: "GET", path: "/readyz", socket: true},
	{method: "GET", path: "/metrics"},
	{method: "GET", path: "/api/auth/status"},
	{method: "POST", path: "/api/auth/pair", body: `{"phone":"15551234567"}`, invalid: `{"phone":"many"}`},
	{method: "POST", path: "/api/auth/passkey", body: `{"confirm":true}`, invalid: `{"confirm":false}`},
	{method: "POST", path: "/api/auth/reconnect"},
	{method: "POST", path: "/api/auth/logout", headers: []string{"X-Confirm-Wipe", "yes"}},
	{method: "GET", path: "/api/chats", invalid: "?limit=0"},
	{method: "GET", path: "/api/chats/" + string(grace), missing: "/api/chats/999@g.us"},
	{method: "GET", path: "/api/chats/" + string(grace) + "/export", invalid: "?format=x", missing: "/api/chats/999@g.us/export"},
	{method: "GET", path: "/api/chats/" + string(grace) + "/messages/M1", missing: "/api/chats/" + string(grace) + "/messages/NONE"},
	{method: "POST", path: "/api/chats/" + string(grace) + "/history", socket: true, body: `{"count":5}`, invalid: `{"count":0}`, missing: "/api/chats/999@g.us/history"},
	{method: "GET", path: "/api/contacts", invalid: "?limit=0"},
	{method: "GET", path: "/api/contacts/" + string(grace), missing: "/api/contacts/999@s.whatsapp.net"},
	{method: "GET", path: "/api/contacts/" + string(grace) + "/picture", socket: true, invalid: "?size=x", missing: "/api/contacts/999@s.whatsapp.net/picture"},
	{method: "GET", path: "/api/groups/" + string(club) + "/picture", socket: true, invalid: "?size=x", missing: "/api/groups/999@g.us/picture"},
	{method: "POST", path: "/api/contacts/check", socket: true, body: `{"phones":["+1 555 765 4321"]}`, invalid: `{"phones":[]}`},
	{
		method: "PATCH", path: "/api/contacts/" + string(grace), sends: true, socket: true, acts: true,
		body: `{"name":"Grace Hopper"}`, invalid: `{"firstName":"Grace"}`, missing: "/api/contacts/99999999999@lid",
	},
	{
		method: "POST", path: "/api/contacts/" + string(grace) + "/block", sends: true, socket: true, acts: true,
		invalid: `{"x":1}`, missing: "/api/contacts/999@s.whatsapp.net/block",
	},
	{
		method: "DELETE", path: "/api/contacts/" + string(grace) + "/block", sends: true, socket: true, acts: true,
		invalid: `{"x":1}`, missing: "/api/contacts/999@s.whatsapp.net/block",
	},
	{method: "GET", path: "/api/contacts/" + string(grace) + "/profile", socket: true, missing: "/api/contacts/999@s.whatsapp.net/profile"},
	{method: "PATCH", path: "/api/account", own: true, socket: true, body: `{"name":"Ada"}`, invalid: `{"name":""}`},
	{method: "PUT", path: "/api/account/picture", own: true, socket: true, body: square, headers: []string{"Content-Type", "image/png"}},
	{method: "DELETE", path: "/api/account/picture", own: true, socket: true},
	{method: "GET", path: "/api/account/privacy", socket: true},
	{method: "PATCH", path: "/api/account/privacy", own: true, socket: true, body: `{"lastSeen":"none"}`, invalid: `{"lastSeen":"some"}`},
	{method: "GET", path: "/api/labels"},
	{method: "POST", path: "/api/labels", own: true, socket: true, body: `{"name":"Paid"}`, invalid: `{"color":3}`},
	{method: "PATCH", path: "/api/labels/4", own: true, socket: true, body: `{"color":3}`, invalid: `{"color":20}`, missing: "/api/labels/7"},
	{method: "DELETE", path: "/api/labels/4", own: true, socket: true, invalid: `{"x":1}`, missing: "/api/labels/7"},
	{method: "PUT", path: "/api/chats/" + string(grace) + "/labels/4", sends: true, socket: true, acts: true, invalid: `{"x":1}`, missing: "/api/chats/999@g.us/labels/4"},
	{method: "DELETE", path: "/api/chats/" + string(grace) + "/labels/4", sends: true, socket: true, acts: true, invalid: `{"x":1}`, missing: "/api/chats/" + string(grace) + "/labels/7"},
	{method: "PUT", path: ownPath + "/labels/4", sends: true, socket: true, acts: true, invalid: `{"x":1}`, missing: ownPath + "/labels/7"},
	{method: "DELETE", path: ownPath + "/labels/4", sends: true, socket: true, acts: true, invalid: `{"x":1}`, missing: "/api/chats/" + string(grace) + "/messages/NONE/labels/4"},
	{method: "GET", path: "/api/stats", invalid: "?since=now"},
	{method: "GET", path: "/api/groups/" + string(club), missing: "/api/groups/999@g.us"},
	{method: "GET", path: "/api/groups/" + string(club) + "/messages", invalid: "?order=up", missing: "/api/groups/999@g.us/messages"},
	{method: "GET", path: "/api/chats/" + string(grace) + "/messages", invalid: "?since=now", missing: "/api/chats/999@s.whatsapp.net/messages"},
	{method: "GET", path: "/api/messages/individual/" + string(grace), invalid: "?since=now", missing: "/api/messages/individual/999@s.whatsapp.net"},
	{method: "GET", path: "/api/messages/search?q=x", invalid: "&limit=501"},
	{method: "GET", path: "/api/hooks"},
	{method: "GET", path: "/api/events", invalid: "?limit=0"},
	{method: "GET", path: "/api/calls", invalid: "?limit=0", missing: "/api/calls?chat=999@g.us"},
	{method: "GET", path: "/api/scheduled", invalid: "?limit=0"},
	{method: "GET", path: "/api/scheduled/LATER", missing: "/api/scheduled/NONE"},
	{method: "POST", path: "/api/calls/K1/reject", sends: true, socket: true, acts: true, invalid: `{"x":1}`, missing: "/api/calls/NONE/reject"},
	{
		method: "POST", path: "/api/messages/send", sends: true, socket: true,
		body:    `{"jid":"15557654321@s.whatsapp.net","text":"hi"}`,
		invalid: `{"jid":"15557654321@s.whatsapp.net"}`,
		missing: `{"jid":"15557654321@s.whatsapp.net","text":"hi","quotedMsgId":"NONE"}`,
	},
	{
		method: "POST", path: "/api/messages/forward", sends: true, socket: true,
		body:    `{"sourceChatJid":"15557654321@s.whatsapp.net","sourceMsgId":"M1","destJid":"15557654321@s.whatsapp.net"}`,
		invalid: `{"sourceChatJid":"15557654321@s.whatsapp.net","sourceMsgId":"M1"}`,
		missing: `{"sourceChatJid":"15557654321@s.whatsapp.net","sourceMsgId":"NONE","destJid":"15557654321@s.whatsapp.net"}`,
	},
	{
		method: "POST", path: "/api/messages/react", sends: true, socket: true,
		body:    `{"chatJid":"15557654321@s.whatsapp.net","msgId":"M1","emoji":"👍"}`,
		invalid: `{"chatJid":"15557654321@s.whatsapp.net","msgId":"M1"}`,
		missing: `{"chatJid":"15557654321@s.whatsapp.net","msgId":"NONE","emoji":"👍"}`,
	},
	{
		method: "POST", path: "/api/messages/send-media", sends: true, socket: true,
		body:    `{"jid":"15557654321@s.whatsapp.net","url":"` + web.URL + `/paper.txt","type":"document"}`,
		invalid: `{"jid":"15557654321@s.whatsapp.net","url":"` + web.URL + `/paper.txt"}`,
		missing: `{"jid":"15557654321@s.whatsapp.net","url":"` + web.URL + `/paper.txt","type":"document","quotedMsgId":"NONE"}`,
	},
	{
		method: "POST", path: "/api/messages/send-file", sends: true, socket: true, headers: []string{"Content-Type", "multipart/form-data; boundary=line"},
		body:    formOf("jid", "15557654321@s.whatsapp.net", "file", "x"),
		invalid: formOf("jid", "15557654321", "file", "x"),
		missing: formOf("jid", "15557654321@s.whatsapp.net", "quotedMsgId", "NONE", "file", "x"),
	},
	{
		method: "POST", path: "/api/messages/send-album", sends: true, socket: true,
		body:    `{"jid":"15557654321@s.whatsapp.net","items":[{"url":"` + web.URL + `/picture.png","type":"image"},{"url":"` + web.URL + `/picture.png","type":"image"}]}`,
		invalid: `{"jid":"15557654321@s.whatsapp.net","items":[{"url":"` + web.URL + `/picture.png","type":"image"}]}`,
		missing: `{"jid":"15557654321@s.whatsapp.net","quotedMsgId":"NONE","items":[{"url":"` + web.URL + `/a","type":"image"},{"url":"` + web.URL + `/b","type":"image"}]}`,
	},
	{
		method: "POST", path: "/api/messages/send-location", sends: true, socket: true,
		body:    `{"jid":"15557654321@s.whatsapp.net","latitude":0,"longitude":0}`,
		invalid: `{"jid":"15557654321@s.whatsapp.net","latitude":0}`,
		missing: `{"jid":"15557654321@s.whatsapp.net","latitude":0,"longitude":0,"quotedMsgId":"NONE"}`,
	},
	{
		method: "POST", path: "/api/messages/send-poll", sends: true, socket: true,
		body:    `{"jid":"15557654321@s.whatsapp.net","name":"When","values":["a","b"]}`,
		invalid: `{"jid":"15557654321@s.whatsapp.net","name":"When","values":["a"]}`,
		missing: `{"jid":"15557654321@s.whatsapp.net","name":"When","values":["a","b"],"quotedMsgId":"NONE"}`,
	},
	{
		method: "POST", path: "/api/messages/send-contact", sends: true, socket: true,
		body:    `{"jid":"15557654321@s.whatsapp.net","contacts":[{"displayName":"Alan"}]}`,
		invalid: `{"jid":"15557654321@s.whatsapp.net","contacts":[]}`,
		missing: `{"jid":"15557654321@s.whatsapp.net","contacts":[{"displayName":"Alan"}],"quotedMsgId":"NONE"}`,
	},
	{
		method: "PATCH", path: "/api/chats/" + string(grace) + "/messages/OWN", sends: true, socket: true,
		body: `{"text":"better"}`, invalid: `{"text":""}`, missing: "/api/chats/" + string(grace) + "/messages/NONE",
	},
	{
		method: "DELETE", path: "/api/chats/" + string(grace) + "/messages/OWN", sends: true, socket: true,
		invalid: `{"for":"me"}`, missing: "/api/chats/" + string(grace) + "/messages/NONE",
	},
	{
		method: "POST", path: ownPath + "/pin", sends: true, socket: true,
		body: `{"duration":"7d"}`, invalid: `{"duration":"8h"}`, missing: "/api/chats/" + string(grace) + "/messages/NONE/pin",
	},
	{
		method: "DELETE", path: ownPath + "/pin", sends: true, socket: true,
		invalid: `{"x":1}`, missing: "/api/chats/" + string(grace) + "/messages/NONE/pin",
	},
	{
		method: "POST", path: ownPath + "/star", sends: true, socket: true, acts: true,
		body: `{}`, invalid: `{"x":1}`, missing: "/api/chats/" + string(grace) + "/messages/NONE/star",
	},
	{
		method: "DELETE", path: ownPath + "/star", sends: true, socket: true, acts: true,
		body: `{}`, invalid: `{"x":1}`, missing: "/api/chats/" + string(grace) + "/messages/NONE/star",
	},
	{
		method: "POST", path: "/api/chats/" + string(club) + "/messages/P0/vote", sends: true, socket: true,
		body: `{"options":["now"]}`, invalid: `{}`, missing: "/api/chats/" + string(club) + "/messages/NONE/vote",
	},
	{
		method: "PATCH", path: "/api/chats/" + string(grace), sends: true, socket: true, acts: true,
		body: `{"pinned":true}`, invalid: `{}`, missing: "/api/chats/999@g.us",
	},
	{
		method: "DELETE", path: "/api/chats/" + string(grace), sends: true, socket: true, acts: true, headers: []string{"X-Confirm-Wipe", "yes"},
		body: `{}`, invalid: `{"x":1}`, missing: "/api/chats/999@g.us",
	},
	{
		method: "POST", path: "/api/chats/" + string(grace) + "/clear", sends: true, socket: true, acts: true, headers: []string{"X-Confirm-Wipe", "yes"},
		body: `{"keepStarred":true}`, invalid: `{"keepStarred":"yes"}`, missing: "/api/chats/999@g.us/clear",
	},
	{
		method: "POST", path: "/api/chats/" + string(grace) + "/read", sends: true, socket: true, acts: true,
		body: `{"msgId":"M1"}`, invalid: `{"msgId":7}`, missing: `{"msgId":"NONE"}`,
	},
	{
		method: "POST", path: "/api/chats/" + string(grace) + "/typing", sends: true, socket: true, acts: true,
		body: `{"state":"typing"}`, invalid: `{"state":"thinking"}`, missing: "/api/chats/999@g.us/typing",
	},
	{
		method: "POST", path: "/api/groups", gated: true, socket: true,
		body:    `{"name":"New","participants":["15557654321@s.whatsapp.net"]}`,
		invalid: `{"name":"","participants":["15557654321@s.whatsapp.net"]}`,
	},
	{method: "POST", path: "/api/groups/join", gated: true, socket: true, body: `{"link":"https://chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv"}`, invalid: `{"link":"x"}`},
	{method: "PATCH", path: "/api/groups/" + string(club), gated: true, socket: true, body: `{"name":"New"}`, invalid: `{}`, missing: "/api/groups/999@g.us"},
	{
		method: "POST", path: "/api/groups/" + string(club) + "/participants", gated: true, socket: true,
		body:    `{"action":"add","participants":["447700900123@s.whatsapp.net"]}`,
		invalid: `{"action":"add","participants":[]}`, missing: "/api/groups/999@g.us/participants",
	},
	{method: "GET", path: "/api/groups/" + string(club) + "/requests", socket: true, missing: "/api/groups/999@g.us/requests"},
	{
		method: "POST", path: "/api/groups/" + string(club) + "/requests", gated: true, socket: true,
		body:    `{"action":"approve","participants":["447700900123@s.whatsapp.net"]}`,
		invalid: `{"action":"approve","participants":[]}`, missing: "/api/groups/999@g.us/requests",
	},
	{method: "POST", path: "/api/groups/" + string(club) + "/leave", gated: true, socket: true, invalid: `{"x":1}`, missing: "/api/groups/999@g.us/leave"},
	{
		method: "PUT", path: "/api/groups/" + string(club) + "/picture", gated: true, socket: true, body: square, headers: []string{"Content-Type", "image/png"},
		invalid: "/api/groups/" + string(grace) + "/picture", missing: "/api/groups/999@g.us/picture",
	},
	{method: "DELETE", path: "/api/groups/" + string(club) + "/picture", gated: true, socket: true, missing: "/api/groups/999@g.us/picture"},
	{method: "GET", path: "/api/groups/" + string(club) + "/invite", socket: true, missing: "/api/groups/999@g.us/invite"},
	{method: "GET", path: "/api/groups/invites/AbCdEfGhIjKlMnOpQrStUv", socket: true},
	{method: "DELETE", path: "/api/groups/" + string(club) + "/invite", gated: true, socket: true, missing: "/api/groups/999@g.us/invite"},
	{method: "GET", path: "/api/messages/media/" + string(grace) + "/F1", socket: true, invalid: "?disposition=x", missing: "/api/messages/media/" + string(grace) + "/M1"},
	{method: "GET", path: "/api/messages/media-info/" + string(grace) + "/F1", missing: "/api/messages/media-info/" + string(grace) + "/M1"},
}

// isForm reports whether a route takes a form in place of JSON.
func (r route) isForm() bool { return strings.HasPrefix(r.body, "--line") }

// other returns another body that is accepted.
func (r route) other() string {
	if r.isForm() {
		return strings.Replace(r.body, "\r\n\r\nx\r\n", "\r\n\r\ny\r\n", 1)
	}
	return r.body + " "
}

// formOf returns a form with a known boundary.
func formOf(pairs ...string) string {
	var body strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		body.WriteString("--line\r\nContent-Disposition: form-data; name=\"" + pairs[i] + "\"\r\n\r\n" + pairs[i+1] + "\r\n")
	}
	return body.String() + "--line--\r\n"
}

// The kinds of routes for [onEvery]: those that send to chats, change groups, or change the account and its labels.
func sending(r route) bool         { return r.sends }
func changingGroups(r route) bool  { return r.gated }
func changingAccount(r route) bool { return r.own }

// onEvery tests each route of a kind on a stocked server.
func onEvery(t *testing.T, kind func(route) bool, test func(t *testing.T, s *server, r route)) {
	for _, r := range everyRoute {
		if kind(r) {
			t.Run(r.method+" "+r.path, func(t *testing.T) { test(t, stocked(t), r) })
		}
	}
}

// stock is the store of stocked servers.
var stock = storetest.NewTemplate(func(path string) error {
	s, err := store.Open(context.Background(), store.Options{Path: path, Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	poll := withType(say(club, grace, "P0", "When?", -1), "pollCreationMessageV3")
	poll.Poll = &bridge.PollTally{Name: "When?", SelectableCount: 1, Options: []bridge.PollOption{{Name: "now"}, {Name: "later"}}}
	saved := s.Save(context.Background(), members(club, "Readers", grace, me), poll, say(club, grace, "G1", "to all", 0), say(grace, grace, "M1", "to one", 1), iSaid(grace, "OWN", "from me"), rings(grace, "K1"),
		bridge.LabelChange{Label: bridge.Label{ID: "4", Name: "Paid", Color: 3}, Timestamp: bridge.At(noon)})
	later := bridge.Scheduled{ID: "LATER", Chat: grace, Status: bridge.ScheduledWaiting, SendAt: bridge.At(time.Now().Add(time.Hour)), CreatedAt: bridge.At(noon), Draft: bridge.ScheduledDraft{Text: &bridge.Text{Text: "later"}}}
	return errors.Join(saved, s.AddScheduled(context.Background(), later, 0, nil), s.Close())
})

// stocked returns a server whose store has what everyRoute names.
func stocked(t *testing.T) *server {
	s := newServerOn(t, stock.NewFile(t))
	s.cdn.show(grace, bridge.PicturePreview, jpeg)
	s.cdn.show(club, bridge.PicturePreview, jpeg)
	s.cdn.send(s, "F1", bridge.Media{Type: bridge.MediaImage, MimeType: "image/png"}, "the bytes of a picture")
	return s
}

func (s *server) call(r route, body string, headers ...string) (status int, code string) {
	s.t.Helper()
	path := r.path
	switch {
	case strings.HasPrefix(body, "/"): // a path of its own
		path, body = body, r.body
	case r.method == "GET": // a query
		path, body = path+body, ""
	}
	got := s.Do(r.method, path, body, append(headers, r.headers...)...)
	return got.Status, got.Code()
}

func (s *server) expect(r route, body, what string, status int, code string, headers ...string) {
	s.t.Helper()
	gotStatus, gotCode := s.call(r, body, headers...)
	if gotStatus != status || gotCode != code {
		s.t.Errorf("%s %s, %s: %d %q, want %d %q", r.method, r.path, what, gotStatus, gotCode, status, code)
	}
}

// The order in which a call is refused when several things are wrong with it:
// permanent before transient.
func TestRefusals_ComeInOrder(t *testing.T) {
	t.Parallel()
	gated := newServer(t, sendDisabled)
	gated.account.closed()
	for _, r := range everyRoute {
		t.Run(r.method+" "+strings.SplitN(r.path, "?", 2)[0], func(t *testing.T) {
			s := stocked(t)
			s.account.closed()

			stranger := *s
			stranger.Client = s.WithToken("someone else's token")
			stranger.expect(r, r.invalid, "wrong token and more", 401, "unauthorized")
			wrong := route{method: "PUT", path: r.path}
			if strings.Contains(r.path, "@g.us/picture") || strings.Contains(r.path, "/chats/") && strings.Contains(r.path, "/labels/4") || r.path == "/api/account/picture" { // which have it
				wrong.method = "PATCH"
			}
			stranger.expect(wrong, r.body, "wrong token and method", 401, "unauthorized")
			if strings.HasPrefix(r.path, "/api/") {
				stranger.expect(route{method: r.method, path: r.path + "/x"}, r.body, "wrong token and path", 401, "unauthorized")
			}
			s.expect(wrong, r.invalid, "wrong method and body", 405, "method_not_allowed")

			if r.sends || r.gated || r.own {
				gated := *gated
				gated.t = t
				gated.expect(r, r.invalid, "gate and invalid", 403, "send_disabled")
			}
			if r.invalid != "" {
				s.expect(r, r.invalid, "invalid and closed", 400, "invalid_request")
			}
			if r.missing != "" {
				s.expect(r, r.missing, "not stored and closed", 404, "not_found")
			}
			if r.socket {
				s.expect(r, r.body, "closed", 503, "not_connected")
			} else {
				s.expect(r, r.body, "closed, which does not matter", 200, "")
			}
			s.account.ready = func() error { return nil }
			s.expect(r, r.body, "nothing wrong", 200, "")
		})
	}
}

// A key comes after validation and before the store and the socket.
func TestRefusals_OfAKeyComeAfterInvalidAndBeforeNotStored(t *testing.T) {
	t.Parallel()
	onEvery(t, sending, func(t *testing.T, s *server, r route) {
		key := []string{"Idempotency-Key", "once"}
		s.expect(r, r.body, "first call", 200, "", key...)
		s.account.closed()
		s.expect(r, r.invalid, "used key, invalid", 400, "invalid_request", key...)
		s.expect(r, r.missing, "used key, not stored", 422, "idempotency_mismatch", key...)
		s.expect(r, r.body, "used key, closed", 200, "", key...)
		s.expect(r, r.body, "bad key", 400, "invalid_request", "Idempotency-Key", "two words")
		if n := len(s.account.sent()) + len(s.account.done()); n != 1 {
			t.Errorf("%d messages were sent, want 1", n)
		}
	})
}

func TestRefusals_BearerForms(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	anonymous := s.WithToken("")
	for name, header := range map[string]string{
		"missing":       "",
		"empty":         "Bearer ",
		"wrong":         "Bearer " + token + "x",
		"prefix":        "Bearer " + token[:10],
		"basic":         "Basic " + token,
		"token alone":   token,
		"scheme alone":  "Bearer",
		"in upper case": "Bearer " + strings.ToUpper(token),
	} {
		got := anonymous.Get("/api/auth/status", "Authorization", header)
		if got.Status != http.StatusUnauthorized || got.Code() != "unauthorized" {
			t.Errorf("%s: %d %q", name, got.Status, got.Code())
		}
	}
	for _, header := range []string{"Bearer " + token, "bearer " + token, "BEARER  " + token + " "} {
		anonymous.Get("/api/auth/status", "Authorization", header).Want(http.StatusOK)
	}
	anonymous.Get("/api/auth/status?token=" + token + "&access_token=" + token).Want(http.StatusUnauthorized)
	anonymous.Get("/healthz").Want(http.StatusOK)
}

// A server that was given no token lets nobody in.
func TestRefusals_NoTokenOpensNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *api.Options) { o.Token = "" })
	for _, header := range []string{"", "Bearer", "Bearer ", "Bearer " + token} {
		s.WithToken("").Get("/api/auth/status", "Authorization", header).Want(http.StatusUnauthorized)
	}
}

// The message of an unready account names its state.
func TestReadyz_SaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.Get("/readyz").Want(http.StatusOK)
	s.account.ready = func() error { return bridge.NotConnected("not open: connecting") }
	if got := s.Get("/readyz").Want(http.StatusServiceUnavailable); got.Code() != "not_connected" || got.Error() != "not open: connecting" {
		t.Errorf("body %s", got.Body)
	}
}
