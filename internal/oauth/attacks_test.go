package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/urlguard"
)

// A code is exchanged once, within a minute, by the client that it was sent to.
func TestCodes_AreOnesOwn(t *testing.T) {
	s := newScene(t)
	id, other := s.client(), s.client()
	for what, c := range map[string]struct{ name, value, code string }{
		"another client":    {"client_id", other, "invalid_grant"},
		"another verifier":  {"code_verifier", strings.Repeat("x", 43), "invalid_grant"},
		"another address":   {"redirect_uri", "https://agent.example/other", "invalid_grant"},
		"another server":    {"resource", "https://other.example/mcp", "invalid_target"},
		"the API":           {"resource", public + "/api", "invalid_target"},
		"no verifier":       {"code_verifier", "", "invalid_request"},
		"no client":         {"client_id", "", "invalid_client"},
		"no code":           {"code", "", "invalid_request"},
		"another code":      {"code", "AAAAAAAAAAAAAAAAAAAAAAAAAA", "invalid_grant"},
		"the password":      {"grant_type", "password", "unsupported_grant_type"},
		"nothing":           {"grant_type", "", "invalid_request"},
		"an unknown client": {"client_id", "brc_UNKNOWN", "invalid_grant"},
	} {
		code := s.code(id)
		s.redeem(id, code, c.name, c.value).want(t, what, c.code)
		if burnt := c.code == "invalid_target" || c.code == "invalid_grant" && c.name != "code"; burnt {
			s.redeem(id, code).want(t, "after "+what, "invalid_grant")
		}
	}
	code := s.code(id)
	s.now = s.now.Add(codeLife)
	s.redeem(id, code).want(t, "after a minute", "invalid_grant")
	if without := s.form(tokenPath, "grant_type", codeGrant, "client_id", id, "code", s.code(id), "code_verifier", verifier); without.status != http.StatusOK {
		t.Errorf("as OAuth 2.1 has it, without redirect_uri and resource: %d %s", without.status, without.body)
	}
	s.form(tokenPath, "grant_type", codeGrant, "client_id", id, "client_id", other, "code", s.code(id), "code_verifier", verifier).want(t, "two clients", "invalid_request")
}

// The second use of a code gets nothing, and ends the access that the first one got.
func TestCodes_ASecondUseEndsTheAccess(t *testing.T) {
	s := newScene(t)
	id := s.client()
	code := s.code(id)
	first := s.redeem(id, code)
	first = s.refresh(id, first.RefreshToken)
	s.now = s.now.Add(24 * time.Hour)
	s.redeem(id, code).want(t, "a second use", "invalid_grant")
	s.refresh(id, first.RefreshToken).want(t, "then the first user", "invalid_grant")
	if s.opens(first.AccessToken) || len(s.tokens()) != 0 {
		t.Error("the access goes on")
	}
}

func TestRefresh_ASecondUseEndsTheAccess(t *testing.T) {
	s := newScene(t)
	id := s.client()
	first := s.redeem(id, s.code(id))
	second := s.refresh(id, first.RefreshToken)
	if !s.opens(second.AccessToken) || s.opens(first.AccessToken) {
		t.Error("the former secret still opens the API")
	}
	s.refresh(id, first.RefreshToken).want(t, "a second use", "invalid_grant")
	if s.opens(second.AccessToken) || len(s.tokens()) != 0 {
		t.Error("the access goes on")
	}
	s.refresh(id, second.RefreshToken).want(t, "then the first user", "invalid_grant")
}

// A renewal adds no scope, and no other client can renew.
func TestRefresh_NothingGrows(t *testing.T) {
	s := newScene(t)
	id, other := s.client(), s.client()
	got := s.redeem(id, s.code(id))
	s.now = s.now.Add(2 * secretLife)
	for _, scope := range []string{"send", "read send", "manage", "read offline_access manage"} {
		s.refresh(id, got.RefreshToken, "scope", scope).want(t, scope, "invalid_scope")
	}
	s.refresh(other, got.RefreshToken).want(t, "another client", "invalid_grant")
	s.refresh(id, got.RefreshToken, "resource", "https://other.example/mcp").want(t, "another server", "invalid_target")
	s.refresh(id, "").want(t, "nothing", "invalid_request")
	s.refresh(id, "brr_AAAA.BBBB").want(t, "a made up token", "invalid_grant")
	s.refresh("brc_UNKNOWN", "brr_AAAA.BBBB").want(t, "a client that is forgotten", "invalid_client")
	if renewed := s.refresh(id, got.RefreshToken, "scope", "read offline_access"); renewed.status != http.StatusOK || renewed.Scope != "read" {
		t.Errorf("renewed: %d %s", renewed.status, renewed.body)
	}
}

