package oauth

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const (
	maxRedirects = 10   // of one client
	maxRedirect  = 1024 // bytes of one
)

// apps are the private schemes of programs that agents run in. Other private schemes need a dot in
// their name (RFC 8252, section 7.1), because a scheme such as ms-msdt: starts a program of the
// operating system.
var apps = []string{"claude", "cline", "cursor", "goose", "kiro", "lmstudio", "raycast", "vscode", "vscode-insiders", "vscodium", "warp", "windsurf", "zed"}

// plainHost matches hosts that can be shown and written into a Content-Security-Policy as they are.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9._-]+(:[0-9]{1,5})?$`)

// checkRedirect refuses an address that no answer may be sent to.
func checkRedirect(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case len(raw) > maxRedirect:
		return refuse("invalid_redirect_uri", "a redirect URI may have at most %d bytes", maxRedirect)
	case err != nil || u.Scheme == "" || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' }):
		return refuse("invalid_redirect_uri", "a redirect URI must be an absolute address in ASCII")
	case u.Fragment != "" || strings.Contains(raw, "#"):
		return refuse("invalid_redirect_uri", "a redirect URI must have no fragment")
	case u.User != nil:
		return refuse("invalid_redirect_uri", "a redirect URI must have no user name")
	case u.Scheme == "https" && plainHost.MatchString(u.Host), isLoopback(u):
		return nil
	case u.Scheme != "http" && u.Scheme != "https" && (strings.Contains(u.Scheme, ".") || slices.Contains(apps, u.Scheme)):
		return nil
	}
	return refuse("invalid_redirect_uri", "a redirect URI must use https, http on 127.0.0.1, [::1] or localhost, or the private scheme of an app, such as com.example.app:/callback")
}

// isLoopback reports whether a program on the user's own machine listens at an address.
func isLoopback(u *url.URL) bool {
	return u.Scheme == "http" && slices.Contains([]string{"127.0.0.1", "::1", "localhost"}, u.Hostname())
}

// isRegistered reports whether an address is one of the registered ones, exactly. A program on the
// user's own machine may listen on any port (RFC 8252, section 7.3).
func isRegistered(given string, registered []string) bool {
	if slices.Contains(registered, given) {
		return true
	}
	u, err := url.Parse(given)
	if err != nil || !isLoopback(u) || checkRedirect(given) != nil {
		return false
	}
	return slices.ContainsFunc(registered, func(one string) bool {
		known, err := url.Parse(one)
		return err == nil && isLoopback(known) && withoutPort(one, known) == withoutPort(given, u)
	})
}

// withoutPort returns an address as it is written, without its port.
func withoutPort(raw string, u *url.URL) string {
	if port := u.Port(); port != "" {
		return strings.Replace(raw, ":"+port, "", 1)
	}
	return raw
}

// hostOf returns the receiver of an answer in the form that people see: a host, "localhost" for their
// own machine, or the scheme of an app.
func hostOf(redirect string) string {
	u, err := url.Parse(redirect)
	switch {
	case err != nil:
		return ""
	case isLoopback(u):
		return "localhost"
	case u.Scheme == "https":
		return strings.ToLower(u.Host)
	}
	return u.Scheme + ":"
}

// formTarget returns the source that lets a page's forms be answered with a redirect (form-action of a
// Content-Security-Policy).
func formTarget(redirect string) string {
	u, err := url.Parse(redirect)
	switch {
	case err != nil:
		return "'none'"
	case u.Host == "" || strings.Contains(u.Hostname(), ":") || u.Scheme != "http" && u.Scheme != "https":
		return u.Scheme + ":" // policies have no form for IPv6 addresses
	}
	return u.Scheme + "://" + u.Host
}

// withParameters adds parameters to an address, whose own ones stay.
func withParameters(redirect string, parameters url.Values) string {
	separator := "?"
	if strings.Contains(redirect, "?") {
		separator = "&"
	}
	return redirect + separator + parameters.Encode()
}
