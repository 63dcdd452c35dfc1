package console

import (
	"net/http"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

type tokensPage struct {
	Tokens []tokenRow
	Made   string // the secret of a new one, shown once
	Name   string // of it
	Form   tokenForm
	Known  []named
	Curl   string
}

type tokenRow struct {
	bridge.Token
	ChatNames []named
}

// tokenForm holds the fields of a new token.
type tokenForm struct {
	Name    string
	Scopes  []bridge.Scope
	Chats   choice
	Expires string
	Wrong   map[string]string
}

// scopeWords says what a scope permits.
var scopeWords = map[bridge.Scope]struct{ Label, About string }{
	bridge.ScopeRead:   {"Read", "chats, messages, files, calls and events"},
	bridge.ScopeSend:   {"Send", "messages, reactions, changes to groups"},
	bridge.ScopeManage: {"Manage", "the account, webhooks, hooks and tokens"},
}

func (c *Console) showTokens(v *visit) error {
	return v.showTokensWith(http.StatusOK, tokensPage{Form: tokenForm{Scopes: []bridge.Scope{bridge.ScopeRead}}})
}

func (v *visit) showTokensWith(status int, page tokensPage) error {
	page.Curl = curl("POST", "/api/tokens", map[string]any{"name": "support desk", "scopes": []string{"read"}})
	tokens, err := v.api.Tokens(v.r.Context())
	if err != nil {
		return err
	}
	for _, token := range tokens {
		page.Tokens = append(page.Tokens, tokenRow{token, v.choiceOf(token.Chats...).Chosen})
	}
	if page.Known, err = v.chatsLike(v.r.Context(), "", suggestions); err != nil {
		return err
	}
	return v.showAs(status, "tokens", "Tokens", page)
}

// tokenFields names the fields of the API as the page calls them.
var tokenFields = map[string]words{"name": {"name", "The name"}, "scopes": {"scope", "Permissions"}, "chats": {"chats", "Only these chats"}, "expiresAt": {"expires", "The last day"}}

func (c *Console) createToken(v *visit) error {
	f := v.form()
	page := tokensPage{Form: tokenForm{Name: f.Get("name"), Scopes: typed[bridge.Scope](f.Values["scope"]), Expires: f.Get("expires"), Wrong: f.Wrong}}
	wanted, err := v.newToken(f, &page.Form)
	if err != nil {
		return err
	}
	if len(f.Wrong) > 0 {
		return v.showTokensWith(http.StatusBadRequest, page)
	}
	made, err := v.api.CreateToken(v.r.Context(), wanted)
	if err == nil {
		return v.showTokensWith(http.StatusOK, tokensPage{Made: made.Secret, Name: made.Name, Form: tokenForm{Scopes: []bridge.Scope{bridge.ScopeRead}}})
	}
	status, err := v.refusal(f, err, tokenFields)
	if err != nil {
		return err
	}
	return v.showTokensWith(status, page)
}

// newToken reads the form of a token, and notes what is wrong with it.
func (v *visit) newToken(f *form, shown *tokenForm) (wanted client.NewToken, err error) {
	wanted.Name, wanted.Scopes = strings.TrimSpace(shown.Name), shown.Scopes
	if wanted.Name == "" {
		f.refuse("name", "Give the token a name, so that you recognise it later.")
	}
	if len(wanted.Scopes) == 0 {
		f.refuse("scope", "Choose at least one permission.")
	}
	if shown.Chats, err = v.choose(f, "chats"); err != nil {
		return wanted, err
	}
	if len(shown.Chats.Chosen) > 0 { // none is all
		wanted.Chats = shown.Chats.jids()
	}
	switch ends, err := v.day(shown.Expires, true); {
	case err != nil:
		f.refuse("expires", "Enter a date such as 2027-01-31.")
	case ends != nil && ends.Before(v.c.now()):
		f.refuse("expires", "Choose a day in the future.")
	default:
		wanted.ExpiresAt = ends
	}
	return wanted, nil
}

func (c *Console) revokeToken(v *visit) error {
	return v.done(v.api.RevokeToken(v.r.Context(), v.number), "The token was revoked.", root+"/tokens")
}
