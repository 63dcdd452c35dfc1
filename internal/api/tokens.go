package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

const (
	maxTokens     = 1000
	maxOwnTokens  = 50   // of one that BRIDGE_TOKEN made with all that was made with it
	maxTokenName  = 100  // characters
	maxTokenChats = 1000 // of one token
)

// withTokenSecret is a token with its secret, which is shown once.
type withTokenSecret struct {
	bridge.Token
	Secret string `json:"secret"`
}

// tokenRequest is the body that makes a token.
type tokenRequest struct {
	Name      string    `json:"name"`
	Scopes    []string  `json:"scopes" max:"3"`
	Chats     *[]string `json:"chats" max:"1000"`
	ExpiresAt *string   `json:"expiresAt"`
}

func (s *server) createToken(w http.ResponseWriter, r *http.Request) error {
	var req tokenRequest
	if _, err := s.bodies.decodeStrict(w, r, &req); err != nil {
		return err
	}
	token, err := s.tokenOf(req)
	if err != nil {
		return err
	}
	caller := callerOf(r.Context())
	if token.Parent = caller.ID; token.ExpiresAt == nil {
		token.ExpiresAt = caller.ExpiresAt // what it made ends with it
	}
	if err := s.mayMake(caller, token); err != nil {
		return err
	}
	secret := bridge.TokenPrefix + rand.Text()
	hash := sha256.Sum256([]byte(secret))
	token.Hash = hash[:]
	if token, err = s.bearers.add(r.Context(), token); err != nil {
		return err
	}
	return s.write(w, r, http.StatusCreated, withTokenSecret{token, secret})
}

// tokenOf reads what a request describes.
func (s *server) tokenOf(req tokenRequest) (bridge.Token, error) {
	token := bridge.Token{Name: strings.TrimSpace(req.Name)}
	if token.Name == "" || utf8.RuneCountInString(token.Name) > maxTokenName || strings.ContainsFunc(token.Name, unicode.IsControl) {
		return token, bridge.Invalid("name is required: 1 to %d characters that say what the token is for", maxTokenName)
	}
	var err error
	if token.Scopes, err = parseScopes(req.Scopes); err != nil {
		return token, err
	}
	if req.Chats != nil {
		if token.Chats, err = s.parseTokenChats(*req.Chats); err != nil {
			return token, err
		}
	}
	token.ExpiresAt, err = s.parseExpiry(req.ExpiresAt)
	return token, err
}

// parseScopes reads names of scopes and returns each once, in the order of
// [bridge.Scopes].
func parseScopes(names []string) ([]bridge.Scope, error) {
	for _, name := range names {
		if !slices.Contains(bridge.Scopes(), bridge.Scope(name)) {
			return nil, bridge.Invalid("scopes must be among read, send, manage")
		}
	}
	if len(names) == 0 {
		return nil, bridge.Invalid("scopes is required: one or more of read, send, manage")
	}
	return slices.DeleteFunc(bridge.Scopes(), func(scope bridge.Scope) bool { return !slices.Contains(names, string(scope)) }), nil
}

// parseTokenChats reads the chats of a token and returns each once.
func (s *server) parseTokenChats(values []string) ([]bridge.JID, error) {
	if len(values) == 0 || len(values) > maxTokenChats {
		return nil, bridge.Invalid("chats must name 1 to %d chats, or be null for all", maxTokenChats)
	}
	var chats []bridge.JID
	for _, value := range values {
		jid, err := parseChat("chats", value)
		if err != nil {
			return nil, err
		}
		if !s.isAmong(jid, chats) {
			chats = append(chats, s.canonical(jid))
		}
	}
	return chats, nil
}

func (s *server) parseExpiry(value *string) (*bridge.Time, error) {
	if value == nil || *value == "" {
		return nil, nil
	}
	t, err := time.Parse(time.RFC3339, *value)
	if err != nil || !t.After(s.now()) {
		return nil, bridge.Invalid("expiresAt must be a moment to come, like 2027-01-31T00:00:00Z, or null for never")
	}
	at := bridge.At(t)
	return &at, nil
}

