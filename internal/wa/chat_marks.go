package wa

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// catchUpMarks takes over which chats the account's devices have marked as read or
// unread, after a whole sync: whatsmeow keeps these marks nowhere, and tells of single
// changes alone.
func (l *link) catchUpMarks(ctx context.Context) {
	entries, err := l.readCollection(ctx, appstate.WAPatchRegularLow)
	if err != nil {
		if l.ctx.Err() == nil {
			l.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("which chats are marked as read was not read")
		}
		return
	}
	var facts []bridge.Fact
	for _, entry := range entries {
		facts = append(facts, markOf(entry)...)
	}
	l.saveAll(ctx, facts)
}

// markOf returns what an entry of the account's state marks as read or unread.
func markOf(mutation appstate.Mutation) []bridge.Fact {
	if len(mutation.Index) < 2 || mutation.Index[0] != appstate.IndexMarkChatAsRead {
		return nil
	}
	chat, err := types.ParseJID(mutation.Index[1])
	if err != nil {
		return nil
	}
	return markFacts(&events.MarkChatAsRead{JID: chat, Timestamp: time.UnixMilli(mutation.Action.GetTimestamp()), Action: mutation.Action.GetMarkChatAsReadAction()})
}
