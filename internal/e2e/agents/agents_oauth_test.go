package agents

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/agent"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// oauthScene is a bridge that grants access over OAuth.
type oauthScene struct {
	AgentScene
	base string
}

func newOAuthScene(t *testing.T, base string, settings ...string) oauthScene {
	t.Helper()
	address := "127.0.0.1:" + FreePort(t)
	s := NewAgentScene(t, append(settings, "LISTEN_ADDR="+address, "MCP_OAUTH=true", "PUBLIC_URL=http://"+address+base, "BASE_PATH="+base)...)
	return oauthScene{s, "http://" + address + base}
}

// link registers a client and returns its id and its link to the page for consent.
func (s oauthScene) link(t *testing.T) (id string, link func(changes ...string) string) {
	t.Helper()
	first := Must(url.Parse(AccessLink(t, s.base, "Claude", "https://agent.example/callback")))(t)
	return first.Query().Get("client_id"), func(changes ...string) string {
		q := first.Query()
		for i := 0; i < len(changes); i += 2 {
			q.Set(changes[i], changes[i+1])
		}
		return s.base + first.Path + "?" + q.Encode()
	}
}

// exchange returns what the token endpoint answers.
func (s oauthScene) exchange(t *testing.T, form url.Values) (status int, answer Fields) {
	t.Helper()
	resp := Must(http.PostForm(s.base+"/oauth/token", form))(t)
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// Other sites cannot have the owner's browser consent: not with a form, not in a frame, and not with a
// link to somewhere else.
func TestOAuth_ConsentIsTheOwners(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/bridged"} {
		t.Run("at "+base, func(t *testing.T) {
			t.Parallel()
			s := newOAuthScene(t, base)
			_, link := s.link(t)
			owner := NewOwnerOf(t, s.Env["BRIDGE_TOKEN"])
			page := owner.Asked(link())
			for _, want := range []string{"<bdi>Claude</bdi> wants access", "Nobody has verified it.", "<strong>agent.example</strong>"} {
				if !strings.Contains(page.Body, want) {
					t.Errorf("the page lacks %q", want)
				}
			}
			if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "form-action 'self' https://agent.example;") || page.Header.Get("X-Frame-Options") != "DENY" {
				t.Errorf("the page may be shown in frames: %v", page.Header)
			}
			allow := url.Values{"decision": {"allow"}, "rights": {"read"}, "chats": {s.Sam.PN().String()}, "request": {page.Field("request")}}
			foreign := owner.Do(http.MethodPost, s.base+"/console/authorize", "cross-site", allow)
			without := owner.Do(http.MethodPost, s.base+"/console/authorize", "same-origin", allow)
			guessed := owner.Answer(page, url.Values{"csrf": {"AAAAAAAAAAAAAAAAAAAAAAAAAA"}, "decision": {"allow"}, "rights": {"read"}, "chats": {s.Sam.PN().String()}})
			for what, got := range map[string]Page{"of another site": foreign, "without the form's token": without, "with another token": guessed} {
				if got.StatusCode != http.StatusForbidden {
					t.Errorf("a form %s: %d", what, got.StatusCode)
				}
			}
			for what, wrong := range map[string]url.Values{
				"no chats": {"rights": {"read"}}, "both": {"rights": {"read"}, "all": {"yes"}, "chats": {s.Sam.PN().String()}}, "no right": {"chats": {s.Sam.PN().String()}},
				"manage": {"rights": {"read send manage"}, "chats": {s.Sam.PN().String()}}, "yesterday": {"rights": {"read"}, "chats": {s.Sam.PN().String()}, "expires": {"2020-01-01"}},
			} {
				wrong.Set("decision", "allow")
				if got := owner.Answer(page, wrong); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.Body, `class="wrong"`) {
					t.Errorf("%s: %d", what, got.StatusCode)
				}
			}
			for what, bad := range map[string]string{
				"another address": link("redirect_uri", "https://evil.example/"), "an unknown client": link("client_id", "brc_NONE"), "no PKCE": link("code_challenge", ""),
				"another server": link("resource", "https://evil.example/mcp"),
			} {
				if got := owner.Do(http.MethodGet, bad, "same-origin", nil); got.StatusCode != http.StatusBadRequest || got.Header.Get("Location") != "" || strings.Contains(got.Body, `name="decision"`) {
					t.Errorf("%s: %d to %q", what, got.StatusCode, got.Header.Get("Location"))
				}
			}
			if back := owner.Do(http.MethodGet, link("response_type", "token"), "same-origin", nil); !strings.Contains(back.Body, `href="https://agent.example/callback?error=unsupported_response_type&amp;`) {
				t.Errorf("no way back:\n%s", back.Body)
			}
			if no := owner.Answer(page, url.Values{"decision": {"deny"}}); no.StatusCode != http.StatusSeeOther || !strings.HasPrefix(no.Header.Get("Location"), "https://agent.example/callback?error=access_denied&") {
				t.Errorf("denied: %d to %q", no.StatusCode, no.Header.Get("Location"))
			}
			for _, one := range Must(s.API.Tokens(Within(t)))(t) {
				if one.OAuthClient != nil {
					t.Errorf("granted: %+v", one)
				}
			}
			limited := NewOwnerOf(t, s.Token)
			if got := limited.Asked(link()); got.StatusCode != http.StatusForbidden || !strings.Contains(got.Body, "“Manage”") {
				t.Errorf("an owner without manage: %d", got.StatusCode)
			}
		})
	}
}

