// Package frame is the base of the console's pages: sessions and login, the context of a
// request, forms with their CSRF token, and the layout.
package frame

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/view"
	"bridged/internal/intake"
)

// maxForm limits a form without a file, in bytes: a text of 65,536
// characters, escaped.
const maxForm = intake.MaxBody

// Request is the context of one request of a visitor who has logged in.
type Request struct {
	*http.Request
	W       http.ResponseWriter
	API     *client.Client // with the token of the session
	Token   bridge.Token   // its rights
	Options *Options

	site    *Site
	session *session
	account *bridge.Status // nil until it is requested
	chats   map[bridge.JID]bridge.Chat
	labels  *view.Labels // nil until they are requested
	Cursor  string       // the end of the event log when the request began; see [Site.Live]

	// From the path, if the route has them.
	Chat     bridge.JID
	ID       string // of a message or a call
	Number   int64  // of a webhook, a hook or a token
	Delivery int64
}

// Handler answers a request or returns an error, which the page shows.
type Handler func(req *Request) error

// Page calls h for visitors who have logged in, and redirects others to the login.
func (site *Site) Page(h Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := site.sessionOf(r)
		if s == nil {
			site.sendToLogin(w, r)
			return
		}
		isPage := r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
		if cookie, err := r.Cookie(cookieName(r)); err == nil && site.sessions.use(r.Context(), s, isPage) {
			site.setCookie(w, r, cookie.Value)
		}
		req := &Request{Request: r, W: w, API: s.api, Token: s.token, Options: &site.options, site: site, session: s}
		err := req.readPath()
		if err == nil {
			err = h(req)
		}
		if err != nil {
			req.fail(err)
		}
	}
}

// readPath reads the values in the path. A malformed one is not found.
func (req *Request) readPath() (err error) {
	read := func(name string, parse func(string) error) {
		if text := req.PathValue(name); text != "" && parse(text) != nil {
			err = ErrNotFound
		}
	}
	read("jid", func(text string) (err error) { req.Chat, err = bridge.ParseJID(text); return err })
	read("id", func(text string) (err error) { req.ID, err = bridge.ParsePathID(text); return err })
	read("number", func(text string) (err error) { req.Number, err = strconv.ParseInt(text, 10, 64); return err })
	read("delivery", func(text string) (err error) { req.Delivery, err = strconv.ParseInt(text, 10, 64); return err })
	return err
}

// CSRF returns the token of the forms on a page.
func (req *Request) CSRF() string { return req.session.csrf }

// Tree returns the token tree whose quotas the visitor uses.
func (req *Request) Tree() int64 { return req.Token.Tree }

// Handler returns a handler that answers calls of the API as the visitor.
func (req *Request) Handler() http.Handler { return req.Options.API(req.session.as) }

// Status returns the account's status. It requests it once.
func (req *Request) Status() (bridge.Status, error) {
	if req.account == nil {
		status, err := req.API.Status(req.Context())
		if err != nil {
			return status, err
		}
		req.account = &status
	}
	return *req.account, nil
}

// ChatFor returns a chat, which it requests once. A chat that the visitor may not read only has its
// JID.
func (req *Request) ChatFor(jid bridge.JID) bridge.Chat {
	if known, ok := req.chats[jid]; ok {
		return known
	}
	chat, err := req.API.Chat(req.Context(), jid)
	if err != nil {
		chat = bridge.Chat{JID: jid, IsGroup: jid.IsGroup()}
	}
	if req.chats == nil {
		req.chats = make(map[bridge.JID]bridge.Chat)
	}
	req.chats[jid] = chat
	return chat
}

// Live sets the cursor at which the page starts to follow the event log.
func (site *Site) Live(h Handler) Handler {
	return func(req *Request) (err error) {
		if req.Cursor, err = req.API.LastEvent(req.Context()); err != nil {
			return err
		}
		return h(req)
	}
}

