// Package cloud answers clients of Meta's WhatsApp Cloud API whose address can be set, such as Chatwoot,
// Typebot and libraries. The digits of the account's number are its phone number id and its business
// account id. The package also has the format of the Cloud API's webhooks.
package cloud

import (
	"net/http"
	"regexp"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// Prefix is the beginning of the adapter's paths.
const Prefix = "/cloud"

type adapter struct {
	*compat.Adapter
	options compat.Options
	uploads *uploads
}

// New returns the adapter. It stores uploaded files in a directory under o.DataDir.
func New(o compat.Options) (http.Handler, error) {
	uploads, err := openUploads(o)
	if err != nil {
		return nil, err
	}
	a := adapter{compat.NewAdapter(o, upstream{o.URLToken}, subscriptionFields), o, uploads}
	mux := http.NewServeMux() // chi would mistake the API's router, which calls reach, for a part of itself
	mux.HandleFunc("/", a.Refuse(noRoute))
	for _, r := range a.routes() {
		mux.HandleFunc(r.Pattern, a.Handler(compat.Route(r)))
	}
	return withoutVersion(mux), nil
}

// The columns of the table of routes: required scopes and the status.
const (
	toRead, toSend, toManage = bridge.ScopeRead, bridge.ScopeSend, bridge.ScopeManage
	toAll                    = bridge.Scope("")

	statusOK = http.StatusOK
)

// route is a row of the table.
type route compat.Route

// routes returns all routes. Paths may have the API's version before them.
func (a adapter) routes() []route {
	return []route{
		{"POST /{account}/messages", toSend, statusOK, compat.Reading(a.send), ""},
		{"POST /{account}/media", toSend, statusOK, a.upload, "file"},
		{"GET /{id}", toAll, statusOK, a.show, ""},
		{"DELETE /{id}", toAll, statusOK, a.remove, ""},
		{"GET /media/{id}/content", toAll, statusOK, a.download, ""},

		{"GET /{account}/phone_numbers", toAll, statusOK, listNumbers, ""},
		{"POST /{account}/register", toAll, statusOK, register, ""},
		{"POST /{account}/deregister", toAll, statusOK, deregister, ""},
		{"GET /{account}/whatsapp_business_profile", toAll, statusOK, showProfile, ""},
		{"POST /{account}/whatsapp_business_profile", toAll, statusOK, changeProfile, ""},
		{"GET /{account}/message_templates", toAll, statusOK, listTemplates, ""},
		{"GET /debug_token", toAll, statusOK, showToken, ""},

		{"GET /{account}/subscribed_apps", toManage, statusOK, listSubscriptions, ""},
		{"POST /{account}/subscribed_apps", toManage, statusOK, subscribe, ""},
		{"DELETE /{account}/subscribed_apps", toManage, statusOK, unsubscribe, ""},
	}
}

var version = regexp.MustCompile(`^/v[0-9]+(\.[0-9]+)?(/+|$)`)

// withoutVersion removes the API's version from paths.
func withoutVersion(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plain := *r
		address := *r.URL
		address.Path = version.ReplaceAllString(address.Path, "/")
		plain.URL = &address
		next.ServeHTTP(w, &plain)
	})
}

// upstream has the conventions of the Cloud API.
type upstream struct{ urlToken bool }

// Key returns the bearer token, or the parameter access_token if that is allowed.
func (p upstream) Key(r *http.Request) string {
	key, ok := bridge.Bearer(r.Header.Get("Authorization"))
	if !ok && p.urlToken {
		return r.URL.Query().Get("access_token")
	}
	return key
}

// Check refuses an account other than ours in the path.
func (upstream) Check(c *compat.Call) error {
	id := c.PathValue("account")
	if id == "" {
		return nil
	}
	_, err := accountOf(c, id)
	return err
}

func noRoute(r *http.Request) error {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return bridge.Fail(noObject, "%s, and bridged does not do this: its Cloud API has no %s %s",
		missing(r, id), bridge.Beginning(r.Method, 10), bridge.Beginning(r.URL.Path, 100))
}

// accountOf returns the linked account if its digits are the id.
func accountOf(c *compat.Call, id string) (*bridge.User, error) {
	account, err := c.Account()
	switch {
	case err != nil:
		return nil, err
	case account == nil:
		return nil, bridge.NotConnected("no account is linked to the bridge: pair it first")
	case account.JID.User() != id:
		return nil, missing(c.Request, id)
	}
	return account, nil
}

var done = object{"success": true}
