package api

import (
	"context"
	"net/http"
	"slices"

	"bridged/internal/api/callers"
	"bridged/internal/bridge"
)

// needs refuses callers that lack a scope.
func (s *server) needs(scope bridge.Scope) func(http.Handler) http.Handler {
	return s.gate(func(caller bridge.Token) error {
		if !caller.Allows(scope) {
			return errLacks(scope)
		}
		return nil
	})
}

func errLacks(scope bridge.Scope) error {
	return bridge.Fail(bridge.CodeForbidden, "this token lacks the scope %s", scope)
}

// allChats refuses callers that may only see some chats.
func allChats(caller bridge.Token) error {
	if caller.Chats != nil {
		return bridge.Fail(bridge.CodeForbidden, "this token is limited to some chats, and this route concerns the whole account")
	}
	return nil
}

// gate answers requests with the error that admit returns for their caller, if any.
func (s *server) gate(admit func(caller bridge.Token) error) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := admit(callers.Of(r.Context())); err != nil {
				s.fail(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// pathOwn returns the thing that the path names, if it is among the caller's own.
func pathOwn[T any](in *input, noun string, own func(context.Context) ([]T, error), idOf func(T) int64) (thing T, err error) {
	id := in.pathNumber("id", "no "+noun+" has this id")
	if in.err != nil {
		return thing, in.err
	}
	all, err := own(in.ctx())
	if err != nil {
		return thing, err
	}
	i := slices.IndexFunc(all, func(thing T) bool { return idOf(thing) == id })
	if i < 0 {
		return thing, bridge.NotFound("there is no %s %d", noun, id)
	}
	return all[i], nil
}

// see returns the error for a chat that is not stored if the caller may not see this one.
func (s *server) see(ctx context.Context, chat bridge.JID) error {
	if caller := callers.Of(ctx); caller.Chats != nil && !s.isAmong(chat, caller.Chats) {
		return bridge.NoChat(chat)
	}
	return nil
}

// isAmong reports whether a list has a chat, in any of its forms.
func (s *server) isAmong(chat bridge.JID, chats []bridge.JID) bool {
	name := s.canonical(chat)
	return slices.ContainsFunc(chats, func(jid bridge.JID) bool { return s.canonical(jid) == name })
}

// chat returns a stored chat that the caller may see.
func (s *server) chat(ctx context.Context, jid bridge.JID) (bridge.Chat, error) {
	if err := s.see(ctx, jid); err != nil {
		return bridge.Chat{}, err
	}
	return s.Store.Chat(ctx, jid)
}

// message returns a stored message of a chat that the caller may see.
func (s *server) message(ctx context.Context, chat bridge.JID, id string) (bridge.Message, error) {
	if err := s.see(ctx, chat); err != nil {
		return bridge.Message{}, err
	}
	return s.Store.MessageFor(ctx, callers.Of(ctx).Chats, chat, id)
}

// outsiders returns the people who are not in any chat that the caller may see.
func (s *server) outsiders(ctx context.Context, people ...bridge.JID) ([]bridge.JID, error) {
	return s.Store.Outsiders(ctx, callers.Of(ctx).Chats, people)
}
