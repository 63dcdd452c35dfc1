package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/media"
	"bridged/internal/store"
	"bridged/internal/urlguard"
	"bridged/internal/webhook"
	"bridged/internal/webhook/format"
)

// offline is an account that is linked and not connected: what needs the network is
// unavailable, once the API has let it through.
type offline struct{ api.Account }

var errOffline = bridge.NotConnected("not connected")

func (offline) Status() bridge.Status {
	return bridge.Status{Status: bridge.StateClosed, HasSession: true, User: &bridge.User{JID: ada, Phone: ada.User(), PushName: "Ada"}}
}
func (offline) WakePairing() {}
func (offline) Ready() error { return errOffline }

// scene is the door of a real API over a real store, whose account is not connected.
type scene struct {
	door    http.Handler
	router  *api.Handler
	options compat.Options
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
		bridge.Group{JID: club, Name: "Readers", Participants: []bridge.Participant{{JID: sofia}}},
		bridge.Message{Chat: club, ID: "G1", SenderJID: sofia, PushName: "Sofía", MessageType: "conversation", Content: "to all", Raw: []byte{0x0a, 0x01, 'x'}},
	} {
		if err := s.Save(t.Context(), fact); err != nil {
			t.Fatal(err)
		}
	}
	files := media.NewPreparer(media.PreparerOptions{TempDir: t.TempDir(), MaxBytes: 1 << 20, Log: zerolog.Nop()})
	hooks := webhook.New(webhook.Options{
		Store: s, Guard: urlguard.New(urlguard.Options{}), Formats: map[bridge.WebhookFormat]format.Format{bridge.FormatCloud: Webhook{}}, Log: zerolog.Nop(),
	})
	router := api.New(api.Options{Store: s, Account: offline{}, Token: operator, EnableSend: true, Preparer: files, Webhooks: hooks, Log: zerolog.Nop()})
	made := scene{router: router, options: compat.Options{
		Client: client.InProcess(router, ""), Family: router.Family, DataDir: t.TempDir(), Log: zerolog.Nop(),
		Receive: func(ctx context.Context, from io.Reader, announced, family int64, cut func()) (compat.File, error) {
			return files.Receive(ctx, media.Incoming{From: from, Announced: announced, Family: family, Cut: cut})
		},
	}}
	made.open(t)
	return made
}

// open opens the door, again after a change of the options.
func (s *scene) open(t *testing.T) {
	t.Helper()
	door, err := New(s.options)
	if err != nil {
		t.Fatal(err)
	}
	s.door = compat.Mount(Prefix, door, t.Context(), zerolog.Nop())
}

// operator is the token that may do everything.
const operator = "the-operators-own"

