package bridge

import (
	"net/url"
	"regexp"
	"strings"
)

var (
	// groupID finds the ids of groups, which are longer than phone numbers or
	// have a time behind a dash.
	groupID = regexp.MustCompile(`^([0-9]{16,20}|[0-9]{7,15}-[0-9]{10})$`)
	// chatLink finds the number in links that open a chat.
	chatLink = regexp.MustCompile(`^(?:https?://)?(?:wa\.me/|api\.whatsapp\.com/send/?\?phone=|web\.whatsapp\.com/send/?\?phone=)\+?([0-9]+)`)
)

// guessJID returns the JID that was probably meant by s, which is none, or the
// empty JID. Callers name it and leave the decision to the person: a guess must
// not choose who gets a message.
func guessJID(s string) JID {
	if len(s) > 2*maxUserLength {
		return ""
	}
	s = strings.TrimSpace(s)
	if decoded, err := url.PathUnescape(s); err == nil && strings.Contains(decoded, "@") {
		s = decoded // the @ was escaped twice
	}
	if link := chatLink.FindStringSubmatch(s); link != nil {
		s = link[1]
	}
	user, server, found := strings.Cut(s, "@")
	user, _, _ = strings.Cut(user, ":") // a device part
	if found && strings.EqualFold(server, ServerGroup) || !found && groupID.MatchString(user) {
		return knownJID(user + "@" + ServerGroup)
	}
	if found && strings.EqualFold(server, ServerLID) {
		return knownJID(user + "@" + ServerLID)
	}
	// c.us is the number's server in WhatsApp Web and in what is built on it.
	if found && !strings.EqualFold(server, "c.us") && !strings.EqualFold(server, ServerUser) {
		return ""
	}
	phone, err := ParsePhone(user)
	if err != nil {
		return ""
	}
	return PhoneJID(phone)
}

// knownJID returns s if it is a JID, else the empty JID.
func knownJID(s string) JID {
	jid, _ := parseJID(s)
	return jid
}
