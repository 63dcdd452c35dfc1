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
	r.Use(s.observe, front.Secure, front.CORS(s.CORSOrigins), s.authenticate, s.document.Announces(r), front.HeadAsGet)
	r.NotFound(s.handle(unknownRoute))
	r.MethodNotAllowed(s.handle(wrongMethod(r)))

	read := r.With(s.needs(bridge.ScopeRead))
	allChats, sendGate := s.gate(allChats), s.gate(func(bridge.Token) error { return s.sendGate() })
	send := r.With(s.needs(bridge.ScopeSend), sendGate)
	manage := r.With(s.needs(bridge.ScopeManage))
	account := read.With(allChats)                                      // shows the whole account
	administer := manage.With(allChats)                                 // changes the account
	everywhere := r.With(s.needs(bridge.ScopeSend), allChats, sendGate) // sends, and not to one chat
	owner := administer.With(sendGate)                                  // changes what others see of the account
	compress := front.Compress()
	texts := read.With(compress) // shows much text, and no secret
	history := manage.With(s.needs(bridge.ScopeRead), s.gate(func(bridge.Token) error { return s.historyGate() }))

	// Diagnostics
	r.Get("/healthz", s.handle(getHealth))
	account.Get("/readyz", s.handle(getReadiness))
	account.Method(http.MethodGet, "/metrics", s.metrics.Handler())
	if !s.WithoutPages {
		r.With(compress).Get("/openapi.yaml", s.tagged(getDocument))
		r.With(compress).Get("/openapi.json", s.tagged(getDocumentAsJSON))
	}

	account.Get("/api/stats", s.exact(getStats))

	// Pairing
	account.Get("/api/auth/status", s.handle(getStatus))
	administer.Post("/api/auth/pair", s.handle(requestPairingCode))
	administer.Post("/api/auth/passkey", s.handle(answerPasskey))
	administer.Post("/api/auth/reconnect", s.handle(reconnect))
	administer.Post("/api/auth/logout", s.handle(logout))

	// Reading
	texts.Get("/api/chats", s.handle(listChats))
	texts.Get("/api/chats/{jid}", s.tagged(getChat))
	read.Get("/api/chats/{jid}/export", s.exact(exportChat))
	texts.Get("/api/chats/{jid}/messages", s.exact(listMessages))
	texts.Get("/api/chats/{jid}/messages/{msgId}", s.tagged(getMessage))
	texts.Get("/api/groups/{jid}", s.tagged(getGroup))
	texts.Get("/api/groups/{jid}/messages", s.handle(listGroupMessages))
	texts.Get("/api/messages/individual/{jid}", s.handle(listIndividualMessages))
	texts.Get("/api/messages/search", s.handle(searchMessages))

	// People
	texts.Get("/api/contacts", s.exact(listContacts))
	texts.Get("/api/contacts/{jid}", s.tagged(getContact))
	read.Get("/api/contacts/{jid}/picture", s.handle(getContactPicture))
	read.Get("/api/contacts/{jid}/profile", s.handle(getProfile))
	read.Get("/api/groups/{jid}/picture", s.handle(getGroupPicture))
	texts.Post("/api/contacts/check", s.handle(checkNumbers))
	send.Patch("/api/contacts/{jid}", s.handle(updateContact))
	send.Post("/api/contacts/{jid}/block", s.handle(blockContact))
	send.Delete("/api/contacts/{jid}/block", s.handle(unblockContact))

	// Labels
	read.Get("/api/labels", s.handle(listLabels))
	everywhere.Post("/api/labels", s.handle(createLabel))
	everywhere.Patch("/api/labels/{labelId}", s.handle(updateLabel))
	everywhere.Delete("/api/labels/{labelId}", s.handle(deleteLabel))
	send.Put("/api/chats/{jid}/labels/{labelId}", s.handle(setLabel))
	send.Delete("/api/chats/{jid}/labels/{labelId}", s.handle(removeLabel))
	send.Put("/api/chats/{jid}/messages/{msgId}/labels/{labelId}", s.handle(setLabel))
	send.Delete("/api/chats/{jid}/messages/{msgId}/labels/{labelId}", s.handle(removeLabel))

	// The account
	owner.Patch("/api/account", s.handle(updateAccount))
	owner.Put("/api/account/picture", s.handle(setAccountPicture))
	owner.Delete("/api/account/picture", s.handle(removeAccountPicture))
	account.Get("/api/account/privacy", s.handle(getPrivacy))
	owner.Patch("/api/account/privacy", s.handle(updatePrivacy))

	history.Post("/api/chats/{jid}/history", s.handle(requestHistory))
	r.With(s.gate(mayTranscribe)).Post("/api/chats/{jid}/messages/{msgId}/transcript", s.handle(requestTranscript))

	// Exported chats
	manage.Post("/api/imports", s.handle(importChat))
	manage.With(compress).Get("/api/imports/{id}", s.handle(getImport))
	manage.With(compress).Get("/api/imports", s.exact(listImports))
	manage.Delete("/api/imports/{id}", s.handle(endImport))

	// Events
	texts.Get("/api/events", s.exact(listEvents))
	manage.Get("/api/webhooks", s.exact(listWebhooks))
	manage.With(s.needs(bridge.ScopeRead)).Post("/api/webhooks", s.handle(createWebhook))
	manage.Get("/api/webhooks/{id}", s.handle(getWebhook))
	manage.Patch("/api/webhooks/{id}", s.handle(updateWebhook))
	manage.Delete("/api/webhooks/{id}", s.handle(deleteWebhook))
	manage.Post("/api/webhooks/{id}/test", s.handle(testWebhook))
	manage.Get("/api/webhooks/{id}/deliveries", s.exact(listDeliveries))
	manage.Post("/api/webhooks/{id}/deliveries/{deliveryId}/redeliver", s.handle(redeliver))

	// Hooks
	manage.Get("/api/hooks", s.exact(listHooks))
	manage.With(s.needs(bridge.ScopeSend)).Post("/api/hooks", s.handle(createHook))
	manage.Get("/api/hooks/{id}", s.handle(getHook))
	manage.Patch("/api/hooks/{id}", s.handle(updateHook))
	manage.Delete("/api/hooks/{id}", s.handle(deleteHook))
	manage.Post("/api/hooks/{id}/preview", s.handle(previewHook))
	r.Post("/hooks/{hook}", s.handle(receiveHook)) // the path has the key

	// Tokens
	r.Get("/api/token", s.handle(getOwnToken))
	manage.Get("/api/tokens", s.exact(listTokens))
	manage.Post("/api/tokens", s.handle(createToken))
	manage.Get("/api/tokens/{id}", s.handle(getToken))
	manage.Delete("/api/tokens/{id}", s.handle(deleteToken))

	// Sending
	send.Post("/api/messages/send", s.handle(sendText))
	send.Post("/api/messages/forward", s.handle(forwardMessage))
	send.Post("/api/messages/react", s.handle(sendReaction))
	send.Post("/api/messages/send-media", s.handle(sendMedia))
	send.Post("/api/messages/send-file", s.handle(sendFile))
	send.Post("/api/messages/send-album", s.handle(sendAlbum))
	send.Post("/api/messages/send-location", s.handle(sendLocation))
	send.Post("/api/messages/send-poll", s.handle(sendPoll))
	send.Post("/api/messages/send-contact", s.handle(sendContact))

	// Messages that are sent later
	texts.Get("/api/scheduled", s.exact(listScheduled))
	texts.Get("/api/scheduled/{msgId}", s.handle(getScheduled))
	send.Patch("/api/scheduled/{msgId}", s.handle(updateScheduled))
	send.Delete("/api/scheduled/{msgId}", s.handle(cancelScheduled))
	send.Post("/api/scheduled/{msgId}/send", s.handle(sendScheduled))

	// Changes of chats and messages, read receipts, typing
	send.Patch("/api/chats/{jid}", s.handle(updateChat))
	send.Delete("/api/chats/{jid}", s.handle(deleteChat))
	send.Post("/api/chats/{jid}/clear", s.handle(clearChat))
	send.Patch("/api/chats/{jid}/messages/{msgId}", s.handle(editMessage))
	send.Delete("/api/chats/{jid}/messages/{msgId}", s.handle(deleteMessage))
	send.Post("/api/chats/{jid}/messages/{msgId}/pin", s.handle(pinMessage))
	send.Delete("/api/chats/{jid}/messages/{msgId}/pin", s.handle(unpinMessage))
	send.Post("/api/chats/{jid}/messages/{msgId}/star", s.handle(starMessage))
	send.Delete("/api/chats/{jid}/messages/{msgId}/star", s.handle(unstarMessage))
	send.Post("/api/chats/{jid}/messages/{msgId}/vote", s.handle(votePoll))
	send.Post("/api/chats/{jid}/read", s.handle(markRead))
	send.Post("/api/chats/{jid}/typing", s.handle(showTyping))

	// Groups
	everywhere.Post("/api/groups", s.handle(createGroup))
	everywhere.Post("/api/groups/join", s.handle(joinGroup))
	account.Get("/api/groups/invites/{code}", s.handle(getInvitedGroup))
	send.Patch("/api/groups/{jid}", s.handle(updateGroup))
	send.Put("/api/groups/{jid}/picture", s.handle(setGroupPicture))
	send.Delete("/api/groups/{jid}/picture", s.handle(removeGroupPicture))
	send.Post("/api/groups/{jid}/participants", s.handle(changeParticipants))
	texts.Get("/api/groups/{jid}/requests", s.exact(listJoinRequests))
	send.Post("/api/groups/{jid}/requests", s.handle(decideJoinRequests))
	send.Post("/api/groups/{jid}/leave", s.handle(leaveGroup))
	read.Get("/api/groups/{jid}/invite", s.handle(getInvite))
	send.Delete("/api/groups/{jid}/invite", s.handle(revokeInvite))

	// Calls
	texts.Get("/api/calls", s.exact(listCalls))
	send.Post("/api/calls/{id}/reject", s.handle(rejectCall))

	// Media
	read.Get("/api/messages/media/{chatJid}/{msgId}", s.handle(downloadMedia))
	read.Get("/api/messages/media-info/{chatJid}/{msgId}", s.handle(getMedia))
	return r
}

// protected reports whether a path needs a token, even to find out whether it exists.
func protected(path string) bool {
	return path == "/readyz" || path == "/metrics" || path == "/api" || strings.HasPrefix(path, "/api/")
}
