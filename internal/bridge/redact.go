package bridge

import (
	"regexp"
	"strings"
)

// numberInText finds whatever may be a phone number: a user with agent and
// device, with or without a server, and bare digits.
var numberInText = regexp.MustCompile(`\+?\b\d{7,}(?:[.:_]\d+)*(?:@[a-z.]+)?`)

// serverLegacyUser is the server of phone numbers in old JIDs.
const serverLegacyUser = "c.us"

// Redact returns a text for the log, with only the last two digits of the phone
// numbers in it. Other identities stay: LIDs, which stand bare only with their
// agent (in Signal addresses), and groups, but for the founder's number in the
// old ones.
func Redact(text string) string {
	return numberInText.ReplaceAllStringFunc(text, func(found string) string {
		user, server, isJID := strings.Cut(strings.TrimPrefix(found, "+"), "@")
		number, device := user, ""
		if i := strings.IndexAny(user, ".:_"); i >= 0 {
			number, device = user[:i], user[i:]
		}
		switch {
		case isJID && server != ServerUser && server != serverLegacyUser,
			!isJID && (len(number) > maxPhone || strings.HasPrefix(device, "_")):
			return found
		case isJID:
			server = "@" + server
		}
		return "…" + number[len(number)-2:] + device + server
	})
}