// sendToLogin answers a request without a session. Browsers omit the cookie after a link on another
// site: that page reloads itself.
func (site *Site) sendToLogin(w http.ResponseWriter, r *http.Request) {
	switch {
	case wantsJSON(r) || r.Header.Get("Accept") == "text/event-stream":
		signedOut := &bridge.Error{Code: bridge.CodeUnauthorized}
		WriteJSON(w, http.StatusUnauthorized, Problem{Text: view.Refusal(signedOut), Waits: view.Waits(signedOut)})
	case r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Site") == "cross-site":
		site.showBare(w, r, http.StatusOK, "again", r.URL.RequestURI())
	case r.Method == http.MethodGet && r.URL.Path != view.Root+"/":
		http.Redirect(w, r, LoginPath+"?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
	default:
		http.Redirect(w, r, LoginPath, http.StatusSeeOther)
	}
}

// Problem describes an error to a visitor.
type Problem struct {
	Status  int    `json:"-"`
	Title   string `json:"title,omitempty"`
	Text    string `json:"error"`
	Waits   string `json:"waits,omitempty"`   // when a message that waits is sent; empty if it does not wait
	Details string `json:"details,omitempty"` // the API's sentence, for those who may manage the account
	Code    string `json:"code,omitempty"`
}

// Error returns the sentence that is shown.
func (p Problem) Error() string { return p.Text }

var (
	ErrOutdated = Titled(http.StatusForbidden, "This page is out of date", "Reload it, then try again.")
	ErrNotFound = Titled(http.StatusNotFound, "Page not found", "The address may be mistyped, or the page no longer exists.")
)

// ProblemOf returns the problem that shows an error. Only the log has the text of internal errors.
func (req *Request) ProblemOf(err error) Problem {
	if shown, ok := errors.AsType[Problem](err); ok {
		return shown
	}
	known, ok := errors.AsType[*bridge.Error](err)
	if !ok {
		return Refused(http.StatusInternalServerError, "The bridge’s log has the details.")
	}
	status := http.StatusBadRequest
	if refused, ok := errors.AsType[*client.Error](err); ok {
		status = refused.Status
	}
	p := Refused(status, lacking(known))
	p.Waits, p.Details, p.Code = view.Waits(known), req.details(known), string(known.Code)
	return p
}

// ImportProblem returns the problem of an import that ended with an error, which has no code.
func (req *Request) ImportProblem(sentence string) Problem {
	return Problem{Text: view.Ended(sentence), Details: req.details(&bridge.Error{Msg: sentence})}
}

// details returns the API's sentence of an error for visitors who may manage the account; empty for others.
func (req *Request) details(err *bridge.Error) string {
	if !req.Administers() {
		return ""
	}
	return view.Sentence(err.Msg)
}

// Refused returns a problem with the usual title of its status.
func Refused(status int, text string) Problem { return Titled(status, TitleOf(status), text) }

// Titled returns a problem with a title.
func Titled(status int, title, text string) Problem {
	return Problem{Status: status, Title: title, Text: text}
}

// TitleOf returns the usual title of a status.
func TitleOf(status int) string {
	switch {
	case status == http.StatusNotFound:
		return "Not found"
	case status == http.StatusForbidden:
		return "You don’t have access to this"
	case status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout:
		return "Not available right now"
	case status >= http.StatusInternalServerError:
		return "Something went wrong"
	}
	return "That didn’t work"
}

// fail shows an error, as a page or to the script.
func (req *Request) fail(err error) {
	if req.Context().Err() != nil {
		return // the visitor has left
	}
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusUnauthorized {
		req.site.endSession(req.Request) // the token was revoked or has expired
		req.site.sendToLogin(req.W, req.Request)
		return
	}
	p := req.ProblemOf(err)
	if p.Status >= http.StatusInternalServerError {
		hlog.FromRequest(req.Request).Warn().Str("error", bridge.Redact(err.Error())).Int("status", p.Status).Msg("console page failed")
	}
	if req.WantsJSON() {
		WriteJSON(req.W, p.Status, p)
		return
	}
	if err := req.ShowAs(p.Status, "problem", p.Title, p); err != nil {
		answerBroken(req.W, req.Request, err)
	}
}

// WantsJSON reports whether the request is the script's.
func (req *Request) WantsJSON() bool { return wantsJSON(req.Request) }

// wantsJSON reports whether a request is the script's.
func wantsJSON(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), "application/json")
}

// WriteJSON answers the script.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := bridge.EncodeJSON(v)
	if err != nil {
		http.Error(w, "the answer could not be encoded", http.StatusInternalServerError)
		return
	}
	writeAnswer(w, status, "application/json", body)
}

func writeAnswer(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	front.AnswerNow(w)
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails if the visitor has left
}

// parseForm reads a form without files. Its memory counts against the visitor's quota until done.
func (req *Request) parseForm() (done func(), err error) {
	body, done, err := req.site.bodies.ReadRequest(req.W, req.Request, req.Tree(), maxForm, front.BodyTimeout)
	if err == nil {
		req.PostForm, err = url.ParseQuery(string(body))
	}
	switch {
	case errors.Is(err, intake.ErrBodyTooLarge):
		return done, Titled(http.StatusRequestEntityTooLarge, "That’s too long", "The form has more text than the bridge accepts.")
	case errors.Is(err, intake.ErrTooSlow):
		return done, Refused(http.StatusServiceUnavailable, "The connection was too slow. Try again.")
	case err != nil:
		return done, Refused(http.StatusBadRequest, "The form couldn’t be read. Reload the page, then try again.")
	}
	return done, nil
}

// Done ends an action: it returns its error, or redirects to a page that shows a sentence. It
// answers the script with the sentence alone.
func (req *Request) Done(err error, text, path string) error {
	if err != nil {
		return err
	}
	if req.WantsJSON() {
		WriteJSON(req.W, http.StatusOK, map[string]string{"text": text})
		return nil
	}
	if text != "" {
		req.Notify(text, false)
	}
	http.Redirect(req.W, req.Request, path, http.StatusSeeOther)
	return nil
}

// NewKey returns an Idempotency-Key for a form.
func NewKey() string { return "console-" + rand.Text() }

// Key returns the Idempotency-Key of the form. It makes a repeated click the same message.
func (req *Request) Key() string { return cmp.Or(req.PostForm.Get("key"), NewKey()) }

// logAccess logs successful reads at debug level: the script repeats them.
func logAccess(r *http.Request, status, size int, took time.Duration) {
	line := hlog.FromRequest(r).Debug()
	switch {
	case r.URL.Path == LoginPath && (status == http.StatusForbidden || status == http.StatusTooManyRequests):
		line = hlog.FromRequest(r).Warn() // a failed login
	case r.Method != http.MethodGet || status >= http.StatusBadRequest:
		line = hlog.FromRequest(r).Info()
	}
	front.Accessed(line, r, status, size, took).Msg("console")
}
