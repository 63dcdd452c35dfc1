package wa

import (
	"context"
	"errors"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// groupKind is what communities make of a group.
type groupKind int

const (
	plainGroup        groupKind = iota
	community                   // holds groups together: nobody can write there
	announcementGroup           // of a community; takes encrypted reactions alone
)

func kindOf(info *types.GroupInfo) groupKind {
	switch {
	case info.IsParent:
		return community
	case info.IsDefaultSubGroup:
		return announcementGroup
	}
	return plainGroup
}

// mayWrite returns why nobody can write to a group of this kind, or nil.
func (k groupKind) mayWrite() error {
	if k == community {
		return bridge.Fail(bridge.CodeNotAChat, "a community is no chat: write to its announcement group, or to another of its groups")
	}
	return nil
}

// reactionMessage makes a reaction in the form that the chat takes.
func (l *link) reactionMessage(ctx context.Context, to types.JID, chat bridge.JID, r bridge.Reaction) (*waE2E.Message, error) {
	sender := convert.WireJID(l.wireForm(ctx, chat, r.Target.SenderJID))
	msg := l.cli.BuildReaction(to, sender, convert.OnWire(&r.Target), r.Emoji)
	if kind, _ := l.members.Load(chat); kind != announcementGroup {
		return msg, nil
	}
	about := &types.MessageInfo{ID: convert.OnWire(&r.Target), MessageSource: types.MessageSource{Chat: to, Sender: sender, IsFromMe: r.Target.FromMe, IsGroup: true}}
	sealed, err := l.sealReaction(ctx, about, r.Target.Raw, msg.GetReactionMessage())
	if errors.Is(err, whatsmeow.ErrOriginalMessageSecretNotFound) {
		return nil, bridge.Invalid("the key of that message is not known, and its group takes encrypted reactions alone").Because(err)
	}
	if err != nil {
		return nil, err
	}
	return &waE2E.Message{EncReactionMessage: sealed}, nil
}

// sealReaction encrypts a reaction with the secret of the message that it is
// about. whatsmeow forgets secrets earlier than the store forgets messages.
func (l *link) sealReaction(ctx context.Context, about *types.MessageInfo, raw []byte, reaction *waE2E.ReactionMessage) (*waE2E.EncReactionMessage, error) {
	sealed, err := l.cli.EncryptReaction(ctx, about, proto.Clone(reaction).(*waE2E.ReactionMessage))
	if !errors.Is(err, whatsmeow.ErrOriginalMessageSecretNotFound) {
		return sealed, err
	}
	secret, unread := convert.Secret(raw)
	if unread != nil || len(secret) == 0 {
		return nil, errors.Join(err, unread)
	}
	if err := l.cli.PutMessageSecret(ctx, about.Chat, about.Sender, about.ID, secret); err != nil {
		return nil, err
	}
	return l.cli.EncryptReaction(ctx, about, reaction)
}