// token makes a token.
func (s scene) token(t *testing.T, chats []bridge.JID, scopes ...bridge.Scope) client.MadeToken {
	t.Helper()
	made, err := client.InProcess(s.router, operator).CreateToken(t.Context(), client.NewToken{Name: "x", Scopes: scopes, Chats: chats})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// tried is a request of a route with the least that it needs: a scope, perhaps a second
// one. Without a scope any token is enough.
type tried struct {
	route, address, body string
	scope, also          bridge.Scope
	form                 string // the body's file; then it is a form
}

func (r tried) permits(token bridge.Token) bool {
	return r.scope == "" || token.Allows(r.scope) && (r.also == "" || token.Allows(r.also))
}

// ask makes a request.
func (s scene) ask(t *testing.T, r tried, token string) (*httptest.ResponseRecorder, map[string]any) {
	t.Helper()
	method, path, _ := strings.Cut(r.route, " ")
	if r.address != "" {
		path = r.address
	}
	req := httptest.NewRequest(method, Prefix+"/v21.0"+strings.Replace(path, "{account}", ada.User(), 1), strings.NewReader(r.body))
	if r.form != "" {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part := must(w.CreateFormFile("file", "a/b.txt"))
		_, err := part.Write([]byte(r.form))
		if err = errors.Join(err, w.WriteField("type", "text/plain"), w.Close()); err != nil {
			t.Fatal(err)
		}
		req = httptest.NewRequest(method, Prefix+path, &form)
		req.URL.Path = strings.Replace(req.URL.Path, "{account}", ada.User(), 1)
		req.Header.Set("Content-Type", w.FormDataContentType())
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	s.door.ServeHTTP(w, req)
	var answer map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		t.Errorf("%s answers %q: %v", r.route, w.Body, err)
	}
	return w, answer
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

const (
	toRead, toSend, toManage = bridge.ScopeRead, bridge.ScopeSend, bridge.ScopeManage

	toClub = `{"messaging_product":"whatsapp","recipient_type":"group","to":"120363000000000000"`
)

// reaches names every route; a new one fails the test until it is named here.
var reaches = []tried{
	{route: "POST /{account}/messages", body: toClub + `,"type":"text","text":{"body":"x"}}`, scope: toSend},
	{route: "POST /{account}/messages", body: toClub + `,"type":"image","image":{"link":"https://example.org/a.png"}}`, scope: toSend},
	{route: "POST /{account}/messages", body: toClub + `,"type":"image","image":{"id":"` + clubFile + `"}}`, scope: toRead, also: toSend},
	{route: "POST /{account}/messages", body: toClub + `,"type":"location","location":{"latitude":"1","longitude":2}}`, scope: toSend},
	{route: "POST /{account}/messages", body: toClub + `,"type":"contacts","contacts":[{"name":{"formatted_name":"Sam"}}]}`, scope: toSend},
	{route: "POST /{account}/messages", body: toClub + `,"type":"reaction","reaction":{"message_id":"` + clubMessage + `","emoji":"x"}}`, scope: toSend},
	{route: "POST /{account}/messages", body: toClub + `,"type":"interactive","interactive":{"type":"button","body":{"text":"x"}}}`, scope: toSend},
	{route: "POST /{account}/messages", body: toClub + `,"type":"template"}`},
	{route: "POST /{account}/messages", body: `{"status":"read","message_id":"` + clubMessage + `","typing_indicator":{"type":"text"}}`, scope: toSend},
	{route: "POST /{account}/media", form: "hello", scope: toSend},
	{route: "GET /{id}", address: "/15550001111"},
	{route: "GET /{id}", address: "/" + clubFile, scope: toRead},
	{route: "GET /{id}", address: "/" + clubFile + "/?phone_number_id=15550001111", scope: toRead},
	{route: "GET /media/{id}/content", address: "/media/" + clubFile + "/content", scope: toRead},
	{route: "DELETE /{id}", address: "/uABC", scope: toSend},

	{route: "GET /{account}/phone_numbers"},
	{route: "POST /{account}/register", body: `{"pin":"123456"}`},
	{route: "POST /{account}/deregister"},
	{route: "GET /{account}/whatsapp_business_profile"},
	{route: "POST /{account}/whatsapp_business_profile", body: `{"about":"x"}`},
	{route: "GET /{account}/message_templates"},
	{route: "GET /debug_token"},

	{route: "GET /{account}/subscribed_apps", scope: toManage},
	{route: "POST /{account}/subscribed_apps", scope: toManage},
	{route: "POST /{account}/subscribed_apps", body: `{"override_callback_uri":"http://127.0.0.1:9/","verify_token":"x"}`, scope: toManage, also: toRead},
	{route: "DELETE /{account}/subscribed_apps", scope: toManage},
}

var (
	clubMessage = messageRef{Chat: club, Sender: sofia, ID: "G1"}.messageID()
	clubFile    = messageRef{Chat: club, Sender: sofia, ID: "G1"}.fileID()
)

func TestTokens_EveryRouteWithEveryScope(t *testing.T) {
	s := newScene(t)
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
			token := s.token(t, chats, scopes...)
			for _, r := range reaches {
				got, _ := s.ask(t, r, token.Secret)
				refused := got.Code == http.StatusForbidden
				if refused == r.permits(token.Token) || got.Code == http.StatusUnauthorized || got.Code == http.StatusInternalServerError {
					t.Errorf("%s %s with %v and chats %v: %d %s", r.route, r.body, scopes, chats, got.Code, got.Body)
				}
			}
		}
	}
	for _, r := range reaches {
		got, answer := s.ask(t, r, "no-token")
		fault, _ := answer["error"].(map[string]any)
		if got.Code != http.StatusUnauthorized || fault["code"] != 190.0 || fault["type"] != "OAuthException" {
			t.Errorf("%s without a token: %d %s", r.route, got.Code, got.Body)
		}
	}
}

// A chat outside a token's list does not exist for it, as a recipient, a message and a file.
func TestTokens_OtherChatsDoNotExist(t *testing.T) {
	s := newScene(t)
	narrow := s.token(t, []bridge.JID{"15550100399@s.whatsapp.net"}, toRead, toSend)
	for _, r := range reaches {
		if r.scope != toRead && r.scope != toSend || r.form != "" {
			continue
		}
		got, answer := s.ask(t, r, narrow.Secret)
		fault, _ := answer["error"].(map[string]any)
		if got.Code != http.StatusBadRequest || fault["code"] != 100.0 {
			t.Errorf("%s %s: %d %s", r.route, r.body, got.Code, got.Body)
		}
	}
}

