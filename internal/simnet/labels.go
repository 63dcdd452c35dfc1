package simnet

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/simnet/content"
)

// SetLabel says how the person describes themselves in a group; "" for no more. The others learn of it from a message of its own.
func (p *Phone) SetLabel(ctx context.Context, g *Group, label string) error {
	_, err := p.Send(ctx, g.jid, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_GROUP_MEMBER_LABEL_CHANGE.Enum(), MemberLabel: content.LabelAt(label, time.Now()),
	}})
	return err
}

// Labelled sends the message with the label that the sender has in the group, as the apps do.
func Labelled(label string, since time.Time) SendOption {
	return func(o *sendOptions) { o.info().MemberLabel = content.LabelAt(label, since) }
}
