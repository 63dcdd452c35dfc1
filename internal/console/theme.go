package console

import (
	"net/http"
	"time"
)

// themeTime is how long a browser remembers the theme: longer than any session.
const themeTime = 400 * 24 * time.Hour

// themeOf returns the theme that a browser has chosen, light or dark; empty for the
// system's.
func themeOf(r *http.Request) string {
	cookie, err := r.Cookie(cookieName(r) + "-theme")
	if err != nil || cookie.Value != "light" && cookie.Value != "dark" {
		return ""
	}
	return cookie.Value
}

// setTheme remembers the theme of this browser. A cookie makes the first paint right,
// also that of the login.
func (c *Console) setTheme(v *visit) error {
	age := themeTime
	theme := v.r.PostForm.Get("theme")
	switch theme {
	case "light", "dark":
	case "system":
		theme, age = "", -time.Second
	default:
		return errOutdated
	}
	http.SetCookie(v.w, c.cookie(v.r, cookieName(v.r)+"-theme", theme, "/", age))
	return v.done(nil, "", root+"/settings")
}