// A grant has no scope that the client did not ask for, and none that the owner's token lacks.
func TestConsent_GrantsNoMoreThanThereIs(t *testing.T) {
	s := newScene(t)
	req, err := s.server.Check(t.Context(), "bridge.example", query(s.client(), "scope", "read manage openid"))
	if err != nil || bridge.Join(req.Scopes, " ") != "read" {
		t.Fatalf("asks for %v, %v", req.Scopes, err)
	}
	limited, err := s.owner.CreateToken(t.Context(), client.NewToken{Name: "limited", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeManage}, Chats: []bridge.JID{grace}})
	if err != nil {
		t.Fatal(err)
	}
	reading, err := s.owner.CreateToken(t.Context(), client.NewToken{Name: "reading", Scopes: []bridge.Scope{bridge.ScopeRead}})
	if err != nil {
		t.Fatal(err)
	}
	more, all := reader(), reader()
	more.Scopes = append(more.Scopes, bridge.ScopeSend)
	all.Chats = nil
	for what, c := range map[string]struct {
		secret string
		wanted client.NewToken
	}{"another scope": {operator, more}, "all chats": {limited.Secret, all}, "without manage": {reading.Secret, reader()}} {
		if _, err := s.server.Allow(t.Context(), s.owner.WithToken(c.secret), req, c.wanted); bridge.CodeOf(err) != bridge.CodeForbidden {
			t.Errorf("%s: %v", what, err)
		}
	}
	if list := s.tokens(); len(list) != 2 {
		t.Errorf("granted: %+v", list)
	}
	// A grant ends with the token of its owner.
	location, err := s.server.Allow(t.Context(), s.owner.WithToken(limited.Secret), req, reader())
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	got := s.redeem(req.Client.ID, back.Query().Get("code"))
	if err := s.owner.RevokeToken(t.Context(), limited.ID); err != nil || s.opens(got.AccessToken) {
		t.Errorf("the access outlives the token of its owner: %v", err)
	}
	s.refresh(req.Client.ID, got.RefreshToken).want(t, "of an owner without a token", "invalid_grant")
}

