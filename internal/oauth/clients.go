package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/store/settings"
)

// clientPrefix is the start of the ids of clients that registered themselves.
const clientPrefix = "brc_"

const (
	maxClientID   = 512
	maxClientName = 60 // characters that are shown
)

// limits bounds the clients that registered themselves. One network registers 10 a minute, so more than
// ten networks would have to fill the table together to lock others out, and only for as long.
var limits = settings.OAuthLimits{Most: 1000, Unused: 24 * time.Hour, Idle: 30 * 24 * time.Hour, Fresh: 10 * time.Minute}

// Client is a program that asks for access.
type Client struct {
	ID        string
	Name      string // as it calls itself; the host of its first redirect if it does not
	Host      string // of the document that describes it; empty if it registered itself
	Redirects []string
	Refreshes bool
}

// described has the used fields of a client's description of itself (RFC 7591, section 2).
type described struct {
	ClientID      string   `json:"client_id"`
	ClientSecret  string   `json:"client_secret"`
	ClientName    string   `json:"client_name"`
	RedirectURIs  []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
}

// client checks a description. It ignores the method by which a client wants to authenticate itself:
// none of them has a secret, and PKCE binds codes to them.
func (d described) client() (Client, error) {
	c := Client{Name: shownName(d.ClientName), Redirects: d.RedirectURIs, Refreshes: len(d.GrantTypes) == 0 || slices.Contains(d.GrantTypes, refreshGrant)}
	switch {
	case len(d.RedirectURIs) == 0 || len(d.RedirectURIs) > maxRedirects:
		return c, refuse("invalid_redirect_uri", "redirect_uris must name 1 to %d addresses", maxRedirects)
	case len(d.GrantTypes) > 0 && !slices.Contains(d.GrantTypes, codeGrant):
		return c, refuse("invalid_client_metadata", "grant_types must have %s", codeGrant)
	case len(d.ResponseTypes) > 0 && !slices.Contains(d.ResponseTypes, "code"):
		return c, refuse("invalid_client_metadata", "response_types must have code")
	}
	for _, redirect := range d.RedirectURIs {
		if err := checkRedirect(redirect); err != nil {
			return c, err
		}
	}
	if c.Name == "" {
		c.Name = hostOf(d.RedirectURIs[0])
	}
	return c, nil
}

// shownName returns a name without characters that cannot be seen or that change the direction of
// others.
func shownName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, name)
	return strings.TrimSpace(bridge.Beginning(strings.Join(strings.Fields(name), " "), maxClientName))
}

// register stores a client that describes itself (RFC 7591).
func (s *Server) register(w http.ResponseWriter, r *http.Request) error {
	if s.registrations.Exceeds(r, s.Now()) {
		return &Error{
			Status: http.StatusTooManyRequests, Code: "temporarily_unavailable", RetryAfter: time.Minute,
			Description: "too many clients have registered from this network; try again in a minute",
		}
	}
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	var wanted described
	if err := front.DecodeForeign(body, &wanted); err != nil {
		return refuse("invalid_client_metadata", "the body must be a JSON object that describes the client: %v", err)
	}
	c, err := wanted.client()
	if err != nil {
		return err
	}
	c.ID = clientPrefix + rand.Text()
	err = s.Store.AddOAuthClient(r.Context(), bridge.OAuthClient{ID: c.ID, Name: c.Name, Redirects: c.Redirects, Refreshes: c.Refreshes}, limits)
	if full, ok := errors.AsType[*bridge.Error](err); ok && full.Code == bridge.CodeRateLimited {
		return &Error{Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", Description: full.Msg, RetryAfter: full.RetryAfter}
	}
	if err != nil {
		return err
	}
	grants := []string{codeGrant}
	if c.Refreshes {
		grants = append(grants, refreshGrant)
	}
	answer(w, http.StatusCreated, struct {
		ClientID      string   `json:"client_id"`
		IssuedAt      int64    `json:"client_id_issued_at"`
		ClientName    string   `json:"client_name"`
		RedirectURIs  []string `json:"redirect_uris"`
		GrantTypes    []string `json:"grant_types"`
		ResponseTypes []string `json:"response_types"`
		Method        string   `json:"token_endpoint_auth_method"`
		Scope         string   `json:"scope"`
	}{c.ID, s.Now().Unix(), c.Name, c.Redirects, grants, []string{"code"}, "none", strings.Join(s.scopeNames(), " ")})
	return nil
}

// client returns the client with an id.
func (s *Server) client(ctx context.Context, id string) (Client, error) {
	if isDocument(id) {
		return s.describedBy(ctx, id)
	}
	known, err := s.Store.OAuthClient(ctx, id)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return Client{}, refuse("invalid_client", "this bridge does not know the program, or has forgotten it because it was not used: remove the bridge from the program, and add it again")
	}
	return Client{ID: known.ID, Name: known.Name, Redirects: known.Redirects, Refreshes: known.Refreshes}, err
}
