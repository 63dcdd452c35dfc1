package bridge

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// JID identifies a chat or a person: "<phone>@s.whatsapp.net", "<id>@lid", "<id>[-<time>]@g.us"
// or "status@broadcast", without a device part. The empty JID means none, and is null in JSON.
// "<messenger>-<digits>@interop" is a person on another messenger who uses WhatsApp's
// interoperability (in the EU). "<digits>@import" is a chat that was imported under a name, or a
// person in an imported chat of whom only the name is known.
type JID string

// These are the servers (the part after the @) that bridged knows.
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

// maxUserLength limits the part before the @. Phone numbers have at most 15 digits, LIDs and
// group ids at most 20; old group ids are a number and a time.
const maxUserLength = 48

// ParseJID returns the canonical form of s. It refuses device parts ("…:3@…"), unknown servers
// and anything but digits (and one dash in group ids) with an [Error] of [CodeInvalid] that
// suggests what was probably meant.
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

// parseJID returns the JID in s, or what is wrong with s.
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
		ok = IsDigits(user)
	case ServerGroup:
		ok = isGroupID(user)
	case ServerInterop:
		messenger, id, found := strings.Cut(user, "-")
		ok = found && IsDigits(messenger) && IsDigits(id)
	case ServerBroadcast:
		ok = user == "status" || IsDigits(user)
	default:
		return "", fmt.Sprintf("a JID must end in @%s, @%s or @%s", ServerUser, ServerGroup, ServerLID)
	}
	if !ok {
		return "", quoted(s) + " is not a JID: the part before the @ must be digits"
	}
	return JID(user + "@" + server), ""
}

// isGroupID reports whether s consists of digits, in old groups with a dash and a time.
func isGroupID(s string) bool {
	creator, created, dash := strings.Cut(s, "-")
	return IsDigits(creator) && (!dash || IsDigits(created))
}

// PhoneJID returns the JID of a phone number in E.164 digits.
func PhoneJID(phone string) JID { return JID(phone + "@" + ServerUser) }

// User returns the part before the @.
func (j JID) User() string {
	user, _, _ := strings.Cut(string(j), "@")
	return user
}

// Server returns the part after the @.
func (j JID) Server() string {
	_, server, _ := strings.Cut(string(j), "@")
	return server
}

// IsGroup reports whether j is a group.
func (j JID) IsGroup() bool { return j.Server() == ServerGroup }

// IsLID reports whether j is a person's LID.
func (j JID) IsLID() bool { return j.Server() == ServerLID }

// IsPerson reports whether j is a person (by phone number or LID), a bot, or a person on another
// messenger.
func (j JID) IsPerson() bool {
	server := j.Server()
	return server == ServerUser || server == ServerLID || server == ServerBot || server == ServerInterop
}

// IsInterop reports whether j is a person on another messenger. Messages cannot be sent to them.
func (j JID) IsInterop() bool { return j.Server() == ServerInterop }

// IsImport reports whether j is an imported chat or name without a phone number. Messages cannot
// be sent to it.
func (j JID) IsImport() bool { return j.Server() == ServerImport }

// Escaped returns j as a part of a path: @ as %40, the dot unchanged.
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
	return EncodeJSON(string(j))
}

// quoted quotes a caller's text for an error, shortened.
func quoted(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

var (
	// groupID matches ids that are longer than phone numbers, or have a time after a dash.
	groupID = regexp.MustCompile(`^([0-9]{16,20}|[0-9]{7,15}-[0-9]{10})$`)
	// chatLink matches links that open a chat, with their number.
	chatLink = regexp.MustCompile(`^(?:https?://)?(?:wa\.me/|api\.whatsapp\.com/send/?\?phone=|web\.whatsapp\.com/send/?\?phone=)\+?([0-9]+)`)
)

// guessJID returns the JID that was probably meant by s, or the empty JID. It is only shown,
// because a guess must not decide who receives a message.
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
	// c.us is the server of numbers in WhatsApp Web and in tools built on it.
	if found && !strings.EqualFold(server, "c.us") && !strings.EqualFold(server, ServerUser) {
		return ""
	}
	phone, err := ParsePhone(user)
	if err != nil {
		return ""
	}
	return PhoneJID(phone)
}

// IsDigits reports whether a text consists of ASCII digits. It returns false for an empty one.
func IsDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
