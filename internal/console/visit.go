package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/intake"
)

const (
	maxForm    = intake.MaxBody   // bytes of a form without a file: a text of 65,536 characters, escaped
	formTime   = 30 * time.Second // in which it has to arrive
	answerTime = 30 * time.Second // in which a page has to be read
)

// visit is one request of somebody who has logged in.
type visit struct {
	c       *Console
	w       http.ResponseWriter
	r       *http.Request
	api     *client.Client
	session *session
	account *bridge.Status // once it was asked for
	cursor  string         // of the log of events before the page was made; see [Console.live]
}

// handler answers a visit, or returns an error that is shown instead.
type handler func(v *visit) error

// page lets h answer those who have logged in; others go to the login.
func (c *Console) page(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := c.sessionOf(r)
		if s == nil {
			c.sendToLogin(w, r)
			return
		}
		v := &visit{c: c, w: w, r: r, api: s.api, session: s}
		if err := h(v); err != nil {
			v.fail(err)
		}
	}
}

// status returns the account's status, which is asked for once.
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

// live lets h make a page whose script follows the log of events, from before the
// page is made.
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
		writeJSON(w, http.StatusUnauthorized, problem{Text: "you are no longer logged in: load the page again"})
	case r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Site") == "cross-site":
		c.views.write(w, r, http.StatusOK, "again", r.URL.RequestURI())
	case r.Method == http.MethodGet && r.URL.Path != root+"/":
		http.Redirect(w, r, loginPath+"?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
	default:
		http.Redirect(w, r, loginPath, http.StatusSeeOther)
	}
}

// problem is an error as a visitor sees it.
type problem struct {
	Status int    `json:"-"`
	Title  string `json:"title,omitempty"`
	Text   string `json:"error"`
	Code   string `json:"code,omitempty"`
}

// Error returns the sentence that is shown.
func (p problem) Error() string { return p.Text }

var (
	errOutdated = problem{http.StatusForbidden, "This form is out of date", "Load the page again, and repeat what you did.", ""}
	errUnknown  = problem{http.StatusNotFound, "There is no such page", "The address may be mistyped, or what it showed is gone.", ""}
)

// problemOf returns what a visitor is shown of an error. What is not meant for
// callers goes to the log alone.
func problemOf(err error) problem {
	var shown problem
	if errors.As(err, &shown) {
		return shown
	}
	var refused *client.Error
	if errors.As(err, &refused) {
		return problem{refused.Status, titleOf(refused.Status), refused.Error(), string(refused.Code)}
	}
	var known *bridge.Error
	if errors.As(err, &known) {
		return problem{http.StatusBadRequest, titleOf(http.StatusBadRequest), known.Msg, string(known.Code)}
	}
	return problem{http.StatusInternalServerError, titleOf(http.StatusInternalServerError), "The log of the service says what went wrong.", ""}
}

func titleOf(status int) string {
	switch {
	case status == http.StatusNotFound:
		return "Not found"
	case status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout:
		return "Not possible at the moment"
	case status >= http.StatusInternalServerError:
		return "Something went wrong"
	}
	return "This was not possible"
}

// fail shows an error, as a page or to the script.
func (v *visit) fail(err error) {
	if v.r.Context().Err() != nil {
		return // nobody is there any more
	}
	if refused := new(client.Error); errors.As(err, &refused) && refused.Status == http.StatusUnauthorized {
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
	v.show(p.Status, "problem", p.Title, p)
}

// unknownPage answers an address that leads nowhere.
func (c *Console) unknownPage(*visit) error { return errUnknown }

// wantsJSON reports whether the page's script asks, not a person.
func wantsJSON(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), "application/json")
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := bridge.EncodeJSON(v)
	if err != nil {
		http.Error(w, "the answer could not be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	answerNow(w)
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever does not read it has gone
}

// parseForm reads a form without files. Its memory is counted until done.
func (v *visit) parseForm() (done func(), err error) {
	body, done, err := v.c.bodies.ReadRequest(v.w, v.r, v.session.family, maxForm, formTime)
	if err == nil {
		v.r.PostForm, err = url.ParseQuery(string(body))
	}
	switch {
	case errors.Is(err, intake.ErrBodyTooLarge):
		return done, problem{http.StatusRequestEntityTooLarge, "This is too long", "What you sent is longer than the bridge takes.", ""}
	case errors.Is(err, intake.ErrCut):
		return done, problem{http.StatusServiceUnavailable, titleOf(http.StatusServiceUnavailable), "The form came too slowly while others waited: send it again.", ""}
	case err != nil:
		return done, problem{http.StatusBadRequest, titleOf(http.StatusBadRequest), "The form could not be read: load the page again.", ""}
	}
	return done, nil
}

// answerNow starts the time in which the visitor must read the answer.
func answerNow(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime)) // without a connection there is no time
}

// after answers as [visit.done] does once something was done, or why it was not.
func (v *visit) after(err error, text, path string) error {
	if err != nil {
		return err
	}
	return v.done(text, path)
}

// done tells the visitor what was done and shows a page again. The script, which
// stays on its page, gets an empty answer.
func (v *visit) done(text, path string) error {
	if wantsJSON(v.r) {
		writeJSON(v.w, http.StatusOK, struct {
			Text string `json:"text"`
		}{text})
		return nil
	}
	if text != "" {
		v.session.notice.Store(&notice{Text: text})
	}
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
	return nil
}

// observe gives a request its id and logger, writes the access log and turns a
// panic into an answer, as the API does for its routes.
func (c *Console) observe(next http.Handler) http.Handler {
	chain := hlog.AccessHandler(logAccess)(c.recoverPanic(next))
	return hlog.NewHandler(c.options.Log)(hlog.RequestIDHandler("request_id", "X-Request-Id")(chain))
}

// logAccess leaves out the query, which may hold what people search for. Pages
// that the script asks for again and again are not worth a line.
func logAccess(r *http.Request, status, size int, took time.Duration) {
	event := hlog.FromRequest(r).Debug()
	if r.Method != http.MethodGet || status >= http.StatusBadRequest {
		event = hlog.FromRequest(r).Info()
	}
	path := r.URL.Path
	if len(path) > 256 {
		path = strings.ToValidUTF8(path[:256], "") + "…"
	}
	event.Str("method", bridge.Redact(r.Method[:min(len(r.Method), 16)])).Str("path", bridge.Redact(path)).
		Int("status", status).Int("size", size).Dur("took_ms", took).Msg("console")
}

// recoverPanic answers 500 if a page panics. A deliberate abort passes on to
// net/http.
func (c *Console) recoverPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler {
				panic(cause)
			}
			// Of the value, which may hold what people wrote, the log gets the type.
			hlog.FromRequest(r).Error().Str("error", fmt.Sprintf("panic of type %T\n%s", cause, debug.Stack())).Msg("console page failed")
			http.Error(w, "Something went wrong inside the service; its log says what.", http.StatusInternalServerError)
		}()
		next.ServeHTTP(w, r)
	})
}