// Without a known client and its address there is no redirect. Other errors are for the client,
// with the issuer and the state.
func TestCheck_RefusesWhatItShould(t *testing.T) {
	s := newScene(t, func(o *Options) { o.Fetch = noFetch })
	id := s.client()
	twice := query(id)
	twice.Add("state", "x")
	for what, q := range map[string]url.Values{
		"no client":         query(""),
		"an unknown client": query("brc_UNKNOWN"),
		"a long id":         query(strings.Repeat("x", maxClientID+1)),
		"another path":      query(id, "redirect_uri", callback+"/x"),
		"another host":      query(id, "redirect_uri", "https://evil.example/callback"),
		"a query":           query(id, "redirect_uri", callback+"?x=1"),
		"another scheme":    query(id, "redirect_uri", "http://agent.example/callback"),
		"a port":            query(id, "redirect_uri", "https://agent.example:444/callback"),
		"a user":            query(id, "redirect_uri", "https://agent.example@evil.example/callback"),
		"a script":          query(id, "redirect_uri", "javascript:alert(1)"),
		"two states":        twice,
	} {
		if _, err := s.server.Check(t.Context(), "bridge.example", q); !isError(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, c := range map[string]struct{ name, value, code string }{
		"a token in the address": {"response_type", "token", "unsupported_response_type"},
		"a fragment":             {"response_mode", "fragment", "invalid_request"},
		"no PKCE":                {"code_challenge", "", "invalid_request"},
		"PKCE in plain text":     {"code_challenge_method", "plain", "invalid_request"},
		"PKCE without a method":  {"code_challenge_method", "", "invalid_request"},
		"a short challenge":      {"code_challenge", "abc", "invalid_request"},
		"another server":         {"resource", "https://other.example/mcp", "invalid_target"},
		"an object":              {"request", "eyJ", "request_not_supported"},
		"a document":             {"request_uri", "https://evil.example", "request_uri_not_supported"},
	} {
		_, err := s.server.Check(t.Context(), "bridge.example", query(id, c.name, c.value))
		refused, ok := errors.AsType[*Refusal](err)
		if !ok || refused.Why.Code != c.code {
			t.Errorf("%s: %v", what, err)
			continue
		}
		back, err := url.Parse(refused.Return)
		if got := back.Query(); err != nil || !strings.HasPrefix(refused.Return, callback+"?") || got.Get("error") != c.code || got.Get("state") != "the state" || got.Get("iss") != public || got.Has("code") {
			t.Errorf("%s: sent back to %s", what, refused.Return)
		}
	}
	for _, same := range []string{"HTTPS://BRIDGE.example:443/mcp/", resource, resource + "/"} {
		if _, err := s.server.Check(t.Context(), "bridge.example", query(id, "resource", same)); err != nil {
			t.Errorf("%s: %v", same, err)
		}
	}
}

func isError(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}

// Addresses match exactly, but for the port of a program on the user's own machine.
func TestRedirects(t *testing.T) {
	for _, c := range []struct {
		registered, given string
		matches           bool
	}{
		{"http://127.0.0.1/cb", "http://127.0.0.1:49152/cb", true},
		{"http://127.0.0.1:1234/cb", "http://127.0.0.1/cb", true},
		{"http://localhost:3000/cb?x=1", "http://localhost:3001/cb?x=1", true},
		{"http://[::1]:3000/cb", "http://[::1]:3001/cb", true},
		{"http://127.0.0.1/cb", "http://localhost/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:1/cb/", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:1/cb?x", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:1@evil.example/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb", false},
		{"http://127.0.0.1/cb", "https://127.0.0.1:1/cb", false},
		{"https://a.example/cb", "https://a.example:444/cb", false},
		{"https://a.example/cb", "https://a.example/CB", false},
		{"https://a.example/cb", "https://a.example/cb#", false},
		{"cursor://anysphere.cursor/cb", "cursor://anysphere.cursor/cb", true},
		{"cursor://anysphere.cursor/cb", "cursor://evil/cb", false},
	} {
		if got := isRegistered(c.given, []string{c.registered}); got != c.matches {
			t.Errorf("%s for %s: %v", c.given, c.registered, got)
		}
	}
	for _, refused := range []string{
		"", "x", "/cb", "//a.example/cb", "https:///cb", "https:a.example", "http://a.example/cb", "http://10.0.0.1/cb", "http://127.0.0.2/cb", "javascript:alert(1)",
		"data:text/html,x", "vbscript:x", "file:///etc/passwd", "ms-msdt:/id", "search-ms:x", "blob:https://a.example/x", "ftp://a.example/", "ws://a.example/",
		"https://a.example/#x", "https://u:p@a.example/cb", "https://a.example/c b", "https://a.example/é", "https://a.example;script-src/cb", "https://a'b.example/cb",
		"https://a.example/" + strings.Repeat("x", maxRedirect),
	} {
		if checkRedirect(refused) == nil {
			t.Errorf("%q may be registered", refused)
		}
	}
	for given, want := range map[string]string{
		"https://a.example:8443/cb": "https://a.example:8443", "http://127.0.0.1:1/cb": "http://127.0.0.1:1", "http://[::1]:1/cb": "http:", "cursor://x/cb": "cursor:", "com.example:/cb": "com.example:",
	} {
		if got := formTarget(given); got != want {
			t.Errorf("the form's target for %s is %s, want %s", given, got, want)
		}
	}
}

func TestRegister_RefusesWhatItShould(t *testing.T) {
	for body, code := range map[string]string{
		`{}`:                           "invalid_redirect_uri",
		`{"redirect_uris":[]}`:         "invalid_redirect_uri",
		`{"redirect_uris":"https://"}`: "invalid_client_metadata",
		`{"redirect_uris":["http://agent.example/cb"]}`:                                        "invalid_redirect_uri",
		`{"redirect_uris":["` + callback + `","javascript:alert(1)"]}`:                         "invalid_redirect_uri",
		`{"redirect_uris":["` + callback + `"],"grant_types":["implicit"]}`:                    "invalid_client_metadata",
		`{"redirect_uris":["` + callback + `"],"response_types":["token"]}`:                    "invalid_client_metadata",
		`{"redirect_uris":["x"` + strings.Repeat(`,"x"`, maxRedirects) + `]}`:                  "invalid_redirect_uri",
		`{"redirect_uris":["` + callback + `"],"client_name":"` + strings.Repeat("x", maxBody): "invalid_request",
		`[`: "invalid_client_metadata",
		``:  "invalid_client_metadata",
	} {
		s := newScene(t)
		s.post(registerPath, "application/json", body).want(t, body[:min(len(body), 60)], code)
	}
	s := newScene(t)
	made := s.post(registerPath, "application/json", `{"client_name":" Cl\u202eaude\u0000 <b> \n","redirect_uris":["`+callback+`"],"grant_types":["authorization_code"],"token_endpoint_auth_method":"client_secret_basic","jwks":{"keys":[]},"contacts":["x"]}`)
	var says struct {
		Name   string   `json:"client_name"`
		Method string   `json:"token_endpoint_auth_method"`
		Grants []string `json:"grant_types"`
	}
	if err := json.Unmarshal([]byte(made.body), &says); err != nil || says.Name != "Claude <b>" || says.Method != "none" || strings.Contains(made.body, "secret\"") || len(says.Grants) != 1 {
		t.Errorf("registered as %s: %v", made.body, err)
	}
	if got := s.redeem(made.ID, s.code(made.ID)); got.RefreshToken != "" || !s.opens(got.AccessToken) {
		t.Errorf("a client without refresh tokens got %s", got.body)
	}
}

// A thousand registrations neither fill the disk nor lock others out, and unused ones expire.
func TestRegister_AThousandTimes(t *testing.T) {
	s := newScene(t)
	from := func(address, body string) int {
		r := httptest.NewRequest(http.MethodPost, public+registerPath, strings.NewReader(body))
		r.RemoteAddr = address
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code >= 400 && w.Header().Get("Retry-After") == "" {
			t.Errorf("%d without Retry-After", w.Code)
		}
		return w.Code
	}
	const body = `{"redirect_uris":["` + callback + `"]}`
	statuses := make(map[int]int)
	for i := range 1000 {
		statuses[from(fmt.Sprintf("[2001:db8::%x]:1", i), body)]++
	}
	if statuses[http.StatusCreated] != 10 || statuses[http.StatusTooManyRequests] != 990 {
		t.Errorf("one network: %v", statuses)
	}
	if status := from("198.51.100.1:1", body); status != http.StatusCreated {
		t.Errorf("another network: %d", status)
	}
	used := s.client()
	s.code(used)
	clear(statuses)
	for i := range 1000 {
		statuses[from(fmt.Sprintf("203.0.%d.%d:1", 113+i/200, i%200), body)]++
	}
	if statuses[http.StatusCreated] != limits.Most-12 || statuses[http.StatusServiceUnavailable] != 12 {
		t.Errorf("a thousand networks: %v", statuses)
	}
	if _, err := s.server.Store.OAuthClient(t.Context(), used); err != nil {
		t.Errorf("a client in use: %v", err)
	}
}

// A document about a client is fetched from a public address only, is bounded, and describes its own
// address.
func TestDocuments_OfClients(t *testing.T) {
	const at = "https://agent.example/client.json"
	var body string
	final, fetches := at, 0
	s := newScene(t, func(o *Options) {
		o.Fetch = func(_ context.Context, _ string, most int64, w io.Writer) (urlguard.Result, error) {
			if fetches++; int64(len(body)) > most {
				return urlguard.Result{}, &urlguard.Error{Reason: "too large"}
			}
			_, err := io.WriteString(w, body)
			return urlguard.Result{URL: final}, err
		}
	})
	valid := `{"client_id":"` + at + `","client_name":"Agent","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"none"}`
	for what, bad := range map[string]string{
		"another client": `{"client_id":"https://other.example/client.json","redirect_uris":["` + callback + `"]}`, "no JSON": "<html>", "nothing": "",
		"no address": `{"client_id":"` + at + `"}`, "a secret": strings.Replace(valid, "{", `{"client_secret":"x",`, 1), "too much": `{"x":"` + strings.Repeat("x", maxDocument),
		"a script": strings.Replace(valid, callback, "javascript:alert(1)", 1),
	} {
		body = bad
		s.now = s.now.Add(failureLife)
		if _, err := s.server.Check(t.Context(), "bridge.example", query(at)); !isError(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	body, final = valid, "https://agent.example/other.json"
	s.now = s.now.Add(failureLife)
	before := fetches
	for range 2 { // a failure is remembered, too
		if _, err := s.server.Check(t.Context(), "bridge.example", query(at)); !isError(err) || fetches != before+1 {
			t.Errorf("a redirect: %v, fetched %d times", err, fetches-before)
		}
	}
	final = at
	s.now = s.now.Add(failureLife)
	before = fetches
	for range 3 {
		req, err := s.server.Check(t.Context(), "bridge.example", query(at))
		if err != nil || req.Client.Host != "agent.example" || fetches != before+1 {
			t.Fatalf("%+v, %v, fetched %d times", req, err, fetches-before)
		}
	}
	got := s.redeem(at, s.code(at))
	if !s.opens(got.AccessToken) || *s.tokens()[0].OAuthClient != "agent.example" {
		t.Errorf("granted %s", got.body)
	}
	for i := range 2 * maxDocuments {
		_, _ = s.server.describedBy(t.Context(), fmt.Sprintf("https://agent.example/%d.json", i))
	}
	if len(s.server.documents.all) > maxDocuments {
		t.Errorf("%d documents are remembered", len(s.server.documents.all))
	}
}

// An address of a document does not lead into the operator's network.
func TestDocuments_InThePrivateNetworkAreNotFetched(t *testing.T) {
	reached := false
	inside := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer inside.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(inside.URL, "https://"), ":")
	s := newScene(t)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "127.1", "10.0.0.1", "169.254.169.254", "metadata.localhost"} {
		if _, err := s.server.Check(t.Context(), "bridge.example", query("https://"+host+":"+port+"/client.json")); !isError(err) {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, plain := range []string{"http://agent.example/client.json", "https://agent.example", "https://agent.example/", "https://agent.example/a/../b", "https://u@agent.example/x", "https://agent.example/x#y", "file:///etc/passwd"} {
		if isDocument(plain) {
			t.Errorf("%s is fetched", plain)
		}
	}
	if reached {
		t.Error("the server inside was reached")
	}
}

// A body costs at most 8 KiB, whatever it says about itself.
func TestBodies_AreShort(t *testing.T) {
	s := newScene(t)
	for _, path := range []string{registerPath, tokenPath, revokePath} {
		for _, length := range []int64{-1, 1 << 30} {
			read := 0
			r := httptest.NewRequest(http.MethodPost, public+path, readerFunc(func(p []byte) (int, error) {
				read += len(p)
				clear(p)
				return len(p), nil
			}))
			r.ContentLength = length
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, r)
			if w.Code != http.StatusRequestEntityTooLarge || w.Header().Get("Connection") != "close" || read > 3*maxBody {
				t.Errorf("%s with %d bytes: %d, %v, %d bytes read", path, length, w.Code, w.Header(), read)
			}
		}
		r := httptest.NewRequest(http.MethodGet, public+path, nil)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodPost {
			t.Errorf("GET %s: %d %v", path, w.Code, w.Header())
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// The endpoints' addresses have the base path, and the metadata is at the addresses of each RFC.
func TestMetadata_IsWhereClientsLook(t *testing.T) {
	for base, paths := range map[string][2]string{
		"":        {"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"},
		"/bridge": {"/.well-known/oauth-protected-resource/bridge/mcp", "/.well-known/oauth-authorization-server/bridge"},
	} {
		s := newScene(t, func(o *Options) {
			o.BasePath = base
			first, _ := url.Parse("https://first.example" + base)
			second, _ := url.Parse("https://second.example:8443" + base)
			o.Public = []*url.URL{first, second}
		})
		for host, at := range map[string]string{"first.example": "https://first.example", "second.example:8443": "https://second.example:8443", "127.0.0.1:8080": "https://first.example"} {
			get := func(path string) (document map[string]any) {
				r := httptest.NewRequest(http.MethodGet, "http://"+host+path, nil)
				if !s.server.Serves(path) {
					t.Fatalf("%s is not served", path)
				}
				w := httptest.NewRecorder()
				s.handler.ServeHTTP(w, r)
				if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil || w.Code != http.StatusOK {
					t.Fatalf("%s: %d %s", path, w.Code, w.Body)
				}
				return document
			}
			if about := get(paths[0]); about["resource"] != at+base+"/mcp" || fmt.Sprint(about["authorization_servers"]) != "["+at+base+"]" {
				t.Errorf("%s: %v", paths[0], about)
			}
			server := get(paths[1])
			for field, want := range map[string]string{
				"issuer": "", "authorization_endpoint": AuthorizePath, "token_endpoint": tokenPath, "registration_endpoint": registerPath, "revocation_endpoint": revokePath,
			} {
				if server[field] != at+base+want {
					t.Errorf("%s of %s is %v", field, host, server[field])
				}
			}
			if fmt.Sprint(server["code_challenge_methods_supported"]) != "[S256]" || server["authorization_response_iss_parameter_supported"] != true || server["client_id_metadata_document_supported"] != true {
				t.Errorf("%s: %v", paths[1], server)
			}
			r := httptest.NewRequest(http.MethodPost, "http://"+host+"/mcp", nil)
			if got := s.server.MetadataURL(r); got != at+base+"/.well-known/oauth-protected-resource/mcp" || !s.server.Serves("/.well-known/oauth-protected-resource/mcp") {
				t.Errorf("a refusal leads to %s", got)
			}
		}
	}
}
