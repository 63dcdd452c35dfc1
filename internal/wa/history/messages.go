package history

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// imports reports whether the operator wants the messages of a kind of part.
func (h *History) imports(kind waHistorySync.HistorySync_HistorySyncType) bool {
	switch kind {
	case waHistorySync.HistorySync_INITIAL_BOOTSTRAP, waHistorySync.HistorySync_RECENT, waHistorySync.HistorySync_ON_DEMAND:
		return h.o.Import.IsOn()
	case waHistorySync.HistorySync_FULL:
		return h.o.Import.IsDeep()
	}
	return false
}

// messages imports those of a chat, from the oldest on, without those that an
// earlier try has imported: the same part is always read in the same order.
func (t *takeover) messages(ctx context.Context, chat *waHistorySync.Conversation) error {
	jid, err := types.ParseJID(chat.GetID())
	if err != nil || !t.imports {
		return nil
	}
	messages := slices.Clone(chat.GetMessages())
	slices.SortStableFunc(messages, func(a, b *waHistorySync.HistorySyncMsg) int {
		return cmp.Or(cmp.Compare(a.GetMessage().GetMessageTimestamp(), b.GetMessage().GetMessageTimestamp()), cmp.Compare(a.GetMsgOrderID(), b.GetMsgOrderID()))
	})
	for _, message := range messages {
		t.seen++
		if t.seen <= t.part.Position || t.isTooOld(message.GetMessage()) {
			continue
		}
		if err := t.add(ctx, t.c.importedFacts(jid, message.GetMessage())...); err != nil {
			return err
		}
	}
	return nil
}

// isTooOld reports whether a message is from before what the operator wants, though
// the phone has sent it.
func (t *takeover) isTooOld(info *waWeb.WebMessageInfo) bool {
	return time.Unix(int64(info.GetMessageTimestamp()), 0).Before(t.since)
}

// importedFacts interprets a message of the history as one that comes over the
// connection. It never fails: what cannot be read is left out.
func (c *conn) importedFacts(chat types.JID, info *waWeb.WebMessageInfo) (facts []bridge.Fact) {
	defer func() {
		if r := recover(); r != nil {
			c.h.o.Log.Error().Str("panic", bridge.Redact(fmt.Sprint(r))).Bytes("stack", debug.Stack()).Msg("message of the history not understood")
			facts = nil
		}
	}()
	if info.GetMessage() == nil {
		return nil // what the apps show between messages: calls, changes of a group
	}
	e, err := c.ParseWebMessage(chat, info)
	if err != nil {
		c.h.o.Log.Debug().Str("error", bridge.Redact(err.Error())).Msg("message of the history not read")
		return nil
	}
	pn, _ := c.h.o.Own()
	return convert.ImportedFacts(c.Facts(e), e.Info, info, pn)
}
