package wa

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// editChange replaces the text of an own message. What is stored is what an edit
// on the phone would store.
func (l *link) editChange(ctx context.Context, to types.JID, chat bridge.JID, e bridge.TextEdit, out bridge.Outgoing) (change, error) {
	named := bridge.Outgoing{Mentions: e.Mentions, Strangers: e.Strangers}
	info, err := l.contextFor(ctx, chat, named)
	if err != nil {
		return change{}, err
	}
	edited := convert.EditedContent(e.Target, l.mentionText(ctx, chat, e.Text, named))
	convert.SetContext(edited, info)
	at := claimedTime(out.Key)
	msg := l.cli.BuildEdit(to, convert.OnWire(&e.Target), edited)
	msg.EditedMessage.Message.ProtocolMessage.TimestampMS = proto.Int64(at.UnixMilli())
	return change{name: "edit", target: e.Target.ID, msg: msg, fact: func(bridge.Time) bridge.Fact {
		return convert.OwnEdit(l.ownPN(), chat, e, edited, at)
	}}, nil
}

// claimedTime returns the time that an edit claims. The phones heed the latest, so
// that a repeated edit has to claim what it claimed at first.
func claimedTime(key *bridge.SendKey) bridge.Time {
	now := bridge.At(time.Now())
	if key == nil {
		return now
	}
	if key.ChangedAt.IsZero() {
		key.ChangedAt = now
	}
	return key.ChangedAt
}
