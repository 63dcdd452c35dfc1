package sending

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/session"
)

const (
	// chatStateTimeout limits the change of a chat, stateTimeout one request of it.
	chatStateTimeout = 60 * time.Second
	stateTimeout     = 10 * time.Second
)

// UpdateChat changes the settings of a chat on all of the account's devices, and stores what the
// network has accepted. Muting is a separate request after the others. The timer is a message to the
// other person and the last one.
func (s *Sender) UpdateChat(ctx context.Context, chat bridge.Chat, patch bridge.ChatPatch) error {
	ctx, cancel := s.Within(ctx, chatStateTimeout)
	defer cancel()
	muting, timer := bridge.ChatPatch{MutedUntil: patch.MutedUntil}, patch.Expiration
	patch.MutedUntil, patch.Expiration = nil, nil
	var changed []string
	for _, part := range []bridge.ChatPatch{patch, muting} {
		fields := part.Fields()
		if len(fields) == 0 {
			continue
		}
		if err := s.changeChat(ctx, chat, part); err != nil {
			return bridge.AfterChanges(changed, fields[0], err)
		}
		changed = append(changed, fields...)
	}
	if timer == nil {
		return nil
	}
	_, err := s.Send(ctx, bridge.Outgoing{To: chat.JID, Content: bridge.TimerChange{Seconds: *timer}})
	return bridge.AfterChanges(changed, "disappearingSeconds", err)
}

// changeChat sends a change of one collection of the account's state and stores it.
func (s *Sender) changeChat(ctx context.Context, chat bridge.Chat, part bridge.ChatPatch) error {
	return s.changeShared(ctx, chat.JID, "the change of the chat", func(c *Client) error { return c.changeState(ctx, chat, part) })
}

// changeShared makes a change of the state that the account's devices share, until the network
// has answered. what names the change in errors.
func (s *Sender) changeShared(ctx context.Context, about bridge.JID, what string, change func(*Client) error) error {
	err := s.untilConfirmed(ctx, about, what, "it takes effect once", change)
	switch {
	case errors.Is(err, session.ErrNoStateKey):
		return bridge.NotConnected("the phone has not sent the keys of the account's settings yet: open WhatsApp on the phone, and try again in a moment").Because(err)
	case errors.Is(err, session.ErrStateRefused):
		return bridge.Fail(bridge.CodeSendRefused, "the network refused %s: try again in a moment, and update bridged if this persists", what).Because(err)
	case err != nil && bridge.CodeOf(err) == bridge.CodeInternal:
		return s.RefusalOf(err, about)
	}
	return err
}

// changeState sends a change of a chat's settings.
func (c *Client) changeState(ctx context.Context, chat bridge.Chat, change bridge.ChatPatch) error {
	return c.changeStateOf(ctx, chat.JID, func(ctx context.Context) (appstate.PatchInfo, func() error) {
		patch := c.statePatch(ctx, chat, change)
		return patch, func() error { return c.s.save(convert.PatchFacts(chat.JID, patch)...) }
	})
}

// changeStateOf sends a change of a chat, and stores it by the function that compose returns with it.
// Calls run one at a time, and the change is applied before the network reports it.
func (c *Client) changeStateOf(ctx context.Context, chat bridge.JID, compose func(context.Context) (patch appstate.PatchInfo, store func() error)) error {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	if err := c.s.changing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.s.changing.Release(1)
	patch, store := compose(ctx)
	if err := c.ChangeState(ctx, patch); err != nil {
		return err
	}
	if err := store(); err != nil {
		return err
	}
	if err := c.FollowState(ctx, patch.Type); err != nil { // the next change applies this one, too
		c.s.o.Log.Warn().Str("chat", chat.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("a chat was changed, but the change cannot be applied here yet")
	}
	return nil
}

// statePatch returns a change of a chat in the form of the apps.
func (c *Client) statePatch(ctx context.Context, chat bridge.Chat, patch bridge.ChatPatch) appstate.PatchInfo {
	target, at, last := c.lastOf(ctx, chat)
	if until := patch.MutedUntil; until != nil {
		return appstate.BuildMuteAbs(target, !until.IsZero(), muteEnd(*until))
	}
	archived := patch.Archived
	if archived == nil && chat.Archived && patch.Pinned != nil && *patch.Pinned {
		archived = new(false) // no app shows a chat as both
	}
	info := appstate.PatchInfo{Type: appstate.WAPatchRegularLow}
	if archived != nil { // archiving also unpins
		info.Mutations = appstate.BuildArchive(target, *archived, at, last).Mutations
	}
	if patch.Pinned != nil && (archived == nil || !*archived) {
		info.Mutations = append(info.Mutations, appstate.BuildPin(target, *patch.Pinned).Mutations...)
	}
	if patch.Unread != nil {
		info.Mutations = append(info.Mutations, appstate.BuildMarkChatAsRead(target, !*patch.Unread, at, last).Mutations...)
	}
	return info
}

// muteEnd returns the end of muting in milliseconds. nil means forever, or not muted.
func muteEnd(until bridge.Time) *int64 {
	if until.IsZero() || until.Equal(bridge.MutedForever().Time) {
		return nil
	}
	return new(until.UnixMilli())
}

// lastOf returns a chat's name in the account's state, and its last message, up to which a change
// of the chat applies.
func (c *Client) lastOf(ctx context.Context, chat bridge.Chat) (target types.JID, at time.Time, key *waCommon.MessageKey) {
	target = convert.WireJID(c.wireForm(ctx, chat.JID, chat.JID))
	if last := chat.LastMessage; last != nil && !bridge.IsExportedID(last.ID) { // no device knows exported ids
		at = last.Timestamp.Time
		key = c.BuildMessageKey(target, convert.WireJID(c.wireForm(ctx, chat.JID, last.SenderJID)), c.s.WireID(ctx, chat.JID, last.ID))
	}
	return target, at, key
}
