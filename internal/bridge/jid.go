package bridge

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// JID identifies a chat or a person: "<phone>@s.whatsapp.net", "<id>@lid",
// "<id>[-<time>]@g.us" or "status@broadcast", without a device part. The empty JID
// is none, and null in JSON. "<messenger>-<digits>@interop" is a person on another messenger,
// who writes over WhatsApp's interoperability (in the EU). "<digits>@import" is a chat that was imported under a name, or
// somebody in an imported chat of whom nothing but the name is known.
type JID string

// The servers (the part behind the @) that bridged knows.
const (
	ServerUser      = "s.whatsapp.net"
	ServerLID       = "lid"
	ServerGroup     = "g.us"
	ServerBroadcast = "broadcast"
	ServerBot       = "bot"
	ServerInterop   = "interop"
	ServerImport    = "import" // which is not of the network
)

// StatusBroadcast is the pseudo chat of status updates, which bridged ignores.
const StatusBroadcast JID = "status@broadcast"

// maxUserLength bounds the part before the @: phone numbers have at most 15
// digits, LIDs and group ids at most 20, old group ids a number and a time.
const maxUserLength = 48

// ParseJID returns the canonical form of s. It refuses device parts ("…:3@…"), unknown
// servers and anything but digits (and one dash in group ids) with an [Error] of
// [CodeInvalid] that names what was probably meant.
func ParseJID(s string) (JID, error) {
	jid, fault := parseJID(s)
	if fault == "" {
		return jid, nil
	}
	if meant := guessJID(s); meant != "" {
		fault += "; did you mean " + string(meant) + "?"
	}
	return "", Invalid("%s", fault)
}

// parseJID returns the JID that s is, or what is wrong with it.
func parseJID(s string) (_ JID, fault string) {
	user, server, found := strings.Cut(s, "@")
	if !found {
		return "", quoted(s) + " is not a JID: it needs an @, as in 15551234567@s.whatsapp.net"
	}
	if strings.Contains(user, ":") {
		return "", "a JID must not have a device part (the part after the colon)"
	}
	if len(user) > maxUserLength {
		return "", "the JID is too long"
	}
	server = strings.ToLower(server)
	ok := false
	switch server {
	case ServerUser, ServerLID, ServerBot, ServerImport:
		ok = digits(user)
	case ServerGroup:
		ok = isGroupID(user)
	case ServerInterop:
		messenger, id, found := strings.Cut(user, "-")
		ok = found && digits(messenger) && digits(id)
	case ServerBroadcast:
		ok = user == "status" || digits(user)
	default:
		return "", fmt.Sprintf("a JID must end in @%s, @%s or @%s", ServerUser, ServerGroup, ServerLID)
	}
	if !ok {
		return "", quoted(s) + " is not a JID: the part before the @ must be digits"
	}
	return JID(user + "@" + server), ""
}

// isGroupID reports whether s is digits, in old groups with a dash and a time.
func isGroupID(s string) bool {
	creator, created, dash := strings.Cut(s, "-")
	return digits(creator) && (!dash || digits(created))
}

// PhoneJID returns the individual chat of a phone number in E.164 digits.
func PhoneJID(phone string) JID { return JID(phone + "@" + ServerUser) }

// User returns the part before the @.
func (j JID) User() string {
	user, _, _ := strings.Cut(string(j), "@")
	return user
}

// Server returns the part behind the @.
func (j JID) Server() string {
	_, server, _ := strings.Cut(string(j), "@")
	return server
}

// IsGroup reports whether j is a group.
func (j JID) IsGroup() bool { return j.Server() == ServerGroup }

// IsLID reports whether j is a person known by the hidden identity.
func (j JID) IsLID() bool { return j.Server() == ServerLID }

// IsPerson reports whether j is a person, by phone number or by LID, a bot, or a person on
// another messenger.
func (j JID) IsPerson() bool {
	server := j.Server()
	return server == ServerUser || server == ServerLID || server == ServerBot || server == ServerInterop
}

// IsInterop reports whether j is a person on another messenger, who cannot be answered from
// here.
func (j JID) IsInterop() bool { return j.Server() == ServerInterop }

// IsImport reports whether j is a chat or a name that was imported, which nobody can be
// reached by.
func (j JID) IsImport() bool { return j.Server() == ServerImport }

// Escaped returns j as it stands in a path: @ as %40, the dot as it is.
func (j JID) Escaped() string {
	return strings.ReplaceAll(url.PathEscape(string(j)), "@", "%40")
}

// Redacted returns j for the log, with only the last two digits of phone numbers.
func (j JID) Redacted() string {
	user := j.User()
	if j.Server() == ServerUser && len(user) >= 4 {
		return "…" + user[len(user)-2:] + "@" + j.Server()
	}
	return Redact(string(j))
}

// MarshalJSON writes the empty JID as null.
func (j JID) MarshalJSON() ([]byte, error) {
	if j == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(j))
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// quoted returns a caller's text for an error, shortened.
func quoted(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

var (
	// groupID finds ids longer than phone numbers, or with a time behind a dash.
	groupID = regexp.MustCompile(`^([0-9]{16,20}|[0-9]{7,15}-[0-9]{10})$`)
	// chatLink finds the number in links that open a chat.
	chatLink = regexp.MustCompile(`^(?:https?://)?(?:wa\.me/|api\.whatsapp\.com/send/?\?phone=|web\.whatsapp\.com/send/?\?phone=)\+?([0-9]+)`)
)

// guessJID returns the JID that was probably meant by s, or the empty JID. It is only
// shown: a guess must not choose who gets a message.
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
		jid, _ := parseJID(user + "@" + ServerGroup)
		return jid
	}
	if found && strings.EqualFold(server, ServerLID) {
		jid, _ := parseJID(user + "@" + ServerLID)
		return jid
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
