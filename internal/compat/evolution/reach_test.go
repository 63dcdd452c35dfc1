package evolution

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/media"
	"bridged/internal/store"
)

const (
	club  = bridge.JID("120363025246125486@g.us")
	grace = bridge.JID("15550100301@s.whatsapp.net")
)

// unpaired is an account that is not paired: what needs the network is refused, once the
// API has let it through.
type unpaired struct{ api.Account }

var errNotOpen = bridge.NotConnected("not paired")

func (unpaired) Status() bridge.Status {
	return bridge.Status{Status: bridge.StateNeedsPair, QR: new("2@code")}
}
func (unpaired) WakePairing()                    {}
func (unpaired) Ready() error                    { return errNotOpen }
func (unpaired) Reconnect(context.Context) error { return nil }

func (unpaired) Logout(context.Context) (bool, error) { return true, nil }

func (unpaired) Pair(context.Context, string) (bridge.PairingCode, error) {
	return bridge.PairingCode{Code: "ABCD-EFGH"}, nil
}

func (unpaired) CheckNumbers(context.Context, []string) ([]bridge.NumberCheck, error) {
	return nil, errNotOpen
}

func (unpaired) LiveGroup(context.Context, bridge.JID) (*bridge.Group, error) { return nil, errNotOpen }

// tried is a request of a route with the least that it needs: a scope, perhaps a second
// one, and a token for all chats if it is whole. Without a scope any token is enough.
type tried struct {
	route, query, body string
	scope, also        bridge.Scope
	whole              bool
}

const (
	toRead, toSend, toManage = bridge.ScopeRead, bridge.ScopeSend, bridge.ScopeManage

	inClub = `{"number":"120363025246125486@g.us"`
	asKey  = `{"remoteJid":"120363025246125486@g.us","id":"G1","fromMe":true}`
	ofClub = "?groupJid=120363025246125486@g.us"
)

