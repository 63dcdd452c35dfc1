package demo

import (
	"context"
	"fmt"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// ownerNumber is the demo account's, from a range reserved for fiction.
const ownerNumber = "15550100200"

// lastLine ends the conversation.
const lastLine = "See you all on Saturday! 🥾"

// acquaintances are the account's acquaintances: key, name in the address book,
// number, push name.
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
	owner, err := d.network.NewPhone(ctx, simnet.PhoneOptions{Number: ownerNumber, Name: "Alex"})
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

// play is the conversation: several languages, every kind of message, two
// groups, of which one knows its members by number.
func (d *demo) play(ctx context.Context) error {
	s := &script{ctx: ctx, d: d}
	owner, sofia, jonas, elif, arjun, yuki, layla := d.owner, d.people["sofia"], d.people["jonas"], d.people["elif"], d.people["arjun"], d.people["yuki"], d.people["layla"]
	hike := s.group(owner, simnet.GroupOptions{Subject: "Wandern am Samstag 🥾", Topic: "Treffpunkt, Route, Wetter", Members: []*simnet.Phone{sofia, jonas, elif, yuki}})
	family := s.group(layla, simnet.GroupOptions{Subject: "عائلة وأصدقاء", Members: []*simnet.Phone{owner, arjun}, ByNumber: true})

	me := owner.PN()
	s.say(sofia, me, "¡Hola Alex! ¿Vienes el sábado a la excursión?")
	plan := s.say(jonas, hike, "Moin! Treffpunkt ist die Hauptstraße 12, neun Uhr.")
	s.say(elif, hike, "Günaydın, İstanbul'dan yeni döndüm, ben de geliyorum!")
	s.say(yuki, hike, "おはようございます！お弁当を持って行きますね 🍱")
	s.image(jonas, hike, "Die Route: STRASSE bis zum Waldrand, dann links.")
	s.poll(sofia, hike, "¿A qué hora salimos?", "8:00", "9:00", "10:00")
	s.react(elif, hike, plan, jonas, "👍")
	s.place(jonas, hike, 52.5163, 13.3777, "Parkplatz am Tor", "Hauptstraße 12")
	s.voice(sofia, me)
	s.document(arjun, me, "यात्रा-योजना.pdf", "यह रहा यात्रा का कार्यक्रम")
	s.say(arjun, me, "नमस्ते! क्या आपने योजना देखी?")
	s.say(layla, family, "مساء الخير جميعاً، متى نلتقي؟")
	s.say(arjun, family, "रविवार को?")
	s.say(owner, family, "Sunday works for me.")
	s.contact(elif, me, "Ayşe Demir", "905300100199")
	s.say(layla, me, "أرسلت لك العنوان، هل وصلك؟")
	s.say(yuki, me, "写真ありがとう！")
	s.say(owner, sofia.PN(), "¡Claro que sí! Llevo café.")
	s.say(owner, hike, lastLine)
	if s.err != nil {
		return s.err
	}
	d.group = bridge.JID(hike.String())
	d.answering(context.WithoutCancel(ctx))
	return nil
}

// script plays lines until one fails.
type script struct {
	ctx context.Context
	d   *demo
	err error
}

func (s *script) do(line func() (simnet.MessageID, error)) (id simnet.MessageID) {
	if s.err == nil {
		id, s.err = line()
	}
	return id
}

func (s *script) group(creator *simnet.Phone, options simnet.GroupOptions) simnet.JID {
	if s.err != nil {
		return simnet.JID{}
	}
	group, err := creator.CreateGroup(s.ctx, options)
	if err != nil {
		s.err = err
		return simnet.JID{}
	}
	return group.JID()
}

func (s *script) say(p *simnet.Phone, to simnet.JID, text string) simnet.MessageID {
	return s.do(func() (simnet.MessageID, error) { return p.SendText(s.ctx, to, text) })
}

func (s *script) image(p *simnet.Phone, to simnet.JID, caption string) {
	const width, height = 320, 200
	s.do(func() (simnet.MessageID, error) {
		return p.SendImage(s.ctx, to, simnet.Media{Data: Picture(width, height), Mimetype: "image/png", Caption: caption, Width: width, Height: height})
	})
}

func (s *script) voice(p *simnet.Phone, to simnet.JID) {
	const seconds = 4
	s.do(func() (simnet.MessageID, error) {
		return p.SendAudio(s.ctx, to, simnet.Media{Data: Voice(seconds), Mimetype: "audio/ogg; codecs=opus", Seconds: seconds, Voice: true})
	})
}

func (s *script) document(p *simnet.Phone, to simnet.JID, name, caption string) {
	s.do(func() (simnet.MessageID, error) {
		return p.SendDocument(s.ctx, to, simnet.Media{Data: PDF(), Mimetype: "application/pdf", FileName: name, Caption: caption, Pages: 1})
	})
}

func (s *script) poll(p *simnet.Phone, to simnet.JID, question string, options ...string) {
	s.do(func() (simnet.MessageID, error) { return p.SendPoll(s.ctx, to, question, options, 1) })
}

func (s *script) react(p *simnet.Phone, chat simnet.JID, id simnet.MessageID, author *simnet.Phone, emoji string) {
	s.do(func() (simnet.MessageID, error) { return p.ReactTo(s.ctx, chat, author.LID(), id, emoji) })
}

func (s *script) place(p *simnet.Phone, to simnet.JID, latitude, longitude float64, name, address string) {
	s.do(func() (simnet.MessageID, error) { return p.SendLocation(s.ctx, to, latitude, longitude, name, address) })
}

func (s *script) contact(p *simnet.Phone, to simnet.JID, name, number string) {
	s.do(func() (simnet.MessageID, error) {
		return p.SendContacts(s.ctx, to, []simnet.Card{simnet.NewCard(name, number)})
	})
}
