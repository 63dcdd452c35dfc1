package console

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
	"bridged/internal/client"
)

type loginPage struct {
	CSRF  string
	Next  string
	Wrong string // the fault of the last try
	Theme string
}

// showLogin shows the form, or takes a link that logs in once.
func (c *Console) showLogin(w http.ResponseWriter, r *http.Request) {
	link := r.URL.Query().Get("once")
	switch {
	case link != "" && c.sessions.useLink(link):
		c.begin(w, r, c.api, "", root+"/")
	case link != "":
		c.loginForm(w, r, http.StatusForbidden, "This link has expired or has already been used. Log in with a token instead.")
	default:
		c.loginForm(w, r, http.StatusOK, "")
	}
}

// loginForm shows the form. Without a session, its CSRF token is kept in a cookie. A form
// that is open stays good: a page that renews itself may be led here while it is filled in.
func (c *Console) loginForm(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	token := rand.Text()
	if open, err := r.Cookie(cookieName(r) + "-form"); err == nil && len(open.Value) == len(token) {
		token = open.Value
	}
	http.SetCookie(w, c.cookie(r, cookieName(r)+"-form", token, loginPath, time.Hour))
	c.showBare(w, r, status, "login", loginPage{CSRF: token, Next: nextOf(r), Wrong: wrong, Theme: themeOf(r)})
}

const (
	maxLogin  = 8 << 10         // bytes of the form of the login
	loginTime = 5 * time.Second // in which it has to arrive
	maxNext   = 2 << 10         // bytes of the address of the page that is shown after the login
)

// logIn gives a session for a token. The sender may be a stranger: the form is short.
func (c *Console) logIn(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength > maxLogin {
		noBody(w, r)
		c.loginForm(w, r, http.StatusRequestEntityTooLarge, "That was too long for a token. Try again.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	front.SetDeadline(http.NewResponseController(w).SetReadDeadline, loginTime)
	if err := r.ParseForm(); err != nil || !isFormOf(r) {
		c.loginForm(w, r, http.StatusForbidden, "This page was open for too long. Try again.")
		return
	}
	front.BodyRead(w)
	c.begin(w, r, c.api.WithToken(strings.TrimSpace(r.PostForm.Get("token"))), r.PostForm.Get("zone"), nextOf(r))
}

// refuseToken answers a wrong token, slowly where too many came from its address.
func (c *Console) refuseToken(w http.ResponseWriter, r *http.Request) {
	if !c.tries.failed(c.addressOf(r), c.now()) {
		c.loginForm(w, r, http.StatusForbidden, "That token isn’t valid for this bridge. Check it against BRIDGE_TOKEN in the bridge’s configuration.")
		return
	}
	if !bridge.Sleep(r.Context(), slowTime) {
		return
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(tryTime.Seconds())))
	c.loginForm(w, r, http.StatusTooManyRequests, "That token isn’t valid, and there have been too many attempts from your address. Wait a minute, then try again.")
}

func isFormOf(r *http.Request) bool {
	cookie, err := r.Cookie(cookieName(r) + "-form")
	return err == nil && cookie.Value != "" && subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(r.PostForm.Get("csrf"))) == 1
}

// begin opens a session for the holder of a token, and shows a page.
func (c *Console) begin(w http.ResponseWriter, r *http.Request, api *client.Client, zone, next string) {
	token, err := api.OwnToken(r.Context())
	switch {
	case bridge.CodeOf(err) == bridge.CodeUnauthorized:
		c.refuseToken(w, r)
		return
	case err != nil:
		hlog.FromRequest(r).Warn().Str("error", bridge.Redact(err.Error())).Msg("token not looked up")
		c.loginForm(w, r, http.StatusServiceUnavailable, "The token couldn’t be checked. Try again in a moment.")
		return
	}
	family, known := c.options.Family(r.Context(), api.Token())
	if !known { // it ended a moment ago
		c.refuseToken(w, r)
		return
	}
	id, opened := c.sessions.open(api, token.Token, family)
	opened.setZone(zone)
	if limits := c.limits(opened.token); limits != "" {
		opened.notice.Store(&notice{Text: limits})
	}
	http.SetCookie(w, c.cookie(r, cookieName(r), id, root, sessionTime))
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// cookie returns a cookie for pages below a path of the console; scripts and other sites cannot
// use it.
func (c *Console) cookie(r *http.Request, name, value, path string, age time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: c.options.BasePath + path, MaxAge: int(age.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.isSecure(r),
	}
}

// nextOf returns the page of the console to show after the login. It reads no body.
func nextOf(r *http.Request) string {
	wanted := r.URL.Query().Get("next")
	if r.Method == http.MethodPost {
		wanted = r.PostForm.Get("next") // nothing until logIn has read the form
	}
	next, err := url.Parse(wanted)
	if err != nil || len(wanted) > maxNext || next.Scheme != "" || next.Host != "" || next.User != nil || !strings.HasPrefix(path.Clean(next.Path)+"/", root+"/") {
		return root + "/"
	}
	return next.RequestURI()
}

func (c *Console) logOut(v *visit) error {
	c.endSession(v.r)
	http.SetCookie(v.w, c.cookie(v.r, cookieName(v.r), "", root, -time.Second))
	http.Redirect(v.w, v.r, loginPath, http.StatusSeeOther)
	return nil
}

func (c *Console) endSession(r *http.Request) {
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		c.sessions.close(cookie.Value)
	}
}

func (c *Console) setZone(v *visit) error {
	v.session.setZone(v.r.PostForm.Get("zone"))
	return v.done(nil, "", root+"/")
}
