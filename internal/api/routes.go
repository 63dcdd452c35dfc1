package api

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// routes returns the router of all routes, in the document's order.
func (s *server) routes() chi.Router {
	r := chi.NewRouter()
	r.Use(s.observe()...)
	r.Use(secureHeaders, limitBody, s.authenticate, middleware.GetHead)
	r.NotFound(s.handle(unknownRoute))
	r.MethodNotAllowed(s.handle(wrongMethod(r)))

	// Diagnostics
	r.Get("/healthz", s.handle(s.getHealth))
	r.Get("/readyz", s.handle(s.getReadiness))
	r.Method(http.MethodGet, "/metrics", s.metrics.handler())
	if s.pages {
		r.Get("/openapi.yaml", s.handle(s.getDocument))
		r.Get("/openapi.json", s.handle(s.getDocumentAsJSON))
	}

	r.Get("/api/stats", s.handle(s.getStats))

	// Pairing
	r.Get("/api/auth/status", s.handle(s.getStatus))
	r.Post("/api/auth/pair", s.handle(s.requestPairingCode))
	r.Post("/api/auth/passkey", s.handle(s.answerPasskey))
	r.Post("/api/auth/reconnect", s.handle(s.reconnect))
	r.Post("/api/auth/logout", s.handle(s.logout))

	// Reading
	r.Get("/api/chats", s.handle(s.listChats))
	r.Get("/api/chats/{jid}", s.handle(s.getChat))
	r.Get("/api/chats/{jid}/messages/{msgId}", s.handle(s.getMessage))
	r.Get("/api/groups/{jid}", s.handle(s.getGroup))
	r.Get("/api/groups/{jid}/messages", s.handle(s.listGroupMessages))
	r.Get("/api/messages/individual/{jid}", s.handle(s.listIndividualMessages))
	r.Get("/api/messages/search", s.handle(s.searchMessages))

	// Events
	r.Get("/api/events", s.handle(s.listEvents))
	r.Get("/api/webhooks", s.handle(s.listWebhooks))
	r.Post("/api/webhooks", s.handle(s.createWebhook))
	r.Get("/api/webhooks/{id}", s.handle(s.getWebhook))
	r.Patch("/api/webhooks/{id}", s.handle(s.updateWebhook))
	r.Delete("/api/webhooks/{id}", s.handle(s.deleteWebhook))
	r.Post("/api/webhooks/{id}/test", s.handle(s.testWebhook))
	r.Get("/api/webhooks/{id}/deliveries", s.handle(s.listDeliveries))
	r.Post("/api/webhooks/{id}/deliveries/{deliveryId}/redeliver", s.handle(s.redeliver))

	// Sending
	send := r.With(s.sendGate)
	send.Post("/api/messages/send", s.handle(s.sendText))
	send.Post("/api/messages/forward", s.handle(s.forwardMessage))
	send.Post("/api/messages/react", s.handle(s.sendReaction))
	send.Post("/api/messages/send-media", s.handle(s.sendMedia))
	send.Post("/api/messages/send-location", s.handle(s.sendLocation))
	send.Post("/api/messages/send-poll", s.handle(s.sendPoll))
	send.Post("/api/messages/send-contact", s.handle(s.sendContact))

	// Media
	r.Get("/api/messages/media/{chatJid}/{msgId}", s.handle(s.downloadMedia))
	r.Get("/api/messages/media-info/{chatJid}/{msgId}", s.handle(s.getMedia))
	return r
}

// protected reports whether a path needs the bearer. Without it nobody learns
// whether the path exists, and for which methods.
func protected(path string) bool {
	return path == "/readyz" || path == "/metrics" || path == "/api" || strings.HasPrefix(path, "/api/")
}

// secureHeaders sets the headers of all answers: browsers must not guess types,
// and caches must not keep what is private.
func secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