// What bridged does not do is refused with a sentence, and nothing is done.
func TestRoutes_RefusesWhatBridgedDoesNotDo(t *testing.T) {
	s := newScene(t)
	for _, r := range []tried{
		{route: "POST /{account}/deregister"},
		{route: "POST /{account}/whatsapp_business_profile"},
		{route: "DELETE /{account}", address: "/15550001111"},
		{route: "POST /{account}/message_templates", body: `{}`},
		{route: "GET /"},
		{route: "DELETE /{id}", address: "/" + clubFile},
		{route: "GET /{id}", address: "/15550009999"},
		{route: "POST /{id}/messages", address: "/15550009999/messages", body: toClub + `}`},
		{route: "GET /{id}/phone_numbers", address: "/me/phone_numbers"},
		{route: "GET /{id}", address: "/uABC"},
		{route: "POST /{account}/subscribed_apps"},
		{route: "POST /{account}/messages", body: toClub + `,"type":"order"}`},
		{route: "POST /{account}/messages", body: toClub + `,"type":"interactive","interactive":{"type":"flow"}}`},
		{route: "POST /{account}/messages", body: toClub + `,"type":"sticker","sticker":{"link":"https://example.org/a.webp"}}`},
		{route: "POST /{account}/messages", body: toClub + `,"type":"image","image":{}}`},
		{route: "POST /{account}/messages", body: toClub + `,"type":"text","text":{"body":"x"},"context":{"message_id":"wamid.HBgLMTU1NTAwMDExMTEVAgASGBQzQQ"}}`},
		{route: "POST /{account}/messages", body: `{"type":"text","text":{"body":"x"}}`},
		{route: "POST /{account}/messages", body: `{"status":"delivered","message_id":"` + clubMessage + `"}`},
		{route: "POST /{account}/messages", body: `[]`},
		{route: "POST /{account}/media", body: `{}`},
	} {
		got, answer := s.ask(t, r, operator)
		fault, _ := answer["error"].(map[string]any)
		details, _ := fault["error_data"].(map[string]any)
		if got.Code != http.StatusBadRequest || fault["code"] != 100.0 || details["details"] == "" {
			t.Errorf("%s %s: %d %s", r.route, r.body, got.Code, got.Body)
		}
	}
	got, answer := s.ask(t, tried{route: "POST /{account}/messages", body: toClub + `,"type":"text","text":{"body":"x"}}`}, operator)
	if fault, _ := answer["error"].(map[string]any); got.Code != http.StatusServiceUnavailable || fault["code"] != 131016.0 {
		t.Errorf("not connected: %d %s", got.Code, got.Body)
	}
}

// A key in the address counts where the operator permits it alone.
func TestKey_InTheAddress(t *testing.T) {
	s := newScene(t)
	asks := tried{route: "GET /{account}/message_templates", address: "/{account}/message_templates?access_token=" + operator}
	got, _ := s.ask(t, asks, "")
	if got.Code != http.StatusUnauthorized || !strings.Contains(got.Body.String(), "COMPAT_URL_TOKEN=true") {
		t.Errorf("not permitted: %d %s", got.Code, got.Body)
	}
	s.options.URLToken = true
	s.open(t)
	if got, answer := s.ask(t, asks, ""); got.Code != http.StatusOK || answer["data"] == nil {
		t.Errorf("permitted: %d %s", got.Code, got.Body)
	}
	if got, _ := s.ask(t, asks, "wrong"); got.Code != http.StatusUnauthorized {
		t.Errorf("beside a wrong bearer: %d", got.Code)
	}
}

func TestToken_IsDescribed(t *testing.T) {
	s := newScene(t)
	token := s.token(t, nil, toRead, toSend)
	_, answer := s.ask(t, tried{route: "GET /debug_token", address: "/debug_token?input_token=" + token.Secret}, token.Secret)
	data, _ := answer["data"].(map[string]any)
	if data["is_valid"] != true || len(data["scopes"].([]any)) != 2 || data["expires_at"] != 0.0 {
		t.Errorf("%v", answer)
	}
	_, answer = s.ask(t, tried{route: "GET /debug_token", address: "/debug_token?input_token=" + operator}, token.Secret)
	if data, _ := answer["data"].(map[string]any); data["is_valid"] != false {
		t.Errorf("another token: %v", answer)
	}
}

