package config

import (
	"net/netip"
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
	const fault = "PUBLIC_URL must be the address of the console as browsers open it, such as https://bridge.example.com, with no other path than BASE_PATH; several separated by commas"
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

// defaultPorts are the ports that browsers leave out of origins.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// checkOrigins parses the origins of CORS_ORIGINS, and writes them as browsers do.
func (c *Config) checkOrigins(faults *Faults) {
	const fault = "CORS_ORIGINS must list origins separated by commas, such as https://app.example.com or http://localhost:3000: a scheme, a host and at most a port; or be * alone"
	if strings.TrimSpace(c.CORSOrigins) == "*" {
		c.AllowedOrigins = []string{"*"}
		c.Warnings = append(c.Warnings, "CORS_ORIGINS=* lets pages of every site call the API with a token that they have: name the origins instead")
		return
	}
	c.AllowedOrigins = parseList(faults, c.CORSOrigins, fault, func(item string) (string, bool) {
		at, err := url.Parse(strings.ToLower(item))
		if err != nil || at.Scheme == "" || at.Hostname() == "" || strings.Contains(at.Host, "*") {
			return "", false
		}
		host := at.Host
		if at.Port() == defaultPorts[at.Scheme] {
			host = strings.TrimSuffix(host, ":"+at.Port())
		}
		at.Host, at.Path = "", strings.TrimSuffix(at.Path, "/")
		return at.Scheme + "://" + host, at.String() == at.Scheme+":" || at.String() == at.Scheme+"://"
	})
	for _, origin := range c.AllowedOrigins {
		if at, err := url.Parse(origin); err == nil && at.Scheme == "http" && !isThisMachine(at.Hostname()) {
			c.Warnings = append(c.Warnings, "CORS_ORIGINS has "+origin+", whose pages and tokens can be read and changed on the way: serve it over https")
		}
	}
}

// isThisMachine reports whether a host name means the machine that it is used on.
func isThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
