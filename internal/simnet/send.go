package simnet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/content"
	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// sentMessage is a phone's copy of a message it sent, for retry receipts and its companions' requests.
type sentMessage struct {
	chat types.JID
	msg  *waE2E.Message
	at   time.Time
}

// SendText sends a text to a number, a LID or a group and returns the message's id once the server has it.
func (p *Phone) SendText(ctx context.Context, to types.JID, text string, opts ...SendOption) (types.MessageID, error) {
	if o := sendOptionsOf(opts); o.context == nil {
		return p.Send(ctx, to, &waE2E.Message{Conversation: proto.String(text)}, opts...)
	}
	return p.Send(ctx, to, &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String(text)}}, opts...)
}

// Send sends any message. Options about its content, like quotes, are merged into it.
func (p *Phone) Send(ctx context.Context, to types.JID, msg *waE2E.Message, opts ...SendOption) (types.MessageID, error) {
	resp, err := p.SendMessage(ctx, to, msg, opts...)
	return resp.ID, err
}

// SendMessage sends like Send and returns the server's whole response.
func (p *Phone) SendMessage(ctx context.Context, to types.JID, msg *waE2E.Message, opts ...SendOption) (whatsmeow.SendResponse, error) {
	o := sendOptionsOf(opts)
	o.to = to
	msg = o.apply(proto.Clone(msg).(*waE2E.Message))
	if o.id == "" {
		o.id = p.client.GenerateMessageID()
	}
	p.remember(o.id, to, msg, o)
	sending, done := p.memory.ForSend(ctx)
	defer done()
	resp, err := p.client.SendMessage(sending, to, msg, whatsmeow.SendRequestExtra{ID: o.id})
	if err != nil {
		return resp, fmt.Errorf("send from the phone: %w", err)
	}
	return resp, nil
}

// remember records a message before it is sent, and how the server has to deliver it: whatsmeow sends everything to LIDs, phones with other
// software do not.
func (p *Phone) remember(id types.MessageID, to types.JID, msg *waE2E.Message, o *sendOptions) {
	p.mu.Lock()
	p.sent[id] = sentMessage{chat: to, msg: msg, at: time.Now()}
	if media := content.FileOf(msg); media != nil {
		p.kept[id] = keptMedia{message: msg}
	}
	lidChats := p.options.LIDChats || p.options.Numberless
	p.mu.Unlock()
	wanted := o.wish
	switch {
	case wanted.Form != "":
	case lidChats || to.Server == types.HiddenUserServer:
		wanted.Form = types.HiddenUserServer
	case to.Server == types.DefaultUserServer:
		wanted.Form = types.DefaultUserServer
	}
	if wanted == (people.Wish{}) {
		return
	}
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	p.Account.Wishes[id] = wanted
}

func (p *Phone) messageForRetry(_, _ types.JID, id types.MessageID) *waE2E.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sent, ok := p.sent[id]; ok {
		return proto.Clone(sent.msg).(*waE2E.Message)
	}
	return nil
}

// React reacts to a received message; "" removes the reaction.
func (p *Phone) React(ctx context.Context, r *Received, emoji string, opts ...SendOption) (types.MessageID, error) {
	return p.ReactTo(ctx, r.Info.Chat, r.Info.Sender, r.Info.ID, emoji, opts...)
}

// ReactTo reacts to the message with this chat, sender and id; an empty sender means the phone's own account.
func (p *Phone) ReactTo(ctx context.Context, chat, sender types.JID, id types.MessageID, emoji string, opts ...SendOption) (types.MessageID, error) {
	return p.Send(ctx, chat, p.client.BuildReaction(chat, sender, id, emoji), opts...)
}

// Edit replaces the text of a message that this phone sent.
func (p *Phone) Edit(ctx context.Context, chat types.JID, id types.MessageID, text string, opts ...SendOption) (types.MessageID, error) {
	return p.Send(ctx, chat, p.client.BuildEdit(chat, id, &waE2E.Message{Conversation: proto.String(text)}), opts...)
}

// Revoke deletes a message that this phone sent, for everyone.
func (p *Phone) Revoke(ctx context.Context, chat types.JID, id types.MessageID, opts ...SendOption) (types.MessageID, error) {
	return p.Send(ctx, chat, p.client.BuildRevoke(chat, types.EmptyJID, id), opts...)
}

