package api

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// routes returns the router of all routes, in the document's order.
func (s *server) routes() chi.Router {
	r := chi.NewRouter()
	r.Use(s.observe, secure, s.authenticate, headAsGet)
	r.NotFound(s.handle(unknownRoute))
	r.MethodNotAllowed(s.handle(wrongMethod(r)))

	read := r.With(s.needs(bridge.ScopeRead))
	allChats, sendGate := s.gate(allChats), s.gate(func(bridge.Token) error { return s.sendGate() })
	send := r.With(s.needs(bridge.ScopeSend), sendGate)
	manage := r.With(s.needs(bridge.ScopeManage))
	account := read.With(allChats)                                      // shows the whole account
	administer := manage.With(allChats)                                 // changes the account
	everywhere := r.With(s.needs(bridge.ScopeSend), allChats, sendGate) // sends, and not to one chat
	history := manage.With(s.needs(bridge.ScopeRead), s.gate(func(bridge.Token) error { return s.historyGate() }))

	// Diagnostics
	r.Get("/healthz", s.handle(s.getHealth))
	account.Get("/readyz", s.handle(s.getReadiness))
	account.Method(http.MethodGet, "/metrics", s.metrics.handler())
	if !s.WithoutPages {
		r.Get("/openapi.yaml", s.handle(s.getDocument))
		r.Get("/openapi.json", s.handle(s.getDocumentAsJSON))
	}

	account.Get("/api/stats", s.handle(s.getStats))

	// Pairing
	account.Get("/api/auth/status", s.handle(s.getStatus))
	administer.Post("/api/auth/pair", s.handle(s.requestPairingCode))
	administer.Post("/api/auth/passkey", s.handle(s.answerPasskey))
	administer.Post("/api/auth/reconnect", s.handle(s.reconnect))
	administer.Post("/api/auth/logout", s.handle(s.logout))

	// Reading
	read.Get("/api/chats", s.handle(s.listChats))
	read.Get("/api/chats/{jid}", s.handle(s.getChat))
	read.Get("/api/chats/{jid}/messages/{msgId}", s.handle(s.getMessage))
	read.Get("/api/groups/{jid}", s.handle(s.getGroup))
	read.Get("/api/groups/{jid}/messages", s.handle(s.listGroupMessages))
	read.Get("/api/messages/individual/{jid}", s.handle(s.listIndividualMessages))
	read.Get("/api/messages/search", s.handle(s.searchMessages))

	// People
	read.Get("/api/contacts", s.handle(s.listContacts))
	read.Get("/api/contacts/{jid}", s.handle(s.getContact))
	read.Get("/api/contacts/{jid}/picture", s.handle(s.getContactPicture))
	read.Get("/api/groups/{jid}/picture", s.handle(s.getGroupPicture))
	read.Post("/api/contacts/check", s.handle(s.checkNumbers))
	send.Post("/api/contacts/{jid}/block", s.handle(s.blockContact))
	send.Delete("/api/contacts/{jid}/block", s.handle(s.unblockContact))

	history.Post("/api/chats/{jid}/history", s.handle(s.requestHistory))
	r.With(s.gate(mayTranscribe)).Post("/api/chats/{jid}/messages/{msgId}/transcript", s.handle(s.requestTranscript))

	// Exported chats
	manage.Post("/api/imports", s.handle(s.importChat))
	manage.Get("/api/imports/{id}", s.handle(s.getImport))
	manage.Get("/api/imports", s.handle(s.listImports))
	manage.Delete("/api/imports/{id}", s.handle(s.endImport))

	// Events
	read.Get("/api/events", s.handle(s.listEvents))
	manage.Get("/api/webhooks", s.handle(s.listWebhooks))
	manage.With(s.needs(bridge.ScopeRead)).Post("/api/webhooks", s.handle(s.createWebhook))
	manage.Get("/api/webhooks/{id}", s.handle(s.getWebhook))
	manage.Patch("/api/webhooks/{id}", s.handle(s.updateWebhook))
	manage.Delete("/api/webhooks/{id}", s.handle(s.deleteWebhook))
	manage.Post("/api/webhooks/{id}/test", s.handle(s.testWebhook))
	manage.Get("/api/webhooks/{id}/deliveries", s.handle(s.listDeliveries))
	manage.Post("/api/webhooks/{id}/deliveries/{deliveryId}/redeliver", s.handle(s.redeliver))

	// Hooks
	manage.Get("/api/hooks", s.handle(s.listHooks))
	manage.With(s.needs(bridge.ScopeSend)).Post("/api/hooks", s.handle(s.createHook))
	manage.Get("/api/hooks/{id}", s.handle(s.getHook))
	manage.Patch("/api/hooks/{id}", s.handle(s.updateHook))
	manage.Delete("/api/hooks/{id}", s.handle(s.deleteHook))
	manage.Post("/api/hooks/{id}/preview", s.handle(s.previewHook))
	r.Post("/hooks/{hook}", s.handle(s.receiveHook)) // its address is its key

	// Tokens
	r.Get("/api/token", s.handle(s.getOwnToken))
	manage.Get("/api/tokens", s.handle(s.listTokens))
	manage.Post("/api/tokens", s.handle(s.createToken))
	manage.Get("/api/tokens/{id}", s.handle(s.getToken))
	manage.Delete("/api/tokens/{id}", s.handle(s.deleteToken))

	// Sending
	send.Post("/api/messages/send", s.handle(s.sendText))
	send.Post("/api/messages/forward", s.handle(s.forwardMessage))
	send.Post("/api/messages/react", s.handle(s.sendReaction))
	send.Post("/api/messages/send-media", s.handle(s.sendMedia))
	send.Post("/api/messages/send-file", s.handle(s.sendFile))
	send.Post("/api/messages/send-location", s.handle(s.sendLocation))
	send.Post("/api/messages/send-poll", s.handle(s.sendPoll))
	send.Post("/api/messages/send-contact", s.handle(s.sendContact))

	// What others, or the account's devices, see of a chat beside its messages
	send.Patch("/api/chats/{jid}", s.handle(s.updateChat))
	send.Patch("/api/chats/{jid}/messages/{msgId}", s.handle(s.editMessage))
	send.Delete("/api/chats/{jid}/messages/{msgId}", s.handle(s.deleteMessage))
	send.Post("/api/chats/{jid}/read", s.handle(s.markRead))
	send.Post("/api/chats/{jid}/typing", s.handle(s.showTyping))

	// Groups
	everywhere.Post("/api/groups", s.handle(s.createGroup))
	everywhere.Post("/api/groups/join", s.handle(s.joinGroup))
	send.Patch("/api/groups/{jid}", s.handle(s.updateGroup))
	send.Put("/api/groups/{jid}/picture", s.handle(s.setGroupPicture))
	send.Delete("/api/groups/{jid}/picture", s.handle(s.removeGroupPicture))
	send.Post("/api/groups/{jid}/participants", s.handle(s.changeParticipants))
	read.Get("/api/groups/{jid}/requests", s.handle(s.listJoinRequests))
	send.Post("/api/groups/{jid}/requests", s.handle(s.decideJoinRequests))
	send.Post("/api/groups/{jid}/leave", s.handle(s.leaveGroup))
	read.Get("/api/groups/{jid}/invite", s.handle(s.getInvite))
	send.Delete("/api/groups/{jid}/invite", s.handle(s.revokeInvite))

	// Calls
	read.Get("/api/calls", s.handle(s.listCalls))
	send.Post("/api/calls/{id}/reject", s.handle(s.rejectCall))

	// Media
	read.Get("/api/messages/media/{chatJid}/{msgId}", s.handle(s.downloadMedia))
	read.Get("/api/messages/media-info/{chatJid}/{msgId}", s.handle(s.getMedia))
	return r
}

// protected reports whether a path needs a bearer, also to learn whether it exists.
func protected(path string) bool {
	return path == "/readyz" || path == "/metrics" || path == "/api" || strings.HasPrefix(path, "/api/")
}

// secure sets the headers of all answers, and starts the time for a body.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		front.SecureHeader(w.Header())
		front.StartBody(w, r)
		next.ServeHTTP(w, r)
	})
}

// headAsGet has HEAD answered by the routes of GET. The router's own middleware for it
// would bring net/http/pprof into the program.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}