// mayMake refuses a token that may do or see more than the one that makes it.
func (s *server) mayMake(caller, token bridge.Token) error {
	for _, scope := range token.Scopes {
		if !caller.Allows(scope) {
			return bridge.Fail(bridge.CodeForbidden, "this token lacks the scope %s, so it cannot make a token with it", scope)
		}
	}
	isWider := func(chat bridge.JID) bool { return !s.isAmong(chat, caller.Chats) }
	switch {
	case caller.Chats != nil && (token.Chats == nil || slices.ContainsFunc(token.Chats, isWider)):
		return bridge.Fail(bridge.CodeForbidden, "this token is limited to some chats: name chats among them")
	case caller.ExpiresAt != nil && token.ExpiresAt.After(caller.ExpiresAt.Time):
		return bridge.Fail(bridge.CodeForbidden, "this token expires at %s, so it cannot make one that lives longer", caller.ExpiresAt)
	}
	return nil
}

func (s *server) listTokens(w http.ResponseWriter, r *http.Request) error {
	tokens, err := s.ownTokens(r.Context())
	if err != nil {
		return err
	}
	return s.answer(w, r, struct {
		Count  int            `json:"count"`
		Tokens []bridge.Token `json:"tokens"`
	}{len(tokens), notNull(tokens)})
}

// ownTokens returns the tokens that the caller may see: all for BRIDGE_TOKEN,
// itself and what it made for a token.
func (s *server) ownTokens(ctx context.Context) ([]bridge.Token, error) {
	tokens, err := s.store.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	own := map[int64]bool{callerOf(ctx).ID: true}
	return slices.DeleteFunc(tokens, func(token bridge.Token) bool {
		own[token.ID] = own[token.ID] || own[token.Parent] // parents are older
		return !own[token.ID]
	}), nil
}

func (s *server) getToken(w http.ResponseWriter, r *http.Request) error {
	token, err := s.pathToken(r)
	if err != nil {
		return err
	}
	return s.answer(w, r, token)
}

// pathToken returns the token that the path names, if the caller may see it.
func (s *server) pathToken(r *http.Request) (bridge.Token, error) {
	id, err := pathNumber(r, "id")
	if err != nil {
		return bridge.Token{}, bridge.NotFound("no token has this id")
	}
	tokens, err := s.ownTokens(r.Context())
	if err != nil {
		return bridge.Token{}, err
	}
	for _, token := range tokens {
		if token.ID == id {
			return token, nil
		}
	}
	return bridge.Token{}, bridge.NotFound("there is no token %d", id)
}

// getOwnToken answers what the caller may do.
func (s *server) getOwnToken(w http.ResponseWriter, r *http.Request) error {
	caller := callerOf(r.Context())
	return s.answer(w, r, struct {
		Name      string         `json:"name"`
		Scopes    []bridge.Scope `json:"scopes"`
		Chats     []bridge.JID   `json:"chats"`
		ExpiresAt *bridge.Time   `json:"expiresAt"`
	}{caller.Name, caller.Scopes, caller.Chats, caller.ExpiresAt})
}

// deleteToken revokes a token, with all that was made with it. Its requests and
// streams end.
func (s *server) deleteToken(w http.ResponseWriter, r *http.Request) error {
	token, err := s.pathToken(r)
	if err != nil {
		return err
	}
	removed, err := s.store.RemoveToken(r.Context(), token.ID)
	if err != nil {
		return err
	}
	s.webhooks.Forget(removed.Webhooks)
	if err := s.answer(w, r, struct {
		OK bool `json:"ok"`
	}{true}); err != nil {
		return err
	}
	s.bearers.remove(removed.Tokens) // perhaps the caller's own
	return nil
}
