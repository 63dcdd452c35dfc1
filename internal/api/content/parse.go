package content

import (
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
)

const (
	maxPhone = 64  // characters of a number in a request
	maxLink  = 200 // characters of an invite link
)

// ParsePerson reads the JID of a person.
func ParsePerson(field, value string) (bridge.JID, error) {
	return ParseKind(field, value, bridge.JID.IsPerson, "a person, as in 15551234567@s.whatsapp.net")
}

// ParseAuthor reads the JID of a person, or of a name in an imported chat.
func ParseAuthor(field, value string) (bridge.JID, error) {
	if IsImport(value) {
		return bridge.ParseJID(value)
	}
	return ParsePerson(field, value)
}

// ParseChat reads the JID of a chat to which messages can be sent.
func ParseChat(field, value string) (bridge.JID, error) {
	canBeWrittenTo := func(jid bridge.JID) bool { return jid.IsPerson() || jid.IsGroup() }
	jid, err := ParseKind(field, value, canBeWrittenTo, "a person or a group; status updates and broadcast lists are not served")
	if err != nil && IsImport(value) {
		err = bridge.Invalid("%s names a chat that was imported from an export: it has no phone number, so nothing can be sent to it", field)
	}
	return jid, err
}

// IsImport reports whether a value is the JID of an imported chat.
func IsImport(value string) bool {
	jid, err := bridge.ParseJID(value)
	return err == nil && jid.IsImport()
}

// ParseDestination reads the JID of the chat to send to.
func ParseDestination(field, value string) (bridge.JID, error) {
	if value == "" {
		return "", bridge.Invalid("%s is required", field)
	}
	return ParseChat(field, value)
}

// ParseStored reads the JID of a chat that may be stored.
func ParseStored(field, value string) (bridge.JID, error) {
	canBeRead := func(jid bridge.JID) bool { return jid.IsPerson() || jid.IsGroup() || jid.IsImport() }
	return ParseKind(field, value, canBeRead, "a person, a group or an imported chat; status updates and broadcast lists are not served")
}

// ParseKind reads a JID that fits. Its errors name the field.
func ParseKind(field, value string, fits func(bridge.JID) bool, wanted string) (bridge.JID, error) {
	jid, err := bridge.ParseJID(value)
	if err != nil {
		return "", bridge.Invalid("%s: %v", field, err)
	}
	if !fits(jid) {
		return "", bridge.Invalid("%s must name %s", field, wanted)
	}
	return jid, nil
}

// ParsePhone reads a phone number in any usual form. Its errors name the field.
func ParsePhone(field, value string) (string, error) {
	if len(value) > maxPhone {
		return "", bridge.Invalid("%s must have at most %d characters", field, maxPhone)
	}
	phone, err := bridge.ParsePhone(value)
	if err != nil {
		return "", bridge.Invalid("%s %v", field, err)
	}
	return phone, nil
}

// ParseEventTypes returns each of the named types once. Types that are not in all are refused.
func ParseEventTypes(field string, names []string, all []bridge.EventType) ([]bridge.EventType, error) {
	var types []bridge.EventType
	for _, name := range names {
		kind := bridge.EventType(strings.TrimSpace(name))
		if slices.Contains(bridge.StreamTypes(), kind) && !slices.Contains(all, kind) {
			return nil, bridge.Invalid("%s cannot have %s, which only streams of events have", field, kind)
		}
		if !slices.Contains(all, kind) {
			return nil, bridge.Invalid("%s must be among %s", field, bridge.Join(all, ", "))
		}
		if !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	return types, nil
}

// ParseLink returns the code of a link, which may lack https:// and the host.
func ParseLink(link string) (code string, err error) {
	rest := strings.TrimSpace(link)
	for _, prefix := range []string{"https://", "http://", "chat.whatsapp.com/", "invite/"} {
		rest = strings.TrimPrefix(rest, prefix)
	}
	code, _, _ = strings.Cut(rest, "?")
	isCode := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_'
	}
	if len(link) > maxLink || len(code) < 10 || strings.TrimFunc(code, isCode) != "" {
		return "", bridge.Invalid("link must be the link of a group, as in https://chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv")
	}
	return code, nil
}

// ParseSendAt reads the time at which a message is sent; nil if the value is empty.
func ParseSendAt(value string) (*bridge.Time, error) {
	if value == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return nil, bridge.Invalid("sendAt must be a date and time with a zone, like 2026-11-21T08:15:30+01:00 or 2026-11-21T07:15:30Z")
	}
	return new(bridge.At(at)), nil
}

// Join is the body of a request to join a group: a link, or a message with an invitation.
type Join struct {
	Link    string `json:"link"`
	ChatJID string `json:"chatJid"`
	MsgID   string `json:"msgId"`
}

// Parse returns the code of the link, or the chat of the message.
func (j Join) Parse() (code string, chat bridge.JID, err error) {
	switch isMessage := j.ChatJID != "" || j.MsgID != ""; {
	case isMessage && (j.Link != "" || j.MsgID == ""):
		return "", "", bridge.Invalid("give either link, or chatJid and msgId of an invitation")
	case isMessage:
		chat, err = ParseDestination("chatJid", j.ChatJID)
		return "", chat, err
	}
	code, err = ParseLink(j.Link)
	return code, "", err
}
