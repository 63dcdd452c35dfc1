package frame

import (
	"net/http"
	"time"

	"bridged/internal/console/view"
)

// themeLife is how long a browser remembers the theme: longer than any session.
const themeLife = 400 * 24 * time.Hour

// themeOf returns the theme of a browser, light or dark; empty for the system's.
func themeOf(r *http.Request) string {
	cookie, err := r.Cookie(cookieName(r) + "-theme")
	if err != nil || cookie.Value != "light" && cookie.Value != "dark" {
		return ""
	}
	return cookie.Value
}

// SetTheme stores the theme in a cookie, so that the first paint has it, even at the login.
func (site *Site) SetTheme(req *Request) error {
	age := themeLife
	theme := req.PostForm.Get("theme")
	switch theme {
	case "light", "dark":
	case "system":
		theme, age = "", -time.Second
	default:
		return ErrOutdated
	}
	http.SetCookie(req.W, site.cookie(req.Request, cookieName(req.Request)+"-theme", theme, "/", age))
	return req.Done(nil, "", view.Root+"/settings")
}
