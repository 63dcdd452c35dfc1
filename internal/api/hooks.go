package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

const (
	maxHooks    = 500
	maxOwnHooks = 50 // of a token that BRIDGE_TOKEN made with all that was made with it
	// maxMadeHooks bounds those of all tokens together, so that BRIDGE_TOKEN has
	// some left.
	maxMadeHooks = maxHooks - maxHooks/4
)

// withAddress is a hook with its address, which is shown once.
type withAddress struct {
	bridge.Hook
	URL  string `json:"url"`
	Path string `json:"path"`
}

func (s *server) listHooks(w http.ResponseWriter, r *http.Request) error {
	all, err := s.ownHooks(r.Context())
	if err != nil {
		return err
	}
	return s.answer(w, r, struct {
		Count int           `json:"count"`
		Hooks []bridge.Hook `json:"hooks"`
	}{len(all), all})
}

// ownHooks returns the hooks that the caller may see: all for BRIDGE_TOKEN, those
// that it or a token of its making made for a token.
func (s *server) ownHooks(ctx context.Context) ([]bridge.Hook, error) {
	all, err := s.store.Hooks(ctx)
	if err != nil || callerOf(ctx).ID == 0 {
		return all, err
	}
	tokens, err := s.ownTokens(ctx)
	return slices.DeleteFunc(all, func(hook bridge.Hook) bool {
		return !slices.ContainsFunc(tokens, func(token bridge.Token) bool { return token.ID == hook.Token })
	}), err
}

// pathHook returns the hook that the path names, if the caller may see it.
func (s *server) pathHook(r *http.Request) (bridge.Hook, error) {
	id, err := pathNumber(r, "id")
	if err != nil {
		return bridge.Hook{}, bridge.NotFound("no hook has this id")
	}
	own, err := s.ownHooks(r.Context())
	if err != nil {
		return bridge.Hook{}, err
	}
	for _, hook := range own {
		if hook.ID == id {
			return hook, nil
		}
	}
	return bridge.Hook{}, bridge.NotFound("there is no hook %d", id)
}

func (s *server) createHook(w http.ResponseWriter, r *http.Request) error {
	var req hookRequest
	if _, err := s.bodies.decodeStrict(w, r, &req); err != nil {
		return err
	}
	if req.RotateKey {
		return bridge.Invalid("rotateKey is for existing hooks only; a new one gets a new key anyway")
	}
	caller := callerOf(r.Context())
	hook := bridge.Hook{Enabled: true, Token: caller.ID}
	if err := req.apply(&hook); err != nil {
		return err
	}
	if err := s.see(r.Context(), hook.Chat); err != nil {
		return err
	}
	key, hash := newHookKey()
	hook.KeyHash = hash
	hook, err := s.addHook(r.Context(), hook)
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusCreated, s.withAddress(r, hook, key))
}

// addHook keeps a new hook, unless there are too many.
func (s *server) addHook(ctx context.Context, hook bridge.Hook) (bridge.Hook, error) {
	s.hookKeys.changes.Lock()
	defer s.hookKeys.changes.Unlock()
	if err := s.mayAddHook(ctx); err != nil {
		return hook, err
	}
	hook, err := s.store.AddHook(ctx, hook)
	if err == nil {
		s.hookKeys.put(hook)
	}
	return hook, err
}

// mayAddHook refuses one hook too many.
func (s *server) mayAddHook(ctx context.Context) error {
	all, err := s.store.Hooks(ctx)
	if err != nil {
		return err
	}
	if len(all) >= maxHooks {
		return bridge.Invalid("there are %d hooks already, which is the most: remove some", maxHooks)
	}
	if callerOf(ctx).ID == 0 {
		return nil
	}
	makers := make([]int64, len(all))
	for i, hook := range all {
		makers[i] = hook.Token
	}
	return s.mayMakeMore(ctx, "hooks", makers, maxOwnHooks, maxMadeHooks)
}

// withAddress returns a hook with its address: as PUBLIC_URL names the bridge, or
// as the caller did.
func (s *server) withAddress(r *http.Request, hook bridge.Hook, key string) withAddress {
	base := s.publicURL
	if base == "" {
		base = "http://" + r.Host
	}
	path := hookPath(hook.ID, key)
	return withAddress{hook, strings.TrimSuffix(base, "/") + path, path}
}

func (s *server) getHook(w http.ResponseWriter, r *http.Request) error {
	hook, err := s.pathHook(r)
	if err != nil {
		return err
	}
	return s.answer(w, r, hook)
}

func (s *server) updateHook(w http.ResponseWriter, r *http.Request) error {
	hook, err := s.pathHook(r)
	if err != nil {
		return err
	}
	var req hookRequest
	if _, err := s.bodies.decodeStrict(w, r, &req); err != nil {
		return err
	}
	key, hash := newHookKey()
	may, err := s.chatsOf(r.Context(), hook.Token)
	if err != nil {
		return err
	}
	hook, err = s.changeHook(r.Context(), hook.ID, func(hook *bridge.Hook) error {
		if req.RotateKey {
			hook.KeyHash = hash
		}
		if err := req.apply(hook); err != nil {
			return err
		}
		if may != nil && !s.isAmong(hook.Chat, may) {
			return bridge.NoChat(hook.Chat)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if req.RotateKey {
		return s.answer(w, r, s.withAddress(r, hook, key))
	}
	return s.answer(w, r, hook)
}

// changeHook changes what change does to a hook.
func (s *server) changeHook(ctx context.Context, id int64, change func(*bridge.Hook) error) (bridge.Hook, error) {
	s.hookKeys.changes.Lock()
	defer s.hookKeys.changes.Unlock()
	hook, err := s.store.ChangeHook(ctx, id, change)
	if err == nil {
		s.hookKeys.put(hook)
	}
	return hook, err
}

// chatsOf returns the chats of the token that made a hook, nil for all: whoever
// changes it gives it no more than that token may do.
func (s *server) chatsOf(ctx context.Context, token int64) ([]bridge.JID, error) {
	tokens, err := s.store.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range tokens {
		if t.ID == token {
			return t.Chats, nil
		}
	}
	return nil, nil
}

func (s *server) deleteHook(w http.ResponseWriter, r *http.Request) error {
	hook, err := s.pathHook(r)
	if err != nil {
		return err
	}
	if err := s.removeHook(r.Context(), hook.ID); err != nil {
		return err
	}
	return s.answer(w, r, struct {
		OK bool `json:"ok"`
	}{true})
}

func (s *server) removeHook(ctx context.Context, id int64) error {
	s.hookKeys.changes.Lock()
	defer s.hookKeys.changes.Unlock()
	err := s.store.RemoveHook(ctx, id)
	if err == nil {
		s.hookKeys.forget(id)
	}
	return err
}
