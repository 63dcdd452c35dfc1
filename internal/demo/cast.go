package demo

import (
	"context"
	"fmt"
	"image/color"
	"strings"

	"bridged/internal/simnet"
)

// usualNumber belongs to the demo's account and comes from a range reserved for fiction.
const usualNumber = "15550100200"

// acquaintances are the people that the account knows. A person without a contact is not in its address book.
var acquaintances = []struct{ key, contact, number, pushName string }{
	{"sofia", "Sofía Ramírez", "34600100101", "Sofi"},
	{"jonas", "Jonas Weber", "4915100100102", "Jonas"},
	{"elif", "Elif Yılmaz", "905300100103", "elif"},
	{"arjun", "", "919800100104", "अर्जुन"},
	{"yuki", "Yuki Tanaka", "818000100105", "ゆき"},
	{"layla", "", "971500100106", "ليلى"},
}

// castPeople adds the phones to the network. The friends answer messages.
func (d *demo) castPeople(ctx context.Context) error {
	owner, err := d.network.NewPhone(ctx, simnet.PhoneOptions{Number: d.number, Name: "Alex"})
	if err != nil {
		return err
	}
	d.owner, d.people = owner, map[string]*simnet.Phone{}
	for i, person := range acquaintances {
		phone, err := d.network.NewPhone(ctx, simnet.PhoneOptions{Number: person.number, Name: person.pushName, LIDChats: i%2 == 1})
		if err != nil {
			return err
		}
		d.people[person.key] = phone
		if i%2 == 0 { // the others have letters
			shade := color.RGBA{R: uint8(90 + 60*i%140), G: uint8(130 + 35*i%90), B: uint8(210 - 30*i), A: 255}
			phone.SetPicture(Portrait(640, shade), Portrait(96, shade))
		}
		if person.contact == "" {
			continue
		}
		first, _, _ := strings.Cut(person.contact, " ")
		if err := owner.SetContact(ctx, person.number, person.contact, first); err != nil {
			return err
		}
	}
	return nil
}

// answering makes the friends answer direct messages from the account.
func (d *demo) answering(ctx context.Context) {
	answers := map[string]string{
		"sofia": "¡Qué bien saber de ti! Me escribiste: «%s»",
		"jonas": "Danke, ist angekommen: „%s“",
		"elif":  "Teşekkürler! Mesajın geldi: “%s”",
		"arjun": "मिल गया: “%s” 🙏",
		"yuki":  "届きました：「%s」",
		"layla": "وصلت رسالتك: «%s»",
	}
	for key, form := range answers {
		d.people[key].OnMessage(func(p *simnet.Phone, m *simnet.Received) {
			if m.Message.Info.IsGroup || m.Message.Info.IsFromMe || m.Text() == "" {
				return
			}
			// A friend may also leave a message unanswered, so errors do not matter.
			_ = p.MarkRead(ctx, m)
			_, _ = p.SendText(ctx, d.owner.PN(), fmt.Sprintf(form, m.Text()), simnet.Quoting(m))
		})
	}
}
