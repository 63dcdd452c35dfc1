package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
	"bridged/internal/urlguard"
	"bridged/internal/webhook"
)

const (
	public   = "https://bridge.example"
	resource = public + "/mcp"
	callback = "https://agent.example/callback"
	verifier = "a-verifier-of-the-tests-that-is-long-enough-0123456789"
	operator = "the-operators-token-0123456789"
	grace    = bridge.JID("15550100301@s.whatsapp.net")
)

// scene is an authorization server in front of the real API and store.
type scene struct {
	*testing.T
	server  *Server
	router  *api.Handler
	owner   *client.Client
	handler http.Handler
	now     time.Time
	log     *strings.Builder
}

func newScene(t *testing.T, change ...func(*Options)) *scene {
	t.Helper()
	st, err := store.Open(t.Context(), store.Options{Path: storetest.NewFile(t), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &scene{T: t, now: time.Now(), log: new(strings.Builder)}
	now := func() time.Time { return s.now }
	s.router = api.New(api.Options{
		Store: st, Token: operator, Log: zerolog.Nop(), Now: now,
		Webhooks: webhook.New(webhook.Options{Store: st, Guard: urlguard.New(urlguard.Options{}), Log: zerolog.Nop()}),
	})
	s.owner = client.InProcess(s.router, operator)
	at, err := url.Parse(public)
	if err != nil {
		t.Fatal(err)
	}
	options := Options{
		Store: st, Tokens: s.router.Tokens(), Operator: s.owner, Fetch: urlguard.New(urlguard.Options{}).Fetch,
		Public: []*url.URL{at}, Path: "/mcp", Send: true, Log: zerolog.New(s.log), Now: now,
	}
	for _, c := range change {
		c(&options)
	}
	s.server = New(options)
	s.handler = s.server.Handler()
	return s
}

// answer is an answer of an endpoint.
type answered struct {
	status int
	header http.Header
	body   string
	issued
	Code string `json:"error"`
	ID   string `json:"client_id"`
}

func (s *scene) post(path, kind, body string) (a answered) {
	s.Helper()
	r := httptest.NewRequest(http.MethodPost, public+path, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		s.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	a.status, a.header, a.body = w.Code, w.Header(), w.Body.String()
	if a.header.Get("Cache-Control") != "no-store" {
		s.Errorf("%s: may be cached", path)
	}
	return a
}

func (s *scene) form(path string, fields ...string) answered {
	s.Helper()
	form := make(url.Values)
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return s.post(path, "application/x-www-form-urlencoded", form.Encode())
}

// want fails unless a request was refused with a code.
func (a answered) want(t *testing.T, what, code string) {
	t.Helper()
	if a.Code != code || a.status < 400 || a.status >= 500 || a.AccessToken != "" {
		t.Errorf("%s: %d %s, want %s", what, a.status, a.body, code)
	}
}

func (s *scene) registered(body string) string {
	s.Helper()
	a := s.post(registerPath, "application/json", body)
	if a.status != http.StatusCreated || a.ID == "" {
		s.Fatalf("not registered: %d %s", a.status, a.body)
	}
	return a.ID
}

func (s *scene) client() string {
	s.Helper()
	return s.registered(`{"client_name":"Agent","redirect_uris":["` + callback + `"]}`)
}

// query is a valid request for access, with changes.
func query(id string, changes ...string) url.Values {
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {id}, "redirect_uri": {callback}, "state": {"the state"}, "scope": {"read send"}, "resource": {resource},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
	}
	return q
}

// granted returns the address that sends the owner back to the client, after they have consented.
func (s *scene) granted(q url.Values, wanted client.NewToken) *url.URL {
	s.Helper()
	req, err := s.server.Check(s.Context(), "bridge.example", q)
	if err != nil {
		s.Fatal(err)
	}
	location, err := s.server.Allow(s.Context(), s.owner, req, wanted)
	if err != nil {
		s.Fatal(err)
	}
	at, err := url.Parse(location)
	if err != nil {
		s.Fatal(err)
	}
	return at
}

// reader is the grant of most tests.
func reader() client.NewToken {
	return client.NewToken{Name: "Agent", Scopes: []bridge.Scope{bridge.ScopeRead}, Chats: []bridge.JID{grace}}
}

func (s *scene) code(id string) string {
	s.Helper()
	return s.granted(query(id), reader()).Query().Get("code")
}

func (s *scene) redeem(id, code string, changes ...string) answered {
	s.Helper()
	fields := map[string]string{"grant_type": codeGrant, "client_id": id, "code": code, "redirect_uri": callback, "code_verifier": verifier, "resource": resource}
	for i := 0; i < len(changes); i += 2 {
		fields[changes[i]] = changes[i+1]
	}
	var list []string
	for name, value := range fields {
		list = append(list, name, value)
	}
	return s.form(tokenPath, list...)
}

func (s *scene) refresh(id, token string, more ...string) answered {
	s.Helper()
	return s.form(tokenPath, append([]string{"grant_type", refreshGrant, "client_id", id, "refresh_token", token}, more...)...)
}

// opens reports whether the API accepts a secret.
func (s *scene) opens(secret string) bool {
	_, known := s.router.Token(s.Context(), secret)
	return known
}

// tokens returns the tokens that the API lists.
func (s *scene) tokens() []bridge.Token {
	s.Helper()
	list, err := s.owner.Tokens(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return list
}

// A client registers, gets the rights that the owner chooses, renews its secret and gives it up. All the
// time it has one token of the API.
func TestAccess_FromARegistrationToARevocation(t *testing.T) {
	s := newScene(t)
	id := s.client()
	back := s.granted(query(id), reader())
	if got := back.Query(); back.Host != "agent.example" || back.Path != "/callback" || got.Get("state") != "the state" || got.Get("iss") != public || got.Get("code") == "" {
		t.Errorf("sent back to %s", back)
	}
	first := s.redeem(id, back.Query().Get("code"))
	if first.status != http.StatusOK || first.TokenType != "Bearer" || first.ExpiresIn != 3600 || first.Scope != "read" || !s.opens(first.AccessToken) {
		t.Fatalf("%d %s", first.status, first.body)
	}
	list := s.tokens()
	if len(list) != 1 || list[0].Name != "Agent" || *list[0].OAuthClient != "agent.example" || !slices.Equal(list[0].Chats, []bridge.JID{grace}) || list[0].Allows(bridge.ScopeSend) {
		t.Fatalf("the API lists %+v", list)
	}
	s.now = s.now.Add(secretLife)
	if s.opens(first.AccessToken) {
		t.Error("the secret outlives its hour")
	}
	second := s.refresh(id, first.RefreshToken, "resource", resource)
	if second.status != http.StatusOK || second.AccessToken == first.AccessToken || second.RefreshToken == first.RefreshToken || !s.opens(second.AccessToken) {
		t.Fatalf("renewed: %d %s", second.status, second.body)
	}
	if again := s.tokens(); len(again) != 1 || again[0].ID != list[0].ID {
		t.Errorf("then the API lists %+v", again)
	}
	for range 2 {
		if gone := s.form(revokePath, "token", second.AccessToken, "client_id", id); gone.status != http.StatusOK || s.opens(second.AccessToken) {
			t.Errorf("revoked: %d %s\n%s", gone.status, gone.body, s.log)
		}
	}
	s.refresh(id, second.RefreshToken).want(t, "a refresh token of revoked access", "invalid_grant")
	if len(s.tokens()) != 0 {
		t.Errorf("the API still lists %+v", s.tokens())
	}
	for _, secret := range []string{first.AccessToken, first.RefreshToken, second.RefreshToken, back.Query().Get("code")} {
		if strings.Contains(s.log.String(), secret) {
			t.Error("a secret is in the log")
		}
	}
}

// Access ends as the owner has chosen, and when they revoke it in the API.
func TestAccess_EndsWithTheToken(t *testing.T) {
	s := newScene(t)
	id := s.client()
	wanted := reader()
	end := bridge.At(s.now.Add(10 * time.Minute))
	wanted.ExpiresAt = &end
	short := s.redeem(id, s.granted(query(id), wanted).Query().Get("code"))
	if short.ExpiresIn < 598 || short.ExpiresIn > 600 {
		t.Errorf("lasts %d s, want ten minutes", short.ExpiresIn)
	}
	s.now = end.Time
	s.refresh(id, short.RefreshToken).want(t, "after its end", "invalid_grant")

	long := s.redeem(id, s.code(id))
	for _, token := range s.tokens() {
		if err := s.owner.RevokeToken(t.Context(), token.ID); err != nil {
			t.Fatal(err)
		}
	}
	if s.opens(long.AccessToken) {
		t.Error("the secret of a revoked token opens the API")
	}
	s.refresh(id, long.RefreshToken).want(t, "of a revoked token", "invalid_grant")
}

// A grant that no client fetches is removed.
func TestAccess_ThatNobodyFetchesIsRemoved(t *testing.T) {
	s := newScene(t)
	id := s.client()
	s.code(id)
	kept := s.redeem(id, s.code(id))
	for range 2 {
		if err := s.server.sweep(context.Background()); err != nil || len(s.tokens()) == 0 {
			t.Fatal(err, s.tokens())
		}
		s.now = s.now.Add(codeLife)
	}
	if list := s.tokens(); len(list) != 1 || !s.opens(kept.AccessToken) {
		t.Errorf("remaining: %+v", list)
	}
}

var errNoFetch = errors.New("nothing may be fetched here")

func noFetch(context.Context, string, int64, io.Writer) (urlguard.Result, error) {
	return urlguard.Result{}, errNoFetch
}
