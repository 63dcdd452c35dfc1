package frame

import (
	"cmp"
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"bridged/internal/api/front"
)

// policy lets pages load files of this origin and pictures in data URLs. Only framers may show them
// in frames.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors "

// Permissions returns the Permissions-Policy of a page: nothing, or the microphone ("self") for
// voice notes.
func Permissions(microphone string) string {
	return "camera=(), microphone=(" + microphone + "), geolocation=(), payment=(), usb=()"
}

// guard sets the headers of all answers and refuses requests of other sites.
func (site *Site) guard(next http.Handler) http.Handler {
	framers, frameOptions := "'none'", "DENY"
	if site.options.BasePath != "" { // Home Assistant shows its add-ons in frames
		framers, frameOptions = "'self'", "SAMEORIGIN"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		front.SecureHeader(h)
		h.Set("Content-Security-Policy", policy+framers)
		h.Set("X-Frame-Options", frameOptions)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", Permissions(""))
		// With no-referrer browsers send "Origin: null" with a page's own forms.
		h.Set("Referrer-Policy", "same-origin")
		if r.ContentLength < 0 {
			h.Set("Connection", "close") // the server cannot find the end of an unread chunked body
		}
		if r.Method != http.MethodPost {
			noBody(w, r)
		}
		switch {
		case !front.KnowsHost(site.options.PublicURLs, r.Host):
			refuse(w, http.StatusMisdirectedRequest, "The console isn’t available under this name",
				"Open it by its IP address or as localhost, or add this name to PUBLIC_URL. Other names could belong to another site.")
		case r.Method == http.MethodPost && !site.isOwn(r):
			refuse(w, http.StatusForbidden, "This request came from another site",
				"Nothing was changed. Go back to the console and try again there.")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// FormsLeadTo lets the answers to the page's forms redirect to the given sources of a
// Content-Security-Policy, and forbids to show the page in a frame, also under a base path.
func (req *Request) FormsLeadTo(sources string) {
	h := req.W.Header()
	h.Set("Content-Security-Policy", strings.Replace(policy, "form-action 'self'", "form-action "+sources, 1)+"'none'")
	h.Set("X-Frame-Options", "DENY")
}

// noBody drops a body that no page reads.
func noBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
		front.RefuseBody(w, r)
		r.Body = http.NoBody
	}
}

// isOwn reports whether a request comes from a page of this console, by its headers.
func (site *Site) isOwn(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Host != "" && strings.EqualFold(origin.Host, r.Host)
}

// isSecure reports whether a request came over TLS, here or to the reverse proxy.
func (site *Site) isSecure(r *http.Request) bool {
	return r.TLS != nil || slices.ContainsFunc(site.options.PublicURLs, func(u *url.URL) bool {
		return u.Scheme == "https" && strings.EqualFold(u.Hostname(), (&url.URL{Host: r.Host}).Hostname())
	})
}

// cookieName returns the name of the session's cookie, with the port: browsers send cookies to all
// ports, and one machine may run several bridges.
func cookieName(r *http.Request) string {
	if port := (&url.URL{Host: r.Host}).Port(); port != "" {
		return "bridged-" + port
	}
	return "bridged"
}

// sessionOf returns the session that a request's cookie names, while its token is valid; nil if none. If the
// tokens cannot be read, calls of the API answer that.
func (site *Site) sessionOf(r *http.Request) *session {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return nil
	}
	one := site.sessions.get(cookie.Value)
	if one == nil || !site.hasEnded(r.Context(), one) {
		return one
	}
	return nil
}

// hasEnded reports whether the token of a session has ended. It closes the session then.
func (site *Site) hasEnded(ctx context.Context, one *session) bool {
	_, known, err := site.options.TokenOf(ctx, one.as)
	if err != nil || known {
		return false
	}
	_ = site.sessions.close(ctx, one) // which logs an error
	return true
}

// Checked calls h for a POST whose form carries the session's CSRF token.
func (site *Site) Checked(h Handler) Handler {
	return func(req *Request) error {
		done, err := req.parseForm()
		defer done()
		if err != nil {
			return err
		}
		if !req.session.owns(cmp.Or(req.PostForm.Get("csrf"), req.Header.Get("X-CSRF-Token"))) {
			return ErrOutdated
		}
		for _, field := range []string{"to", "person"} { // JIDs that the page repeats
			if slices.ContainsFunc(req.PostForm[field], func(jid string) bool { return len(jid) > MaxChoice }) {
				return ErrLongChoice
			}
		}
		return h(req)
	}
}

// owns reports whether a form carries the token of this session.
func (s *session) owns(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.csrf)) == 1
}

const (
	maxTries  = 5 // wrong tokens from one network in tryWindow; further ones are answered after slowDelay
	tryWindow = time.Minute
	slowDelay = time.Second
)
