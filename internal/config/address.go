package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// basePath matches paths that need no escaping in a page, a script or a cookie.
var basePath = regexp.MustCompile(`^(/[A-Za-z0-9_-]+)+$`)

// ownPaths are the first segments of bridged's own paths. A BASE_PATH must not start with one of
// them, because requests reach the paths both with BASE_PATH and without.
var ownPaths = []string{"api", "console", "healthz", "hooks", "login", "mcp", "metrics", "oauth", "readyz"}

// ingress is the prefix of the URLs at which Home Assistant shows its add-ons. No route of the
// API starts with it.
const ingress = "/api/hassio_ingress/"

const maxBasePath = 200 // in bytes

// checkBasePath checks the path prefix that a reverse proxy uses for the bridge.
func (c *Config) checkBasePath(faults *Faults) {
	if c.BasePath = strings.TrimSpace(c.BasePath); c.BasePath == "" || c.BasePath == "/" {
		c.BasePath = ""
		return
	}
	if !basePath.MatchString(c.BasePath) || len(c.BasePath) > maxBasePath {
		faults.add("BASE_PATH must be a path such as /bridged: it starts with a slash, does not end with one, and consists of letters, digits, - and _")
		return
	}
	first, _, _ := strings.Cut(c.BasePath[1:], "/")
	if !strings.HasPrefix(c.BasePath, ingress) && (slices.Contains(ownPaths, first) || slices.Contains(adapters, first)) {
		faults.add("BASE_PATH must not begin with /%s, which is a path of bridged itself; choose another, such as /bridged", first)
	}
}

// checkPublicURL parses the URLs of the console, which may be written with BASE_PATH or without.
func (c *Config) checkPublicURL(faults *Faults) {
	const fault = "PUBLIC_URL must be the address of the console as browsers open it, such as https://bridge.example.com, with no other path than BASE_PATH; several with commas between"
	c.PublicURLs = parseList(faults, c.PublicURL, fault, func(item string) (*url.URL, bool) {
		at, err := url.Parse(item)
		if err != nil || at.Hostname() == "" || at.Scheme != "http" && at.Scheme != "https" || at.RawQuery != "" || at.User != nil {
			return nil, false
		}
		path := strings.TrimRight(at.Path, "/")
		at.Path, at.RawPath = c.BasePath, ""
		return at, path == "" || path == c.BasePath
	})
}