// A session goes on when the client renews its secret, and ends when the owner revokes the token. The
// console and the shell list it under the client's name.
func TestOAuth_ATokenLikeOthers(t *testing.T) {
	t.Parallel()
	s := newOAuthScene(t, "")
	id, link := s.link(t)
	owner := NewOwnerOf(t, s.Env["BRIDGE_TOKEN"])
	done := owner.Answer(owner.Asked(link()), url.Values{"decision": {"allow"}, "rights": {"read"}, "chats": {s.Sam.PN().String()}})
	back := Must(done.Location())(t)
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {id}, "code": {back.Query().Get("code")}, "code_verifier": {CodeVerifier}, "redirect_uri": {"https://agent.example/callback"}}
	status, first := s.exchange(t, form)
	if status != http.StatusOK || back.Query().Get("iss") != s.base || back.Query().Get("state") != "s" {
		t.Fatalf("%d %v, from %s", status, first, back)
	}
	secret := &bearer{token: first["access_token"].(string)}
	a := Must(Begin(t, &sdk.StreamableClientTransport{Endpoint: s.base + "/mcp", HTTPClient: &http.Client{Transport: secret}}, WithSessions, nil))(t)
	if tools := strings.Join(a.Tools(), " "); strings.Contains(tools, "send_text") || !strings.Contains(tools, "list_chats") {
		t.Errorf("the tools are %s", tools)
	}
	if text := a.Want("list_chats", nil, s.Sam.PN().String()); strings.Contains(text, "words of Kim") {
		t.Errorf("other chats are listed: %s", text)
	}
	status, second := s.exchange(t, url.Values{"grant_type": {"refresh_token"}, "client_id": {id}, "refresh_token": {first["refresh_token"].(string)}})
	if status != http.StatusOK {
		t.Fatalf("renewed: %d %v", status, second)
	}
	if _, err := client.New(s.base, secret.token).OwnToken(Within(t)); bridge.CodeOf(err) != bridge.CodeUnauthorized {
		t.Errorf("with the former secret: %v", err)
	}
	secret.token = second["access_token"].(string)
	a.Want("list_chats", nil, s.Sam.PN().String())
	s.Secrets = append(s.Secrets, first["access_token"].(string), first["refresh_token"].(string), second["access_token"].(string), second["refresh_token"].(string), back.Query().Get("code"))

	s.StaysAtItsAddress()
	s.Restart()
	Must(Begin(t, &sdk.StreamableClientTransport{Endpoint: s.base + "/mcp", HTTPClient: &http.Client{Transport: secret}}, WithoutSessions, nil))(t).Want("status", nil)
	token := granted(t, s.API)
	list := Bridged("token", "list")
	list.Env = []string{"BRIDGE_URL=" + s.base, "BRIDGE_TOKEN=" + s.Env["BRIDGE_TOKEN"]}
	if out := string(Must(list.CombinedOutput())(t)); !strings.Contains(out, "Claude (agent.example)") {
		t.Errorf("the shell lists\n%s", out)
	}
	listed := owner.Asked(s.base + "/console/tokens")
	if !strings.Contains(listed.Body, "Claude") || !strings.Contains(listed.Body, "agent.example") {
		t.Errorf("the console does not list the client:\n%s", listed.Body)
	}
	if got := owner.Do(http.MethodPost, s.base+"/console/tokens/"+jsonOf(t, token.ID), "same-origin", url.Values{"csrf": {listed.Field("csrf")}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("revoked in the console: %d", got.StatusCode)
	}
	resp := Must(http.DefaultClient.Do(Must(http.NewRequest(http.MethodPost, s.base+"/mcp", strings.NewReader("{}")))(t)))(t)
	defer resp.Body.Close()
	if want := `Bearer resource_metadata="` + s.base + `/.well-known/oauth-protected-resource/mcp"`; resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") != want {
		t.Errorf("without a token: %d %v", resp.StatusCode, resp.Header)
	}
	if status, answer := s.exchange(t, url.Values{"grant_type": {"refresh_token"}, "client_id": {id}, "refresh_token": {second["refresh_token"].(string)}}); status != http.StatusBadRequest || answer["error"] != "invalid_grant" {
		t.Errorf("a refresh token of a revoked token: %d %v", status, answer)
	}
}

