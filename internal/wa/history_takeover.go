package wa

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/session"
)

// historyBatch is how many facts of the history are saved in one transaction:
// it holds up an acknowledgement for as long as that takes.
const historyBatch = 100

// takeOver downloads a part and takes over what is needed of it, and the messages
// where the operator wants them. Doing it twice changes nothing.
func (l *link) takeOver(ctx context.Context, part *bridge.HistoryPart) (err error) {
	defer func() {
		if r := recover(); r != nil {
			l.m.log.Error().Str("panic", bridge.Redact(fmt.Sprint(r))).Bytes("stack", debug.Stack()).Msg("taking history over panicked")
			err = fmt.Errorf("panic: %T", r)
		}
	}()
	notification, err := readNotification(*part)
	if err != nil {
		return err
	}
	compressed, err := l.download(ctx, notification)
	if err != nil {
		return err
	}
	kind := waHistorySync.HistorySync_HistorySyncType(notification.GetSyncType())
	t := &takeover{l: l, part: part, imports: l.m.imports(kind)}
	if kind != waHistorySync.HistorySync_ON_DEMAND { // somebody has asked for those, however old they are
		t.since = l.m.historySince()
	}
	if err := eachPiece(compressed, kind, t.imports, func(piece []byte) error { return t.piece(ctx, piece) }); err != nil {
		return err
	}
	step := stepOf(*part)
	step.State, step.Position, step.Tries, step.NextAt = bridge.HistoryTakenOver, t.seen, 0, bridge.At(time.Now())
	if err := l.m.store.Save(ctx, step); err != nil {
		return err
	}
	l.m.log.Info().Str("kind", part.Kind).Int("chunk", part.Chunk).Int("chats", t.chats).Int("names", t.names).Int("messages", t.seen).Msg("history taken over")
	return nil
}

// takeover is one part on its way into the stores.
type takeover struct {
	l            *link
	part         *bridge.HistoryPart
	imports      bool      // whether messages are wanted
	since        time.Time // messages from before are not
	batch        []bridge.Fact
	chats, names int
	seen         int // messages
}

// piece takes one piece of a part over.
func (t *takeover) piece(ctx context.Context, encoded []byte) error {
	history := new(waHistorySync.HistorySync)
	if err := proto.Unmarshal(encoded, history); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if err := t.l.storeIdentities(ctx, history); err != nil {
		return err
	}
	if err := t.l.cli.StoreHistory(ctx, encoded); err != nil {
		return err
	}
	for _, name := range history.GetPushnames() {
		if err := t.add(ctx, convert.PushNameFacts(name)...); err != nil {
			return err
		}
	}
	for _, contact := range history.GetInlineContacts() {
		if err := t.add(ctx, convert.InlineContactFacts(contact)...); err != nil {
			return err
		}
	}
	for _, account := range history.GetAccounts() {
		if err := t.add(ctx, convert.AccountFacts(account)...); err != nil {
			return err
		}
	}
	pn, lid := t.l.m.own()
	for _, chat := range history.GetConversations() {
		t.chats++
		if err := t.messages(ctx, chat); err != nil {
			return err
		}
		if err := t.add(ctx, convert.ChatFacts(chat, time.Now())...); err != nil { // a group is named once it is there
			return err
		}
		if err := t.add(ctx, convert.HistoricLabels(chat, pn, lid)...); err != nil {
			return err
		}
	}
	t.names += len(history.GetPushnames())
	return t.flush(ctx)
}

// add gathers facts, and saves them once they are many.
func (t *takeover) add(ctx context.Context, facts ...bridge.Fact) error {
	if t.batch = append(t.batch, facts...); len(t.batch) < historyBatch {
		return nil
	}
	return t.flush(ctx)
}

func (t *takeover) flush(ctx context.Context) error {
	if len(t.batch) == 0 {
		return nil
	}
	if t.seen > t.part.Position {
		step := stepOf(*t.part)
		step.Position = t.seen
		t.batch = append(t.batch, step)
	}
	err := t.l.m.store.Save(ctx, t.batch...)
	t.batch = nil
	return err
}

// storeIdentities stores which numbers and LIDs belong together by what is said of
// single chats; whatsmeow reads only the list.
func (l *link) storeIdentities(ctx context.Context, history *waHistorySync.HistorySync) error {
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
	if err := l.cli.PutIdentities(ctx, found); err != nil {
		return fmt.Errorf("%w: identities: %w", session.ErrNotStored, err)
	}
	return nil
}
