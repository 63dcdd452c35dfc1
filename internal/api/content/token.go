package content

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

const maxName = 100 // characters of a token's or a hook's name

// CheckName checks the name of a token or hook.
func CheckName(name, thing string) error {
	if name == "" || utf8.RuneCountInString(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		return bridge.Invalid("name is required: 1 to %d characters that say what the %s is for", maxName, thing)
	}
	return nil
}

// ParseScopes returns each scope once, in the order of [bridge.Scopes].
func ParseScopes(names []string) ([]bridge.Scope, error) {
	if most := len(bridge.Scopes()); len(names) > most {
		return nil, bridge.Invalid("scopes must hold at most %d elements", most)
	}
	for _, name := range names {
		if !slices.Contains(bridge.Scopes(), bridge.Scope(name)) {
			return nil, bridge.Invalid("scopes must be among read, send, manage")
		}
	}
	if len(names) == 0 {
		return nil, bridge.Invalid("scopes is required: one or more of read, send, manage")
	}
	return slices.DeleteFunc(bridge.Scopes(), func(scope bridge.Scope) bool { return !slices.Contains(names, string(scope)) }), nil
}

// ParseExpiry reads the time at which a token expires; nil if the value is empty.
func ParseExpiry(now time.Time, value *string) (*bridge.Time, error) {
	if value == nil || *value == "" {
		return nil, nil
	}
	t, err := time.Parse(time.RFC3339, *value)
	if err != nil || !t.After(now) {
		return nil, bridge.Invalid("expiresAt must be a time in the future, like 2027-01-31T00:00:00Z, or null for never")
	}
	at := bridge.At(t)
	return &at, nil
}
