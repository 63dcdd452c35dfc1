package shell

import (
	"regexp"
	"strings"
	"unicode"
)

// kinds has words for types of messages whose own names say little.
var kinds = map[string]string{
	"conversation": "text", "extendedTextMessage": "text", "ptvMessage": "video note", "contactsArrayMessage": "contacts",
	"liveLocationMessage": "live location", "pollCreationMessage": "poll", "viewOnceMessage": "view once",
}

// version matches the version of a type, as in pollCreationMessageV3.
var version = regexp.MustCompile(`V\d+$`)

// kindWord returns the words for a type of message: "poll" for pollCreationMessageV3.
func kindWord(messageType string) string {
	plain := version.ReplaceAllString(messageType, "")
	if word, ok := kinds[plain]; ok {
		return word
	}
	var b strings.Builder
	for i, r := range strings.TrimSuffix(plain, "Message") {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
