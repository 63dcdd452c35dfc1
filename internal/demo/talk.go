package demo

import (
	"context"
	"fmt"
	"io"
	"time"
)

const (
	// firstWords is the pause before the first line after the set-up, pace the one between lines.
	firstWords = 5 * time.Second
	pace       = 30 * time.Second
)

// line is written by one of the people to the account or to a group.
type line struct{ who, where, text string }

// Places where lines are written.
const (
	toAccount = "the account"
	toHike    = "the hike"
	toFamily  = "the family"
)

// ping is the text that the receivers in examples/ answer with "pong".
const ping = "ping"

// smallTalk is repeated line by line. It has a ping every few lines, so that a
// receiver which was just started has something to answer.
var smallTalk = []line{
	{"jonas", toHike, "Der Wetterbericht sagt Sonne bis zum Nachmittag ☀️"},
	{"elif", toAccount, ping},
	{"elif", toHike, "Harika! Güneş kremini unutmayın."},
	{"yuki", toHike, "楽しみです！おにぎりは何個いりますか？"},
	{"layla", toFamily, "هل يريد أحد القهوة؟ ☕"},
	{"arjun", toFamily, "मैं समोसे ला रहा हूँ!"},
	{"yuki", toAccount, ping},
	{"arjun", toAccount, "क्या रविवार को फ़ोन पर बात करें?"},
	{"yuki", toAccount, "駅で待っていますね。"},
	{"jonas", toHike, "Wer fährt mit dem Zug? Abfahrt ist um 8:12 Uhr von Gleis 3."},
	{"sofia", toHike, "Yo voy en tren, ¿quién más?"},
	{"elif", toAccount, ping},
	{"elif", toHike, "Ben de trenle geliyorum 🚆"},
	{"layla", toAccount, "وصلت إلى البيت، شكراً على كل شيء!"},
	{"jonas", toAccount, "Kannst du mir die Fotos vom letzten Mal schicken?"},
	{"elif", toAccount, "Toplantı yarın saat üçte, unutma!"},
	{"yuki", toAccount, ping},
	{"sofia", toAccount, "¿Has visto mis gafas de sol? 😎"},
	{"arjun", toFamily, "Train is late again, start without me."},
	{"layla", toFamily, "لا تقلق، سننتظرك."},
	{"yuki", toHike, "雨が降ったらどうしますか？☔"},
	{"elif", toAccount, ping},
	{"jonas", toHike, "Dann gehen wir ins Museum 😄"},
	{"sofia", toAccount, "Te llamo luego, ¿vale?"},
}

// talk makes people write every now and then, until ctx ends. It skips lines that cannot be
// sent: a visitor may block a person, remove one from a group, or let only admins write. The
// first failure is reported to stderr.
func (d *demo) talk(ctx context.Context, pauses func(time.Duration) <-chan time.Time, stderr io.Writer) {
	pause, reported := firstWords, false
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-pauses(pause):
		}
		pause = pace
		if err := d.say(ctx, smallTalk[i%len(smallTalk)]); err != nil && ctx.Err() == nil && !reported {
			reported = true
			fmt.Fprintln(stderr, "A line of the conversation could not be sent; the others go on:", err)
		}
	}
}

func (d *demo) say(ctx context.Context, l line) error {
	to := d.owner.PN()
	switch l.where {
	case toHike:
		to = d.hike
	case toFamily:
		to = d.family
	}
	_, err := d.people[l.who].SendText(ctx, to, l.text)
	return err
}
