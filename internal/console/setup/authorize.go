package setup

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
	"bridged/internal/oauth"
)

// accessDays is when access ends unless the owner says otherwise.
const accessDays = 90

// authorizePage asks the owner whether a program may have access.
type authorizePage struct {
	oauth.Request
	Query    string  // the client's request, for the form
	Rights   []right // to choose from, the least first
	AllChats bool    // whether the visitor can give access to all chats
	Form     authorizeForm
}

type authorizeForm struct {
	Rights  string // the chosen scopes
	All     bool   // chats
	Chats   names.Choice
	Expires string
	Wrong   map[string]string
}

// right is a choice of scopes for a program.
type right struct {
	Value, Label, About string
	scopes              []bridge.Scope
}

// refusedPage explains why a program's request is refused.
type refusedPage struct {
	*oauth.Refusal
	Back template.URL
}

// ShowAuthorize asks for consent to a program's request.
func ShowAuthorize(req *frame.Request) error {
	page, err := authorizePageFor(req, req.URL.RawQuery)
	if err != nil {
		return refuseAuthorize(req, err)
	}
	page.Form = authorizeForm{Rights: page.Rights[0].Value}
	if end := req.Now().AddDate(0, 0, accessDays); req.Token.ExpiresAt == nil || end.Before(req.Token.ExpiresAt.Time) {
		page.Form.Expires = req.Clock().Date(bridge.At(end))
	}
	return req.Show("authorize", "Access for a program", page)
}

// authorizePageFor returns the page for a request, without the form's values. The page is never shown
// in a frame, because a click there could be meant for another page.
func authorizePageFor(req *frame.Request, query string) (page authorizePage, err error) {
	req.FormsLeadTo("'self'")
	if req.Options.OAuth == nil {
		return page, frame.ErrNotFound
	}
	if !req.Token.Allows(bridge.ScopeManage) {
		return page, frame.Refused(http.StatusForbidden, "Your token doesn’t include the permission “Manage”, so it can’t give a program access. Log out, and open this page again with another token.")
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return page, errBadRequest
	}
	page.Query, page.AllChats = query, req.Token.Chats == nil
	if page.Request, err = req.Options.OAuth.Check(req.Context(), req.Host, values); err != nil {
		return page, err
	}
	if page.Rights = rightsOf(page.Scopes, req.Token); len(page.Rights) == 0 {
		return page, frame.Refused(http.StatusForbidden, "The program asks for permissions that your token doesn’t have. Log out, and open this page again with another token.")
	}
	req.FormsLeadTo("'self' " + page.FormTarget())
	return page, nil
}

var errBadRequest = frame.Refused(http.StatusBadRequest, "The program opened this page with an address that can’t be read. Start again in the program.")

// rightsOf returns the choices of a visitor: the first requested scope that they have, then all.
func rightsOf(asked []bridge.Scope, token bridge.Token) (rights []right) {
	var one right
	for _, scope := range asked {
		if !token.Allows(scope) {
			continue
		}
		one.scopes = append(slices.Clone(one.scopes), scope)
		words := view.ScopeWords[scope]
		if len(one.scopes) == 1 {
			one.Value, one.Label, one.About = string(scope), words.Label, words.About
		} else {
			one.Value, one.Label, one.About = one.Value+" "+string(scope), one.Label+" and "+strings.ToLower(words.Label), one.About+"; "+words.About
		}
		rights = append(rights, one)
	}
	return rights
}

// Authorize grants or refuses a program's request.
func Authorize(req *frame.Request) error {
	f := req.Filled()
	page, err := authorizePageFor(req, f.Get("request"))
	if err != nil {
		return refuseAuthorize(req, err)
	}
	if f.Get("decision") != "allow" {
		http.Redirect(req.W, req.Request, page.Denied(), http.StatusSeeOther)
		return nil
	}
	page.Form = authorizeForm{Rights: f.Get("rights"), All: f.Get("all") != "", Expires: f.Get("expires"), Wrong: f.Wrong}
	wanted, err := grantedToken(req, f, &page)
	if err != nil {
		return err
	}
	status := http.StatusBadRequest
	if len(f.Wrong) == 0 {
		location, err := req.Options.OAuth.Allow(req.Context(), req.API, page.Request, wanted)
		if err == nil {
			http.Redirect(req.W, req.Request, location, http.StatusSeeOther)
			return nil
		}
		if status, err = req.Refusal(f, err, tokenFields); err != nil {
			return err
		}
	}
	return req.ShowAs(status, "authorize", "Access for a program", page)
}

// grantedToken reads the form of a grant and sets its errors.
func grantedToken(req *frame.Request, f *frame.Form, page *authorizePage) (wanted client.NewToken, err error) {
	shown := tokenForm{Name: page.Client.Name, Expires: page.Form.Expires, Wrong: f.Wrong}
	for _, one := range page.Rights {
		if one.Value == page.Form.Rights {
			shown.Scopes = one.scopes
		}
	}
	if shown.Scopes == nil {
		f.Refuse("rights", "Choose what the program can do.")
	}
	if wanted, err = newToken(req, f, &shown); err != nil {
		return wanted, err
	}
	page.Form.Chats = shown.Chats
	switch {
	case page.Form.All && !page.AllChats:
		f.Refuse("chats", "Your token is limited to some chats. Choose among them.")
	case page.Form.All && len(wanted.Chats) > 0:
		f.Refuse("chats", "Choose either some chats or all chats.")
	case !page.Form.All && len(wanted.Chats) == 0:
		f.Refuse("chats", "Choose the chats that the program can use, or all chats.")
	}
	return wanted, nil
}

// refuseAuthorize shows why a request cannot be granted. It offers the way back if the program and its
// address are known.
func refuseAuthorize(req *frame.Request, err error) error {
	if refused, ok := errors.AsType[*oauth.Refusal](err); ok {
		return req.ShowAs(http.StatusBadRequest, "refused", "This request can’t be granted", refusedPage{refused, template.URL(refused.Return)})
	}
	if refused, ok := errors.AsType[*oauth.Error](err); ok {
		p := frame.Titled(http.StatusBadRequest, "This request can’t be granted", "The program asked for access in a way that doesn’t work here. Nothing was granted.")
		p.Details = view.Sentence(refused.Description)
		return p
	}
	return err
}
