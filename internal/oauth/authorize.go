package oauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Request is a client's valid request for access (RFC 6749, section 4.1.1).
type Request struct {
	Client Client
	Host   string         // receives the answer; see [bridge.OAuthGrant]
	Scopes []bridge.Scope // the client asks for them and can get them

	redirect, state, challenge, resource, issuer string
}

// Refusal is an error of a request whose client and redirect are known. Return is the address that sends
// the person back with the error. The page shows it as a link: anyone can register a client, and a
// redirect would lead from this bridge to any site (RFC 9700, section 4.11.2).
type Refusal struct {
	Why    *Error
	Return string
	Client Client
	Host   string // see [Request]
}

// Error returns the sentence for people.
func (r *Refusal) Error() string { return r.Why.Description }

// challengeForm matches the SHA-256 of a verifier (RFC 7636, section 4.2).
var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// Check returns the request that a client has sent in the address of the page for consent. host is the
// host of that page. It fails with an [*Error] if no answer may be sent to the client, and otherwise
// with a [*Refusal].
func (s *Server) Check(ctx context.Context, host string, query url.Values) (Request, error) {
	req, err := s.identify(ctx, query)
	if err != nil {
		return req, err
	}
	req.issuer, req.state, req.challenge = s.address(host), query.Get("state"), query.Get("code_challenge")
	refused := s.checkRequest(query)
	if refused == nil {
		req.resource, refused = resourceOf(query["resource"], s.resource(host))
	}
	if refused != nil {
		return req, &Refusal{refused, req.answered(url.Values{"error": {refused.Code}, "error_description": {refused.Description}}), req.Client, req.Host}
	}
	req.Scopes = s.asked(query.Get("scope"))
	return req, nil
}

// identify returns a request with its client and the address for the answer.
func (s *Server) identify(ctx context.Context, query url.Values) (req Request, err error) {
	id, redirect := query.Get("client_id"), query.Get("redirect_uri")
	if err := checkOnce(query); err != nil {
		return req, err
	}
	if id == "" || len(id) > maxClientID {
		return req, refuse("invalid_client", "the program did not say who it is (client_id)")
	}
	if req.Client, err = s.client(ctx, id); err != nil {
		return req, err
	}
	if redirect == "" && len(req.Client.Redirects) == 1 {
		redirect = req.Client.Redirects[0]
	}
	if !isRegistered(redirect, req.Client.Redirects) {
		return req, refuse("invalid_request", "the program wants the answer at an address that it has not registered (redirect_uri)")
	}
	req.redirect, req.Host = redirect, hostOf(redirect)
	return req, nil
}

// checkRequest refuses requests for anything but a code with PKCE.
func (s *Server) checkRequest(query url.Values) *Error {
	switch {
	case query.Get("request") != "":
		return refuse("request_not_supported", "parameters must be in the address, not in a request object")
	case query.Get("request_uri") != "":
		return refuse("request_uri_not_supported", "parameters must be in the address, not in a document")
	case query.Get("response_type") != "code":
		return refuse("unsupported_response_type", "response_type must be code")
	case query.Get("response_mode") != "" && query.Get("response_mode") != "query":
		return refuse("invalid_request", "response_mode must be query")
	case query.Get("code_challenge_method") != "S256":
		return refuse("invalid_request", "PKCE is required: code_challenge_method must be S256")
	case !challengeForm.MatchString(query.Get("code_challenge")):
		return refuse("invalid_request", "PKCE is required: code_challenge must be the SHA-256 of the verifier in base64url, 43 characters")
	}
	return nil
}

// resourceOf returns the resource of a request. It refuses any resource but ours; clients of older versions
// of the protocol name none.
func resourceOf(given []string, resource string) (string, *Error) {
	for _, one := range given {
		if !isResource(one, resource) {
			return "", refuse("invalid_target", "resource must be %s", resource)
		}
	}
	return resource, nil
}

// asked returns the requested scopes that a client can get. It ignores unknown scopes, because clients
// of many servers request them, and returns all scopes if none is left.
func (s *Server) asked(scope string) []bridge.Scope {
	names := strings.Fields(scope)
	asked := slices.DeleteFunc(s.scopes(), func(one bridge.Scope) bool { return !slices.Contains(names, string(one)) })
	if len(asked) == 0 {
		return s.scopes()
	}
	return asked
}

// answered returns the address that sends the person back to the client with an answer. It names the
// issuer, so that a client of several servers knows which one has answered (RFC 9207).
func (req Request) answered(parameters url.Values) string {
	if req.state != "" {
		parameters.Set("state", req.state)
	}
	parameters.Set("iss", req.issuer)
	return withParameters(req.redirect, parameters)
}

// Denied returns the address that reports the owner's refusal to the client.
func (req Request) Denied() string {
	return req.answered(url.Values{"error": {"access_denied"}, "error_description": {"the owner of the bridge has refused"}})
}

// FormTarget returns the source of a Content-Security-Policy that lets the page's form be answered
// with a redirect to the client.
func (req Request) FormTarget() string { return formTarget(req.redirect) }

// IsApp reports whether the answer is sent to an app by its private scheme.
func (req Request) IsApp() bool { return strings.HasSuffix(req.Host, ":") }

// IsLocal reports whether the answer is sent to a program on the machine of the browser.
func (req Request) IsLocal() bool { return req.Host == "localhost" }

// Allow creates the token that the owner grants, as the API creates it for them, and returns the
// address that sends the person back to the client with a code. Errors are the API's.
func (s *Server) Allow(ctx context.Context, api *client.Client, req Request, wanted client.NewToken) (string, error) {
	for _, scope := range wanted.Scopes {
		if !slices.Contains(req.Scopes, scope) {
			return "", bridge.Fail(bridge.CodeForbidden, "the program did not ask for the scope %s", scope)
		}
	}
	made, err := api.CreateToken(ctx, wanted) // its first secret is dropped
	if err != nil {
		return "", err
	}
	code := rand.Text()
	err = s.Store.AddOAuthGrant(ctx, bridge.OAuthGrant{
		Token: made.ID, Client: req.Client.ID, Host: cmp.Or(req.Client.Host, req.Host), Redirect: req.redirect, Resource: req.resource,
		Challenge: req.challenge, Refreshes: req.Client.Refreshes, CodeHash: hashOf(code), CodeEnds: bridge.At(s.Now().Add(codeLife)),
	})
	if err != nil {
		return "", errors.Join(err, s.end(ctx, made.ID))
	}
	s.Log.Info().Int64("token", made.ID).Str("client", bridge.Redact(req.Host)).Msg("access granted over oauth")
	return req.answered(url.Values{"code": {code}}), nil
}
