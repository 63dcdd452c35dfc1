package bridge

import (
	"regexp"
	"strings"
)

// numberInText finds possible phone numbers: users with agent and device, with or without
// a server, and bare digits.
var numberInText = regexp.MustCompile(`\+?\b\d{7,}(?:[.:_]\d+)*(?:@[a-z.]+)?`)

// serverLegacyUser is the server of phone numbers in old JIDs.
const serverLegacyUser = "c.us"

// Redact returns a text for the log with only the last two digits of its phone numbers,
// those in the ids of old groups included. LIDs stay; without a server they stand in Signal
// addresses, with an agent.
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
