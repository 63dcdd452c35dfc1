package console

import (
	"net/http"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// tokensPage lists the tokens, with a form for another one.
type tokensPage struct {
	Tokens []bridge.Token
	Made   string // the secret of a new one, shown once
	Name   string // of it
	Scopes []bridge.Scope
	Curl   string
}

// showTokens answers the list of tokens.
func (c *Console) showTokens(v *visit) error { return v.showTokensWith("", "") }

func (v *visit) showTokensWith(secret, name string) (err error) {
	page := tokensPage{Made: secret, Name: name, Scopes: bridge.Scopes(), Curl: curlPost("/api/tokens", map[string]any{"name": "support desk", "scopes": []string{"read"}})}
	if page.Tokens, err = v.api.Tokens(v.r.Context()); err != nil {
		return err
	}
	v.show(http.StatusOK, "tokens", "Tokens", page)
	return nil
}

// createToken makes a token, and shows its secret once.
func (c *Console) createToken(v *visit) error {
	form := v.r.PostForm
	wanted := client.NewToken{Name: form.Get("name")}
	for _, scope := range form["scope"] {
		wanted.Scopes = append(wanted.Scopes, bridge.Scope(scope))
	}
	for _, jid := range strings.Fields(strings.ReplaceAll(form.Get("chats"), ",", " ")) {
		wanted.Chats = append(wanted.Chats, bridge.JID(jid))
	}
	if day := form.Get("expires"); day != "" {
		at, err := time.ParseInLocation(time.DateOnly, day, v.session.zone.Load())
		if err != nil {
			return bridge.Invalid("the end must be a date, such as 2027-01-31")
		}
		ends := bridge.At(at)
		wanted.ExpiresAt = &ends
	}
	made, err := v.api.CreateToken(v.r.Context(), wanted)
	if err != nil {
		return err
	}
	return v.showTokensWith(made.Secret, made.Name)
}

// revokeToken ends a token.
func (c *Console) revokeToken(v *visit) error {
	id, err := v.number("id")
	if err != nil {
		return err
	}
	return v.after(v.api.RevokeToken(v.r.Context(), id), "The token is revoked.", root+"/tokens")
}
