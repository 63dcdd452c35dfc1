package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"

	"bridged/internal/api/content"
	"bridged/internal/bridge"
)

const (
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
	err := content.CheckName(token.Name, "token")
	if err != nil {
		return token, err
	}
	if token.Scopes, err = content.ParseScopes(req.Scopes); err != nil {
		return token, err
	}
	if req.Chats != nil {
		if token.Chats, err = s.parseTokenChats(*req.Chats); err != nil {
			return token, err
		}
	}
	token.ExpiresAt, err = content.ParseExpiry(s.Now(), req.ExpiresAt)
	return token, err
}

// parseTokenChats returns each chat of a token once.
func (s *server) parseTokenChats(values []string) ([]bridge.JID, error) {
	if len(values) == 0 || len(values) > maxTokenChats {
		return nil, bridge.Invalid("chats must name 1 to %d chats, or be null for all", maxTokenChats)
	}
	var chats []bridge.JID
	for _, value := range values {
		jid, err := content.ParseStored("chats", value)
		if err != nil {
			return nil, err
		}
		if !s.isAmong(jid, chats) {
			chats = append(chats, s.canonical(jid))
		}
	}
	return chats, nil
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
	}{len(tokens), bridge.NotNil(tokens)}, err
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
	err = in.write(http.StatusOK, done{true})
	defer in.Schedule.Wake()
	in.tokens.Revoke(removed.Tokens) // after the answer, as the caller's own token may be among them
	return nil, err
}
