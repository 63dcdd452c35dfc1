// Package console is the web console: pages for the person who sets a bridge
// up, and for the one who asks whether a message arrived.
//
// It is a client of the API. Pages are built from answers of the router in the same
// process, with the token that the visitor has logged in with. Every page can be read
// without its script, which makes it live and quicker to use.
//
// [New] returns the handler of everything below the paths that [Serves] names.
package console

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"bridged/internal/api/front"
	"bridged/internal/client"
	"bridged/internal/intake"
)

// Options configures [New].
type Options struct {
	API         http.Handler // the router that the pages are built from
	Token       string       // the bearer of those who log in with a link
	EnableSend  bool         // whether forms that send are shown
	Transcribes bool         // whether a service transcribes voice notes
	MaxFile     int64        // of a file that is sent, in bytes
	PhoneNumber string       // the only account that may pair, in E.164 digits; empty for any
	PublicURLs  []*url.URL   // the addresses at which a reverse proxy shows the console
	BasePath    string       // begins the paths at which browsers reach the console; empty for the root
	Settings    []Setting    // for the settings page, without secrets
	// Family returns the family of a token, whose share it takes; see [bridge.Token].
	Family  func(ctx context.Context, secret string) (family int64, known bool)
	Streams context.Context // ends streams of events
	Log     zerolog.Logger
	Now     func() time.Time // nil is the real clock
}

// Setting is one variable of the configuration as it is in force.
type Setting struct {
	Name, Value string
	IsDefault   bool
}

// Console serves the pages. It is safe for concurrent use.
type Console struct {
	options  Options
	api      *client.Client
	sessions *sessions
	bodies   *intake.Bodies // not those of the API, which the calls of a form use
	tries    *throttle
	views    views
	handler  http.Handler
	now      func() time.Time
}

// New returns the console. It fails where its own templates cannot be read.
func New(o Options) (*Console, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	views, err := newViews(o.BasePath)
	if err != nil {
		return nil, err
	}
	c := &Console{
		options: o, api: client.InProcess(o.API, o.Token), now: o.Now, views: views,
		sessions: &sessions{now: o.Now, byID: make(map[hash]*session), links: make(map[hash]time.Time)}, bodies: intake.NewBodies(), tries: &throttle{tried: make(map[netip.Prefix]*rate.Limiter)},
	}
	mux := http.NewServeMux()
	c.eachRoute(mux.HandleFunc)
	c.handler = front.Observe(c.guard(mux), o.Log, logAccess, broken)
	return c, nil
}

// ServeHTTP serves a path of the console, without the base path.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.options.BasePath != "" {
		w = based{w, c.options.BasePath}
	}
	c.handler.ServeHTTP(w, r)
}

// Serves reports whether a path belongs to the console.
func Serves(path string) bool {
	return path == "/" || path == loginPath || path == root || strings.HasPrefix(path, root+"/") || path == "/favicon.ico"
}

// TokenOf returns the token of the session of a request; empty for none.
func (c *Console) TokenOf(r *http.Request) string {
	s := c.sessionOf(r)
	if s == nil {
		return ""
	}
	return s.api.Token()
}

// LoginLink returns a path that logs in once, without the token, within an hour.
func (c *Console) LoginLink() string { return loginPath + "?once=" + c.sessions.newLink() }

const (
	root      = "/console"
	loginPath = "/login"
)

// Patterns returns the pattern of each route, as [http.ServeMux] has them.
func (c *Console) Patterns() (all []string) {
	c.eachRoute(func(pattern string, _ func(http.ResponseWriter, *http.Request)) { all = append(all, pattern) })
	return all
}

