// Package compattest calls the routes of an adapter with every kind of token.
package compattest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/media"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
	"bridged/internal/urlguard"
	"bridged/internal/webhook"
	"bridged/internal/webhook/format"
)

// Club is a group that is stored, with the message "G1" of Grace.
const (
	Club  = bridge.JID("120363025246125486@g.us")
	Grace = bridge.JID("15550100301@s.whatsapp.net")
)

// Operator is the token of the operator.
const Operator = "the-operators-own"

// Picture is a PNG of one pixel, in base64.
const Picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// unpaired is an account that is not paired. It refuses everything that needs the network.
type unpaired struct{ api.Account }

var errNotOpen = bridge.NotConnected("not paired")

func (unpaired) Status() bridge.Status {
	return bridge.Status{Status: bridge.StateNeedsPair, QR: new("2@code")}
}
func (unpaired) WakePairing()                         {}
func (unpaired) Ready() error                         { return errNotOpen }
func (unpaired) Reconnect(context.Context) error      { return nil }
func (unpaired) Logout(context.Context) (bool, error) { return true, nil }

func (unpaired) Pair(context.Context, string) (bridge.PairingCode, error) {
	return bridge.PairingCode{Code: "ABCD-EFGH"}, nil
}

func (unpaired) CheckNumbers(context.Context, []string) ([]bridge.NumberCheck, error) {
	return nil, errNotOpen
}

func (unpaired) Profile(context.Context, bridge.JID) (bridge.Profile, error) {
	return bridge.Profile{}, errNotOpen
}

func (unpaired) Privacy(context.Context) (bridge.Privacy, error) {
	return bridge.Privacy{}, errNotOpen
}

func (unpaired) LiveGroup(context.Context, bridge.JID) (*bridge.Group, error) { return nil, errNotOpen }

// Own is the account of a linked scene.
const Own = bridge.JID("15550001111@s.whatsapp.net")

// linked is an account that is linked and not connected.
type linked struct{ unpaired }

func (linked) Status() bridge.Status {
	return bridge.Status{Status: bridge.StateClosed, HasSession: true, User: &bridge.User{JID: Own, Phone: Own.User(), PushName: "Ada"}}
}

// Try is a request with the minimum that a route needs.
type Try struct {
	Route, Query, Body string // pattern of the route
	Path               string // replaces a path with wildcards
	Type               string // the Content-Type of the body; empty if none
	Scope, Also        bridge.Scope
	Whole              bool // only a token for all chats may call it
}

func (r Try) permits(token bridge.Token) bool {
	return r.Scope == "" || token.Allows(r.Scope) && (r.Also == "" || token.Allows(r.Also)) && (!r.Whole || token.Chats == nil)
}

// Scene is an adapter of a real API with a real store, whose account is not connected.
type Scene struct {
	Options compat.Options
	Files   string // the directory of the files that come in bodies
	t       *testing.T
	open    func(compat.Options) http.Handler
	adapter http.Handler
	store   *store.Store
	router  *api.Handler
	key     string // the header with the token
}

// AnyToken returns a token with every scope for any secret.
func AnyToken(context.Context, string) (bridge.Token, bool) {
	return bridge.Token{Scopes: bridge.Scopes()}, true
}

// NewScene opens an adapter of an account that is not paired, whose callers have their token in
// a header.
func NewScene(t *testing.T, open func(compat.Options) http.Handler, key string, formats map[bridge.WebhookFormat]format.Format) Scene {
	return newScene(t, unpaired{}, open, key, formats)
}

// NewLinkedScene opens an adapter of an account that is linked.
func NewLinkedScene(t *testing.T, open func(compat.Options) http.Handler, key string, formats map[bridge.WebhookFormat]format.Format) Scene {
	return newScene(t, linked{}, open, key, formats)
}

