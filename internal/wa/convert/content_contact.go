package convert

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/vcard"
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
	for _, p := range vcard.Properties(card.GetVcard()) {
		switch p.Name {
		case "FN":
			c.DisplayName = cmp.Or(c.DisplayName, p.Text())
		case "TEL":
			phone := bridge.SharedPhone{Number: strings.TrimPrefix(p.Text(), "tel:")}
			if number, err := bridge.ParsePhone(p.Params["WAID"]); err == nil { // the account, as the apps write it
				phone.JID = bridge.PhoneJID(number)
			}
			c.Phones = append(c.Phones, phone)
		case "EMAIL":
			c.Emails = append(c.Emails, p.Text())
		case "ORG":
			c.Organization = cmp.Or(c.Organization, strings.Join(p.Components(), ", "))
		case "TITLE":
			c.Title = cmp.Or(c.Title, p.Text())
		}
	}
	return c
}

// vcardEscaper escapes characters with a meaning in a text value of a vCard 3.0
// (RFC 2426, section 5), and every line end that some reader may know.
var vcardEscaper = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`,
	"\u0085", `\n`, "\u2028", `\n`, "\u2029", `\n`)

// vcardText escapes a text value, so that it cannot end its line or begin a property. Other control
// characters become spaces; some of them end lines too.
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
