package frame

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/console/view"
)

// Administers reports whether the token of the visitor has power over the whole account.
func (req *Request) Administers() bool {
	return req.Token.Chats == nil && req.Imports()
}

// Imports reports whether the visitor may import exported chats.
func (req *Request) Imports() bool {
	return req.Token.Allows(bridge.ScopeRead) && req.Token.Allows(bridge.ScopeManage)
}

// Sends reports whether the visitor may send.
func (req *Request) Sends() bool { return req.NoSending() == "" }

// Curl returns a call of the API as a curl command, for visitors who may manage the account; empty for others.
// See [view.Curl].
func (req *Request) Curl(method, path string, body any, arguments ...string) string {
	if !req.Administers() {
		return ""
	}
	return view.Curl(method, path, body, arguments...)
}

// NoSending says why the visitor cannot send; empty if they can.
func (req *Request) NoSending() string { return req.site.noSending(req.Token) }

// Limits describes the rights of the visitor's token; empty if it has all.
func (req *Request) Limits() string { return req.site.limits(req.Token) }

// IsSecure reports whether the request came over TLS, here or at the reverse proxy.
func (req *Request) IsSecure() bool { return req.site.isSecure(req.Request) }

// Now returns the current time.
func (req *Request) Now() time.Time { return req.site.now() }

// Zone returns the visitor's time zone.
func (req *Request) Zone() *time.Location { return req.session.zone.Load() }

// Clock formats times for the visitor.
func (req *Request) Clock() view.Clock { return view.Clock{Zone: req.Zone(), Now: req.Now()} }

// Notify shows a sentence at the top of the next page.
func (req *Request) Notify(text string, failed bool) {
	req.session.notice.Store(&Notice{Text: text, Failed: failed})
}

// NotifyProblem shows a problem at the top of the next page.
func (req *Request) NotifyProblem(p Problem) {
	req.session.notice.Store(&Notice{Text: p.Text, Details: p.Details, Failed: true})
}

// TakeNotice returns the sentence for the next page, which no longer shows it; nil if none.
func (req *Request) TakeNotice() *Notice { return req.session.notice.Swap(nil) }

// Transcribes reports whether the visitor can have voice notes transcribed.
func (req *Request) Transcribes() bool {
	return req.Options.Transcribes && req.Token.Transcribes()
}

// AsksPhone reports whether the visitor can have the phone send older messages.
func (req *Request) AsksPhone() bool { return req.Options.AsksPhone && req.Imports() }

// noSending says why the holder of a token cannot send; empty if they can.
func (site *Site) noSending(token bridge.Token) string {
	switch {
	case !token.Allows(bridge.ScopeSend):
		return "Your token doesn’t allow sending."
	case !site.options.EnableSend && token.Chats == nil && token.Allows(bridge.ScopeManage):
		return "Sending is off. The overview says how to turn it on."
	case !site.options.EnableSend:
		return "Sending is turned off on this bridge."
	}
	return ""
}

// limits describes the rights of a token; empty if it has all.
func (site *Site) limits(token bridge.Token) string {
	if token.Chats == nil && len(token.Scopes) == len(bridge.Scopes()) {
		return ""
	}
	return strings.TrimSpace(readable(token) + " " + site.noSending(token))
}

// LackingScope returns the problem of a visitor whose token lacks a scope.
func LackingScope(scope bridge.Scope) error {
	p := Refused(http.StatusForbidden, lacking(bridge.Fail(bridge.CodeForbidden, lackedScope+"%s", scope)))
	p.Code = string(bridge.CodeForbidden)
	return p
}

// lackedScope begins the API's refusal of a token without a scope.
const lackedScope = "this token lacks the scope "

// lacking returns the sentence for an error of the API. It names the permission that a token lacks.
func lacking(err *bridge.Error) string {
	scope, found := strings.CutPrefix(err.Msg, lackedScope)
	words, known := view.ScopeWords[bridge.Scope(scope)]
	if !found || !known {
		return view.Refusal(err)
	}
	return fmt.Sprintf("Your token doesn’t include the permission “%s”.", words.Label)
}

// readable says which chats the holder of a token can read.
func readable(token bridge.Token) string {
	switch {
	case !token.Allows(bridge.ScopeRead):
		return "Your token doesn’t allow reading chats."
	case token.Chats == nil:
		return "You have access to all chats."
	case len(token.Chats) == 1:
		return "You have access to one chat."
	}
	return fmt.Sprintf("You have access to %s chats.", view.InWords(len(token.Chats)))
}
