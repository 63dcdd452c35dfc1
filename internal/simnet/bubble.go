package simnet

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/content"
)

// editWindow limits how long after a message the apps accept an edit of it.
const editWindow = 20 * time.Minute

// Bubble is a message as the phone displays it.
type Bubble struct {
	Text    string
	Edited  bool
	Deleted bool
	Pinned  bool
}

// Bubble returns a sent or received message as the phone displays it, after later edits and deletions. Edits count only from the author and
// for a limited time; deletions count from the author or an admin of the group. ok is false until there is such a message.
func (p *Phone) Bubble(id types.MessageID) (b Bubble, ok bool) {
	p.inbox.mu.Lock()
	messages := p.inbox.messages
	p.inbox.mu.Unlock()
	return p.bubbleOf(id, messages)
}

// WaitBubble waits until the phone displays a message as wanted.
func (p *Phone) WaitBubble(ctx context.Context, id types.MessageID, want Bubble) error {
	var seen []*Received
	_, err := awaitIn(ctx, p, func(i *inbox) []*Received { return i.messages }, func(r *Received) bool {
		seen = append(seen, r)
		got, ok := p.bubbleOf(id, seen)
		return ok && got == want
	})
	return err
}

// written holds the fields of a message that edits and deletions depend on.
type written struct {
	chat, sender types.JID
	at           time.Time
}

func (p *Phone) bubbleOf(id types.MessageID, messages []*Received) (b Bubble, ok bool) {
	by, ok := written{}, false
	p.mu.Lock()
	if own, sent := p.sent[id]; sent {
		by, ok = written{chat: own.chat, sender: p.Account.PN(), at: own.at}, true
		b.Text = content.TextOf(own.msg)
	}
	p.mu.Unlock()
	for _, r := range messages {
		change, pin := r.Message.Message.GetProtocolMessage(), r.Message.Message.GetPinInChatMessage()
		switch {
		case r.Info.ID == id:
			by, ok = written{chat: r.Info.Chat, sender: r.Info.Sender, at: r.Info.Timestamp}, true
			b.Text = r.Text()
		case ok && pin.GetKey().GetID() == id:
			if r.Info.Edit == types.EditAttributePinInChat && !b.Deleted && p.isOf(r, pin.GetKey(), by) && p.mayPin(r) {
				b.Pinned = pin.GetType() == waE2E.PinInChatMessage_PIN_FOR_ALL && r.Message.Message.GetMessageContextInfo().GetMessageAddOnDurationInSecs() > 0
			}
		case !ok || change.GetKey().GetID() != id:
		case change.GetType() == waE2E.ProtocolMessage_MESSAGE_EDIT:
			if !b.Deleted && p.sameAccount(r.Info.Sender, by.sender) && r.Info.Timestamp.Sub(by.at) <= editWindow {
				b.Text, b.Edited = content.TextOf(content.WithoutWrapper(change.GetEditedMessage())), true
			}
		case change.GetType() == waE2E.ProtocolMessage_REVOKE:
			if p.mayRevoke(r, change, by) {
				b = Bubble{Deleted: true}
			}
		}
	}
	return b, ok
}

// isOf reports whether the key in a change is the key of a message, from the point of view of the sender of the change.
func (p *Phone) isOf(r *Received, key *waCommon.MessageKey, by written) bool {
	if key.GetFromMe() {
		return p.sameAccount(r.Info.Sender, by.sender)
	}
	if r.Info.Chat.Server != types.GroupServer {
		return !p.sameAccount(r.Info.Sender, by.sender)
	}
	author, err := types.ParseJID(key.GetParticipant())
	return err == nil && p.sameAccount(author, by.sender)
}

// mayPin reports whether the apps accept a pin: in a locked group only an admin's.
func (p *Phone) mayPin(r *Received) bool {
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	g := p.net.Groups[r.Info.Chat.User]
	if g == nil || r.Info.Chat.Server != types.GroupServer {
		return true
	}
	member := g.Members[p.net.AccountOf(r.Info.Sender)]
	return member != nil && (!g.Locked || member.IsAdmin())
}

// mayRevoke reports whether the apps accept a deletion: an author's has to carry the key of an own message, an admin's has to name the
// author.
func (p *Phone) mayRevoke(r *Received, change *waE2E.ProtocolMessage, by written) bool {
	if change.GetKey().GetFromMe() {
		return p.sameAccount(r.Info.Sender, by.sender)
	}
	author, err := types.ParseJID(change.GetKey().GetParticipant())
	if err != nil || !p.sameAccount(author, by.sender) {
		return false
	}
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	g := p.net.Groups[r.Info.Chat.User]
	if g == nil || r.Info.Chat.Server != types.GroupServer {
		return false
	}
	member := g.Members[p.net.AccountOf(r.Info.Sender)]
	return member != nil && member.IsAdmin()
}

// sameAccount reports whether two addresses belong to one account.
func (p *Phone) sameAccount(a, b types.JID) bool {
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	one := p.net.AccountOf(a)
	return one != nil && one == p.net.AccountOf(b)
}
