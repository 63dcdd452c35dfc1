package simnet

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// SetLabel says how the person describes themselves in a group; "" for no more. The others learn of it from a message of its own.
func (p *Phone) SetLabel(ctx context.Context, g *Group, label string) error {
	_, err := p.Send(ctx, g.jid, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_GROUP_MEMBER_LABEL_CHANGE.Enum(), MemberLabel: labelAt(label, time.Now()),
	}})
	return err
}

// Labelled sends the message with the label that the sender has in the group, as the apps do.
func Labelled(label string, since time.Time) SendOption {
	return func(o *sendOptions) { o.info().MemberLabel = labelAt(label, since) }
}

func labelAt(label string, at time.Time) *waE2E.MemberLabel {
	return &waE2E.MemberLabel{Label: proto.String(label), LabelTimestamp: proto.Int64(at.Unix())}
}

// labelled returns the members of a group with their labels, as the history has them.
func labelled(labels map[types.JID]string, members []types.JID) (all []*waHistorySync.GroupParticipant) {
	for _, member := range members {
		p := &waHistorySync.GroupParticipant{UserJID: proto.String(member.String())}
		if label, has := labels[member]; has {
			p.MemberLabel = labelAt(label, time.Now())
		}
		all = append(all, p)
	}
	return all
}
