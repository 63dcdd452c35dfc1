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
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/session"
)

// batchSize limits the facts of one transaction, because acknowledgements wait for it.
const batchSize = 100

// importPart downloads a part and stores the data that the session needs and, if the operator
// wants them, the messages. Importing a part twice changes nothing.
func (h *History) importPart(ctx context.Context, c Conn, part *bridge.HistoryPart) (err error) {
	defer func() {
		if r := recover(); r != nil {
			h.o.Log.Error().Str("panic", bridge.Redact(fmt.Sprint(r))).Bytes("stack", debug.Stack()).Msg("panic while importing history")
			err = fmt.Errorf("panic: %T", r)
		}
	}()
	notification, err := readNotification(*part)
	if err != nil {
		return err
	}
	compressed, err := download(ctx, c, notification)
	if err != nil {
		return err
	}
	kind := waHistorySync.HistorySync_HistorySyncType(notification.GetSyncType())
	t := &partImport{Conn: c, o: h.o, part: part}
	switch kind {
	case waHistorySync.HistorySync_ON_DEMAND: // a caller asked for these, however old they are
		t.imports = h.o.Import.IsOn()
	case waHistorySync.HistorySync_INITIAL_BOOTSTRAP, waHistorySync.HistorySync_RECENT:
		t.imports, t.since = h.o.Import.IsOn(), h.since()
	case waHistorySync.HistorySync_FULL:
		t.imports, t.since = h.o.Import.IsDeep(), h.since()
	}
	if err := eachPiece(compressed, kind, t.imports, func(piece []byte) error { return t.importPiece(ctx, piece) }); err != nil {
		return err
	}
	step := part.HistoryStep
	step.State, step.Position, step.Tries, step.NextAt = bridge.HistoryTakenOver, t.seen, 0, bridge.At(time.Now())
	if err := h.o.Store.Save(ctx, step); err != nil {
		return err
	}
	h.o.Log.Info().Str("kind", part.Kind).Int("chunk", part.Chunk).Int("chats", t.chats).Int("names", t.names).Int("messages", t.seen).Msg("history imported")
	return nil
}

// partImport is the import of one part.
type partImport struct {
	Conn
	o            Options
	part         *bridge.HistoryPart
	imports      bool      // whether messages are imported
	since        time.Time // older messages are not imported
	batch        []bridge.Fact
	chats, names int
	seen         int // messages
}

// historyEnds maps the phone's statements about older messages (WAWebProtobufsHistorySync).
var historyEnds = map[waHistorySync.Conversation_EndOfHistoryTransferType]bridge.HistoryEnd{
	waHistorySync.Conversation_COMPLETE_AND_NO_MORE_MESSAGE_REMAIN_ON_PRIMARY:                 bridge.HistoryNoMore,
	waHistorySync.Conversation_COMPLETE_ON_DEMAND_SYNC_WITH_MORE_MSG_ON_PRIMARY_BUT_NO_ACCESS: bridge.HistoryOnPhone,
}

// endOf returns whether the phone has older messages of a chat than a part. If the part was not
// imported, older messages can always be requested.
func (t *partImport) endOf(chat *waHistorySync.Conversation) []bridge.Fact {
	jid := convert.ParseJID(chat.GetID())
	if chat.EndOfHistoryTransferType == nil || jid == "" || !t.imports {
		return nil
	}
	end := historyEnds[chat.GetEndOfHistoryTransferType()]
	for _, message := range chat.GetMessages() {
		if time.Unix(int64(message.GetMessage().GetMessageTimestamp()), 0).Before(t.since) {
			end = bridge.HistoryOpen
		}
	}
	return []bridge.Fact{bridge.ChatHistoryEnd{Chat: jid, End: end}}
}

