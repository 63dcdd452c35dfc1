package demo

import (
	"context"
	"time"

	"bridged/internal/simnet"
)

// lastLine ends the conversation of the past days.
const lastLine = "See you all on Saturday! 🥾"

// span is the age of the conversation's first line; its last was said a few minutes ago.
const span = 47*time.Hour + 30*time.Minute

// play makes people converse over the past days: in several languages, with every kind of message, and in two groups. One of the groups addresses
// its members by number.
func (d *demo) play(ctx context.Context) error {
	s := &script{ctx: ctx, d: d, at: time.Now().Add(-span)}
	owner, sofia, jonas, elif, arjun, yuki, layla := d.owner, d.people["sofia"], d.people["jonas"], d.people["elif"], d.people["arjun"], d.people["yuki"], d.people["layla"]
	hike := s.group(owner, simnet.GroupOptions{Subject: "Wandern am Samstag 🥾", Topic: "Treffpunkt, Route, Wetter", Members: []*simnet.Phone{sofia, jonas, elif, yuki}})
	family := s.group(layla, simnet.GroupOptions{Subject: "عائلة وأصدقاء", Members: []*simnet.Phone{owner, arjun}, ByNumber: true})
	me := owner.PN()

	s.say(sofia, me, "¡Hola Alex! ¿Vienes el sábado a la excursión?")
	s.pass(3 * time.Hour)
	plan := s.say(jonas, hike, "Moin! Treffpunkt ist die Hauptstraße 12, neun Uhr.")
	s.pass(9 * time.Minute)
	s.say(elif, hike, "Günaydın, İstanbul'dan yeni döndüm, ben de geliyorum!")
	s.pass(40 * time.Minute)
	s.say(yuki, hike, "おはようございます！お弁当を持って行きますね 🍱")
	s.pass(14 * time.Hour)
	s.image(jonas, hike, "Die Route: STRASSE bis zum Waldrand, dann links.")
	s.pass(5 * time.Minute)
	start := s.poll(sofia, hike, "¿A qué hora salimos?", "8:00", "9:00", "10:00")
	s.react(elif, hike, plan, jonas, "👍")
	s.pass(10 * time.Minute)
	s.vote(jonas, start, "9:00")
	s.vote(elif, start, "9:00")
	s.vote(yuki, start, "8:00")
	s.pass(15 * time.Minute)
	car := s.place(jonas, hike, 52.5163, 13.3777, "Parkplatz am Tor", "Hauptstraße 12")
	s.pass(10 * time.Minute)
	s.say(elif, hike, "Sofía, saat dokuz bana uyar.")
	s.pass(4 * time.Minute)
	lift := s.answer(yuki, hike, car, "駅から乗せてもらえますか？")
	s.react(jonas, hike, lift, yuki, "🚗")
	s.pass(6 * time.Minute)
	s.voice(sofia, hike)
	s.pass(100 * time.Minute)
	s.voice(sofia, me)
	s.pass(10 * time.Minute)
	s.say(sofia, me, "Este es el hotel: https://hotel.example/bosque")
	s.pass(290 * time.Minute)
	s.document(arjun, me, "यात्रा-योजना.pdf", "यह रहा यात्रा का कार्यक्रम", PDF())
	s.pass(4 * time.Minute)
	s.say(arjun, me, "नमस्ते! क्या आपने योजना देखी?")
	s.pass(11 * time.Hour)
	s.say(layla, family, "مساء الخير جميعاً، متى نلتقي؟")
	s.pass(12 * time.Minute)
	s.say(arjun, family, "रविवार को?")
	s.pass(3 * time.Minute)
	s.say(owner, family, "Sunday works for me.")
	s.pass(6 * time.Hour)
	s.contact(elif, me, "Ayşe Demir", "905300100199")
	s.pass(20 * time.Minute)
	s.document(jonas, me, "invoice-4711.pdf", "The invoice for the train tickets", pageWith("Invoice 4711: 86.40 EUR for train tickets, due on 30 November"))
	s.pass(70 * time.Minute)
	s.say(layla, me, "أرسلت لك العنوان، هل وصلك؟")
	s.pass(2 * time.Hour)
	s.say(yuki, me, "写真ありがとう！")
	s.pass(50 * time.Minute)
	s.say(owner, sofia.PN(), "¡Claro que sí! Llevo café.")
	s.pass(20 * time.Minute)
	s.say(owner, hike, lastLine)
	if s.err != nil {
		return s.err
	}
	d.hike, d.family = hike, family
	d.answering(context.WithoutCancel(ctx))
	return nil
}
