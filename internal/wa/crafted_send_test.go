package wa_test

import (
	"context"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// TestSend_PanicSettlesTheRow: the message fails, its key can be used again, and a
// message that always panics is refused for good.
func TestSend_PanicSettlesTheRow(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	key := &bridge.SendKey{Key: "once", Route: "POST /api/messages/send", BodyHash: []byte("hash"), At: bridge.At(time.Now())}
	out := bridge.Outgoing{To: jidOf(friend), Content: bridge.Text{Text: "hello"}, Key: key}

	a.manager.BeforeTry(func() { panic("hello") })
	if _, err := a.manager.Send(ctx, out); err == nil || bridge.CodeOf(err) != bridge.CodeInternal {
		t.Fatalf("the first call: %v", err)
	}
	bound, found, err := a.store.SendKey(ctx, "once")
	if err != nil || !found {
		t.Fatalf("the key: %v, %v", found, err)
	}
	row, err := a.store.Message(ctx, bound.Chat, bound.MsgID)
	if err != nil || row.Status == nil || *row.Status != bridge.DeliveryFailed {
		t.Fatalf("the row: %+v, %v", row.Status, err)
	}
	if _, err := a.manager.Resend(ctx, row); bridge.CodeOf(err) != bridge.CodeInvalid {
		t.Errorf("the same call again: %v", err)
	}
	a.manager.BeforeTry(nil)
	sent, err := a.manager.Resend(ctx, row)
	if err != nil || sent.ID != row.ID {
		t.Fatalf("once it does not panic any more: %+v, %v", sent, err)
	}
	if _, err := friend.ReceivedText(ctx, "hello"); err != nil {
		t.Error(err)
	}
}

// TestResend_OfARowThatPanics covers rows that earlier versions left pending.
func TestResend_OfARowThatPanics(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	raw, err := proto.Marshal(&waE2E.Message{ViewOnceMessage: &waE2E.FutureProofMessage{}})
	if err != nil {
		t.Fatal(err)
	}
	pending := bridge.DeliveryPending
	row := bridge.Message{
		Chat: jidOf(friend), ID: "STUCK", FromMe: true, MessageType: "viewOnceMessage", Raw: raw,
		Timestamp: bridge.At(time.Now()), Status: &pending,
	}
	if err := a.store.Save(ctx, row); err != nil {
		t.Fatal(err)
	}
	if _, err := a.manager.Resend(ctx, row); bridge.CodeOf(err) != bridge.CodeInvalid {
		t.Errorf("resend: %v", err)
	}
	if now, err := a.store.Message(ctx, row.Chat, row.ID); err != nil || *now.Status != bridge.DeliveryFailed {
		t.Errorf("the row: %+v, %v", now.Status, err)
	}
	if _, err := a.send(jidOf(friend), "the next"); err != nil {
		t.Errorf("a send behind it: %v", err)
	}
}

// faultyTimers panics when composing reads a chat's timer.
type faultyTimers struct{ *store.Store }

func (faultyTimers) ChatTimer(context.Context, bridge.JID) (bridge.ChatTimer, error) {
	panic("a fault")
}

// TestSend_PanicWhileComposingStoresNothing and leaves the key free.
func TestSend_PanicWhileComposingStoresNothing(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := startAccountWith(t, network, t.TempDir(), func(s *store.Store) wa.Store { return faultyTimers{s} })
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	friend := newPhone(t, network, "15550100301", "Sam")
	key := &bridge.SendKey{Key: "once", Route: "POST /api/messages/send", At: bridge.At(time.Now())}
	if _, err := a.manager.Send(ctx, bridge.Outgoing{To: jidOf(friend), Content: bridge.Text{Text: "hello"}, Key: key}); err == nil || bridge.CodeOf(err) != bridge.CodeInternal {
		t.Errorf("a send that panics: %v", err)
	}
	if _, found, err := a.store.SendKey(ctx, "once"); found || err != nil {
		t.Errorf("its key is bound: %v, %v", found, err)
	}
	if list := a.messages(jidOf(friend)); len(list) != 0 {
		t.Errorf("%d rows", len(list))
	}
}