// reaches names every route; a new one fails the test until it is named here.
var reaches = []tried{
	{route: "POST /message/sendText/{instance}", body: inClub + `,"text":"x"}`, scope: toSend},
	{route: "POST /message/sendText/{instance}", body: inClub + `,"text":"x","delay":1}`, scope: toSend},
	{route: "POST /message/sendText/{instance}", body: inClub + `,"text":"x","mentionsEveryOne":true}`, scope: toSend, also: toRead},
	{route: "POST /message/sendMedia/{instance}", body: inClub + `,"mediatype":"image","media":"aGVsbG8="}`, scope: toSend},
	{route: "POST /message/sendMedia/{instance}", body: inClub + `,"mediatype":"image","media":"https://example.org/a.png"}`, scope: toSend},
	{route: "POST /message/sendWhatsAppAudio/{instance}", body: inClub + `,"audio":"aGVsbG8="}`, scope: toSend},
	{route: "POST /message/sendSticker/{instance}", body: inClub + `,"sticker":"aGVsbG8="}`, scope: toSend},
	{route: "POST /message/sendPtv/{instance}", body: inClub + `,"video":"aGVsbG8="}`, scope: toSend},
	{route: "POST /message/sendLocation/{instance}", body: inClub + `,"latitude":1,"longitude":2}`, scope: toSend},
	{route: "POST /message/sendContact/{instance}", body: inClub + `,"contact":[{"fullName":"Sam"}]}`, scope: toSend},
	{route: "POST /message/sendPoll/{instance}", body: inClub + `,"name":"When?","values":["a","b"]}`, scope: toSend},
	{route: "POST /message/sendReaction/{instance}", body: `{"key":` + asKey + `,"reaction":"👍"}`, scope: toSend},

	{route: "POST /chat/whatsappNumbers/{instance}", body: `{"numbers":["15550100301"]}`, scope: toRead},
	{route: "POST /chat/markMessageAsRead/{instance}", body: `{"readMessages":[` + asKey + `]}`, scope: toSend},
	{route: "POST /chat/sendPresence/{instance}", body: inClub + `,"presence":"composing","delay":1}`, scope: toSend},
	{route: "DELETE /chat/deleteMessageForEveryone/{instance}", body: asKey, scope: toSend},
	{route: "POST /chat/updateMessage/{instance}", body: `{"text":"x","key":` + asKey + `}`, scope: toSend},
	{route: "POST /chat/findMessages/{instance}", body: `{"where":{"key":{"remoteJid":"120363025246125486@g.us"}}}`, scope: toRead},
	{route: "POST /chat/findMessages/{instance}", body: `{"where":{"key":{"id":"G1"}}}`, scope: toRead},
	{route: "POST /chat/findChats/{instance}", scope: toRead},
	{route: "POST /chat/findContacts/{instance}", body: `{}`, scope: toRead},
	{route: "POST /chat/getBase64FromMediaMessage/{instance}", body: `{"message":{"key":{"id":"G1"}}}`, scope: toRead},
	{route: "POST /chat/fetchProfilePictureUrl/{instance}", body: `{"number":"15550100399"}`, scope: toRead},
	{route: "POST /chat/fetchProfile/{instance}", body: `{"number":"15550100301"}`, scope: toRead},
	{route: "POST /chat/archiveChat/{instance}", body: `{"chat":"120363025246125486@g.us","archive":true}`, scope: toSend},
	{route: "POST /chat/markChatUnread/{instance}", body: `{"lastMessage":{"key":` + asKey + `}}`, scope: toSend},
	{route: "POST /chat/updateBlockStatus/{instance}", body: `{"number":"15550100301","status":"block"}`, scope: toSend},

	{route: "GET /instance/fetchInstances", scope: toRead, whole: true},
	{route: "GET /instance/connectionState/{instance}", scope: toRead, whole: true},
	{route: "GET /instance/connect/{instance}", scope: toRead, whole: true},
	{route: "GET /instance/connect/{instance}", query: "?number=15550100200", scope: toManage, also: toRead, whole: true},
	{route: "POST /instance/restart/{instance}", scope: toManage, whole: true},
	{route: "DELETE /instance/logout/{instance}", scope: toManage, whole: true},
	{route: "POST /instance/create", body: `{"instanceName":"another"}`},
	{route: "GET /settings/find/{instance}"},

	{route: "GET /group/fetchAllGroups/{instance}", scope: toRead},
	{route: "GET /group/fetchAllGroups/{instance}", query: "?getParticipants=true", scope: toRead},
	{route: "GET /group/findGroupInfos/{instance}", query: ofClub, scope: toRead},
	{route: "GET /group/participants/{instance}", query: ofClub, scope: toRead},
	{route: "GET /group/inviteCode/{instance}", query: ofClub, scope: toRead},
	{route: "POST /group/revokeInviteCode/{instance}", query: ofClub, scope: toSend},
	{route: "GET /group/acceptInviteCode/{instance}", query: "?inviteCode=AbCdEfGhIjKlMnOp", scope: toSend, whole: true},
	{route: "POST /group/create/{instance}", body: `{"subject":"x","description":"y","participants":["15550100301"]}`, scope: toSend, whole: true},
	{route: "POST /group/updateParticipant/{instance}", query: ofClub, body: `{"action":"add","participants":["15550100301"]}`, scope: toSend},
	{route: "POST /group/updateGroupSubject/{instance}", query: ofClub, body: `{"subject":"x"}`, scope: toSend},
	{route: "POST /group/updateGroupDescription/{instance}", query: ofClub, body: `{"description":"x"}`, scope: toSend},
	{route: "POST /group/updateSetting/{instance}", query: ofClub, body: `{"action":"locked"}`, scope: toSend},
	{route: "POST /group/toggleEphemeral/{instance}", query: ofClub, body: `{"expiration":86400}`, scope: toSend},
	{route: "DELETE /group/leaveGroup/{instance}", query: ofClub, scope: toSend},
}

func (r tried) permits(token bridge.Token) bool {
	return r.scope == "" || token.Allows(r.scope) && (r.also == "" || token.Allows(r.also)) && !(r.whole && token.Chats != nil)
}

// scene is the door of a real API over a real store, whose account is not paired.
type scene struct {
	door   http.Handler
	router *api.Handler
	files  string // the directory of files that come in bodies
}

