package simnet

import (
	"context"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet/people"
)

// A person's activity in a chat, as phones show it.
const (
	Typing    = "typing"
	Recording = "recording"
)

// person is a person in a chat: in a group, or in the direct chat if chat is empty.
type person struct {
	chat string
	who  *people.Account
}

// Watch subscribes the phone to a person's availability.
func (p *Phone) Watch(ctx context.Context, who *Phone) error {
	if err := p.client.SubscribePresence(ctx, who.LID()); err != nil {
		return err
	}
	_, err := p.client.GetUserInfo(ctx, []types.JID{who.PN()}) // its answer comes once the server has the subscription
	return err
}

// WaitTyping waits until the phone shows a person's activity in a chat: Typing, Recording or "" if none. Activity ends with the person's
// next message, or when they become unavailable. Not simulated: phones also stop showing it after a while.
func (p *Phone) WaitTyping(ctx context.Context, chat types.JID, who *Phone, want string) error {
	at := person{who: who.Account}
	if chat.Server == types.GroupServer {
		at.chat = chat.User
	}
	return p.inbox.await(ctx, p, func(i *inbox) bool { return i.typing[at] == want })
}

// WaitAvailable waits until the phone shows a watched person as available or unavailable.
func (p *Phone) WaitAvailable(ctx context.Context, who *Phone, want bool) error {
	return p.inbox.await(ctx, p, func(i *inbox) bool { return i.available[who.Account] == want })
}

// showPerson records a person's activity and availability from an event.
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
