package simnet

import (
	"context"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// ReactSealed reacts as apps do in the announcement group of a community: encrypted with the secret of the message. "" takes the emoji off.
func (p *Phone) ReactSealed(ctx context.Context, r *Received, emoji string, opts ...SendOption) (types.MessageID, error) {
	plain := p.client.BuildReaction(r.Info.Chat, r.Info.Sender, r.Info.ID, emoji).GetReactionMessage()
	sealed, err := p.client.EncryptReaction(ctx, &r.Info, plain)
	if err != nil {
		return "", fmt.Errorf("encrypt a reaction: %w", err)
	}
	return p.Send(ctx, r.Info.Chat, &waE2E.Message{EncReactionMessage: sealed}, opts...)
}

// Comment writes a comment on a message, encrypted with its secret.
func (p *Phone) Comment(ctx context.Context, r *Received, text string, opts ...SendOption) (types.MessageID, error) {
	sealed, err := p.client.EncryptComment(ctx, &r.Info, &waE2E.Message{Conversation: proto.String(text)})
	if err != nil {
		return "", fmt.Errorf("encrypt a comment: %w", err)
	}
	return p.Send(ctx, r.Info.Chat, sealed, opts...)
}

// OpenReaction decrypts a received reaction that is encrypted with the secret of the message it names.
func (p *Phone) OpenReaction(ctx context.Context, r *Received) (*waE2E.ReactionMessage, error) {
	reaction, err := p.client.DecryptReaction(ctx, r.Message)
	if err != nil {
		return nil, fmt.Errorf("decrypt a reaction: %w", err)
	}
	return reaction, nil
}
