package console

import "net/http"

const (
	root      = "/console"
	loginPath = "/login"
)

// routes returns the router of all pages.
//
// It is the standard library's: the API's router finds its place in a request's
// context, and would take itself for a part of another one of its kind.
func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.RedirectHandler(root+"/", http.StatusSeeOther))
	mux.HandleFunc("GET /favicon.ico", c.getIcon)
	mux.HandleFunc("GET "+root+"/assets/{name}", c.getAsset)
	mux.HandleFunc("GET "+loginPath, c.showLogin)
	mux.HandleFunc("POST "+loginPath, c.logIn)
	mux.Handle("GET "+root, http.RedirectHandler(root+"/", http.StatusSeeOther))

	page := func(pattern string, h handler) { mux.HandleFunc("GET "+root+pattern, c.page(h)) }
	live := func(pattern string, h handler) { page(pattern, c.live(h)) }
	post := func(pattern string, h handler) { mux.HandleFunc("POST "+root+pattern, c.page(c.checked(h))) }

	live("/{$}", c.showOverview)
	live("/chats", c.showChats)
	live("/chats/{jid}", c.showChat)
	post("/chats/{jid}/send", c.send)
	post("/chats/{jid}/read", c.markRead)
	page("/chats/{jid}/members", c.showMembers)
	post("/chats/{jid}/members", c.decideJoinRequest)
	post("/chats/{jid}/messages/{id}/edit", c.edit)
	post("/chats/{jid}/messages/{id}/delete", c.deleteMessage)
	mux.HandleFunc("POST "+root+"/chats/{jid}/file", c.page(c.sendFile))
	page("/search", c.showSearch)
	page("/media/{jid}/{id}", c.showMedia)
	live("/calls", c.showCalls)
	post("/calls/{id}/reject", c.rejectCall)
	live("/events", c.showEvents)
	live("/webhooks", c.showWebhooks)
	post("/webhooks", c.live(c.createWebhook))
	live("/webhooks/{id}", c.showWebhook)
	post("/webhooks/{id}", c.live(c.changeWebhook))
	post("/webhooks/{id}/deliveries/{delivery}", c.redeliver)
	page("/hooks", c.showHooks)
	post("/hooks", c.createHook)
	page("/hooks/{id}", c.showHook)
	post("/hooks/{id}", c.changeHook)
	page("/tokens", c.showTokens)
	post("/tokens", c.createToken)
	post("/tokens/{id}", c.revokeToken)
	live("/pair", c.showPair)
	post("/pair", c.pair)
	post("/pair/passkey", c.answerPasskey)
	page("/api", c.showReference)
	page("/settings", c.showSettings)
	post("/reconnect", c.reconnect)
	post("/logout-account", c.unlink)
	page("/live", c.streamEvents)
	post("/zone", c.setZone)
	post("/logout", c.logOut)
	page("/", c.unknownPage)
	return mux
}
