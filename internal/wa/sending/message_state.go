package sending

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// Star stars a message on all of the account's devices, or removes the star. It stores what the
// network has accepted.
func (s *Sender) Star(ctx context.Context, m bridge.Message, starred bool) error {
	ctx, cancel := s.Within(ctx, chatStateTimeout)
	defer cancel()
	return s.changeShared(ctx, m.Chat, "the change of the star", func(c *Client) error {
		return c.changeStateOf(ctx, m.Chat, func(ctx context.Context) (appstate.PatchInfo, func() error) {
			chat, author := c.keyOf(ctx, m)
			patch := appstate.BuildStar(chat, author, convert.OnWire(&m), m.FromMe, starred)
			patch.Timestamp = time.Now()
			return patch, func() error {
				return c.s.save(bridge.Star{Chat: m.Chat, Target: m.ID, By: c.s.ownPN(), Starred: starred, Timestamp: bridge.At(patch.Timestamp)})
			}
		})
	})
}

// DeleteForMe deletes a message on all of the account's devices, and nobody else's. It erases the stored
// message once the network has accepted it. A message that no device has is only erased.
func (s *Sender) DeleteForMe(ctx context.Context, m bridge.Message) error {
	erase := func() error {
		return s.save(bridge.DeletionForMe{Chat: m.Chat, Target: m.ID, Timestamp: bridge.At(time.Now())})
	}
	if !m.IsOnDevices() {
		return erase()
	}
	ctx, cancel := s.Within(ctx, chatStateTimeout)
	defer cancel()
	return s.changeShared(ctx, m.Chat, "the deletion", func(c *Client) error {
		return c.changeStateOf(ctx, m.Chat, func(ctx context.Context) (appstate.PatchInfo, func() error) {
			chat, author := c.keyOf(ctx, m)
			return convert.DeletionPatch(chat, author, m), erase
		})
	})
}

// clearTimeout limits the removal of a chat's messages from the store.
const clearTimeout = 2 * time.Minute

// ClearChat removes the messages of a chat on all of the account's devices, up to the last one, or the
// whole chat. It removes the stored messages once the network has accepted that. A chat from an export
// is only in the store.
func (s *Sender) ClearChat(ctx context.Context, chat bridge.Chat, c bridge.ChatClearing) error {
	c.Chat, c.Until = chat.JID, bridge.At(time.Now())
	if chat.LastMessage != nil {
		c.Until = chat.LastMessage.Timestamp
	}
	erase := func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.o.Background), clearTimeout)
		defer cancel()
		return s.o.Store.ClearChat(ctx, c)
	}
	if chat.JID.IsImport() {
		return erase()
	}
	ctx, cancel := s.Within(ctx, chatStateTimeout)
	defer cancel()
	return s.changeShared(ctx, chat.JID, "the change of the chat", func(cl *Client) error {
		return cl.changeStateOf(ctx, chat.JID, func(ctx context.Context) (appstate.PatchInfo, func() error) {
			target, at, last := cl.lastOf(ctx, chat)
			return convert.ClearingPatch(target, at, last, c), erase
		})
	})
}

// keyOf returns the chat and the author that name a message in the account's state. The author
// equals the chat unless another member of a group wrote the message.
func (c *Client) keyOf(ctx context.Context, m bridge.Message) (chat, author types.JID) {
	chat = convert.WireJID(c.wireForm(ctx, m.Chat, m.Chat))
	if m.FromMe || !m.Chat.IsGroup() {
		return chat, chat
	}
	return chat, convert.WireJID(c.wireForm(ctx, m.Chat, m.SenderJID))
}
