package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/compat/compattest"
	"bridged/internal/webhook/format"
)

func newScene(t *testing.T) compattest.Scene {
	t.Helper()
	open := func(o compat.Options) http.Handler {
		return compat.Mount("", Prefix, must(New(o)), t.Context(), zerolog.Nop())
	}
	return compattest.NewLinkedScene(t, open, "Authorization", map[bridge.WebhookFormat]format.Format{bridge.FormatCloud: Webhook{}})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// ask makes a request, and returns its answer with the JSON.
func ask(t *testing.T, s compattest.Scene, r compattest.Try, token string) (*httptest.ResponseRecorder, object) {
	t.Helper()
	got := s.Ask(r, token)
	var answer object
	if err := json.Unmarshal(got.Body.Bytes(), &answer); err != nil && strings.HasPrefix(got.Header().Get("Content-Type"), "application/json") {
		t.Errorf("%s answers %q: %v", r.Route, got.Body, err)
	}
	return got, answer
}

// codeOf returns the code of an answer's error.
func codeOf(answer object) any {
	fault, _ := answer["error"].(object)
	return fault["code"]
}

const (
	toClub = `{"messaging_product":"whatsapp","recipient_type":"group","to":"120363025246125486"`
)

// ofUpload is a form with a file.
const ofUpload = "--b\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\ntext/plain\r\n" +
	"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhello\r\n--b--\r\n"

const (
	account = "/v21.0/15550001111"
	asForm  = "multipart/form-data; boundary=b"
)

var (
	ofClub       = messageRef{Chat: compattest.Club, Sender: compattest.Grace, ID: "G1"}
	clubMessage  = ofClub.messageID()
	clubFile     = ofClub.fileID()
	uploadsAFile = compattest.Try{Route: "POST /{account}/media", Path: account + "/media", Type: asForm, Body: ofUpload, Scope: toSend}
)

// sends returns a request to send.
func sends(body string, scope, also bridge.Scope) compattest.Try {
	return compattest.Try{Route: "POST /{account}/messages", Path: account + "/messages", Body: body, Scope: scope, Also: also}
}

// reaches names every route; a new one fails the test until it is named here.
var reaches = []compattest.Try{
	sends(toClub+`,"type":"text","text":{"body":"x"}}`, toSend, ""),
	sends(toClub+`,"type":"image","image":{"link":"https://example.org/a.png"}}`, toSend, ""),
	sends(toClub+`,"type":"image","image":{"id":"`+clubFile+`"}}`, toSend, toRead),
	sends(toClub+`,"type":"location","location":{"latitude":"1","longitude":2}}`, toSend, ""),
	sends(toClub+`,"type":"contacts","contacts":[{"name":{"formatted_name":"Sam"}}]}`, toSend, ""),
	sends(toClub+`,"type":"reaction","reaction":{"message_id":"`+clubMessage+`","emoji":"👍"}}`, toSend, ""),
	sends(toClub+`,"type":"interactive","interactive":{"type":"button","body":{"text":"x"}}}`, toSend, ""),
	sends(toClub+`,"type":"template"}`, toSend, ""),
	sends(`{"status":"read","message_id":"`+clubMessage+`","typing_indicator":{"type":"text"}}`, toSend, ""),
	uploadsAFile,
	{Route: "GET /{id}", Path: account},
	{Route: "GET /{id}", Path: "/" + clubFile, Scope: toRead},
	{Route: "GET /media/{id}/content", Path: "/media/" + clubFile + "/content", Scope: toRead},
	{Route: "DELETE /{id}", Path: "/v21.0/uABC", Scope: toSend},

	{Route: "GET /{account}/phone_numbers", Path: account + "/phone_numbers"},
	{Route: "POST /{account}/register", Path: account + "/register", Body: `{"pin":"123456"}`},
	{Route: "POST /{account}/deregister", Path: account + "/deregister"},
	{Route: "GET /{account}/whatsapp_business_profile", Path: account + "/whatsapp_business_profile"},
	{Route: "POST /{account}/whatsapp_business_profile", Path: account + "/whatsapp_business_profile", Body: `{"about":"x"}`},
	{Route: "GET /{account}/message_templates", Path: account + "/message_templates"},
	{Route: "GET /debug_token"},

	{Route: "GET /{account}/subscribed_apps", Path: account + "/subscribed_apps", Scope: toManage},
	{Route: "POST /{account}/subscribed_apps", Path: account + "/subscribed_apps", Scope: toManage},
	{Route: "POST /{account}/subscribed_apps", Path: account + "/subscribed_apps", Body: `{"override_callback_uri":"http://127.0.0.1:9/","verify_token":"x"}`, Scope: toManage, Also: toRead},
	{Route: "DELETE /{account}/subscribed_apps", Path: account + "/subscribed_apps", Scope: toManage},
}

func TestTokens_EveryRouteWithEveryScope(t *testing.T) {
	var patterns []string
	for _, r := range (adapter{}).routes() {
		patterns = append(patterns, r.Pattern)
	}
	newScene(t).EveryScope(patterns, reaches)
}

// A chat outside a token's list does not exist for it, as a recipient, a message and a file;
// and a wrong key is Meta's error of a wrong key.
func TestTokens_OtherChatsDoNotExist(t *testing.T) {
	s := newScene(t)
	narrow := s.Token([]bridge.JID{"15550100399@s.whatsapp.net"}, toRead, toSend)
	for _, r := range reaches {
		if got, answer := ask(t, s, r, "no-token"); got.Code != http.StatusUnauthorized || codeOf(answer) != 190.0 {
			t.Errorf("%s without a token: %d %s", r.Route, got.Code, got.Body)
		}
		if r.Scope != toRead && r.Scope != toSend || r.Type != "" || strings.Contains(r.Body, "template") {
			continue
		}
		if got, answer := ask(t, s, r, narrow.Secret); got.Code != http.StatusBadRequest || codeOf(answer) != 100.0 {
			t.Errorf("%s %s: %d %s", r.Route, r.Body, got.Code, got.Body)
		}
	}
}

// What bridged does not do is refused with a sentence, and nothing is done.
func TestRoutes_RefusesWhatBridgedDoesNotDo(t *testing.T) {
	s := newScene(t)
	for _, r := range []compattest.Try{
		{Route: "POST " + account + "/deregister"},
		{Route: "POST " + account + "/whatsapp_business_profile"},
		{Route: "DELETE " + account},
		{Route: "POST " + account + "/message_templates", Body: `{}`},
		{Route: "GET /"},
		{Route: "GET /v21.0"},
		{Route: "DELETE /" + clubFile},
		{Route: "GET /15550009999"},
		{Route: "POST /15550009999/messages", Body: toClub + `}`},
		{Route: "GET /me/phone_numbers"},
		{Route: "GET /uABC"},
		{Route: "POST " + account + "/subscribed_apps"},
		{Route: "POST " + account + "/media", Body: `{}`},
		sends(toClub+`,"type":"order"}`, "", ""),
		sends(toClub+`,"type":"interactive","interactive":{"type":"flow"}}`, "", ""),
		sends(toClub+`,"type":"sticker","sticker":{"link":"https://example.org/a.webp"}}`, "", ""),
		sends(toClub+`,"type":"image","image":{}}`, "", ""),
		sends(toClub+`,"type":"text","text":{"body":"x"},"context":{"message_id":"wamid.HBgLMTU1NTAwMDExMTEVAgASGBQzQQ"}}`, "", ""),
		sends(`{"type":"text","text":{"body":"x"}}`, "", ""),
		sends(`{"status":"delivered","message_id":"`+clubMessage+`"}`, "", ""),
		sends(`[]`, "", ""),
		sends(toClub+`,"type":"text","text":{"body":"`+HistoryMark+`**Ada** wrote"}}`, "", ""),
		sends(toClub+`,"text":{"body":"the note:\n`+HistoryMark+`Ada wrote"}}`, "", ""),
		sends(toClub+`,"type":"image","image":{"link":"https://example.org/a.png","caption":"`+HistoryMark+`Ada wrote"}}`, "", ""),
		sends(toClub+`,"type":"interactive","interactive":{"type":"button","body":{"text":"`+HistoryMark+`"},"action":{"buttons":[{"reply":{"id":"a","title":"A"}}]}}}`, "", ""),
	} {
		got, answer := ask(t, s, r, compattest.Operator)
		fault, _ := answer["error"].(object)
		details, _ := fault["error_data"].(object)
		if got.Code != http.StatusBadRequest || fault["code"] != 100.0 || details["details"] == "" {
			t.Errorf("%s %s: %d %s", r.Route, r.Body, got.Code, got.Body)
		}
	}
	for body, code := range map[string]any{toClub + `,"type":"text","text":{"body":"x"}}`: 131016.0, toClub + `,"type":"template","template":{}}`: 132001.0} {
		if got, answer := ask(t, s, sends(body, "", ""), compattest.Operator); codeOf(answer) != code {
			t.Errorf("%s: %d %s", body, got.Code, got.Body)
		}
	}
}

// A key in the address counts where the operator permits it alone.
func TestKey_InTheAddress(t *testing.T) {
	s := newScene(t)
	asks := compattest.Try{Route: "GET " + account + "/message_templates", Query: "?access_token=" + compattest.Operator}
	if got, _ := ask(t, s, asks, ""); got.Code != http.StatusUnauthorized || !strings.Contains(got.Body.String(), "COMPAT_URL_TOKEN=true") {
		t.Errorf("not permitted: %d %s", got.Code, got.Body)
	}
	s.Options.URLToken = true
	s.Reopen()
	if got, answer := ask(t, s, asks, ""); got.Code != http.StatusOK || answer["data"] == nil {
		t.Errorf("permitted: %d %s", got.Code, got.Body)
	}
	if got, _ := ask(t, s, asks, "wrong"); got.Code != http.StatusUnauthorized {
		t.Errorf("beside a wrong bearer: %d", got.Code)
	}
}

func TestToken_IsDescribed(t *testing.T) {
	s := newScene(t)
	token := s.Token(nil, toRead, toSend)
	_, answer := ask(t, s, compattest.Try{Route: "GET /debug_token", Query: "?input_token=" + token.Secret}, token.Secret)
	data, _ := answer["data"].(object)
	if data["is_valid"] != true || len(data["scopes"].([]any)) != 2 || data["expires_at"] != 0.0 {
		t.Errorf("%v", answer)
	}
	_, answer = ask(t, s, compattest.Try{Route: "GET /debug_token", Query: "?input_token=" + compattest.Operator}, token.Secret)
	if data, _ := answer["data"].(object); data["is_valid"] != false {
		t.Errorf("another token: %v", answer)
	}
}

// An uploaded file exists for its token alone, over a restart, until it is a day old.
func TestUploads_ExistForTheirTokenAndADay(t *testing.T) {
	s := newScene(t)
	owner, other := s.Token(nil, toRead, toSend).Secret, s.Token([]bridge.JID{compattest.Club}, toRead, toSend).Secret
	_, answer := ask(t, s, uploadsAFile, owner)
	id, _ := answer["id"].(string)
	if id == "" {
		t.Fatalf("%v", answer)
	}
	shows := compattest.Try{Route: "GET /{id}", Path: "/" + id}
	_, answer = ask(t, s, shows, owner)
	if answer["url"] != "http://example.com/cloud/media/"+id+"/content" || answer["mime_type"] != "text/plain" || answer["file_size"] != 5.0 ||
		answer["sha256"] != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Errorf("described as %v", answer)
	}
	reads := compattest.Try{Route: "GET /media/{id}/content", Path: "/media/" + id + "/content"}
	if got, _ := ask(t, s, reads, owner); got.Body.String() != "hello" || got.Header().Get("Content-Disposition") != "attachment" {
		t.Errorf("read as %q, %v", got.Body, got.Header())
	}
	for _, r := range []compattest.Try{
		shows, reads,
		{Route: "DELETE /{id}", Path: "/" + id},
		sends(toClub+`,"type":"document","document":{"id":"`+id+`"}}`, "", ""),
	} {
		if got, _ := ask(t, s, r, other); got.Code != http.StatusBadRequest {
			t.Errorf("%s with another token: %d %s", r.Route, got.Code, got.Body)
		}
	}
	s.Options.PublicURLs = []*url.URL{must(url.Parse("https://bridge.example"))}
	s.Reopen()
	if _, answer := ask(t, s, shows, owner); answer["url"] != "https://bridge.example/cloud/media/"+id+"/content" {
		t.Errorf("with PUBLIC_URL it is at %v", answer["url"])
	}
	if got, _ := ask(t, s, reads, owner); got.Body.String() != "hello" {
		t.Errorf("after a restart: %d %q", got.Code, got.Body)
	}
	if got, _ := ask(t, s, compattest.Try{Route: "DELETE /{id}", Path: "/" + id}, owner); got.Code != http.StatusOK {
		t.Errorf("deleted: %d %s", got.Code, got.Body)
	}
	if left := must(filepath.Glob(filepath.Join(s.Options.DataDir, "uploads", "*"))); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// What is too old, or not whole, goes at the start; and a file goes when it is a day old.
func TestUploads_AreRemoved(t *testing.T) {
	s := newScene(t)
	dir := filepath.Join(s.Options.DataDir, "uploads")
	u := must(openUploads(s.Options))
	old, young := must(u.store("t", bridge.Token{}, uploadOf("old"), "")), must(u.store("t", bridge.Token{}, uploadOf("young"), ""))
	u.mu.Lock()
	u.byID[old].Until = time.Now()
	writeErr := u.describe(old, u.byID[old])
	u.mu.Unlock()
	if writeErr != nil {
		t.Fatal(writeErr)
	}
	if _, err := u.open("t", old); err == nil {
		t.Error("an old file can be opened")
	}
	for _, name := range []string{"uHALF", "uALONE.json", "uBROKEN.json"} { // what a crash leaves
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"size":5`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	u = must(openUploads(s.Options))
	if left := must(filepath.Glob(filepath.Join(dir, "*"))); len(left) != 2 || u.byID[young] == nil {
		t.Errorf("left: %v", left)
	}
	u.mu.Lock()
	u.byID[young].expiry.Reset(0)
	u.mu.Unlock()
	for deadline := time.Now().Add(10 * time.Second); len(must(filepath.Glob(filepath.Join(dir, "*")))) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("the file stays")
		}
	}
}

// A token tree has half of the room, and a quarter is for BRIDGE_TOKEN alone; nothing of a
// revoked token stays, nor of one that it made.
func TestUploads_AreBounded(t *testing.T) {
	always := func(context.Context, int64) (context.Context, bool) { return t.Context(), true }
	u := must(openUploads(compat.Options{DataDir: t.TempDir(), UntilRevoked: always, Log: zerolog.Nop()}))
	for i, c := range []struct {
		token, tree, size int64
		fits              bool
	}{
		{1, 1, maxUploads/2 - 1, true},
		{2, 1, 2, false},
		{3, 1, 1, true},
		{1, 1, 1, false},
		{4, 4, maxUploads/4 + 1, false},
		{4, 4, maxUploads / 4, true},
		{5, 5, 1, false},
		{0, 0, maxUploads / 4, true},
		{0, 0, 1, false},
	} {
		err := u.reserve(strconv.Itoa(i), &upload{Token: c.token, Tree: c.tree, Size: c.size, At: time.Now(), Until: time.Now().Add(time.Hour)})
		if (err == nil) != c.fits || err != nil && bridge.CodeOf(err) != bridge.CodeRateLimited {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, one := range u.byID {
		one.expiry.Stop()
	}
}

// Files of tokens that a token made count for it, however many there are, so that there is
// always room for BRIDGE_TOKEN; and they go at once when it is revoked, or while the bridge
// does not run.
func TestUploads_CountForTheTokenTree(t *testing.T) {
	s := newScene(t)
	parent := s.Token(nil, toManage, toRead, toSend)
	children := []client.MadeToken{s.Child(parent, toSend), s.Child(parent, toSend)}
	stored := func() int { return len(must(filepath.Glob(filepath.Join(s.Options.DataDir, "uploads", "*.json")))) }
	for i := range maxUploadCount/2 + 3 {
		want := http.StatusOK
		if i >= maxUploadCount/2 {
			want = http.StatusTooManyRequests
		}
		if got := s.Ask(uploadsAFile, children[i%2].Secret); got.Code != want {
			t.Fatalf("file %d: %d %s", i, got.Code, got.Body)
		}
	}
	if got := s.Ask(uploadsAFile, compattest.Operator); got.Code != http.StatusOK {
		t.Errorf("BRIDGE_TOKEN: %d %s", got.Code, got.Body)
	}
	s.Revoke(children[0])
	eventually(t, func() bool { return stored() == maxUploadCount/4+1 })
	if got := s.Ask(uploadsAFile, children[1].Secret); got.Code != http.StatusOK {
		t.Errorf("after a revocation: %d %s", got.Code, got.Body)
	}
	s.Options.UntilRevoked = func(context.Context, int64) (context.Context, bool) { return nil, false } // as after a start
	s.Reopen()
	if stored() != 1 {
		t.Errorf("%d files are left, want that of BRIDGE_TOKEN", stored())
	}
}

// eventually waits until something is so.
func eventually(t *testing.T, isSo func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !isSo(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("it does not become so")
		}
	}
}

// bytesFile is a file in memory.
type bytesFile struct{ *bytes.Reader }

func (bytesFile) Close() {}

func uploadOf(text string) *compat.Upload {
	return &compat.Upload{File: bytesFile{bytes.NewReader([]byte(text))}, Name: "a.txt"}
}

// No body within 1 MiB takes a multiple of it in memory, on any route and with any token.
func TestBodies_HoldLittleMemory(t *testing.T) { newScene(t).HostileBodies(reaches) }
