package demo

import (
	"context"
	"time"

	"bridged/internal/simnet"
)

// script plays lines until one fails.
type script struct {
	ctx context.Context
	d   *demo
	at  time.Time // of the next line
	err error
}

// pass lets time pass before the next line.
func (s *script) pass(pause time.Duration) { s.at = s.at.Add(pause) }

func (s *script) do(line func() (simnet.MessageID, error)) (id simnet.MessageID) {
	if s.err == nil {
		id, s.err = line()
	}
	return id
}

// doWith waits until a phone has received a message, and does a line with it.
func (s *script) doWith(p *simnet.Phone, id simnet.MessageID, line func(*simnet.Received) (simnet.MessageID, error)) simnet.MessageID {
	return s.do(func() (simnet.MessageID, error) {
		received, err := p.ReceivedID(s.ctx, id)
		if err != nil {
			return "", err
		}
		return line(received)
	})
}

func (s *script) group(creator *simnet.Phone, options simnet.GroupOptions) simnet.JID {
	if s.err != nil {
		return simnet.JID{}
	}
	options.CreatedAt = s.at.Add(-time.Minute)
	group, err := creator.CreateGroup(s.ctx, options)
	if err != nil {
		s.err = err
		return simnet.JID{}
	}
	return group.JID()
}

func (s *script) say(p *simnet.Phone, to simnet.JID, text string) simnet.MessageID {
	return s.do(func() (simnet.MessageID, error) { return p.SendText(s.ctx, to, text, simnet.At(s.at)) })
}

// answer says a text in reply to a message that the phone has received.
func (s *script) answer(p *simnet.Phone, to simnet.JID, id simnet.MessageID, text string) simnet.MessageID {
	return s.doWith(p, id, func(received *simnet.Received) (simnet.MessageID, error) {
		return p.SendText(s.ctx, to, text, simnet.Quoting(received), simnet.At(s.at))
	})
}

func (s *script) image(p *simnet.Phone, to simnet.JID, caption string) {
	const width, height = 320, 200
	s.do(func() (simnet.MessageID, error) {
		return p.SendImage(s.ctx, to, simnet.Media{Data: Picture(width, height), Mimetype: "image/png", Caption: caption, Width: width, Height: height}, simnet.At(s.at))
	})
}

func (s *script) voice(p *simnet.Phone, to simnet.JID) {
	const seconds = 4
	s.do(func() (simnet.MessageID, error) {
		return p.SendAudio(s.ctx, to, simnet.Media{Data: Voice(seconds), Mimetype: "audio/ogg; codecs=opus", Seconds: seconds, Voice: true}, simnet.At(s.at))
	})
}

func (s *script) document(p *simnet.Phone, to simnet.JID, name, caption string, page []byte) {
	s.do(func() (simnet.MessageID, error) {
		return p.SendDocument(s.ctx, to, simnet.Media{Data: page, Mimetype: "application/pdf", FileName: name, Caption: caption, Pages: 1}, simnet.At(s.at))
	})
}

func (s *script) poll(p *simnet.Phone, to simnet.JID, question string, options ...string) simnet.MessageID {
	return s.do(func() (simnet.MessageID, error) { return p.SendPoll(s.ctx, to, question, options, 1, simnet.At(s.at)) })
}

func (s *script) vote(p *simnet.Phone, poll simnet.MessageID, option string) {
	s.doWith(p, poll, func(received *simnet.Received) (simnet.MessageID, error) {
		return p.Vote(s.ctx, received, []string{option}, simnet.At(s.at))
	})
}

func (s *script) react(p *simnet.Phone, chat simnet.JID, id simnet.MessageID, author *simnet.Phone, emoji string) {
	s.do(func() (simnet.MessageID, error) {
		return p.ReactTo(s.ctx, chat, author.LID(), id, emoji, simnet.At(s.at))
	})
}

func (s *script) place(p *simnet.Phone, to simnet.JID, latitude, longitude float64, name, address string) simnet.MessageID {
	return s.do(func() (simnet.MessageID, error) {
		return p.SendLocation(s.ctx, to, latitude, longitude, name, address, simnet.At(s.at))
	})
}

func (s *script) contact(p *simnet.Phone, to simnet.JID, name, number string) {
	s.do(func() (simnet.MessageID, error) {
		return p.SendContacts(s.ctx, to, []simnet.Card{simnet.NewCard(name, number)}, simnet.At(s.at))
	})
}
