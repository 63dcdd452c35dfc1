package agent

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	. "bridged/internal/e2e/harness"
)

// Callback receives the answers to tests' clients. No program listens there: the owner's
// browser stops before.
const Callback = "http://127.0.0.1:49152/callback"

// Owner is a person with a browser who is asked for consent.
type Owner struct {
	T       testing.TB
	Token   string // to log in with
	browser *http.Client
}

// NewOwnerOf returns an owner who has not logged in.
func NewOwnerOf(t testing.TB, token string) *Owner {
	return &Owner{t, token, &http.Client{
		Jar: Must(cookiejar.New(nil))(t), Timeout: TestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Page is a page that the owner sees.
type Page struct {
	*http.Response
	Body string
}

// Field returns the value of a hidden field.
func (p Page) Field(name string) string {
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(p.Body)
	if found == nil {
		return ""
	}
	return html.UnescapeString(found[1])
}

// Do makes a request as a browser does, from a page of a site: same-origin, cross-site.
func (o *Owner) Do(method, address, site string, form url.Values) Page {
	o.T.Helper()
	req := Must(http.NewRequestWithContext(Within(o.T), method, address, strings.NewReader(form.Encode())))(o.T)
	req.Header.Set("Sec-Fetch-Site", site)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if site == "cross-site" { // the session's cookie is for requests of the console's own pages (SameSite)
		jar := o.browser.Jar
		o.browser.Jar = nil
		defer func() { o.browser.Jar = jar }()
	}
	resp := Must(o.browser.Do(req))(o.T)
	defer resp.Body.Close()
	return Page{resp, string(Must(io.ReadAll(resp.Body))(o.T))}
}

// Asked follows a client's link to the page for consent, and logs in if the owner has not.
func (o *Owner) Asked(link string) Page {
	o.T.Helper()
	// A link on another site comes without the cookie; the page then reloads itself.
	if again := o.Do(http.MethodGet, link, "cross-site", nil); !strings.Contains(again.Body, `http-equiv="refresh"`) {
		o.T.Fatalf("a link from another site: %d %s", again.StatusCode, again.Body)
	}
	page := o.Do(http.MethodGet, link, "same-origin", nil)
	if page.StatusCode != http.StatusSeeOther {
		return page
	}
	at := Must(page.Location())(o.T).String()
	form := o.Do(http.MethodGet, at, "same-origin", nil)
	in := o.Do(http.MethodPost, strings.SplitN(at, "?", 2)[0], "same-origin", url.Values{"csrf": {form.Field("csrf")}, "next": {form.Field("next")}, "token": {o.Token}})
	if in.StatusCode != http.StatusSeeOther {
		o.T.Fatalf("logged in: %d %s", in.StatusCode, in.Body)
	}
	return o.Do(http.MethodGet, Must(in.Location())(o.T).String(), "same-origin", nil)
}

// Answer submits the form of the page for consent with an answer.
func (o *Owner) Answer(page Page, answer url.Values) Page {
	o.T.Helper()
	form := url.Values{"csrf": {page.Field("csrf")}, "request": {page.Field("request")}}
	maps.Copy(form, answer)
	at := *page.Request.URL
	at.RawQuery = ""
	return o.Do(http.MethodPost, at.String(), "same-origin", form)
}

// Handler returns the official SDK's OAuth client, without any registration, whose user is the owner
// and answers as given. It stores the address that the owner was sent back to in back.
func (o *Owner) Handler(answer url.Values, back *url.URL) auth.OAuthHandler {
	return Must(auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: Callback,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Clerk", RedirectURIs: []string{"http://127.0.0.1:1/callback", Callback}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			done := o.Answer(o.Asked(args.URL), answer)
			at, err := done.Location()
			if err != nil {
				return nil, errors.New(done.Body)
			}
			*back = *at
			return &auth.AuthorizationResult{Code: at.Query().Get("code"), State: at.Query().Get("state"), Iss: at.Query().Get("iss")}, nil
		},
	}))(o.T)
}

// CodeVerifier is the secret of PKCE of the requests that [AccessLink] makes.
const CodeVerifier = "a-verifier-of-the-tests-that-is-long-enough-0123456789"

// AccessLink registers a client with a bridge and returns its link to the page for consent, without the
// bridge's address.
func AccessLink(t testing.TB, address, name, redirect string) string {
	t.Helper()
	made := Must(oauthex.RegisterClient(Within(t), address+"/oauth/register", &oauthex.ClientRegistrationMetadata{ClientName: name, RedirectURIs: []string{redirect}}, nil))(t)
	sum := sha256.Sum256([]byte(CodeVerifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {made.ClientID}, "redirect_uri": {redirect}, "state": {"s"}, "resource": {address + "/mcp"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	return "/console/authorize?" + q.Encode()
}
