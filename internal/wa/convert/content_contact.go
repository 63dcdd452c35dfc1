package convert

import (
	"cmp"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

// readContacts reads one contact or a list of them.
func readContacts(msg *waE2E.Message) shown {
	cards := []*waE2E.ContactMessage{msg.GetContactMessage()}
	if msg.ContactMessage == nil {
		cards = first(msg.GetContactsArrayMessage().GetContacts())
	}
	s := shown{parts: bridge.Parts{Contacts: make([]bridge.SharedContact, len(cards))}}
	names := make([]string, len(cards))
	for i, card := range cards {
		names[i] = card.GetDisplayName()
		s.parts.Contacts[i] = sharedContact(card)
	}
	s.text = strings.Join(names, ", ")
	return s
}

func sharedContact(card *waE2E.ContactMessage) bridge.SharedContact {
	c := bridge.SharedContact{Phones: []bridge.SharedPhone{}, Emails: []string{}, VCard: card.GetVcard()}
	full := ""
	for _, p := range vcardProperties(card.GetVcard()) {
		switch p.name {
		case "FN":
			full = cmp.Or(full, p.text())
		case "TEL":
			c.Phones = append(c.Phones, p.phone())
		case "EMAIL":
			c.Emails = append(c.Emails, p.text())
		case "ORG":
			c.Organization = cmp.Or(c.Organization, strings.Join(p.components(), ", "))
		case "TITLE":
			c.Title = cmp.Or(c.Title, p.text())
		}
	}
	c.DisplayName = cmp.Or(card.GetDisplayName(), full)
	return c
}

// phone returns a number with the account that the card names for it: the apps
// write it as waid.
func (p vcardProperty) phone() bridge.SharedPhone {
	shared := bridge.SharedPhone{Number: strings.TrimPrefix(p.text(), "tel:")}
	if number, err := bridge.ParsePhone(p.params["WAID"]); err == nil {
		shared.JID = bridge.PhoneJID(number)
	}
	return shared
}
