package sending

import (
	"slices"
	"strings"
	"testing"

	"github.com/emersion/go-vcard"
	"go.mau.fi/whatsmeow/proto/waE2E"

	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// cards sends single contacts and a list, and reads them with an independent
// parser.
func (r *room) cards() {
	full := Object{
		"displayName": "Dr. Dora Döring", "firstName": "Dora", "lastName": "Döring", "phone": "491510000077", "phoneDisplay": "+49 151 0000077",
		"email": "dora@example.org", "organization": "Döring & Töchter", "title": "Chefin",
	}
	one := r.sends("send-contact", Object{"contacts": []Object{full}})
	for _, phone := range r.readers() {
		got := decrypted(r, phone, one).GetContactMessage()
		if got.GetDisplayName() != "Dr. Dora Döring" || got.ContextInfo != nil {
			r.Errorf("%s got %v", phone.Name(), got)
		}
		isDora(r, readCard(r, got.GetVcard()))
	}
	if got := r.stored(one); got.MessageType != "contactMessage" || got.Content != "Dr. Dora Döring" {
		r.Errorf("stored as %s: %q", got.MessageType, got.Content)
	}

	own := "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Mine\r\nX-ANY:thing\r\nEND:VCARD\r\n"
	list := r.sends("send-contact", Object{"contacts": []Object{full, {"displayName": "Emil", "phone": "491510000078"}, {"displayName": "Mine", "vcard": own}}})
	contacts := func(phone *simnet.Phone) *waE2E.ContactsArrayMessage {
		return decrypted(r, phone, list).GetContactsArrayMessage()
	}
	for _, phone := range r.readers() {
		got := contacts(phone)
		if len(got.GetContacts()) != 3 || got.GetDisplayName() != "3 contacts" {
			r.Fatalf("%s got %v", phone.Name(), got)
		}
		isDora(r, readCard(r, got.Contacts[0].GetVcard()))
		emil := readCard(r, got.Contacts[1].GetVcard())
		if phone := emil.Get(vcard.FieldTelephone); phone == nil || phone.Value != "+491510000078" || phone.Params.Get("WAID") != "491510000078" {
			r.Errorf("Emil's phone is %v", phone)
		}
		if name := emil.Name(); emil.Value(vcard.FieldFormattedName) != "Emil" || name == nil || name.GivenName != "Emil" || name.FamilyName != "" {
			r.Errorf("Emil is called %v, %v", emil.Value(vcard.FieldFormattedName), name)
		}
		if mine := got.Contacts[2]; mine.GetDisplayName() != "Mine" || mine.GetVcard() != own {
			r.Errorf("the caller's own card became %q (%s)", mine.GetVcard(), mine.GetDisplayName())
		}
	}
	if got := r.stored(list); got.MessageType != "contactsArrayMessage" || got.Content != "Dr. Dora Döring, Emil, Mine" {
		r.Errorf("stored as %s: %q", got.MessageType, got.Content)
	}
}

// readCard parses a text with one card.
func readCard(t testing.TB, text string) vcard.Card {
	t.Helper()
	decoder := vcard.NewDecoder(strings.NewReader(text))
	card, err := decoder.Decode()
	if err != nil {
		t.Fatalf("read the card %q: %v", text, err)
	}
	if more, err := decoder.Decode(); err == nil {
		t.Errorf("the text holds another card: %v", more)
	}
	return card
}

func isDora(t testing.TB, card vcard.Card) {
	t.Helper()
	for field, want := range map[string]string{
		vcard.FieldVersion: "3.0", vcard.FieldFormattedName: "Dr. Dora Döring", vcard.FieldTelephone: "+49 151 0000077",
		vcard.FieldEmail: "dora@example.org", vcard.FieldOrganization: "Döring & Töchter", vcard.FieldTitle: "Chefin",
	} {
		if got := card[field]; len(got) != 1 || got[0].Value != want {
			t.Errorf("%s is %v, want %q", field, card.Values(field), want)
		}
	}
	phone := card.Get(vcard.FieldTelephone)
	if phone.Params.Get("WAID") != "491510000077" || !slices.Equal(phone.Params.Types(), []string{"cell", "voice"}) {
		t.Errorf("the phone is not linkable: %v", phone.Params)
	}
	if name := card.Name(); name == nil || name.GivenName != "Dora" || name.FamilyName != "Döring" {
		t.Errorf("the name is %+v", name)
	}
}

// TestSendContact_NoInputBecomesAProperty tries to inject lines through every field
// of a contact.
func TestSendContact_NoInputBecomesAProperty(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := &room{Conversation: &Conversation{TB: t, Me: c.Owner, By: c.Anna, In: c.Anna.PN(), ToMe: c.Owner.PN()}, b: c.Bridge}
	fields := []string{"displayName", "firstName", "lastName", "phoneDisplay", "email", "organization", "title"}
	allowed := []string{"VERSION", "N", "FN", "ORG", "TITLE", "TEL", "EMAIL"}
	for _, end := range []string{"\n", "\r", "\r\n", "\u2028", "\u2029", "\u0085", "\v", "\f", "\x1c", "\x1d", "\x1e", "\\n", "\\\n", "\n ", "\\", ";", ",", "\x00", ":", "\""} {
		evil := "a" + end + "NOTE:injected" + end + "END:VCARD" + end + "BEGIN:VCARD" + end
		contact := Object{"phone": "491510000077"}
		for _, field := range fields {
			contact[field] = evil
		}
		id := r.sends("send-contact", Object{"contacts": []Object{contact}})
		text := decrypted(t, c.Anna, id).GetContactMessage().GetVcard()
		card := readCard(t, text)
		for property, values := range card {
			if !slices.Contains(allowed, property) || len(values) != 1 {
				t.Errorf("with %q the card has the property %s %d times", end, property, len(values))
			}
		}
		for _, line := range strings.FieldsFunc(text, endsLines) {
			if name, _, _ := strings.Cut(line, ":"); strings.HasPrefix(line, "NOTE") || strings.HasPrefix(line, "END") && line != "END:VCARD" || name == "" {
				t.Errorf("with %q the card has the line %q", end, line)
			}
		}
		if strings.Count(text, "\nEND:VCARD") != 1 || strings.Count("\n"+text, "\nBEGIN:VCARD") != 1 {
			t.Errorf("with %q the card is %q", end, text)
		}
		// The parser does not unescape semicolons.
		title := strings.ReplaceAll(card.Value(vcard.FieldTitle), `\;`, ";")
		if got, want := title, strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n").Replace(evil); !controlsAside(got, want) {
			t.Errorf("with %q the title reads %q, want %q", end, got, want)
		}
		if phone := card.Get(vcard.FieldTelephone); phone.Params.Get("WAID") != "491510000077" {
			t.Errorf("with %q the phone is %v", end, phone)
		}
	}
}

// endsLines reports whether any reader of vCards might end a line there.
func endsLines(r rune) bool {
	return strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r)
}

// controlsAside compares texts after replacing control characters by spaces.
func controlsAside(got, want string) bool {
	for _, control := range "\v\f\x1c\x1d\x1e\x00" {
		want = strings.ReplaceAll(want, string(control), " ")
	}
	return got == want
}
