// Package console is the web console: the pages for setting up a bridge and for using its chats
// in a browser.
//
// Pages are built from answers of the API in the same process, with the visitor's own token.
// This package has the routes, the templates and the scripts; the pages are in its
// subpackages, on top of package frame.
package console

import (
	"embed"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"bridged/internal/console/chats"
	"bridged/internal/console/explorer"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/people"
	"bridged/internal/console/setup"
	"bridged/internal/console/view"
	"bridged/internal/oauth"
)

//go:embed templates/* assets/*
var files embed.FS

var layout = sync.OnceValues(func() (*frame.Layout, error) {
	return frame.NewLayout(frame.Templates{
		Files:     files,
		Functions: []template.FuncMap{view.Functions, chats.Functions, setup.Functions, explorer.Functions},
		Styles:    []string{"console.css", "chat.css", "messages.css", "composer.css", "chats.css", "pages.css", "people.css"},
	})
})

// Options configures [New].
type Options = frame.Options

// Setting is one variable of the configuration as it is in force.
type Setting = frame.Setting

// Account is a bridge that the switch of accounts leads to.
type Account = frame.Account

// Console serves the pages. It is safe for concurrent use.
type Console struct {
	*frame.Site
	handler http.Handler
}

// New returns the console. It fails if its own templates cannot be read.
func New(o Options) (*Console, error) {
	l, err := layout()
	if err != nil {
		return nil, err
	}
	site := frame.New(o, l)
	c := &Console{Site: site}
	mux := http.NewServeMux()
	c.eachRoute(mux.HandleFunc)
	c.handler = site.Handler(mux)
	return c, nil
}

// ServeHTTP serves a path of the console, without the base path.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// Serves reports whether a path belongs to the console.
func Serves(path string) bool {
	return path == "/" || path == frame.LoginPath || path == view.Root || strings.HasPrefix(path, view.Root+"/") || path == "/favicon.ico"
}

// Patterns returns the pattern of each route, as [http.ServeMux] has them.
func (c *Console) Patterns() (all []string) {
	c.eachRoute(func(pattern string, _ func(http.ResponseWriter, *http.Request)) { all = append(all, pattern) })
	return all
}

