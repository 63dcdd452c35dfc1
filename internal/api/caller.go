package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

type callerKey struct{}

// callerOf returns the token that a request came with. BRIDGE_TOKEN has the id 0.
func callerOf(ctx context.Context) bridge.Token {
	if caller, ok := ctx.Value(callerKey{}).(*bearer); ok {
		return caller.Token
	}
	return bridge.Token{}
}

// callers returns the function that identifies the family of a request before anything
// else is done for it. The handler answers failures of the store.
func (s *server) callers(h *Handler, sessions func(*http.Request) string) func(*http.Request) (family int64, known bool) {
	return func(r *http.Request) (int64, bool) {
		if secretOf(r) == "" && sessions != nil {
			if family, known := h.Family(r.Context(), sessions(r)); known {
				return family, true
			}
		}
		caller, err := s.bearerOf(r)
		if err != nil || caller == nil {
			return 0, false
		}
		return caller.Family, true
	}
}

// bearerOf returns the bearer of a request; nil for none or an unknown one.
func (s *server) bearerOf(r *http.Request) (*bearer, error) {
	if strings.HasPrefix(r.URL.Path, hookRoot) {
		return s.hookBearer(r)
	}
	return s.bearers.find(r.Context(), secretOf(r))
}

// whileValid returns a context that ends when the token of a request does, and not with the request.
// release frees what it takes.
func (s *server) whileValid(ctx context.Context) (valid context.Context, release context.CancelFunc) {
	caller, ok := ctx.Value(callerKey{}).(*bearer)
	if !ok {
		return s.Lifetime, func() {}
	}
	return caller.during(s.Lifetime)
}

var errTokenEnded = errors.New("the token has ended")

// endOfToken returns the refusal of a request whose token has ended meanwhile, else nil.
func endOfToken(r *http.Request) error {
	if !errors.Is(context.Cause(r.Context()), errTokenEnded) {
		return nil
	}
	return bridge.Fail(bridge.CodeUnauthorized, "the token has expired or was revoked")
}

// needs refuses callers without a scope.
func (s *server) needs(scope bridge.Scope) func(http.Handler) http.Handler {
	return s.gate(func(caller bridge.Token) error {
		if !caller.Allows(scope) {
			return bridge.Fail(bridge.CodeForbidden, "this token lacks the scope %s", scope)
		}
		return nil
	})
}

// allChats refuses callers who may see some chats only.
func allChats(caller bridge.Token) error {
	if caller.Chats != nil {
		return bridge.Fail(bridge.CodeForbidden, "this token is limited to some chats, and this route concerns the whole account")
	}
	return nil
}

// gate refuses requests whose caller admit refuses.
func (s *server) gate(admit func(caller bridge.Token) error) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := admit(callerOf(r.Context())); err != nil {
				s.fail(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// quota bounds the things that tokens make: those of one family, and those of all tokens
// together, so that some are left for BRIDGE_TOKEN.
type quota struct {
	things         string
	all, own, made int
	remedy         string
}

// admits refuses one thing too many: there are total, of which tokens made some, and the
// caller's family own. BRIDGE_TOKEN is bounded by the total alone.
func (q quota) admits(caller bridge.Token, total, own, made int) error {
	switch {
	case total >= q.all:
		return bridge.Invalid("there are %d %s already, which is the most: %s", q.all, q.things, q.remedy)
	case caller.ID == 0:
		return nil
	case own >= q.own:
		return bridge.Invalid("%d %s are the most that one token makes, with the tokens that it made: %s", q.own, q.things, q.remedy)
	case made >= q.made:
		return bridge.Invalid("%d %s are the most that tokens make together: %s", q.made, q.things, q.remedy)
	}
	return nil
}

// addOwn stores a new thing of the caller, unless there are too many.
func addOwn[T any](ctx context.Context, s *server, q quota, maker func(T) int64,
	list func(context.Context) ([]T, error), add func(context.Context, T) (T, error), thing T,
) (T, error) {
	s.adds.Lock()
	defer s.adds.Unlock()
	all, err := list(ctx)
	if err != nil {
		return thing, err
	}
	family, err := s.bearers.family(ctx)
	if err != nil {
		return thing, err
	}
	own, made := 0, 0
	for _, other := range all {
		if maker(other) != 0 {
			made++
		}
		if family[maker(other)] {
			own++
		}
	}
	if err := q.admits(callerOf(ctx), len(all), own, made); err != nil {
		return thing, err
	}
	return add(ctx, thing)
}

// ownOf returns the things that the caller, or a token of its making, made: all for BRIDGE_TOKEN.
func ownOf[T any](ctx context.Context, s *server, list func(context.Context) ([]T, error), maker func(T) int64) ([]T, error) {
	all, err := list(ctx)
	if err != nil || callerOf(ctx).ID == 0 {
		return all, err
	}
	tokens, err := s.ownTokens(ctx)
	return slices.DeleteFunc(all, func(thing T) bool {
		return !slices.ContainsFunc(tokens, func(token bridge.Token) bool { return token.ID == maker(thing) })
	}), err
}

// pathOwn returns the one of the caller's things that the path names.
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

// see refuses a chat that the caller may not see as one that is not stored.
func (s *server) see(ctx context.Context, chat bridge.JID) error {
	if caller := callerOf(ctx); caller.Chats != nil && !s.isAmong(chat, caller.Chats) {
		return bridge.NoChat(chat)
	}
	return nil
}

// isAmong reports whether a chat is one of some, in any of its forms.
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
	return s.Store.MessageFor(ctx, callerOf(ctx).Chats, chat, id)
}

// outsiders returns those of some people of whom the caller may know nothing.
func (s *server) outsiders(ctx context.Context, people ...bridge.JID) ([]bridge.JID, error) {
	return s.Store.Outsiders(ctx, callerOf(ctx).Chats, people)
}
