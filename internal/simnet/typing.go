package simnet

import (
	"context"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet/people"
)

// What a person does in a chat, as phones show it.
const (
	Typing    = "typing"
	Recording = "recording"
)

// person is somebody in a chat: a group, or the chat with the person, where chat is empty.
type person struct {
	chat string
	who  *people.Account
}

// Watch has the server tell the phone when a person is available, from now on.
func (p *Phone) Watch(ctx context.Context, who *Phone) error {
	if err := p.client.SubscribePresence(ctx, who.LID()); err != nil {
		return err
	}
	_, err := p.client.GetUserInfo(ctx, []types.JID{who.PN()}) // its answer comes once the server has the subscription
	return err
}

// WaitTyping waits until the phone shows what a person does in a chat: Typing, Recording or nothing, "". What a person does ends with the
// next message of theirs, and when they are no longer available. That phones stop showing it by themselves after a while is not simulated.
func (p *Phone) WaitTyping(ctx context.Context, chat types.JID, who *Phone, want string) error {
	at := person{who: who.Account}
	if chat.Server == types.GroupServer {
		at.chat = chat.User
	}
	return p.inbox.await(ctx, p, func(i *inbox) bool { return i.typing[at] == want })
}

// WaitAvailable waits until the phone shows a person whom it watches as available, or as unavailable.
func (p *Phone) WaitAvailable(ctx context.Context, who *Phone, want bool) error {
	return p.inbox.await(ctx, p, func(i *inbox) bool { return i.available[who.Account] == want })
}

// await waits until something holds of what the phone shows.
func (i *inbox) await(ctx context.Context, p *Phone, holds func(*inbox) bool) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.waiters++
	defer func() { i.waiters-- }()
	for !holds(i) {
		changed := i.changed
		i.mu.Unlock()
		err := p.net.Await(ctx, changed)
		i.mu.Lock()
		if err != nil {
			return err
		}
	}
	return nil
}

// showPerson keeps what an event says of what a person does.
func (p *Phone) showPerson(event any) {
	switch e := event.(type) {
	case *events.ChatPresence:
		state := ""
		if e.State == types.ChatPresenceComposing {
			state = Typing
			if e.Media == types.ChatPresenceMediaAudio {
				state = Recording
			}
		}
		p.showTyping(e.MessageSource, state)
	case *events.Message:
		p.showTyping(e.Info.MessageSource, "")
	case *events.Presence:
		who := p.accountOf(e.From)
		p.inbox.mu.Lock()
		defer p.inbox.mu.Unlock()
		p.inbox.available[who] = !e.Unavailable
		if e.Unavailable {
			for at := range p.inbox.typing {
				if at.who == who {
					delete(p.inbox.typing, at)
				}
			}
		}
	}
}

func (p *Phone) showTyping(source types.MessageSource, state string) {
	at := person{who: p.accountOf(source.Sender)}
	if source.IsGroup {
		at.chat = source.Chat.User
	}
	p.inbox.mu.Lock()
	defer p.inbox.mu.Unlock()
	p.inbox.typing[at] = state
}

func (p *Phone) accountOf(jid types.JID) *people.Account {
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	return p.net.AccountOf(jid)
}