// A browser follows the answer to the page's form to a program on the same machine: the page's policy
// permits this redirect and no other.
func TestOAuth_InABrowser(t *testing.T) {
	t.Parallel()
	s := newOAuthScene(t, "")
	arrived := make(chan url.Values, 1)
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			arrived <- r.URL.Query()
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!DOCTYPE html><title>done</title><link rel="icon" href="data:,"><p id="done">done`)
	}))
	defer program.Close()
	b := OpenBrowser(t, s.base)
	b.LogIn()
	b.Open(AccessLink(t, s.base, "Claude", program.URL+"/callback"))
	b.ClickOn("[name=all]")
	b.ClickOn("[value=allow]")
	select {
	case got := <-arrived:
		if got.Get("code") == "" || got.Get("iss") != s.base || got.Get("state") != "s" {
			t.Errorf("the program got %v", got)
		}
	case <-Within(t).Done():
		t.Fatal("the browser did not follow")
	}
	if token := granted(t, s.API); token.Chats != nil || token.ExpiresAt == nil || token.Name != "Claude" {
		t.Errorf("granted %+v", token)
	}
}

// bearer sends a token that may change.
type bearer struct{ token string }

func (b *bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(req)
}

func jsonOf(t *testing.T, v any) string { return string(Must(json.Marshal(v))(t)) }

// Without MCP_OAUTH there is none of it.
func TestOAuth_IsOffByDefault(t *testing.T) {
	t.Parallel()
	network, _ := NewOwner(t, simnet.PhoneOptions{})
	p := StartBridge(t, network, "MCP=read")
	for _, path := range []string{"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server", "/oauth/register", "/oauth/token"} {
		resp := Must(http.Post("http://"+p.Address+path, "application/json", strings.NewReader("{}")))(t)
		_ = Must(io.ReadAll(resp.Body))(t)
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
	owner := NewOwnerOf(t, p.Env["BRIDGE_TOKEN"])
	if page := owner.Asked("http://" + p.Address + "/console/authorize?client_id=x"); page.StatusCode != http.StatusNotFound {
		t.Errorf("the page: %d", page.StatusCode)
	}
}
