package config

import (
	"net"
	"regexp"
	"slices"
	"strings"
)

// DoorListener is an address with a compatibility API at its root.
type DoorListener struct{ Door, Address string }

// knownDoors are the compatibility APIs.
var knownDoors = []string{"waha", "evolution", "cloud"}

// instanceName matches names that can be used in a URL.
var instanceName = regexp.MustCompile(`^[\pL\pN_-][\pL\pN ._-]{0,63}$`)

// checkDoors parses which compatibility APIs are on, and their addresses.
func (c *Config) checkDoors(faults *Faults) {
	known := strings.Join(knownDoors, ", ")
	c.Doors = parseList(faults, c.Compat, "COMPAT must list doors with commas between: "+known, func(item string) (string, bool) {
		item = strings.ToLower(item)
		return item, slices.Contains(knownDoors, item)
	})
	const fault = "COMPAT_LISTEN must list doors with their addresses, such as evolution=127.0.0.1:8081; the doors are "
	c.DoorListeners = parseList(faults, c.CompatListen, fault+known, func(item string) (DoorListener, bool) {
		door, address, _ := strings.Cut(item, "=")
		door, address = strings.ToLower(strings.TrimSpace(door)), strings.TrimSpace(address)
		_, port, err := net.SplitHostPort(address)
		return DoorListener{door, address}, slices.Contains(knownDoors, door) && err == nil && port != ""
	})
	if !instanceName.MatchString(c.CompatInstance) {
		faults.add("COMPAT_INSTANCE must have 1 to 64 letters, digits, spaces, dots, dashes and underscores, such as bridged")
	}
}