// importPiece imports one piece of a part.
func (t *partImport) importPiece(ctx context.Context, encoded []byte) error {
	history := new(waHistorySync.HistorySync)
	if err := proto.Unmarshal(encoded, history); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if err := t.storeIdentities(ctx, history); err != nil {
		return err
	}
	if err := t.StoreHistory(ctx, encoded); err != nil {
		return err
	}
	for some := range slices.Chunk(convert.PeopleFacts(history), batchSize) {
		if err := t.add(ctx, some...); err != nil {
			return err
		}
	}
	pn, lid := t.o.Own()
	for _, chat := range history.GetConversations() {
		t.chats++
		if err := t.messages(ctx, chat); err != nil {
			return err
		}
		facts := append(convert.ChatFacts(chat, time.Now()), convert.HistoricLabels(chat, pn, lid)...)
		facts = append(facts, t.endOf(chat)...)
		if err := t.add(ctx, facts...); err != nil { // after the messages: the store names only groups that exist
			return err
		}
	}
	t.names += len(history.GetPushnames())
	return t.flush(ctx)
}

// add collects facts and saves them when there are enough.
func (t *partImport) add(ctx context.Context, facts ...bridge.Fact) error {
	if t.batch = append(t.batch, facts...); len(t.batch) < batchSize {
		return nil
	}
	return t.flush(ctx)
}

func (t *partImport) flush(ctx context.Context) error {
	if len(t.batch) == 0 {
		return nil
	}
	if t.seen > t.part.Position {
		step := t.part.HistoryStep
		step.Position = t.seen
		t.batch = append(t.batch, step)
	}
	err := t.o.Store.Save(ctx, t.batch...)
	t.batch = nil
	return err
}

// storeIdentities stores the numbers and LIDs of chats and contacts. whatsmeow only reads the
// separate list of them.
func (t *partImport) storeIdentities(ctx context.Context, history *waHistorySync.HistorySync) error {
	var found []bridge.Identity
	add := func(a, b string) {
		first, _ := types.ParseJID(a)
		second, _ := types.ParseJID(b)
		if identity, ok := convert.Identity(first, second); ok {
			found = append(found, identity)
		}
	}
	for _, chat := range history.GetConversations() {
		add(chat.GetID(), chat.GetPnJID())
		add(chat.GetID(), chat.GetLidJID())
	}
	for _, contact := range history.GetInlineContacts() {
		add(contact.GetPnJID(), contact.GetLidJID())
	}
	if len(found) == 0 {
		return nil
	}
	if err := t.PutIdentities(ctx, found); err != nil {
		return fmt.Errorf("%w: identities: %w", session.ErrNotStored, err)
	}
	return nil
}

// messages imports the messages of a chat, oldest first. It skips messages that an earlier
// attempt has imported; a part is always read in the same order.
func (t *partImport) messages(ctx context.Context, chat *waHistorySync.Conversation) error {
	jid, err := types.ParseJID(chat.GetID())
	if err != nil || !t.imports {
		return nil
	}
	messages := slices.SortedStableFunc(slices.Values(chat.GetMessages()), func(a, b *waHistorySync.HistorySyncMsg) int {
		return cmp.Or(cmp.Compare(a.GetMessage().GetMessageTimestamp(), b.GetMessage().GetMessageTimestamp()), cmp.Compare(a.GetMsgOrderID(), b.GetMsgOrderID()))
	})
	for _, message := range messages {
		t.seen++
		at := time.Unix(int64(message.GetMessage().GetMessageTimestamp()), 0)
		if t.seen <= t.part.Position || at.Before(t.since) {
			continue
		}
		if err := t.add(ctx, t.importedFacts(jid, message.GetMessage())...); err != nil {
			return err
		}
	}
	return nil
}

// importedFacts converts a message of the history in the same way as a received one. It leaves
// out unreadable messages.
func (t *partImport) importedFacts(chat types.JID, info *waWeb.WebMessageInfo) (facts []bridge.Fact) {
	defer func() {
		if r := recover(); r != nil {
			t.o.Log.Error().Str("panic", bridge.Redact(fmt.Sprint(r))).Bytes("stack", debug.Stack()).Msg("panic while reading a message of the history")
			facts = nil
		}
	}()
	if info.GetMessage() == nil {
		return nil // shown between messages: calls, changes of a group
	}
	e, err := t.ParseWebMessage(chat, info)
	if err != nil {
		t.o.Log.Debug().Str("error", bridge.Redact(err.Error())).Msg("cannot read a message of the history")
		return nil
	}
	pn, _ := t.o.Own()
	return convert.ImportedFacts(t.Facts(e), e.Info, info, pn)
}