// RevokeAsAdmin deletes another member's message in a group.
func (p *Phone) RevokeAsAdmin(ctx context.Context, chat, sender types.JID, id types.MessageID) (types.MessageID, error) {
	return p.Send(ctx, chat, p.client.BuildRevoke(chat, sender, id))
}

// SendLocation sends a location; name and address may be empty.
func (p *Phone) SendLocation(ctx context.Context, to types.JID, latitude, longitude float64, name, address string, opts ...SendOption) (types.MessageID, error) {
	place := &waE2E.LocationMessage{DegreesLatitude: proto.Float64(latitude), DegreesLongitude: proto.Float64(longitude)}
	if name != "" {
		place.Name = proto.String(name)
	}
	if address != "" {
		place.Address = proto.String(address)
	}
	return p.Send(ctx, to, &waE2E.Message{LocationMessage: place}, opts...)
}

// Card is a contact as people send it.
type Card struct{ Name, VCard string }

// NewCard returns a vCard of a person on the network.
func NewCard(name, number string) Card {
	number = wire.Digits(number)
	return Card{Name: name, VCard: "BEGIN:VCARD\nVERSION:3.0\nN:;" + name + ";;;\nFN:" + name + "\nTEL;type=CELL;waid=" + number + ":+" + number + "\nEND:VCARD"}
}

// SendContacts sends one contact, or several as a list.
func (p *Phone) SendContacts(ctx context.Context, to types.JID, cards []Card, opts ...SendOption) (types.MessageID, error) {
	contacts := make([]*waE2E.ContactMessage, len(cards))
	for i, c := range cards {
		contacts[i] = &waE2E.ContactMessage{DisplayName: proto.String(c.Name), Vcard: proto.String(c.VCard)}
	}
	if len(contacts) == 1 {
		return p.Send(ctx, to, &waE2E.Message{ContactMessage: contacts[0]}, opts...)
	}
	return p.Send(ctx, to, &waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{
		DisplayName: proto.String(fmt.Sprintf("%d contacts", len(contacts))), Contacts: contacts,
	}}, opts...)
}

// SendPoll sends a poll that allows a number of choices, 0 for any number.
func (p *Phone) SendPoll(ctx context.Context, to types.JID, question string, options []string, selectable int, opts ...SendOption) (types.MessageID, error) {
	return p.Send(ctx, to, p.client.BuildPollCreation(question, options, selectable), opts...)
}

// Vote votes in a received poll; the choices replace earlier ones.
func (p *Phone) Vote(ctx context.Context, poll *Received, choices []string, opts ...SendOption) (types.MessageID, error) {
	vote, err := p.client.BuildPollVote(ctx, &poll.Info, choices)
	if err != nil {
		return "", fmt.Errorf("build the vote: %w", err)
	}
	return p.Send(ctx, poll.Info.Chat, vote, opts...)
}

// SetDisappearing sets the time in seconds after which messages of a chat disappear, 0 for never.
func (p *Phone) SetDisappearing(ctx context.Context, chat types.JID, seconds uint32) error {
	return p.SetDisappearingAt(ctx, chat, seconds, time.Now())
}

// SetDisappearingAt does so with another time of the change.
func (p *Phone) SetDisappearingAt(ctx context.Context, chat types.JID, seconds uint32, at time.Time) error {
	sending, done := p.memory.ForSend(ctx)
	defer done()
	if err := p.client.SetDisappearingTimer(sending, chat, time.Duration(seconds)*time.Second, at); err != nil {
		return fmt.Errorf("set the timer: %w", err)
	}
	return nil
}

// Burst makes phones send count texts to one chat as fast as they can, each its share in order. It returns the ids by index of the text.
func Burst(ctx context.Context, phones []*Phone, to types.JID, count int, text func(i int) string, opts ...SendOption) ([]types.MessageID, error) {
	ids := make([]types.MessageID, count)
	errs := make([]error, len(phones))
	var all sync.WaitGroup
	for share, p := range phones {
		all.Go(func() {
			for i := share; i < count && errs[share] == nil; i += len(phones) {
				ids[i], errs[share] = p.SendText(ctx, to, text(i), opts...)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return ids, err
		}
	}
	return ids, nil
}