// An uploaded file exists for its token alone, over a restart, until it is a day old.
func TestUploads_ExistForTheirTokenAndADay(t *testing.T) {
	s := newScene(t)
	owner, other := s.token(t, nil, toRead, toSend).Secret, s.token(t, []bridge.JID{club}, toRead, toSend).Secret
	_, answer := s.ask(t, tried{route: "POST /{account}/media", form: "hello"}, owner)
	id, _ := answer["id"].(string)
	if id == "" {
		t.Fatalf("%v", answer)
	}
	shows := tried{route: "GET /{id}", address: "/" + id}
	_, answer = s.ask(t, shows, owner)
	if answer["url"] != "http://example.com/cloud/media/"+id+"/content" || answer["mime_type"] != "text/plain" || answer["file_size"] != 5.0 ||
		answer["sha256"] != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Errorf("described as %v", answer)
	}
	reads := tried{route: "GET /media/{id}/content", address: "/media/" + id + "/content"}
	if got, _ := s.ask(t, reads, owner); got.Body.String() != "hello" || got.Header().Get("Content-Disposition") != "attachment" {
		t.Errorf("read as %q, %v", got.Body, got.Header())
	}
	for _, r := range []tried{
		shows, reads,
		{route: "DELETE /{id}", address: "/" + id},
		{route: "POST /{account}/messages", body: toClub + `,"type":"document","document":{"id":"` + id + `"}}`},
	} {
		if got, _ := s.ask(t, r, other); got.Code != http.StatusBadRequest {
			t.Errorf("%s with another token: %d %s", r.route, got.Code, got.Body)
		}
	}
	s.open(t)
	if got, _ := s.ask(t, reads, owner); got.Body.String() != "hello" {
		t.Errorf("after a restart: %d %q", got.Code, got.Body)
	}
	if got, _ := s.ask(t, tried{route: "DELETE /{id}", address: "/" + id}, owner); got.Code != http.StatusOK {
		t.Errorf("deleted: %d %s", got.Code, got.Body)
	}
	if left := must(filepath.Glob(filepath.Join(s.options.DataDir, "uploads", "*"))); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// What is too old, or not whole, goes at the start; and a file goes when it is a day old.
func TestUploads_AreRemoved(t *testing.T) {
	s := newScene(t)
	dir := filepath.Join(s.options.DataDir, "uploads")
	u := must(openUploads(s.options))
	old, young := must(u.keep("t", uploadOf("old"), "")), must(u.keep("t", uploadOf("young"), ""))
	u.mu.Lock()
	u.kept[old].At = time.Now().Add(-uploadLife)
	writeErr := u.describe(old, u.kept[old])
	u.mu.Unlock()
	if writeErr != nil {
		t.Fatal(writeErr)
	}
	if _, err := u.open("t", old); err == nil {
		t.Error("an old file can be opened")
	}
	u = must(openUploads(s.options))
	if left := must(filepath.Glob(filepath.Join(dir, "*"))); len(left) != 2 || u.kept[young] == nil {
		t.Errorf("left: %v", left)
	}
	u.mu.Lock()
	u.kept[young].ends.Reset(0)
	u.mu.Unlock()
	for deadline := time.Now().Add(10 * time.Second); len(must(filepath.Glob(filepath.Join(dir, "*")))) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("the file stays")
		}
	}
}

// A token has half of the room.
func TestUploads_AreBounded(t *testing.T) {
	u := must(openUploads(compat.Options{DataDir: t.TempDir(), Log: zerolog.Nop()}))
	for _, c := range []struct {
		owner string
		size  int64
		fits  bool
	}{{"a", maxUploads/2 - 1, true}, {"a", 2, false}, {"a", 1, true}, {"b", maxUploads / 2, true}, {"c", 1, false}} {
		err := u.reserve(c.owner+time.Now().String(), &upload{Owner: c.owner, Size: c.size, At: time.Now()})
		if (err == nil) != c.fits || err != nil && bridge.CodeOf(err) != bridge.CodeRateLimited {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, one := range u.kept {
		one.ends.Stop()
	}
}

// bytesFile is a file in memory.
type bytesFile struct{ *bytes.Reader }

func (bytesFile) Close() {}

func uploadOf(text string) *compat.Upload {
	return &compat.Upload{File: bytesFile{bytes.NewReader([]byte(text))}, Name: "a.txt"}
}
