package setup

import (
	"html/template"
	"net/http"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

type tokensPage struct {
	Tokens []tokenRow
	Made   string // the secret of a new one, shown once
	Name   string // of it
	Form   tokenForm
	Curl   string
}

type tokenRow struct {
	bridge.Token
	ChatNames []names.Entry
}

// tokenForm holds the fields of a new token.
type tokenForm struct {
	Name    string
	Scopes  []bridge.Scope
	Chats   names.Choice
	Expires string
	Wrong   map[string]string
}

// ShowTokens shows the tokens.
func ShowTokens(req *frame.Request) error {
	made := frame.Result[client.MadeToken](req)
	return showTokensWith(req, http.StatusOK, tokensPage{Made: made.Secret, Name: made.Name, Form: tokenForm{Scopes: []bridge.Scope{bridge.ScopeRead}}})
}

func showTokensWith(req *frame.Request, status int, page tokensPage) error {
	page.Curl = req.Curl("POST", "/api/tokens", map[string]any{"name": "support desk", "scopes": []string{"read"}})
	tokens, err := req.API.Tokens(req.Context())
	if err != nil {
		return err
	}
	for _, token := range tokens {
		page.Tokens = append(page.Tokens, tokenRow{token, names.ChoiceOf(req, token.Chats...).Chosen})
	}
	return req.ShowAs(status, "tokens", "Tokens", page)
}

// tokenFields has the labels of the API's fields.
var tokenFields = map[string]frame.Label{"name": {Field: "name", Label: "The name"}, "scopes": {Field: "scope", Label: "Permissions"}, "chats": {Field: "chats", Label: "Only these chats"}, "expiresAt": {Field: "expires", Label: "The last day"}}

// CreateToken creates a token and shows its secret.
func CreateToken(req *frame.Request) error {
	f := req.Filled()
	page := tokensPage{Form: tokenForm{Name: f.Get("name"), Scopes: view.Typed[bridge.Scope](f.Values["scope"]), Expires: f.Get("expires"), Wrong: f.Wrong}}
	wanted, err := newToken(req, f, &page.Form)
	if err != nil {
		return err
	}
	if len(f.Wrong) > 0 {
		return showTokensWith(req, http.StatusBadRequest, page)
	}
	made, err := req.API.CreateToken(req.Context(), wanted)
	if err == nil {
		return req.ShowOnce(view.Root+"/tokens", made)
	}
	status, err := req.Refusal(f, err, tokenFields)
	if err != nil {
		return err
	}
	return showTokensWith(req, status, page)
}

// newToken reads the form of a token and sets its errors.
func newToken(req *frame.Request, f *frame.Form, shown *tokenForm) (wanted client.NewToken, err error) {
	wanted.Name, wanted.Scopes = strings.TrimSpace(shown.Name), shown.Scopes
	if wanted.Name == "" {
		f.Refuse("name", "Give the token a name, so that you recognise it later.")
	}
	if len(wanted.Scopes) == 0 {
		f.Refuse("scope", "Choose at least one permission.")
	}
	if shown.Chats, err = names.Choose(req, f, "chats"); err != nil {
		return wanted, err
	}
	if len(shown.Chats.Chosen) > 0 { // none is all
		wanted.Chats = shown.Chats.Jids()
	}
	switch ends, err := req.Clock().ParseDay(shown.Expires, true); {
	case err != nil:
		f.Refuse("expires", "Enter a date such as 2027-01-31.")
	case ends != nil && ends.Before(req.Now()):
		f.Refuse("expires", "Choose a day in the future.")
	default:
		wanted.ExpiresAt = ends
	}
	return wanted, nil
}

// RevokeToken revokes a token.
func RevokeToken(req *frame.Request) error {
	return req.Done(req.API.RevokeToken(req.Context(), req.Number), "Token revoked", view.Root+"/tokens")
}

// Functions are functions for the templates of this package.
var Functions = template.FuncMap{
	"platform": platform, "whose": whose, "formatName": formatName, "webhookFormats": bridge.WebhookFormats,
	"scopes": bridge.Scopes, "scopeWords": func(s bridge.Scope) any { return view.ScopeWords[s] }, "permits": slices.Contains[[]bridge.Scope],
	"eventTypes": bridge.EventTypes, "chosen": slices.Contains[[]bridge.EventType],
	"hookTemplates": func() []hookTemplate { return hookTemplates },
	"dateOrders":    func() []bridge.DateOrder { return bridge.DateOrders }, "orderWords": func(o bridge.DateOrder) string { return orderWords[o] },
	"dateInWords": dateInWords, "wallTime": wallTime, "importField": importField,
}
