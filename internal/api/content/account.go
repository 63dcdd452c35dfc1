package content

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

const (
	maxAccountName = 25  // characters, as in the apps
	maxAbout       = 139 // characters, as in the apps
)

// CheckAccount returns an error if an account cannot show itself so.
func CheckAccount(patch bridge.AccountPatch) error {
	switch {
	case patch == (bridge.AccountPatch{}):
		return bridge.Invalid("give at least one of name and about")
	case patch.Name != nil && (strings.TrimSpace(*patch.Name) == "" || utf8.RuneCountInString(*patch.Name) > maxAccountName || strings.ContainsFunc(*patch.Name, unicode.IsControl)):
		return bridge.Invalid("name must have 1 to %d characters, in one line", maxAccountName)
	case patch.About != nil && utf8.RuneCountInString(*patch.About) > maxAbout:
		return bridge.Invalid("about must have at most %d characters; an empty one removes it", maxAbout)
	}
	return nil
}

// privacyValues has the values of privacy settings, except for those that need a list of people.
var privacyValues = map[string][]string{
	"lastSeen": {"all", "contacts", "none"}, "online": {"all", "match_last_seen"}, "about": {"all", "contacts", "none"},
	"picture": {"all", "contacts", "none"}, "readReceipts": {"all", "none"}, "groupAdd": {"all", "contacts", "none"},
	"callAdd": {"all", "known"}, "messages": {"all", "contacts"}, "stickers": {"contacts", "none"}, "defense": {"on_standard", "off"},
}

// CheckPrivacy returns an error if privacy settings cannot be changed so.
func CheckPrivacy(p bridge.Privacy) error {
	if p == (bridge.Privacy{}) {
		return bridge.Invalid("give at least one setting, as GET /api/account/privacy names them")
	}
	for _, setting := range p.All() {
		value, allowed := *setting.Value, privacyValues[setting.Name]
		if value != nil && !slices.Contains(allowed, *value) {
			return bridge.Invalid("%s must be one of %s: settings with a list of people can only be changed on the phone", setting.Name, strings.Join(allowed, ", "))
		}
	}
	return nil
}
