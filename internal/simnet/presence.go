package simnet

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// MarkRead sends read receipts for messages of one sender.
func (p *Phone) MarkRead(ctx context.Context, messages ...*Received) error {
	return p.mark(ctx, types.ReceiptTypeRead, messages)
}

// MarkPlayed sends played receipts for voice messages of one sender.
func (p *Phone) MarkPlayed(ctx context.Context, messages ...*Received) error {
	return p.mark(ctx, types.ReceiptTypePlayed, messages)
}

func (p *Phone) mark(ctx context.Context, kind types.ReceiptType, messages []*Received) error {
	ids := make([]types.MessageID, len(messages))
	for i, m := range messages {
		ids[i] = m.Info.ID
	}
	if len(messages) == 0 {
		return nil
	}
	return p.client.MarkRead(ctx, ids, time.Now(), messages[0].Info.Chat, messages[0].Info.Sender, kind)
}

// Typing shows the person as typing in a chat, or as having stopped.
func (p *Phone) Typing(ctx context.Context, chat types.JID, typing bool) error {
	state := types.ChatPresencePaused
	if typing {
		state = types.ChatPresenceComposing
	}
	return p.client.SendChatPresence(ctx, chat, state, types.ChatPresenceMediaText)
}

// Recording shows the person as recording a voice note in a chat.
func (p *Phone) Recording(ctx context.Context, chat types.JID) error {
	return p.client.SendChatPresence(ctx, chat, types.ChatPresenceComposing, types.ChatPresenceMediaAudio)
}

// SetPresence shows the person as online or offline to subscribers.
func (p *Phone) SetPresence(ctx context.Context, available bool) error {
	presence := types.PresenceUnavailable
	if available {
		presence = types.PresenceAvailable
	}
	return p.client.SendPresence(ctx, presence)
}

// SetReadReceipts sets whether others see read receipts of the account, and notifies its other devices.
func (p *Phone) SetReadReceipts(ctx context.Context, shown bool) error {
	value := types.PrivacySettingNone
	if shown {
		value = types.PrivacySettingAll
	}
	_, err := p.client.SetPrivacySetting(ctx, types.PrivacySettingTypeReadReceipts, value)
	return err
}