func newScene(t *testing.T, account api.Account, open func(compat.Options) http.Handler, key string, formats map[bridge.WebhookFormat]format.Format) Scene {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Path: storetest.NewFile(t), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	files := media.NewPreparer(media.PreparerOptions{TempDir: dir, MaxBytes: 1 << 20, Log: zerolog.Nop()})
	hooks := webhook.New(webhook.Options{Store: s, Guard: urlguard.New(urlguard.Options{}), Formats: formats, Log: zerolog.Nop()})
	router := api.New(api.Options{Store: s, Account: account, Token: Operator, EnableSend: true, Preparer: files, Webhooks: hooks, Log: zerolog.Nop()})
	options := compat.Options{
		Client: client.InProcess(router, ""), Token: router.Token, UntilRevoked: router.UntilRevoked, Instance: "bridged", DataDir: t.TempDir(), Log: zerolog.Nop(),
		Receive: func(ctx context.Context, from io.Reader, announced, tree int64, cancel func()) (compat.File, error) {
			file, err := files.Receive(ctx, media.Incoming{From: from, Declared: announced, Tree: tree, Cancel: cancel})
			if err != nil {
				return nil, err
			}
			return file, nil
		},
	}
	scene := Scene{Options: options, Files: dir, t: t, open: open, adapter: open(options), store: s, router: router, key: key}
	scene.Save(bridge.Group{JID: Club, Name: "Readers", Participants: []bridge.Participant{{JID: Grace}}})
	scene.Save(bridge.Message{Chat: Club, ID: "G1", SenderJID: Grace, PushName: "Grace", MessageType: "conversation", Content: "to all", Raw: []byte{0x0a, 0x01, 'x'}})
	return scene
}

// Save stores an update.
func (s Scene) Save(fact bridge.Fact) {
	s.t.Helper()
	if err := s.store.Save(s.t.Context(), fact); err != nil {
		s.t.Fatal(err)
	}
}

// Reopen opens the adapter again, as after a restart.
func (s *Scene) Reopen() { s.adapter = s.open(s.Options) }

// Token creates a token.
func (s Scene) Token(chats []bridge.JID, scopes ...bridge.Scope) client.MadeToken {
	s.t.Helper()
	token, err := client.InProcess(s.router, Operator).CreateToken(s.t.Context(), client.NewToken{Name: "x", Scopes: scopes, Chats: chats})
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// Child creates a token with another one, which must have the scope manage.
func (s Scene) Child(parent client.MadeToken, scopes ...bridge.Scope) client.MadeToken {
	s.t.Helper()
	token, err := client.InProcess(s.router, parent.Secret).CreateToken(s.t.Context(), client.NewToken{Name: "x", Scopes: scopes})
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// Revoke revokes a token.
func (s Scene) Revoke(token client.MadeToken) {
	s.t.Helper()
	if err := client.InProcess(s.router, Operator).RevokeToken(s.t.Context(), token.ID); err != nil {
		s.t.Fatal(err)
	}
}

// Ask sends a request.
func (s Scene) Ask(r Try, token string) *httptest.ResponseRecorder {
	s.t.Helper()
	method, path, _ := strings.Cut(r.Route, " ")
	if r.Path != "" {
		path = r.Path
	}
	req := httptest.NewRequest(method, path+r.Query, strings.NewReader(r.Body))
	if s.key == "Authorization" && token != "" {
		token = "Bearer " + token
	}
	req.Header.Set(s.key, token)
	if r.Type != "" {
		req.Header.Set("Content-Type", r.Type)
	}
	w := httptest.NewRecorder()
	s.adapter.ServeHTTP(w, req)
	return w
}

// EveryScope sends each request with tokens of every set of scopes, for all chats and for one, and without a
// token. A route without a request fails the test.
func (s Scene) EveryScope(routes []string, tries []Try) {
	t := s.t
	t.Helper()
	for _, route := range routes {
		if !slices.ContainsFunc(tries, func(r Try) bool { return r.Route == route }) {
			t.Errorf("no request for %s: add one with the tokens that may call it", route)
		}
	}
	for subset := 1; subset < 1<<len(bridge.Scopes()); subset++ {
		for _, chats := range [][]bridge.JID{nil, {Club}} {
			var scopes []bridge.Scope
			for i, scope := range bridge.Scopes() {
				if subset&(1<<i) != 0 {
					scopes = append(scopes, scope)
				}
			}
			token := s.Token(chats, scopes...)
			for _, r := range tries {
				got := s.Ask(r, token.Secret)
				refused := got.Code == http.StatusForbidden
				if refused == r.permits(token.Token) || got.Code == http.StatusUnauthorized || got.Code >= 500 && got.Code != http.StatusServiceUnavailable {
					t.Errorf("%s%s %s with %v and chats %v: %d %s", r.Route, r.Query, r.Body, scopes, chats, got.Code, got.Body)
				}
			}
		}
	}
	for _, r := range tries {
		if got := s.Ask(r, "no-token"); got.Code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d %s", r.Route, got.Code, got.Body)
		}
	}
}