func newScene(t *testing.T) scene {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "bridged.db"), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, fact := range []bridge.Fact{
		bridge.Group{JID: club, Name: "Readers", Participants: []bridge.Participant{{JID: grace}}},
		bridge.Message{Chat: club, ID: "G1", SenderJID: grace, PushName: "Grace", MessageType: "conversation", Content: "to all", Raw: []byte{0x0a, 0x01, 'x'}},
	} {
		if err := s.Save(t.Context(), fact); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	files := media.NewPreparer(media.PreparerOptions{TempDir: dir, MaxBytes: 1 << 20, Log: zerolog.Nop()})
	router := api.New(api.Options{Store: s, Account: unpaired{}, Token: "the-operators-own", EnableSend: true, Preparer: files, Log: zerolog.Nop()})
	door := New(compat.Options{
		Client: client.InProcess(router, ""), Family: router.Family, Instance: "bridged", Log: zerolog.Nop(),
		Receive: func(ctx context.Context, from io.Reader, announced, family int64, cut func()) (compat.File, error) {
			file, err := files.Receive(ctx, media.Incoming{From: from, Announced: announced, Family: family, Cut: cut})
			if err != nil {
				return nil, err
			}
			return file, nil
		},
	})
	return scene{door, router, dir}
}

// ask makes a request of a route.
func (s scene) ask(r tried, token string, headers ...string) *httptest.ResponseRecorder {
	method, path, _ := strings.Cut(r.route, " ")
	req := httptest.NewRequest(method, strings.Replace(path, "{instance}", "bridged", 1)+r.query, strings.NewReader(r.body))
	req.Header.Set("apikey", token)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.door.ServeHTTP(w, req)
	return w
}

func TestTokens_EveryRouteWithEveryScope(t *testing.T) {
	s := newScene(t)
	operator := client.InProcess(s.router, "the-operators-own")
	for _, r := range (door{}).routes() {
		if !slices.ContainsFunc(reaches, func(t tried) bool { return t.route == r.pattern }) {
			t.Errorf("%s is not tried: say in this test which tokens may call it", r.pattern)
		}
	}
	for subset := 1; subset < 1<<len(bridge.Scopes()); subset++ {
		for _, chats := range [][]bridge.JID{nil, {club}} {
			var scopes []bridge.Scope
			for i, scope := range bridge.Scopes() {
				if subset&(1<<i) != 0 {
					scopes = append(scopes, scope)
				}
			}
			token, err := operator.CreateToken(t.Context(), client.NewToken{Name: "x", Scopes: scopes, Chats: chats})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range reaches {
				got := s.ask(r, token.Secret)
				refused := got.Code == http.StatusForbidden
				if refused == r.permits(token.Token) || got.Code == http.StatusUnauthorized || got.Code >= 500 {
					t.Errorf("%s%s %s with %v and chats %v: %d %s", r.route, r.query, r.body, scopes, chats, got.Code, got.Body)
				}
			}
		}
	}
	for _, r := range reaches {
		if got := s.ask(r, "no-token"); got.Code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d %s", r.route, got.Code, got.Body)
		}
	}
}

// What is one click away in clients does nothing, and is refused in a form that they read.
func TestRoutes_RefusesWhatBridgedDoesNotDo(t *testing.T) {
	s := newScene(t)
	for route, status := range map[string]int{
		"POST /message/sendButtons/bridged": 400, "POST /message/sendList/bridged": 400, "POST /message/sendTemplate/bridged": 400,
		"POST /message/sendStatus/bridged": 400, "DELETE /instance/delete/bridged": 400, "POST /settings/set/bridged": 400, "POST /proxy/set/bridged": 400,
		"POST /rabbitmq/set/bridged": 400, "POST /chatwoot/set/bridged": 400, "POST /typebot/create/bridged": 400, "GET /group/inviteInfo/bridged": 400,
		"POST /group/updateGroupPicture/bridged": 400, "POST /instance/setPresence/bridged": 400, "GET /erro": 404, "GET /manager": 404,
	} {
		got := s.ask(tried{route: route, body: `{"number":"15550100301"}`}, "the-operators-own")
		if got.Code != status || !strings.Contains(got.Body.String(), "bridged does not do this") || !strings.HasPrefix(got.Header().Get("Content-Type"), "application/json") {
			t.Errorf("%s: %d %s", route, got.Code, got.Body)
		}
	}
	if got := s.ask(tried{route: "PUT /chat/sendPresence/bridged", body: inClub + `,"presence":"available"}`}, "the-operators-own"); !strings.Contains(got.Body.String(), "presence must be") {
		t.Errorf("a route of version 1: %d %s", got.Code, got.Body)
	}
	for body, want := range map[string]int{`{"instanceName":"bridged"}`: 403, `{"instanceName":"x"}`: 400, `x`: 400} {
		if got := s.ask(tried{route: "POST /instance/create", body: body}, "the-operators-own"); got.Code != want {
			t.Errorf("create %s: %d %s", body, got.Code, got.Body)
		}
	}
}

