package history

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/session"
)

// batchSize is how many facts of the history are saved in one transaction:
// it holds up an acknowledgement for as long as that takes.
const batchSize = 100

// takeOver downloads a part and takes over what is needed of it, and the messages
// where the operator wants them. Doing it twice changes nothing.
func (c *conn) takeOver(ctx context.Context, part *bridge.HistoryPart) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.h.o.Log.Error().Str("panic", bridge.Redact(fmt.Sprint(r))).Bytes("stack", debug.Stack()).Msg("taking history over panicked")
			err = fmt.Errorf("panic: %T", r)
		}
	}()
	notification, err := readNotification(*part)
	if err != nil {
		return err
	}
	compressed, err := c.download(ctx, notification)
	if err != nil {
		return err
	}
	kind := waHistorySync.HistorySync_HistorySyncType(notification.GetSyncType())
	t := &takeover{c: c, part: part, imports: c.h.imports(kind)}
	if kind != waHistorySync.HistorySync_ON_DEMAND { // somebody has asked for those, however old they are
		t.since = c.h.since()
	}
	if err := eachPiece(compressed, kind, t.imports, func(piece []byte) error { return t.piece(ctx, piece) }); err != nil {
		return err
	}
	step := stepOf(*part)
	step.State, step.Position, step.Tries, step.NextAt = bridge.HistoryTakenOver, t.seen, 0, bridge.At(time.Now())
	if err := c.h.o.Store.Save(ctx, step); err != nil {
		return err
	}
	c.h.o.Log.Info().Str("kind", part.Kind).Int("chunk", part.Chunk).Int("chats", t.chats).Int("names", t.names).Int("messages", t.seen).Msg("history taken over")
	return nil
}

// takeover is one part on its way into the stores.
type takeover struct {
	c            *conn
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
	if err := t.c.storeIdentities(ctx, history); err != nil {
		return err
	}
	if err := t.c.StoreHistory(ctx, encoded); err != nil {
		return err
	}
	for some := range slices.Chunk(convert.PeopleFacts(history), batchSize) {
		if err := t.add(ctx, some...); err != nil {
			return err
		}
	}
	pn, lid := t.c.h.o.Own()
	for _, chat := range history.GetConversations() {
		t.chats++
		if err := t.messages(ctx, chat); err != nil {
			return err
		}
		facts := append(convert.ChatFacts(chat, time.Now()), convert.HistoricLabels(chat, pn, lid)...)
		if err := t.add(ctx, facts...); err != nil { // after the messages: a group is named once it is there
			return err
		}
	}
	t.names += len(history.GetPushnames())
	return t.flush(ctx)
}

// add gathers facts, and saves them once they are many.
func (t *takeover) add(ctx context.Context, facts ...bridge.Fact) error {
	if t.batch = append(t.batch, facts...); len(t.batch) < batchSize {
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
	err := t.c.h.o.Store.Save(ctx, t.batch...)
	t.batch = nil
	return err
}

// storeIdentities stores which numbers and LIDs belong together by what is said of
// single chats; whatsmeow reads only the list.
func (c *conn) storeIdentities(ctx context.Context, history *waHistorySync.HistorySync) error {
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
	if err := c.PutIdentities(ctx, found); err != nil {
		return fmt.Errorf("%w: identities: %w", session.ErrNotStored, err)
	}
	return nil
}
