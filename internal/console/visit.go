package console

import (
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
	"bridged/internal/intake"
)

// maxForm limits a form without a file, in bytes: a text of 65,536
// characters, escaped.
const maxForm = intake.MaxBody

// visit is one request of a visitor who has logged in.
type visit struct {
	c         *Console
	w         http.ResponseWriter
	r         *http.Request
	api       *client.Client
	session   *session
	account   *bridge.Status // once it was requested
	cursor    string         // of the log of events before the page was made; see [Console.live]
	chatNames map[bridge.JID]named

	// These are named by the path, as far as its route has them.
	chat     bridge.JID
	id       string // of a message or a call
	number   int64  // of a webhook, a hook or a token
	delivery int64
}

// handler answers a visit, or returns an error that is shown instead.
type handler func(v *visit) error

// page calls h for visitors who have logged in; others are sent to the login.
func (c *Console) page(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := c.sessionOf(r)
		if s == nil {
			c.sendToLogin(w, r)
			return
		}
		v := &visit{c: c, w: w, r: r, api: s.api, session: s}
		err := v.readPath()
		if err == nil {
			err = h(v)
		}
		if err != nil {
			v.fail(err)
		}
	}
}

// readPath reads the names in the path. One that is malformed leads nowhere.
func (v *visit) readPath() (err error) {
	read := func(name string, parse func(string) error) {
		if text := v.r.PathValue(name); text != "" && parse(text) != nil {
			err = errUnknown
		}
	}
	read("jid", func(text string) (err error) { v.chat, err = bridge.ParseJID(text); return err })
	read("id", func(text string) (err error) { v.id, err = bridge.ParsePathID(text); return err })
	read("number", func(text string) (err error) { v.number, err = strconv.ParseInt(text, 10, 64); return err })
	read("delivery", func(text string) (err error) { v.delivery, err = strconv.ParseInt(text, 10, 64); return err })
	return err
}

// status returns the account's status, which is requested once.
func (v *visit) status() (bridge.Status, error) {
	if v.account == nil {
		status, err := v.api.Status(v.r.Context())
		if err != nil {
			return status, err
		}
		v.account = &status
	}
	return *v.account, nil
}

// live notes the end of the log, from where the page of h follows it.
func (c *Console) live(h handler) handler {
	return func(v *visit) (err error) {
		if v.cursor, err = v.api.LastEvent(v.r.Context()); err != nil {
			return err
		}
		return h(v)
	}
}

// sendToLogin answers those who have not logged in. Browsers leave the cookie
// out where a link of another site led here: such a page loads itself once more.
func (c *Console) sendToLogin(w http.ResponseWriter, r *http.Request) {
	switch {
	case wantsJSON(r) || r.Header.Get("Accept") == "text/event-stream":
		writeJSON(w, http.StatusUnauthorized, problem{Text: "You’ve been logged out. Reload the page to log in again."})
	case r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Site") == "cross-site":
		c.showBare(w, r, http.StatusOK, "again", r.URL.RequestURI())
	case r.Method == http.MethodGet && r.URL.Path != root+"/":
		http.Redirect(w, r, loginPath+"?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
	default:
		http.Redirect(w, r, loginPath, http.StatusSeeOther)
	}
}

// problem describes an error to a visitor.
type problem struct {
	Status int    `json:"-"`
	Title  string `json:"title,omitempty"`
	Text   string `json:"error"`
	Code   string `json:"code,omitempty"`
}

// Error returns the sentence that is shown.
func (p problem) Error() string { return p.Text }

var (
	errOutdated = problem{http.StatusForbidden, "This page is out of date", "Reload it, then try again.", ""}
	errUnknown  = problem{http.StatusNotFound, "Page not found", "The address may be mistyped, or the page no longer exists.", ""}
)

// problemOf returns the problem that an error is shown as. The text of an error that
// is not meant for callers only goes to the log.
func problemOf(err error) problem {
	if shown, ok := errors.AsType[problem](err); ok {
		return shown
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return problem{Status: refused.Status, Title: titleOf(refused.Status), Text: sentence(lacking(refused.Error())), Code: string(refused.Code)}
	}
	if known, ok := errors.AsType[*bridge.Error](err); ok {
		return problem{Status: http.StatusBadRequest, Title: titleOf(http.StatusBadRequest), Text: sentence(known.Msg), Code: string(known.Code)}
	}
	return problem{http.StatusInternalServerError, titleOf(http.StatusInternalServerError), "The bridge’s log has the details.", ""}
}

func titleOf(status int) string {
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
func (v *visit) fail(err error) {
	if v.r.Context().Err() != nil {
		return // the visitor has left
	}
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusUnauthorized {
		v.c.endSession(v.r) // the token has ended
		v.c.sendToLogin(v.w, v.r)
		return
	}
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError {
		hlog.FromRequest(v.r).Warn().Str("error", bridge.Redact(err.Error())).Int("status", p.Status).Msg("console page failed")
	}
	if wantsJSON(v.r) {
		writeJSON(v.w, p.Status, p)
		return
	}
	if err := v.showAs(p.Status, "problem", p.Title, p); err != nil {
		broken(v.w, v.r, err)
	}
}

// wantsJSON reports whether a request is the script's.
func wantsJSON(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), "application/json")
}

func writeJSON(w http.ResponseWriter, status int, v any) {
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
	_, _ = w.Write(body) // fails where the visitor has left
}

// parseForm reads a form without files. Its memory is counted until done.
func (v *visit) parseForm() (done func(), err error) {
	body, done, err := v.c.bodies.ReadRequest(v.w, v.r, v.session.family, maxForm, front.BodyTime)
	if err == nil {
		v.r.PostForm, err = url.ParseQuery(string(body))
	}
	switch {
	case errors.Is(err, intake.ErrBodyTooLarge):
		return done, problem{http.StatusRequestEntityTooLarge, "That’s too long", "The form has more text than the bridge accepts.", ""}
	case errors.Is(err, intake.ErrCut):
		return done, problem{http.StatusServiceUnavailable, titleOf(http.StatusServiceUnavailable), "The connection was too slow. Try again.", ""}
	case err != nil:
		return done, problem{http.StatusBadRequest, titleOf(http.StatusBadRequest), "The form couldn’t be read. Reload the page, then try again.", ""}
	}
	return done, nil
}

// done ends an action: it returns its error, or shows a page again with a sentence
// about it. The script, which stays on its page, gets the sentence alone.
func (v *visit) done(err error, text, path string) error {
	if err != nil {
		return err
	}
	if wantsJSON(v.r) {
		writeJSON(v.w, http.StatusOK, map[string]string{"text": text})
		return nil
	}
	if text != "" {
		v.session.notice.Store(&notice{Text: text})
	}
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
	return nil
}

// logAccess leaves successful reads to debugging: the script repeats them.
func logAccess(r *http.Request, status, size int, took time.Duration) {
	line := hlog.FromRequest(r).Debug()
	switch {
	case r.URL.Path == loginPath && (status == http.StatusForbidden || status == http.StatusTooManyRequests):
		line = hlog.FromRequest(r).Warn() // a failed login
	case r.Method != http.MethodGet || status >= http.StatusBadRequest:
		line = hlog.FromRequest(r).Info()
	}
	front.Accessed(line, r, status, size, took).Msg("console")
}
