package console

import (
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

type settingsPage struct {
	Settings []Setting
	facts
	Curl string
}

func (c *Console) showSettings(v *visit) (err error) {
	if !v.administers() {
		return errUnknown
	}
	page := settingsPage{Settings: c.options.Settings, Curl: curl("POST", "/api/auth/reconnect", nil)}
	if page.facts, err = v.facts(); err != nil {
		return err
	}
	return v.show("settings", "Settings", page)
}

func (c *Console) reconnect(v *visit) error {
	return v.done(v.api.Reconnect(v.r.Context()), "Connecting.", root+"/")
}

// unlink wipes the session of the account, once its number, if it has one, was typed.
func (c *Console) unlink(v *visit) error {
	status, err := v.status()
	if err != nil {
		return err
	}
	if status.HasSession && (status.User == nil || bridge.PhoneDigits(v.r.PostForm.Get("number")) != status.User.Phone) {
		return problem{http.StatusBadRequest, "This is not the number", "Nothing was done. Type the number of the linked account, with its country code.", ""}
	}
	unlinked, err := v.api.Logout(v.r.Context())
	text := "The account is unlinked. Its messages are still here."
	if !unlinked {
		text = "The keys are wiped. The network could not be reached: remove the device on the phone, too."
	}
	return v.done(err, text, root+"/")
}

type tokensPage struct {
	Tokens []bridge.Token
	Made   string // the secret of a new one, shown once
	Name   string // of it
	Scopes []bridge.Scope
	Curl   string
}

func (c *Console) showTokens(v *visit) error { return v.showTokensWith(client.MadeToken{}, nil) }

func (v *visit) showTokensWith(made client.MadeToken, err error) error {
	if err != nil {
		return err
	}
	page := tokensPage{Made: made.Secret, Name: made.Name, Scopes: bridge.Scopes(), Curl: curl("POST", "/api/tokens", map[string]any{"name": "support desk", "scopes": []string{"read"}})}
	if page.Tokens, err = v.api.Tokens(v.r.Context()); err != nil {
		return err
	}
	return v.show("tokens", "Tokens", page)
}

func (c *Console) createToken(v *visit) error {
	form := v.r.PostForm
	wanted := client.NewToken{Name: form.Get("name"), Scopes: typed[bridge.Scope](form["scope"])}
	if chats := jidsIn(form.Get("chats")); len(chats) > 0 { // none is all
		wanted.Chats = typed[bridge.JID](chats)
	}
	var err error
	if wanted.ExpiresAt, err = v.day(form.Get("expires"), false); err != nil {
		return err
	}
	return v.showTokensWith(v.api.CreateToken(v.r.Context(), wanted))
}

func (c *Console) revokeToken(v *visit) error {
	return v.done(v.api.RevokeToken(v.r.Context(), v.number), "The token is revoked.", root+"/tokens")
}
