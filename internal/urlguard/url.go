package urlguard

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

const maxURLBytes = 8192

// parse returns a URL that may be requested, with its host in ASCII.
func (g *Guard) parse(raw string) (*url.URL, error) {
	u, err := parsePlain(raw, "the URL is")
	if err != nil {
		return nil, err
	}
	return g.vet(u)
}

// parsePlain parses a URL. It refuses percent-encoding in hosts, because honest URLs do not have
// it.
func parsePlain(raw, subject string) (*url.URL, error) {
	if len(raw) > maxURLBytes {
		return nil, refuse("%s longer than %d bytes", subject, maxURLBytes)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, refuse("%s malformed", subject) // url's error would echo it
	}
	if _, authority, _ := strings.Cut(raw, "//"); u.User == nil && !strings.HasPrefix(authority, u.Host) {
		return nil, refuse("the host must be written plainly, without escapes or zones")
	}
	return u, nil
}

// follow parses the Location of a response to base. It refuses a redirect from https to http,
// because the file could be replaced in transit.
func (g *Guard) follow(base *url.URL, location string) (*url.URL, error) {
	next, err := parsePlain(location, "the server redirects to a URL that is")
	if err != nil {
		return nil, err
	}
	next = base.ResolveReference(next)
	if base.Scheme == "https" && next.Scheme == "http" {
		return nil, refuse("the server redirects from https to http")
	}
	return g.vet(next)
}

// vet returns a parsed URL with its host in ASCII.
func (g *Guard) vet(u *url.URL) (*url.URL, error) {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, refuse("only http and https URLs are fetched")
	case u.User != nil:
		return nil, refuse("the URL must not carry a user name or password")
	case u.Hostname() == "":
		return nil, refuse("the URL names no host")
	}
	port := u.Port()
	if port != "" {
		if _, err := parsePort(port); err != nil {
			return nil, err
		}
		port = ":" + port
	}
	host, err := g.vetHost(u)
	if err != nil {
		return nil, err
	}
	vetted := Encoded(u)
	vetted.Host = host + port
	return vetted, nil
}

// Encoded returns a URL with its query encoded as browsers send it. Package net/url encodes paths
// and leaves queries unchanged, but servers refuse a request line with a space in it. It encodes
// the special-query percent-encode set (WHATWG URL Standard, section 1.3) and leaves encoded
// characters unchanged.
func Encoded(u *url.URL) *url.URL {
	encoded := *u
	var query strings.Builder
	for i := range len(u.RawQuery) {
		switch c := u.RawQuery[i]; {
		case c <= ' ' || c >= 0x7F || strings.IndexByte(`"'#<>`, c) >= 0:
			fmt.Fprintf(&query, "%%%02X", c)
		default:
			query.WriteByte(c)
		}
	}
	encoded.RawQuery = query.String()
	return &encoded
}

// parsePort permits every port except 0.
func parsePort(port string) (uint16, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return 0, refuse("the port must be between 1 and 65535")
	}
	return uint16(n), nil
}

// vetHost returns the URL's host in the form for a request.
func (g *Guard) vetHost(u *url.URL) (string, error) {
	name := u.Hostname()
	if !strings.HasPrefix(u.Host, "[") {
		ascii, _, err := g.vetName(name)
		return ascii, err
	}
	addr, err := netip.ParseAddr(name)
	if err != nil || !addr.Is6() {
		return "", refuse("the URL is malformed") // newer versions of url say so themselves
	}
	if !g.permits(addr) {
		return "", g.refused
	}
	return "[" + addr.String() + "]", nil
}

// vetTarget makes names absolute, because search domains could lead into the local network.
func (g *Guard) vetTarget(host string) (name string, addr netip.Addr, err error) {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		return "", addr, nil
	}
	name, addr, err = g.vetName(host)
	return name + ".", addr, err
}

// vetName checks a host that is not in brackets. It returns the name in ASCII, in lower case and
// without the final dot. The address is valid if the name is a dotted quad.
func (g *Guard) vetName(name string) (ascii string, addr netip.Addr, err error) {
	if ascii, err = toASCII(name); err != nil {
		return "", addr, err
	}
	name = strings.TrimSuffix(ascii, ".")
	labels := strings.Split(name, ".")
	if len(name) > 253 || slices.ContainsFunc(labels, badLabel) {
		return "", addr, refuse("the host is not a valid name")
	}
	if isNumber(labels[len(labels)-1]) {
		return g.vetQuad(ascii)
	}
	if isNotPublicName(name) || len(labels) == 1 {
		return "", addr, g.refused
	}
	return name, addr, nil
}

// vetQuad checks a name that ends in a number: it must consist of four plain decimal numbers.
// Some resolvers read 127.1, 0177.0.0.1, 0x7f000001 and 2130706433 as the loopback address.
func (g *Guard) vetQuad(name string) (string, netip.Addr, error) {
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return "", addr, refuse("an IPv4 address must be written as four plain decimal numbers")
	}
	if !g.permits(addr) {
		return "", addr, g.refused
	}
	return name, addr, nil
}

// toASCII converts an international name to the form for look-ups.
func toASCII(name string) (string, error) {
	if isASCII(name) {
		return strings.ToLower(name), nil
	}
	if !utf8.ValidString(name) {
		return "", refuse("the host is not a valid name")
	}
	if norm.NFC.String(name) != norm.NFKC.String(name) || endsInDigits(name) {
		return "", errLookAlike()
	}
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", refuse("the host is not a valid name")
	}
	if isDisguise(name, ascii) {
		return "", errLookAlike()
	}
	return strings.ToLower(ascii), nil
}

// errLookAlike refuses characters that would be mapped to others: full-width digits, circled
// letters, the Kelvin sign, invisible ones. No name is registered with them.
func errLookAlike() error { return refuse("the host is written with look-alike characters") }

// isDisguise reports whether a label that was not ASCII is mapped to ASCII.
func isDisguise(name, ascii string) bool {
	written, mapped := strings.Split(name, "."), strings.Split(ascii, ".")
	if len(written) != len(mapped) {
		return true
	}
	for i := range written {
		if !isASCII(written[i]) && !strings.HasPrefix(mapped[i], "xn--") {
			return true
		}
	}
	return false
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// endsInDigits reports whether the last label consists of digits, in any script.
func endsInDigits(name string) bool {
	name = strings.TrimSuffix(name, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	return last != "" && !strings.ContainsFunc(last, func(r rune) bool { return !unicode.IsNumber(r) })
}

// badLabel reports whether a label cannot be part of a name. Real names may have underscores and
// hyphens anywhere. Some xn-- labels are ASCII in disguise.
func badLabel(label string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	if label == "" || len(label) > 63 || strings.Trim(label, plain) != "" {
		return true
	}
	if !strings.HasPrefix(label, "xn--") {
		return false
	}
	_, err := idna.Lookup.ToUnicode(label)
	return err != nil
}

// isNumber reports whether a resolver might read the label as a number: no TLD starts with a
// digit.
func isNumber(label string) bool { return label[0] >= '0' && label[0] <= '9' }

// isNotPublicName reports whether a name is reserved for private use or is a subdomain of such a
// name.
func isNotPublicName(name string) bool {
	return slices.ContainsFunc([]string{"localhost", "localdomain", "local", "internal", "home.arpa"}, func(reserved string) bool {
		return name == reserved || strings.HasSuffix(name, "."+reserved)
	})
}