// eachRoute calls handle for each route. The router is the standard library's, because chi would take
// the API's router, which pages call with the same context, for its own.
func (c *Console) eachRoute(handle func(pattern string, h func(http.ResponseWriter, *http.Request))) {
	handle("GET /{$}", http.RedirectHandler(view.Root+"/", http.StatusSeeOther).ServeHTTP)
	handle("GET /favicon.ico", c.ServeAsset)
	handle("GET "+view.Root+"/assets/{name}", c.ServeAsset)
	handle("GET "+frame.LoginPath, c.ShowLogin)
	handle("POST "+frame.LoginPath, c.LogIn)
	handle("GET "+view.Root+"/account", c.ShowAccountState)
	handle("GET "+view.Root, http.RedirectHandler(view.Root+"/", http.StatusSeeOther).ServeHTTP)

	page := func(pattern string, h frame.Handler) { handle("GET "+view.Root+pattern, c.Page(h)) }
	live := func(pattern string, h frame.Handler) { page(pattern, c.Live(h)) }
	post := func(pattern string, h frame.Handler) { handle("POST "+view.Root+pattern, c.Page(c.Checked(h))) }

	live("/{$}", setup.ShowOverview)
	live("/chats", chats.ShowChats)
	page("/list", chats.ShowList)
	page("/unread", chats.CountUnread)
	page("/unread/chats", chats.ListUnread)
	page("/notice", chats.ShowNotice)
	page("/name", chats.ShowName)
	live("/labels", chats.ShowLabels)
	post("/labels", c.Live(chats.CreateLabel))
	post("/labels/{id}", c.Live(chats.ChangeLabel))
	page("/chats/{jid}/state", chats.ShowChatState)
	post("/chats/{jid}/state", chats.ChangeChatState)
	live("/chats/{jid}", chats.ShowChat)
	post("/chats/{jid}/send", chats.Send)
	post("/chats/{jid}/read", chats.MarkRead)
	post("/chats/{jid}/older", chats.AskPhone)
	post("/chats/{jid}/transcribe", chats.Transcribe)
	page("/chats/{jid}/closed", chats.ShowClosed)
	page("/chats/{jid}/info", people.ShowGroup)
	post("/chats/{jid}/info", people.ChangeGroup)
	post("/chats/{jid}/participants", people.ChangeMembers)
	page("/chats/{jid}/add", people.ShowAdd)
	post("/chats/{jid}/add", people.AddMembers)
	post("/chats/{jid}/picture/remove", people.RemoveGroupPicture)
	post("/chats/{jid}/invite", people.RevokeLink)
	post("/chats/{jid}/leave", people.LeaveGroup)
	page("/import", setup.ShowImportForm)
	handle("POST "+view.Root+"/import", c.Page(setup.CheckImport))
	handle("POST "+view.Root+"/import/run", c.Page(setup.RunImport))
	live("/import/{import}", setup.ShowImport)
	post("/import/{import}/end", setup.EndImport)
	live("/imports", setup.ShowImports)
	page("/new", people.ShowNewChat)
	page("/new/group", people.ShowNewGroup)
	post("/new/group", people.CreateGroup)
	page("/invite/{code}", people.ShowInvite)
	post("/invite/{code}", people.JoinByInvite)
	page("/contacts", people.ShowContacts)
	page("/people/{jid}", people.ShowPerson)
	post("/people/{jid}/block", people.BlockPerson)
	page("/people/{jid}/profile", people.ShowProfile)
	post("/people/{jid}/timer", people.SetTimer)
	post("/people/{jid}/name", people.SavePerson)
	page("/chats/{jid}/messages/{id}/menu", chats.ShowMenu)
	page("/chats/{jid}/messages/{id}/forward", chats.ShowForward)
	post("/chats/{jid}/messages/{id}/forward", chats.Forward)
	page("/chats/{jid}/mentions", chats.ListMentions)
	page("/chats/{jid}/hits", chats.FindWithin)
	post("/chats/{jid}/messages/{id}/edit", chats.Edit)
	post("/chats/{jid}/messages/{id}/delete", chats.DeleteMessage)
	post("/chats/{jid}/messages/{id}/pin", chats.Pin)
	post("/chats/{jid}/messages/{id}/vote", chats.Vote)
	post("/chats/{jid}/join", chats.Join)
	post("/chats/{jid}/messages/{id}/labels", chats.LabelMessage)
	post("/chats/{jid}/erase", chats.EraseChat)
	post("/chats/{jid}/mark", chats.Mark)
	page("/chats/{jid}/pinned", chats.ShowPinned)
	handle("POST "+view.Root+"/chats/{jid}/file", c.Page(chats.SendFile))
	handle("POST "+view.Root+"/chats/{jid}/picture", c.Page(people.SetGroupPicture))
	page("/pictures/{jid}", people.ShowPicture)
	page("/chats/{jid}/media", chats.ShowGallery)
	page("/chats/{jid}/export", chats.ShowExport)
	page("/chats/{jid}/export/file", chats.Export)
	page("/search", chats.ShowSearch)
	page("/find", chats.FindAsTyped)
	page("/suggest", chats.SuggestNames)
	page("/media/{jid}/{id}", chats.ShowMedia)
	page("/thumbnails/{jid}/{id}", chats.ShowThumbnail)
	live("/scheduled", chats.ShowScheduled)
	post("/scheduled/{id}", chats.ChangeScheduled)
	post("/chats/{jid}/later", chats.SendLater)
	live("/calls", setup.ShowCalls)
	page("/ringing", setup.ShowRinging)
	post("/calls/{id}/reject", setup.RejectCall)
	live("/events", setup.ShowEvents)
	live("/webhooks", setup.ShowWebhooks)
	post("/webhooks", c.Live(setup.CreateWebhook))
	live("/webhooks/{number}", setup.ShowWebhook)
	post("/webhooks/{number}", c.Live(setup.ChangeWebhook))
	post("/webhooks/{number}/deliveries/{delivery}", setup.Redeliver)
	page("/hooks", setup.ShowHooks)
	post("/hooks", setup.CreateHook)
	page("/hooks/{number}", setup.ShowHook)
	post("/hooks/{number}", setup.ChangeHook)
	page("/tokens", setup.ShowTokens)
	post("/tokens", setup.CreateToken)
	post("/tokens/{number}", setup.RevokeToken)
	page(strings.TrimPrefix(oauth.AuthorizePath, view.Root), setup.ShowAuthorize)
	post(strings.TrimPrefix(oauth.AuthorizePath, view.Root), setup.Authorize)
	live("/pair", setup.ShowPair)
	post("/pair", setup.Pair)
	post("/pair/passkey", setup.AnswerPasskey)
	page("/choose", names.SuggestChats)
	page("/api", explorer.ShowReference)
	page("/api/{operation}", explorer.ShowOperation)
	post("/api/{operation}", explorer.TryOperation)
	handle("POST "+view.Root+"/api/{operation}/upload", c.Page(explorer.TryUpload))
	page("/api/{operation}/file", explorer.OpenFile)
	page("/settings", setup.ShowSettings)
	page("/profile", setup.ShowProfile)
	post("/profile", setup.ChangeProfile)
	post("/profile/privacy", setup.ChangePrivacy)
	post("/profile/picture/remove", setup.RemoveAccountPicture)
	handle("POST "+view.Root+"/profile/picture", c.Page(setup.SetAccountPicture))
	post("/reconnect", setup.Reconnect)
	post("/logout-account", setup.Unlink)
	page("/live", setup.StreamEvents)
	post("/zone", c.SetZone)
	post("/theme", c.SetTheme)
	post("/logout", c.LogOut)
	post("/sessions", c.EndOtherSessions)
	post("/sessions/{number}", c.EndSession)
	page("/", func(*frame.Request) error { return frame.ErrNotFound })
}
