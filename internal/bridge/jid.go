package bridge

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// JID is the canonical text of a chat or person identifier (the document's
// section 2.1): "<phone>@s.whatsapp.net", "<id>@lid", "<id>[-<time>]@g.us" or
// "status@broadcast". It never has a device part. The empty JID means "none"
// and is null in JSON.
type JID string

// The servers (the part behind the @) that bridged knows.
const (
	ServerUser      = "s.whatsapp.net"
	ServerLID       = "lid"
	ServerGroup     = "g.us"
	ServerBroadcast = "broadcast"
	ServerBot       = "bot"
)

// StatusBroadcast is the pseudo chat of status updates, which bridged ignores.
const StatusBroadcast JID = "status@broadcast"

// Kind is the kind of chat that a JID names.
type Kind int

// The kinds of JID. A LID is an individual whose phone number is not known.
const (
	KindNone Kind = iota
	KindIndividual
	KindGroup
	KindLID
	KindBroadcast
)

// maxUserLength bounds the part before the @: phone numbers have at most 15
// digits, LIDs and group ids at most 20, old group ids a number and a time.
const maxUserLength = 48

// ParseJID checks the form of s and returns its canonical text. Device parts
// ("…:3@…"), unknown servers and anything but digits (and one dash in group
// ids) are refused with an [Error] of [CodeInvalid] that says what to change,
// and what was probably meant.
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
	case ServerUser, ServerLID, ServerBot:
		ok = digits(user)
	case ServerGroup:
		ok = isGroupID(user)
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

// isGroupID reports whether s names a group: digits, and in old groups a dash
// and the time at which it was made.
func isGroupID(s string) bool {
	creator, created, dash := strings.Cut(s, "-")
	return digits(creator) && (!dash || digits(created))
}

// PhoneJID returns the individual chat of a phone number in E.164 digits.
func PhoneJID(phone string) JID { return JID(phone + "@" + ServerUser) }

// Kind returns what j names.
func (j JID) Kind() Kind {
	switch j.Server() {
	case ServerUser, ServerBot:
		return KindIndividual
	case ServerLID:
		return KindLID
	case ServerGroup:
		return KindGroup
	case ServerBroadcast:
		return KindBroadcast
	}
	return KindNone
}

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
func (j JID) IsGroup() bool { return j.Kind() == KindGroup }

// IsLID reports whether j is a person known by the hidden identity.
func (j JID) IsLID() bool { return j.Kind() == KindLID }

// IsPerson reports whether j is a person, by phone number or by LID.
func (j JID) IsPerson() bool { return j.Kind() == KindIndividual || j.Kind() == KindLID }

// Escaped returns j as it stands in a path: @ as %40, the dot as it is (the
// document's section 2.1).
func (j JID) Escaped() string {
	return strings.ReplaceAll(url.PathEscape(string(j)), "@", "%40")
}

// Redacted returns j for the log, without whole phone numbers: of a person the
// last two digits, of an old group its founder's.
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

func digits(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// quoted shortens what the caller sent, so that an error sentence stays one.
func quoted(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}