// Whatever becomes of a body with a file, no file stays on the disk.
func TestFiles_LeaveNothingBehind(t *testing.T) {
	s := newScene(t)
	const form = "multipart/form-data; boundary=line"
	part := func(head, body string) string {
		return "--line\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n"
	}
	file := part(`name="file"; filename="a.png"`, "hello")
	for name, c := range map[string]struct {
		body, kind string
		status     int
		want       string
	}{
		"what cannot be sent":    {inClub + `,"mediatype":"document","media":"aGVsbG8="}`, "", 400, "Connection Closed"},
		"a body that broke off":  {inClub + `,"mediatype":"document","media":"aGVsbG8`, "", 400, "broke off"},
		"no JSON behind it":      {inClub + `,"media":"aGVsbG8=",}`, "", 400, "not the expected JSON object"},
		"too large":              {inClub + `,"media":"` + strings.Repeat("A", 3<<20) + `"}`, "", 413, "MEDIA_MAX_BYTES"},
		"two files":              {inClub + `,"media":"aGVsbG8=","mediaMessage":{"media":"aGVsbG8="}}`, "", 400, "more than one file"},
		"too much beside it":     {inClub + `,"media":"aGVsbG8=","x":"` + strings.Repeat("x", 1<<20) + `"}`, "", 413, "beside its file"},
		"a form":                 {part(`name="number"`, string(club)) + part(`name="mediatype"`, "document") + part(`name="quoted"`, `{"key":{"id":""}}`) + file + "--line--\r\n", form, 400, "Connection Closed"},
		"a form with base64":     {part(`name="number"`, string(club)) + part(`name="mediatype"`, "document") + part(`name="media"`, "data:image/png;base64,aGVsbG8=") + "--line--\r\n", form, 400, "Connection Closed"},
		"a form with an address": {part(`name="number"`, string(club)) + part(`name="mediatype"`, "document") + part(`name="media"`, "https://example.org") + "--line--\r\n", form, 400, ""},
		"a form with two files":  {file + file + "--line--\r\n", form, 400, "more than one file"},
		"a form that broke off":  {file + part(`name="number"`, "1"), form, 400, "broke off"},
		"a form without end":     {strings.Repeat(part(`name="x"`, "1"), 40) + "--line--\r\n", form, 400, "more than 32 parts"},
		"a form with long texts": {part(`name="caption"`, strings.Repeat("x", 1<<20)) + part(`name="x"`, "y") + "--line--\r\n", form, 413, "beside its file"},
		"a form without a line":  {file, "multipart/form-data", 400, "boundary"},
		"a form with long heads": {part(`name="`+strings.Repeat("x", 64<<10)+`"`, "1") + "--line--\r\n", form, 413, "32 KiB"},
	} {
		got := s.ask(tried{route: "POST /message/sendMedia/{instance}", body: c.body}, "the-operators-own", "Content-Type", c.kind)
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.want) {
			t.Errorf("%s: %d %.300s, want %d %s", name, got.Code, got.Body, c.status, c.want)
		}
		if left, err := os.ReadDir(s.files); err != nil || len(left) > 0 {
			t.Errorf("%s left %v, %v", name, left, err)
		}
	}
}
