package wa

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waServerSync"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// catchUpMarks takes over which chats the account's devices have marked as read or
// unread, after a whole sync: whatsmeow keeps these marks nowhere, and tells of single
// changes alone. So the collection is read once more, which changes nothing of what
// whatsmeow knows of it.
func (l *link) catchUpMarks(ctx context.Context) {
	facts, err := l.readMarks(ctx)
	if err != nil {
		if l.ctx.Err() == nil {
			l.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("which chats are marked as read was not read")
		}
		return
	}
	l.saveAll(ctx, facts)
}

// readMarks reads the marks of all chats, the latest of each last.
func (l *link) readMarks(ctx context.Context) (facts []bridge.Fact, err error) {
	reader := appstate.NewProcessor(&store.Device{AppStateKeys: l.stores.syncKeys, AppState: new(store.NoopStore)}, newWALogger(l.m.log, nil))
	var state appstate.HashState
	for more := true; more; {
		patches, err := l.fetchState(ctx, appstate.WAPatchRegularLow, state.Version)
		if err != nil {
			return nil, err
		}
		var mutations []appstate.Mutation
		if mutations, state, err = reader.DecodePatches(ctx, patches, state, false); err != nil {
			return nil, err
		}
		for _, mutation := range mutations {
			facts = append(facts, markOf(mutation)...)
		}
		more = patches.HasMorePatches
	}
	return facts, nil
}

// markOf returns what an entry of the account's state marks as read or unread.
func markOf(mutation appstate.Mutation) []bridge.Fact {
	if mutation.Operation != waServerSync.SyncdMutation_SET || len(mutation.Index) < 2 || mutation.Index[0] != appstate.IndexMarkChatAsRead {
		return nil
	}
	chat, err := types.ParseJID(mutation.Index[1])
	if err != nil {
		return nil
	}
	return markFacts(&events.MarkChatAsRead{JID: chat, Timestamp: time.UnixMilli(mutation.Action.GetTimestamp()), Action: mutation.Action.GetMarkChatAsReadAction()})
}
