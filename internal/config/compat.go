package config

import (
	"net"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// AdapterListener is an address with a compatibility API at its root.
type AdapterListener struct{ Name, Address string }

// adapters are the names of the compatibility APIs.
var adapters = []string{"waha", "evolution", "cloud"}

// instanceName matches names that can be used in a URL. The limit of 64 characters is checked separately: as a part
// of the expression, it would take 6 ms to compile at every start.
var instanceName = regexp.MustCompile(`^[\pL\pN_-][\pL\pN ._-]*$`)

// checkAdapters parses COMPAT and COMPAT_LISTEN, and checks COMPAT_INSTANCE.
func (c *Config) checkAdapters(faults *Faults) {
	known := strings.Join(adapters, ", ")
	c.Adapters = parseList(faults, c.Compat, "COMPAT must list compatibility APIs, separated by commas: "+known, func(item string) (string, bool) {
		item = strings.ToLower(item)
		return item, slices.Contains(adapters, item)
	})
	const fault = "COMPAT_LISTEN must list compatibility APIs with their addresses, such as evolution=127.0.0.1:8081; the names are "
	c.AdapterListeners = parseList(faults, c.CompatListen, fault+known, func(item string) (AdapterListener, bool) {
		name, address, _ := strings.Cut(item, "=")
		name, address = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(address)
		_, port, err := net.SplitHostPort(address)
		return AdapterListener{name, address}, slices.Contains(adapters, name) && err == nil && port != ""
	})
	if !instanceName.MatchString(c.CompatInstance) || utf8.RuneCountInString(c.CompatInstance) > 64 {
		faults.add("COMPAT_INSTANCE must have 1 to 64 letters, digits, spaces, dots, dashes and underscores, such as bridged")
	}
}
