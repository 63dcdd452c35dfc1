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
	maxGivenName  = 100  // characters of a token's or a hook's name
	maxTokenChats = 1000 // of one token
)

// withTokenSecret is a new token with its secret, which is only shown once.
type withTokenSecret struct {
	bridge.Token
	Secret string `json:"secret"`
}

type tokenRequest struct {
	Name      string    `json:"name"`
	Scopes    []string  `json:"scopes"`
	Chats     *[]string `json:"chats"`
	ExpiresAt *string   `json:"expiresAt"`
}

func createToken(in *input) (any, error) {
	var req tokenRequest
	in.body(&req, strict)
	token, err := in.tokenOf(req)
	if keep(in, token, err); in.err != nil {
		return nil, in.err
	}
	caller := in.caller()
	if token.Parent = caller.ID; token.ExpiresAt == nil {
		token.ExpiresAt = caller.ExpiresAt // a token does not outlive its creator
	}
	if err := in.mayMake(caller, token); err != nil {
		return nil, err
	}
	secret := bridge.TokenPrefix + rand.Text()
	hash := sha256.Sum256([]byte(secret))
	token.Hash = hash[:]
	token, err = in.tokens.Add(in.ctx(), token)
	return created{withTokenSecret{token, secret}}, err
}

// tokenOf returns the token that a request describes.
func (s *server) tokenOf(req tokenRequest) (bridge.Token, error) {
	token := bridge.Token{Name: strings.TrimSpace(req.Name)}
	err := checkName(token.Name, "token")
	if err != nil {
		return token, err
	}
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

// checkName checks the name of a token or hook.
func checkName(name, thing string) error {
	if name == "" || utf8.RuneCountInString(name) > maxGivenName || strings.ContainsFunc(name, unicode.IsControl) {
		return bridge.Invalid("name is required: 1 to %d characters that say what the %s is for", maxGivenName, thing)
	}
	return nil
}

// parseScopes returns each scope once, in the order of [bridge.Scopes].
func parseScopes(names []string) ([]bridge.Scope, error) {
	if most := len(bridge.Scopes()); len(names) > most {
		return nil, bridge.Invalid("scopes must hold at most %d elements", most)
	}
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

// parseTokenChats returns each chat of a token once.
func (s *server) parseTokenChats(values []string) ([]bridge.JID, error) {
	if len(values) == 0 || len(values) > maxTokenChats {
		return nil, bridge.Invalid("chats must name 1 to %d chats, or be null for all", maxTokenChats)
	}
	var chats []bridge.JID
	for _, value := range values {
		jid, err := parseStored("chats", value)
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
	if err != nil || !t.After(s.Now()) {
		return nil, bridge.Invalid("expiresAt must be a moment to come, like 2027-01-31T00:00:00Z, or null for never")
	}
	at := bridge.At(t)
	return &at, nil
}

// mayMake refuses a token that may do or see more than its creator.
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

func listTokens(in *input) (any, error) {
	tokens, err := in.tokens.Own(in.ctx())
	return struct {
		Count  int            `json:"count"`
		Tokens []bridge.Token `json:"tokens"`
	}{len(tokens), notNull(tokens)}, err
}

func getToken(in *input) (any, error) { return pathToken(in) }

func pathToken(in *input) (bridge.Token, error) {
	return pathOwn(in, "token", in.tokens.Own, func(token bridge.Token) int64 { return token.ID })
}

func getOwnToken(in *input) (any, error) {
	caller := in.caller()
	return struct {
		Name      string         `json:"name"`
		Scopes    []bridge.Scope `json:"scopes"`
		Chats     []bridge.JID   `json:"chats"`
		ExpiresAt *bridge.Time   `json:"expiresAt"`
		Account   *bridge.User   `json:"account"`
	}{caller.Name, caller.Scopes, caller.Chats, caller.ExpiresAt, in.Account.Status().User}, nil
}

// deleteToken revokes a token and everything that was created with it.
func deleteToken(in *input) (any, error) {
	token, err := pathToken(in)
	if err != nil {
		return nil, err
	}
	removed, err := in.Store.RemoveToken(context.WithoutCancel(in.ctx()), token.ID) // revoking its own token may end the request
	if err != nil {
		if bridge.CodeOf(err) != bridge.CodeNotFound {
			in.tokens.RevokeTree(token.ID)
			err = bridge.Fail(bridge.CodeStorageUnavailable, "the token no longer opens anything, but it could not be removed from the store: "+
				"it would work again after a restart, and its webhooks stay. Free space on the disk, and revoke it again").Because(err)
		}
		return nil, err
	}
	in.Webhooks.Forget(removed.Webhooks)
	err = in.write(in.w, in.r, http.StatusOK, done{true})
	defer in.Schedule.Wake()
	in.tokens.Revoke(removed.Tokens) // after the answer, as the caller's own token may be among them
	return nil, err
}
