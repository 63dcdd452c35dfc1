// Package cloud is the door for clients of Meta's WhatsApp Cloud API whose address can be
// changed: Chatwoot, Typebot, the libraries for it. The digits of the account's number are
// both its phone number id and its business account id. It also has the form in which
// webhooks post to their receivers.
package cloud

import (
	"net/http"
	"regexp"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// Prefix begins the paths of the door.
const Prefix = "/cloud"

type door struct {
	*compat.Door
	options compat.Options
	uploads *uploads
}

// New returns the door. It keeps what is uploaded in a directory below o.DataDir.
func New(o compat.Options) (http.Handler, error) {
	uploads, err := openUploads(o)
	if err != nil {
		return nil, err
	}
	d := door{compat.NewDoor(o, peer{o.URLToken}), o, uploads}
	mux := http.NewServeMux() // chi would take the API's router, which calls reach, for a part of itself
	mux.HandleFunc("/", d.Refuse(noRoute))
	for _, r := range d.routes() {
		handle := r.handle
		if strings.Contains(r.pattern, "/{account}") {
			handle = ofAccount(handle)
		}
		mux.HandleFunc(r.pattern, d.Handle(r.scope, handle, r.file))
	}
	return withoutVersion(mux), nil
}

// The scopes that routes need.
const (
	toRead, toSend, toManage = bridge.ScopeRead, bridge.ScopeSend, bridge.ScopeManage
	toAll                    = bridge.Scope("")
)

// route binds a method and a path to what the door does there.
type route struct {
	pattern string
	scope   bridge.Scope // that a token needs for any call of it; empty for none
	handle  func(*compat.Call) (compat.Answer, error)
	file    string // member of the body that may hold one in base64; empty for none
}

// routes lists all, without the version of the API before them.
func (d door) routes() []route {
	return []route{
		{"POST /{account}/messages", toSend, d.send, ""},
		{"POST /{account}/media", toSend, d.upload, "file"},
		{"GET /{id}", toAll, d.show, ""},
		{"DELETE /{id}", toAll, d.remove, ""},
		{"GET /media/{id}/content", toAll, d.download, ""},

		{"GET /{account}/phone_numbers", toAll, listNumbers, ""},
		{"POST /{account}/register", toAll, register, ""},
		{"POST /{account}/deregister", toAll, deregister, ""},
		{"GET /{account}/whatsapp_business_profile", toAll, showProfile, ""},
		{"POST /{account}/whatsapp_business_profile", toAll, changeProfile, ""},
		{"GET /{account}/message_templates", toAll, listTemplates, ""},
		{"GET /debug_token", toAll, showToken, ""},

		{"GET /{account}/subscribed_apps", toManage, listSubscriptions, ""},
		{"POST /{account}/subscribed_apps", toManage, ofSubscriptions.Of(subscribe), ""},
		{"DELETE /{account}/subscribed_apps", toManage, unsubscribe, ""},
	}
}

var version = regexp.MustCompile(`^/v[0-9]+(\.[0-9]+)?(/+|$)`)

// withoutVersion ignores the version of the API that a path begins with.
func withoutVersion(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plain := *r
		address := *r.URL
		address.Path = version.ReplaceAllString(address.Path, "/")
		plain.URL = &address
		next.ServeHTTP(w, &plain)
	})
}

// peer is the Cloud API as its clients know it.
type peer struct{ urlToken bool }

// Key returns the bearer, or where that is permitted the parameter access_token.
func (p peer) Key(r *http.Request) string {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case strings.EqualFold(scheme, "bearer"):
		return strings.TrimSpace(key)
	case p.urlToken:
		return r.URL.Query().Get("access_token")
	}
	return ""
}

func noRoute(r *http.Request) error {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return bridge.Fail(noObject, "%s, and bridged does not do this: there is no %s %s behind its Cloud door",
		missing(r, id), bridge.Beginning(r.Method, 10), bridge.Beginning(r.URL.Path, 100))
}

// ofAccount returns a route of our account.
func ofAccount(handle func(*compat.Call) (compat.Answer, error)) func(*compat.Call) (compat.Answer, error) {
	return func(c *compat.Call) (compat.Answer, error) {
		if _, err := accountOf(c, c.PathValue("account")); err != nil {
			return compat.Answer{}, err
		}
		return handle(c)
	}
}

// accountOf returns the linked account, if its digits are an id.
func accountOf(c *compat.Call, id string) (*bridge.User, error) {
	own, err := c.API.OwnToken(c.Context())
	switch {
	case err != nil:
		return nil, err
	case own.Account == nil:
		return nil, bridge.NotConnected("no account is linked to the bridge: pair it first")
	case own.Account.JID.User() != id:
		return nil, missing(c.Request, id)
	}
	return own.Account, nil
}

var done = object{"success": true}
