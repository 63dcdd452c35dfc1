package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// The grants that the token endpoint takes.
const (
	codeGrant    = "authorization_code"
	refreshGrant = "refresh_token"
)

// refreshPrefix is the start of refresh tokens. A part that stays and one that changes follow, with a
// dot between them.
const refreshPrefix = "brr_"

// issued is the answer of the token endpoint (RFC 6749, section 5.1).
type issued struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int    `json:"expires_in"`
	RefreshToken string `json:"refresh_token,omitempty"`
	Scope        string `json:"scope"`
}

// token exchanges a code or a refresh token for secrets.
func (s *Server) token(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	exchange := map[string]func(context.Context, url.Values) (issued, error){codeGrant: s.redeem, refreshGrant: s.refresh}[form.Get("grant_type")]
	switch {
	case form.Get("grant_type") == "":
		return refuse("invalid_request", "grant_type is required: %s or %s", codeGrant, refreshGrant)
	case exchange == nil:
		return refuse("unsupported_grant_type", "grant_type must be %s or %s", codeGrant, refreshGrant)
	case form.Get("client_id") == "":
		return errNoClient
	}
	s.exchanges.Lock()
	defer s.exchanges.Unlock()
	secrets, err := exchange(r.Context(), form)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, secrets)
	return nil
}

var (
	errNoClient = &Error{Status: http.StatusUnauthorized, Code: "invalid_client", Description: "client_id is required"}
	errNoCode   = refuse("invalid_grant", "the code is unknown, was used or has ended: send the person to the bridge again")
	errNoGrant  = refuse("invalid_grant", "the refresh token is unknown, was used or has been revoked: send the person to the bridge again")
)

// redeem exchanges a code. A wrong attempt also ends the code. A second use ends the access of the first,
// because the code was stolen.
func (s *Server) redeem(ctx context.Context, form url.Values) (issued, error) {
	if form.Get("code") == "" || form.Get("code_verifier") == "" {
		return issued{}, refuse("invalid_request", "code and code_verifier are required")
	}
	grant, err := s.Store.OAuthGrantByCode(ctx, hashOf(form.Get("code")))
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return issued{}, s.unknown(ctx, form, errNoCode)
	}
	if err != nil {
		return issued{}, err
	}
	if refused := s.checkCode(grant, form); refused != nil {
		if grant.RedeemedAt != nil {
			s.Log.Warn().Int64("token", grant.Token).Msg("an oauth code was used twice: the access is revoked")
		}
		return issued{}, s.endFor(ctx, grant, refused)
	}
	return s.issue(ctx, grant, rand.Text())
}

// checkCode refuses a code that is not the client's, or not for this exchange.
func (s *Server) checkCode(grant bridge.OAuthGrant, form url.Values) *Error {
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	_, wrongTarget := resourceOf(form["resource"], grant.Resource)
	switch {
	case grant.RedeemedAt != nil, !s.Now().Before(grant.CodeEnds.Time), grant.Client != form.Get("client_id"):
		return errNoCode
	// OAuth 2.1 no longer has redirect_uri here, because of PKCE; clients of OAuth 2.0 send it.
	case form.Has("redirect_uri") && form.Get("redirect_uri") != grant.Redirect:
		return refuse("invalid_grant", "redirect_uri is not the one that the code was sent to")
	case base64.RawURLEncoding.EncodeToString(sum[:]) != grant.Challenge:
		return refuse("invalid_grant", "code_verifier does not fit the code_challenge")
	}
	return wrongTarget
}

// refresh exchanges a refresh token. A second use ends the access, because the token was stolen.
func (s *Server) refresh(ctx context.Context, form url.Values) (issued, error) {
	id, secret, _ := strings.Cut(strings.TrimPrefix(form.Get("refresh_token"), refreshPrefix), ".")
	if id == "" {
		return issued{}, refuse("invalid_request", "refresh_token is required")
	}
	grant, err := s.Store.OAuthGrantByRefresh(ctx, hashOf(id))
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return issued{}, s.unknown(ctx, form, errNoGrant)
	}
	if err != nil {
		return issued{}, err
	}
	if subtle.ConstantTimeCompare(hashOf(secret), grant.RefreshHash) != 1 {
		s.Log.Warn().Int64("token", grant.Token).Msg("an oauth refresh token was used twice: the access is revoked")
		return issued{}, s.endFor(ctx, grant, errNoGrant)
	}
	if grant.Client != form.Get("client_id") {
		return issued{}, errNoGrant
	}
	if _, refused := resourceOf(form["resource"], grant.Resource); refused != nil {
		return issued{}, refused
	}
	if err := s.checkScope(ctx, grant, form.Get("scope")); err != nil {
		return issued{}, err
	}
	return s.issue(ctx, grant, id)
}

