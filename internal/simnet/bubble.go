package simnet

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/content"
)

// editsHeeded is how long after a message the apps heed an edit of it.
const editsHeeded = 20 * time.Minute

// Bubble is what a phone shows of a message.
type Bubble struct {
	Text    string
	Edited  bool
	Deleted bool
}

// Bubble returns what the phone shows of a message that it has received or sent, after the edits and deletions that came since. Edits count
// by the author alone, and for a while; deletions by the author, or by an admin of the group. It is not ok while there is no such message.
func (p *Phone) Bubble(id types.MessageID) (b Bubble, ok bool) {
	p.inbox.mu.Lock()
	messages := p.inbox.messages
	p.inbox.mu.Unlock()
	return p.bubbleOf(id, messages)
}

// WaitBubble waits until the phone shows a message as wanted.
func (p *Phone) WaitBubble(ctx context.Context, id types.MessageID, want Bubble) error {
	var seen []*Received
	_, err := awaitIn(ctx, p, func(i *inbox) []*Received { return i.messages }, func(r *Received) bool {
		seen = append(seen, r)
		got, ok := p.bubbleOf(id, seen)
		return ok && got == want
	})
	return err
}

// written is a message as far as edits and deletions look at it.
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
		change := r.Message.Message.GetProtocolMessage()
		switch {
		case r.Info.ID == id:
			by, ok = written{chat: r.Info.Chat, sender: r.Info.Sender, at: r.Info.Timestamp}, true
			b.Text = r.Text()
		case !ok || change.GetKey().GetID() != id:
		case change.GetType() == waE2E.ProtocolMessage_MESSAGE_EDIT:
			if !b.Deleted && p.sameAccount(r.Info.Sender, by.sender) && r.Info.Timestamp.Sub(by.at) <= editsHeeded {
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

// mayRevoke reports whether the apps heed a deletion: the author's with the key of an own message, an admin's with one that names the author.
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

// sameAccount reports whether two addresses are of one account.
func (p *Phone) sameAccount(a, b types.JID) bool {
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	one := p.net.AccountOf(a)
	return one != nil && one == p.net.AccountOf(b)
}
