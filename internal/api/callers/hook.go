package callers

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"

	"bridged/internal/bridge"
)

// HookRoot begins the addresses of hooks.
const HookRoot = "/hooks/"

// IsHook reports whether a request is sent to the address of a hook.
func IsHook(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, HookRoot) }

// NewHookKey returns the key of a hook's address, of 130 random bits, and its hash.
func NewHookKey() (key string, hash []byte) {
	key = rand.Text()
	sum := sha256.Sum256([]byte(key))
	return key, sum[:]
}

// ofHook returns the hook at the address of a request as a caller that may send to the hook's
// chat only. It returns nil if the hook does not exist, or its token has ended.
func (t *Tokens) ofHook(r *http.Request) (*Caller, error) {
	number, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, HookRoot), ".")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id < 1 || key == "" {
		return nil, nil
	}
	hash := sha256.Sum256([]byte(key))
	hook, err := t.store.Hook(r.Context(), id)
	switch {
	case bridge.CodeOf(err) == bridge.CodeNotFound,
		err == nil && (subtle.ConstantTimeCompare(hash[:], hook.KeyHash) != 1 || !hook.Enabled):
		return nil, nil
	case err != nil:
		return nil, err
	}
	creator, err := t.ByID(r.Context(), hook.Token)
	if err != nil || creator == nil {
		return nil, err
	}
	token := bridge.Token{
		ID: -id, Name: hook.Name, Scopes: []bridge.Scope{bridge.ScopeSend}, Chats: []bridge.JID{hook.Chat}, ExpiresAt: creator.ExpiresAt, Tree: -id,
	}
	if creator.ID != 0 {
		token.Tree, token.Ancestors = creator.Tree, append([]int64{creator.ID}, creator.Ancestors...)
	}
	return &Caller{Token: token, ctx: creator.ctx, hook: &hook}, nil
}
