package frame

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/console/view"
)

type loginPage struct {
	CSRF  string
	Next  string
	Wrong string // the error of the last attempt
	Theme string
}

// ShowLogin shows the form, or logs in with a one-time link.
func (site *Site) ShowLogin(w http.ResponseWriter, r *http.Request) {
	link := r.URL.Query().Get("once")
	switch {
	case link != "" && site.sessions.useLink(link):
		site.begin(w, r, site.options.Token, "", view.Root+"/")
	case link != "":
		site.loginForm(w, r, http.StatusForbidden, "This link has expired or has already been used. Log in with a token instead.")
	default:
		site.loginForm(w, r, http.StatusOK, "")
	}
}

// loginForm shows the form. Its CSRF token is in a cookie, because no session exists. Another tab
// that is redirected here uses the same token, so an open form stays valid.
func (site *Site) loginForm(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	token := rand.Text()
	if open, err := r.Cookie(cookieName(r) + "-form"); err == nil && len(open.Value) == len(token) {
		token = open.Value
	}
	http.SetCookie(w, site.cookie(r, cookieName(r)+"-form", token, LoginPath, time.Hour))
	site.showBare(w, r, status, "login", loginPage{CSRF: token, Next: nextOf(r), Wrong: wrong, Theme: themeOf(r)})
}

const (
	maxLogin     = 16 << 10        // bytes of the form of the login
	loginTimeout = 5 * time.Second // for the form to arrive
	maxNext      = 4 << 10         // bytes of the address of the page that is shown after the login
)

// LogIn opens a session for a token. The form is short, because the client is unauthenticated.
func (site *Site) LogIn(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength > maxLogin {
		noBody(w, r)
		site.loginForm(w, r, http.StatusRequestEntityTooLarge, "That was too long for a token. Try again.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	front.SetDeadline(http.NewResponseController(w).SetReadDeadline, loginTimeout)
	if err := r.ParseForm(); err != nil || !isFormOf(r) {
		site.loginForm(w, r, http.StatusForbidden, "This page was open for too long. Try again.")
		return
	}
	front.BodyRead(w)
	site.begin(w, r, strings.TrimSpace(r.PostForm.Get("token")), r.PostForm.Get("zone"), nextOf(r))
}

// refuseToken answers a wrong token, slowly if its network has sent too many. A correct one is never
// refused, because many people may share an address.
func (site *Site) refuseToken(w http.ResponseWriter, r *http.Request) {
	if !site.logins.Exceeds(r, site.now()) {
		site.loginForm(w, r, http.StatusForbidden, "That token isn’t right. Check it, then try again.")
		return
	}
	if !bridge.Sleep(r.Context(), slowDelay) {
		return
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(tryWindow.Seconds())))
	site.loginForm(w, r, http.StatusTooManyRequests, "That token isn’t right, and there were too many attempts. Wait a minute, then try again.")
}

func isFormOf(r *http.Request) bool {
	cookie, err := r.Cookie(cookieName(r) + "-form")
	return err == nil && cookie.Value != "" && subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(r.PostForm.Get("csrf"))) == 1
}

// begin opens a session for a token and redirects to a page.
func (site *Site) begin(w http.ResponseWriter, r *http.Request, secret, zone, next string) {
	as := hashOf(secret)
	token, known, err := site.options.TokenOf(r.Context(), as)
	switch {
	case err != nil:
		hlog.FromRequest(r).Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot look up a token")
		site.loginForm(w, r, http.StatusServiceUnavailable, "The token couldn’t be checked. Try again in a moment.")
		return
	case !known:
		site.refuseToken(w, r)
		return
	}
	id, opened := site.sessions.open(r.Context(), as, token, browserOf(r.UserAgent()), zone)
	if limits := site.limits(opened.token); limits != "" {
		opened.notice.Store(&Notice{Text: limits})
	}
	site.setCookie(w, r, id)
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// setCookie sets the cookie of a session. Browsers forget it when the session ends.
func (site *Site) setCookie(w http.ResponseWriter, r *http.Request, secret string) {
	http.SetCookie(w, site.cookie(r, cookieName(r), secret, view.Root, sessionLife))
}

// cookie returns a cookie for a path of the console. Scripts and other sites cannot use it.
func (site *Site) cookie(r *http.Request, name, value, path string, age time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: site.options.BasePath + path, MaxAge: int(age.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: site.isSecure(r),
	}
}

// nextOf returns the page of the console to show after the login. It reads no body.
func nextOf(r *http.Request) string {
	wanted := r.URL.Query().Get("next")
	if r.Method == http.MethodPost {
		wanted = r.PostForm.Get("next") // empty until LogIn has read the form
	}
	next, err := url.Parse(wanted)
	if err != nil || len(wanted) > maxNext || next.Scheme != "" || next.Host != "" || next.User != nil || !strings.HasPrefix(path.Clean(next.Path)+"/", view.Root+"/") {
		return view.Root + "/"
	}
	return next.RequestURI()
}

// LogOut ends the session.
func (site *Site) LogOut(req *Request) error {
	site.endSession(req.Request)
	http.SetCookie(req.W, site.cookie(req.Request, cookieName(req.Request), "", view.Root, -time.Second))
	http.Redirect(req.W, req.Request, LoginPath, http.StatusSeeOther)
	return nil
}

// endSession ends the session of a request's cookie, if there is one.
func (site *Site) endSession(r *http.Request) {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return
	}
	if one := site.sessions.get(cookie.Value); one != nil {
		_ = site.sessions.close(r.Context(), one) // which logs an error
	}
}

// SetZone sets the visitor's time zone.
func (site *Site) SetZone(req *Request) error {
	req.session.setZone(req.PostForm.Get("zone"))
	site.sessions.note(req.Context(), req.session)
	return req.Done(nil, "", view.Root+"/")
}