// eachRoute calls handle for each route.
//
// The router is the standard library's: the API's router finds its place in a request's
// context, and would take itself for a part of another one of its kind.
func (c *Console) eachRoute(handle func(pattern string, h func(http.ResponseWriter, *http.Request))) {
	handle("GET /{$}", http.RedirectHandler(root+"/", http.StatusSeeOther).ServeHTTP)
	handle("GET /favicon.ico", c.serveAsset)
	handle("GET "+root+"/assets/{name}", c.serveAsset)
	handle("GET "+loginPath, c.showLogin)
	handle("POST "+loginPath, c.logIn)
	handle("GET "+root, http.RedirectHandler(root+"/", http.StatusSeeOther).ServeHTTP)

	page := func(pattern string, h handler) { handle("GET "+root+pattern, c.page(h)) }
	live := func(pattern string, h handler) { page(pattern, c.live(h)) }
	post := func(pattern string, h handler) { handle("POST "+root+pattern, c.page(c.checked(h))) }

	live("/{$}", c.showOverview)
	live("/chats", c.showChats)
	page("/list", c.showList)
	page("/unread", c.countUnread)
	page("/notice", c.showNotice)
	page("/name", c.showName)
	page("/chats/{jid}/state", c.showChatState)
	post("/chats/{jid}/state", c.changeChatState)
	live("/chats/{jid}", c.showChat)
	post("/chats/{jid}/send", c.send)
	post("/chats/{jid}/read", c.markRead)
	post("/chats/{jid}/transcribe", c.transcribe)
	page("/chats/{jid}/info", c.showGroup)
	page("/chats/{jid}/members", func(v *visit) error {
		http.Redirect(v.w, v.r, infoPath(v.chat), http.StatusMovedPermanently)
		return nil
	})
	post("/chats/{jid}/info", c.changeGroup)
	post("/chats/{jid}/participants", c.changeMembers)
	page("/chats/{jid}/add", c.showAdd)
	post("/chats/{jid}/add", c.addMembers)
	post("/chats/{jid}/picture/remove", c.removeGroupPicture)
	post("/chats/{jid}/invite", c.revokeLink)
	post("/chats/{jid}/leave", c.leaveGroup)
	page("/import", c.showImportForm)
	handle("POST "+root+"/import", c.page(c.checkImport))
	handle("POST "+root+"/import/run", c.page(c.runImport))
	page("/import/{import}", c.showImport)
	post("/import/{import}/end", c.endImport)
	page("/imports", c.showImports)
	page("/new", c.showNewChat)
	page("/new/group", c.showNewGroup)
	post("/new/group", c.createGroup)
	page("/contacts", c.showContacts)
	page("/people/{jid}", c.showPerson)
	post("/people/{jid}/block", c.blockPerson)
	page("/chats/{jid}/messages/{id}/forward", c.showForward)
	post("/chats/{jid}/messages/{id}/forward", c.forward)
	page("/chats/{jid}/mentions", c.listMentions)
	post("/chats/{jid}/messages/{id}/edit", c.edit)
	post("/chats/{jid}/messages/{id}/delete", c.deleteMessage)
	handle("POST "+root+"/chats/{jid}/file", c.page(c.sendFile))
	handle("POST "+root+"/chats/{jid}/picture", c.page(c.setGroupPicture))
	page("/pictures/{jid}", c.showPicture)
	page("/chats/{jid}/media", c.showGallery)
	page("/search", c.showSearch)
	page("/find", c.findAsTyped)
	page("/suggest", c.suggestNames)
	page("/media/{jid}/{id}", c.showMedia)
	live("/calls", c.showCalls)
	post("/calls/{id}/reject", c.rejectCall)
	live("/events", c.showEvents)
	live("/webhooks", c.showWebhooks)
	post("/webhooks", c.live(c.createWebhook))
	live("/webhooks/{number}", c.showWebhook)
	post("/webhooks/{number}", c.live(c.changeWebhook))
	post("/webhooks/{number}/deliveries/{delivery}", c.redeliver)
	page("/hooks", c.showHooks)
	post("/hooks", c.createHook)
	page("/hooks/{number}", c.showHook)
	post("/hooks/{number}", c.changeHook)
	page("/tokens", c.showTokens)
	post("/tokens", c.createToken)
	post("/tokens/{number}", c.revokeToken)
	live("/pair", c.showPair)
	post("/pair", c.pair)
	post("/pair/passkey", c.answerPasskey)
	page("/choose", c.suggestChats)
	page("/api", c.showReference)
	page("/api/{operation}", c.showOperation)
	post("/api/{operation}", c.tryOperation)
	handle("POST "+root+"/api/{operation}/upload", c.page(c.tryUpload))
	page("/api/{operation}/file", c.openFile)
	page("/settings", c.showSettings)
	post("/reconnect", c.reconnect)
	post("/logout-account", c.unlink)
	page("/live", c.streamEvents)
	post("/zone", c.setZone)
	post("/theme", c.setTheme)
	post("/logout", c.logOut)
	page("/", func(*visit) error { return errUnknown })
}
