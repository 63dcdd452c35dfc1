package convert

import (
	"cmp"
	"fmt"
	"io"
	"mime/quotedprintable"
	"strings"
	"unicode"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// readContacts reads one contact or a list of them.
func readContacts(msg *waE2E.Message) shown {
	cards := []*waE2E.ContactMessage{msg.GetContactMessage()}
	if msg.ContactMessage == nil {
		cards = first(msg.GetContactsArrayMessage().GetContacts())
	}
	contacts, names := make([]bridge.SharedContact, len(cards)), make([]string, len(cards))
	for i, card := range cards {
		contacts[i], names[i] = sharedContact(card), card.GetDisplayName()
	}
	return shown{text: strings.Join(names, ", "), parts: bridge.Parts{Contacts: contacts}}
}

func sharedContact(card *waE2E.ContactMessage) bridge.SharedContact {
	c := bridge.SharedContact{DisplayName: card.GetDisplayName(), Phones: []bridge.SharedPhone{}, Emails: []string{}, VCard: card.GetVcard()}
	for _, p := range vcardProperties(card.GetVcard()) {
		switch p.name {
		case "FN":
			c.DisplayName = cmp.Or(c.DisplayName, p.text())
		case "TEL":
			phone := bridge.SharedPhone{Number: strings.TrimPrefix(p.text(), "tel:")}
			if number, err := bridge.ParsePhone(p.params["WAID"]); err == nil { // the account, as the apps write it
				phone.JID = bridge.PhoneJID(number)
			}
			c.Phones = append(c.Phones, phone)
		case "EMAIL":
			c.Emails = append(c.Emails, p.text())
		case "ORG":
			c.Organization = cmp.Or(c.Organization, strings.Join(p.components(), ", "))
		case "TITLE":
			c.Title = cmp.Or(c.Title, p.text())
		}
	}
	return c
}

// vcardProperty holds one line of a vCard. Names and parameters are in capitals.
type vcardProperty struct {
	name   string
	params map[string]string
	value  string // as it is written
}

// vcardProperties returns the properties of a card of versions 2.1 to 4.0, and leaves
// out the lines that are none.
func vcardProperties(card string) (properties []vcardProperty) {
	card = strings.NewReplacer("\r\n ", "", "\r\n\t", "", "\n ", "", "\n\t", "", "\r\n", "\n").Replace(card)
	var folded strings.Builder // in quoted-printable, by a = at the end
	lines := 0
	for line := range strings.SplitSeq(card+"\n", "\n") {
		if lines == maxListed {
			break
		}
		if (folded.Len() > 0 || isQuotedPrintable(line)) && strings.HasSuffix(line, "=") {
			folded.WriteString(line[:len(line)-1])
			continue
		}
		folded.WriteString(line)
		if p, ok := parseProperty(folded.String()); ok {
			properties = append(properties, p)
		}
		folded.Reset()
		lines++
	}
	return properties
}

func isQuotedPrintable(line string) bool {
	head, _, _ := strings.Cut(line, ":")
	return strings.Contains(strings.ToUpper(head), "QUOTED-PRINTABLE")
}

// parseProperty reads "group.NAME;PARAM=value:value".
func parseProperty(line string) (vcardProperty, bool) {
	head, value, found := strings.Cut(line, ":")
	if !found {
		return vcardProperty{}, false
	}
	parts := strings.Split(head, ";")
	name := strings.ToUpper(strings.TrimSpace(parts[0]))
	p := vcardProperty{name: name[strings.LastIndexByte(name, '.')+1:], params: make(map[string]string), value: value}
	for _, param := range first(parts[1:]) {
		key, value, _ := strings.Cut(param, "=")
		p.params[strings.ToUpper(key)] = value
	}
	if isQuotedPrintable(line) {
		if decoded, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(value))); err == nil {
			p.value = string(decoded)
		}
	}
	return p, true
}

// vcardUnescaper reverses vcardEscaper.
var vcardUnescaper = strings.NewReplacer(`\\`, `\`, `\;`, ";", `\,`, ",", `\n`, "\n", `\N`, "\n")

func (p vcardProperty) text() string { return strings.TrimSpace(vcardUnescaper.Replace(p.value)) }

// components returns the parts of a value that are not empty.
func (p vcardProperty) components() (components []string) {
	const escaped = "\x00" // stands for a semicolon that separates nothing
	for part := range strings.SplitSeq(strings.ReplaceAll(p.value, `\;`, escaped), ";") {
		part = strings.TrimSpace(vcardUnescaper.Replace(strings.ReplaceAll(part, escaped, ";")))
		if part != "" {
			components = append(components, part)
		}
	}
	return components
}

// vcardEscaper escapes characters with a meaning in a text value of a vCard 3.0
// (RFC 2426, section 5), and every line end that some reader may know.
var vcardEscaper = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`,
	"\u0085", `\n`, "\u2028", `\n`, "\u2029", `\n`)

// vcardText escapes a text value, so that it cannot end its line or begin a property.
// Other control characters, some of which end lines too, become spaces.
func vcardText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, vcardEscaper.Replace(s))
}

// vcardOf returns the contact's card: the caller's own, or one in the form that
// the apps write, whose waid makes the number linkable to a chat.
func vcardOf(c bridge.ContactCard) string {
	if c.VCard != "" {
		return c.VCard
	}
	lines := []string{"BEGIN:VCARD", "VERSION:3.0"}
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, name+":"+vcardText(value))
		}
	}
	first := c.FirstName
	if first == "" && c.LastName == "" {
		first = c.DisplayName
	}
	lines = append(lines, "N:"+vcardText(c.LastName)+";"+vcardText(first)+";;;", "FN:"+vcardText(c.DisplayName))
	add("ORG", c.Organization)
	add("TITLE", c.Title)
	if c.Phone != "" {
		add("TEL;type=CELL;type=VOICE;waid="+c.Phone, cmp.Or(c.PhoneDisplay, "+"+c.Phone))
	} else {
		add("TEL;type=CELL;type=VOICE", c.PhoneDisplay)
	}
	add("EMAIL;type=INTERNET", c.Email)
	return strings.Join(append(lines, "END:VCARD"), "\n")
}

func contactsMessage(cards []bridge.ContactCard) *waE2E.Message {
	contacts := make([]*waE2E.ContactMessage, len(cards))
	for i, card := range cards {
		contacts[i] = &waE2E.ContactMessage{DisplayName: &card.DisplayName, Vcard: proto.String(vcardOf(card))}
	}
	if len(contacts) == 1 {
		return &waE2E.Message{ContactMessage: contacts[0]}
	}
	return &waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{
		DisplayName: proto.String(fmt.Sprintf("%d contacts", len(contacts))), Contacts: contacts,
	}}
}
