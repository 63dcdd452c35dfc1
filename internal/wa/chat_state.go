package wa

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// readFacts returns what the account has read on another own device.
func readFacts(e *events.Receipt) []bridge.Fact {
	chat := toBridge(e.Chat)
	if chat == "" || e.Type != types.ReceiptTypeRead && e.Type != types.ReceiptTypeReadSelf {
		return nil
	}
	read := bridge.ChatRead{Chat: chat}
	for _, id := range e.MessageIDs {
		read.IDs = append(read.IDs, idOf(id))
	}
	return []bridge.Fact{read}
}

// markFacts returns what somebody marked as read or unread in the list of chats.
func markFacts(e *events.MarkChatAsRead) []bridge.Fact {
	chat := toBridge(e.JID)
	if chat == "" {
		return nil
	}
	if !e.Action.GetRead() {
		return []bridge.Fact{bridge.ChatMarkedUnread{Chat: chat}}
	}
	until := e.Timestamp
	if seconds := e.Action.GetMessageRange().GetLastMessageTimestamp(); seconds > 0 {
		until = time.Unix(seconds+1, 0).Add(-time.Millisecond) // to the end of that second
	}
	return []bridge.Fact{bridge.ChatRead{Chat: chat, Until: bridge.At(until)}}
}

// settingsOf returns how a chat is kept after one change of the account's state.
func settingsOf(evt any) []bridge.Fact {
	settings := bridge.ChatSettings{}
	switch e := evt.(type) {
	case *events.Archive:
		archived := e.Action.GetArchived()
		settings.Chat, settings.Archived = toBridge(e.JID), &archived
	case *events.Pin:
		pinned := e.Action.GetPinned()
		settings.Chat, settings.Pinned = toBridge(e.JID), &pinned
	case *events.Mute:
		end := e.Action.GetMuteEndTimestamp()
		if end > 0 {
			end /= 1000 // session.db has it in seconds, too
		}
		until := mutedUntil(e.Action.GetMuted(), end)
		settings.Chat, settings.MutedUntil = toBridge(e.JID), &until
	}
	if settings.Chat == "" {
		return nil
	}
	return []bridge.Fact{settings}
}

// mutedUntil returns until when a chat is muted: the zero time where it is not.
// The end is in seconds; a negative one is none.
func mutedUntil(muted bool, end int64) bridge.Time {
	switch {
	case !muted:
		return bridge.Time{}
	case end < 0:
		return bridge.MutedForever()
	}
	return bridge.At(time.Unix(end, 0))
}

// keepSettings saves one change of how a chat is kept. whatsmeow has entered it
// into session.db before.
func (l *link) keepSettings(facts []bridge.Fact) bool {
	l.settings.Lock()
	defer l.settings.Unlock()
	return l.keep(facts)
}

// catchUpSettings passes on how chats are kept as the session has it: what a
// whole sync brought, of which whatsmeow tells nothing, and what was learned
// while the store failed. A change that comes meanwhile waits, so that what was
// read before it does not overwrite it.
func (l *link) catchUpSettings(ctx context.Context) {
	l.settings.Lock()
	defer l.settings.Unlock()
	facts, err := l.m.db.chatSettings(ctx)
	if err != nil {
		l.m.behind.Store(true)
		l.m.log.Warn().Err(err).Msg("settings of chats not read")
	}
	l.saveAll(ctx, facts)
}