// checkScope refuses scopes that a grant does not have. Scopes that the bridge does not know change
// nothing, and neither do fewer scopes: the client gets all granted ones.
func (s *Server) checkScope(ctx context.Context, grant bridge.OAuthGrant, scope string) error {
	if scope == "" {
		return nil
	}
	token, err := s.Tokens.ByID(ctx, grant.Token)
	if err != nil || token == nil {
		return err // issue refuses a token that has ended
	}
	for name := range strings.FieldsSeq(scope) {
		if one := bridge.Scope(name); slices.Contains(bridge.Scopes(), one) && !token.Allows(one) {
			return refuse("invalid_scope", "the owner of the bridge did not grant the scope %s", one)
		}
	}
	return nil
}

// unknown returns the refusal of an unknown code or refresh token: the client registers itself again if
// the bridge has forgotten it.
func (s *Server) unknown(ctx context.Context, form url.Values, refused *Error) error {
	id := form.Get("client_id")
	if isDocument(id) {
		return refused
	}
	_, err := s.Store.OAuthClient(ctx, id)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return &Error{Status: http.StatusUnauthorized, Code: "invalid_client", Description: "the bridge does not know this client: register it again"}
	}
	if err != nil {
		return err
	}
	return refused
}

// endFor ends a grant, and returns why.
func (s *Server) endFor(ctx context.Context, grant bridge.OAuthGrant, why *Error) error {
	if err := s.end(ctx, grant.Token); err != nil {
		return err
	}
	return why
}

// issue renews the secrets of a grant. id is the part of the refresh token that stays.
func (s *Server) issue(ctx context.Context, grant bridge.OAuthGrant, id string) (issued, error) {
	secret, refresh := bridge.TokenPrefix+rand.Text(), rand.Text()
	hash, now := sha256.Sum256([]byte(secret)), s.Now()
	secrets := bridge.OAuthSecrets{Access: hash[:]}
	if grant.Refreshes {
		secrets.RefreshID, secrets.RefreshHash = hashOf(id), hashOf(refresh)
	}
	token, err := s.Tokens.Renew(ctx, grant.Token, hash, bridge.At(now.Add(secretLife)), func(ends bridge.Time) error {
		secrets.AccessEnds = ends
		return s.Store.RenewOAuthGrant(ctx, grant.Token, secrets)
	})
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return issued{}, errNoGrant
	}
	if err != nil {
		return issued{}, err
	}
	made := issued{AccessToken: secret, TokenType: "Bearer", ExpiresIn: int(secrets.AccessEnds.Sub(now).Round(time.Second).Seconds()), Scope: bridge.Join(token.Scopes, " ")}
	if grant.Refreshes {
		made.RefreshToken = refreshPrefix + id + "." + refresh
	}
	return made, nil
}

// revoke ends the access of a client that gives it up (RFC 7009): the token with all its secrets. It
// takes no other tokens, and answers unknown ones in the same way.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	switch {
	case err != nil:
		return err
	case form.Get("token") == "":
		return refuse("invalid_request", "token is required")
	case form.Get("client_id") == "":
		return errNoClient
	}
	s.exchanges.Lock()
	defer s.exchanges.Unlock()
	grant, err := s.grantOf(r.Context(), form.Get("token"))
	if err == nil && grant.Client == form.Get("client_id") {
		err = s.end(r.Context(), grant.Token)
	}
	if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
		return err
	}
	answer(w, http.StatusOK, struct{}{})
	return nil
}

// grantOf returns the grant of a secret or a refresh token.
func (s *Server) grantOf(ctx context.Context, token string) (bridge.OAuthGrant, error) {
	if refresh, ok := strings.CutPrefix(token, refreshPrefix); ok {
		id, _, _ := strings.Cut(refresh, ".")
		return s.Store.OAuthGrantByRefresh(ctx, hashOf(id))
	}
	return s.Store.OAuthGrantByAccess(ctx, hashOf(token))
}
