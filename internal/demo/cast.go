package demo

import (
	"context"
	"fmt"
	"strings"

	"bridged/internal/simnet"
)

// usualNumber belongs to the demo's account, from a range reserved for fiction.
const usualNumber = "15550100200"

// acquaintances lists the people whom the account knows. Without a contact they
// are not in its address book.
var acquaintances = []struct{ key, contact, number, pushName string }{
	{"sofia", "Sofía Ramírez", "34600100101", "Sofi"},
	{"jonas", "Jonas Weber", "4915100100102", "Jonas"},
	{"elif", "Elif Yılmaz", "905300100103", "elif"},
	{"arjun", "", "919800100104", "अर्जुन"},
	{"yuki", "Yuki Tanaka", "818000100105", "ゆき"},
	{"layla", "", "971500100106", "ليلى"},
}

// castPeople brings the phones onto the network. The friends answer what is
// sent to them.
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

// answering makes the friends answer 1:1 messages from the account, in their
// own way.
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
			// An answer that cannot be sent is one that the person never wrote.
			_ = p.MarkRead(ctx, m)
			_, _ = p.SendText(ctx, d.owner.PN(), fmt.Sprintf(form, m.Text()), simnet.Quoting(m))
		})
	}
}
