package store

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func status(t *testing.T, s *Store, chat bridge.JID, id string) bridge.Delivery {
	t.Helper()
	m := message(t, s, chat, id)
	if m.Status == nil {
		t.Fatalf("message %s has no status", id)
	}
	return *m.Status
}

func TestStatus_OnlyMovesForward(t *testing.T) {
	t.Parallel()
	const (
		pending   = bridge.DeliveryPending
		sent      = bridge.DeliverySent
		delivered = bridge.DeliveryDelivered
		read      = bridge.DeliveryRead
		played    = bridge.DeliveryPlayed
		failed    = bridge.DeliveryFailed
	)
	s := newStore(t)
	save(t, s, owner())
	for name, test := range map[string]struct{ steps, want []bridge.Delivery }{
		"the usual way":              {[]bridge.Delivery{sent, delivered, read, played}, []bridge.Delivery{sent, delivered, read, played}},
		"receipts out of order":      {[]bridge.Delivery{read, sent, delivered}, []bridge.Delivery{read, read, read}},
		"failed":                     {[]bridge.Delivery{failed, pending}, []bridge.Delivery{failed, failed}},
		"failed after it was sent":   {[]bridge.Delivery{sent, failed}, []bridge.Delivery{sent, sent}},
		"sent after all":             {[]bridge.Delivery{failed, delivered, sent}, []bridge.Delivery{failed, delivered, delivered}},
		"a status that is not known": {[]bridge.Delivery{"eaten", sent}, []bridge.Delivery{pending, sent}},
	} {
		t.Run(name, func(t *testing.T) {
			save(t, s, iSay(alice, name, 1, "text"))
			for i, step := range test.steps {
				save(t, s, bridge.SendResult{Chat: alice, ID: name, Status: step})
				if got := status(t, s, alice, name); got != test.want[i] {
					t.Errorf("after %s: %s, want %s", step, got, test.want[i])
				}
			}
		})
	}
}

func TestReceipt_ComesUnderEitherIdentity(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, iSay(alice, "M1", 1, "one"), iSay(alice, "M2", 2, "two"),
		says(alice, alice, "A1", 3, "hers"))
	save(t, s, bridge.Receipt{Chat: aliceLID, IDs: []string{"M1", "M2", "A1"}, From: aliceLID, Status: bridge.DeliveryDelivered})
	save(t, s, bridge.Receipt{Chat: alice, IDs: []string{"M2"}, From: me, Status: bridge.DeliveryRead})
	if got := status(t, s, alice, "M1"); got != bridge.DeliveryDelivered {
		t.Errorf("M1: %s", got)
	}
	if got := status(t, s, alice, "M2"); got != bridge.DeliveryDelivered {
		t.Errorf("an own device's receipt counted: %s", got)
	}
	if m := message(t, s, alice, "A1"); m.Status != nil {
		t.Errorf("somebody else's message has a status: %s", *m.Status)
	}
}

func TestReceipt_OfTheFirstMemberCountsInAGroup(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), iSay(club, "M1", 1, "all"))
	save(t, s, bridge.Receipt{Chat: club, IDs: []string{"M1"}, From: bob, Status: bridge.DeliveryRead})
	save(t, s, bridge.Receipt{Chat: club, IDs: []string{"M1"}, From: alice, Status: bridge.DeliveryDelivered})
	if got := status(t, s, club, "M1"); got != bridge.DeliveryRead {
		t.Errorf("status: %s", got)
	}
}

func TestSendResult_TakesTheNetworksTimestamp(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), iSay(alice, "M1", 1, "mine"), says(alice, alice, "A1", 2, "hers"))
	save(t, s, bridge.SendResult{Chat: alice, ID: "M1", Status: bridge.DeliverySent, Timestamp: at(100_000)})
	got := historyOf(t, s, alice)
	sameList(t, "order", ids(got), []string{"A1", "M1"})
	if got[1].Timestamp != at(100_000) {
		t.Errorf("timestamp: %s", got[1].Timestamp)
	}
	if c := chats(t, s, bridge.ChatQuery{})[0]; *c.LastMessageAt != at(100_000) {
		t.Errorf("last message: %s", c.LastMessageAt)
	}
	checkCounts(t, s)
}

func TestMessage_TypedOnThePhoneIsSent(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := iSay(alice, "M1", 1, "from the phone")
	m.Status, m.SenderJID = nil, ""
	save(t, s, owner(), m)
	if got := status(t, s, alice, "M1"); got != bridge.DeliverySent {
		t.Errorf("status: %s", got)
	}
	if got := message(t, s, alice, "M1"); got.SenderJID != me || got.SenderLID != meLID {
		t.Errorf("sender: %s %s", got.SenderJID, got.SenderLID)
	}
}

func key(name, id string, at time.Time) bridge.SendKey {
	return bridge.SendKey{Key: name, Route: "send", BodyHash: []byte("hash"), Chat: alice, MsgID: id, At: bridge.At(at)}
}

func TestSendKey_IsKeptForADay(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	fresh := key("fresh", "M1", time.Now().Add(-23*time.Hour))
	fresh.TakenAt = bridge.Millis(1_700_000_000_123)
	save(t, s, fresh, iSay(alice, "M1", 1, "one"))
	save(t, s, key("stale", "M2", time.Now().Add(-25*time.Hour)))
	got, found, err := s.SendKey(ctx, "fresh")
	if diff := cmp.Diff(fresh, got); diff != "" || !found || err != nil {
		t.Errorf("%v %v %s", found, err, diff)
	}
	for _, name := range []string{"stale", "never used"} {
		if _, found, err := s.SendKey(ctx, name); found || err != nil {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
	save(t, s, key("stale", "M3", time.Now()))
	if got, _, _ := s.SendKey(ctx, "stale"); got.MsgID != "M3" {
		t.Errorf("an expired key was not free again: %+v", got)
	}
}

func TestSendKey_NeverBindsTwoMessages(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	save(t, s, owner(), key("K", "M1", time.Now()), iSay(alice, "M1", 1, "one"))
	save(t, s, key("K", "M1", time.Now()), iSay(alice, "M1", 1, "one"))
	wantCode(t, s.Save(ctx, iSay(alice, "M2", 2, "two"), key("K", "M2", time.Now())), bridge.CodeRequestInProgress)
	sameList(t, "history", ids(historyOf(t, s, alice)), []string{"M1"})
}

// The key of a change is stored before it leaves, and again when the network has taken
// it: its time is that of the first try.
func TestSendKey_OfAChangeIsTakenLater(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	before := key("K", "STANZA", time.Now())
	before.ChangedAt = bridge.Millis(1_700_000_000_123)
	save(t, s, before)
	got, found, err := s.SendKey(context.Background(), "K")
	if !found || err != nil || !got.TakenAt.IsZero() || !got.ChangedAt.Equal(before.ChangedAt.Time) {
		t.Fatalf("%+v %v %v", got, found, err)
	}
	taken := before
	taken.TakenAt = bridge.Millis(1_700_000_005_000)
	save(t, s, taken)
	taken.TakenAt = bridge.Millis(1_700_000_009_000)
	save(t, s, taken)
	if got, _, err = s.SendKey(context.Background(), "K"); err != nil || got.TakenAt.UnixMilli() != 1_700_000_005_000 {
		t.Errorf("%+v %v", got, err)
	}
	other := key("K", "ANOTHER", time.Now())
	other.TakenAt = bridge.Millis(1)
	wantCode(t, s.Save(context.Background(), other), bridge.CodeRequestInProgress)
}

func TestFailPending_SparesWhatAKeyMayStillSend(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	save(t, s, owner(), iSay(alice, "M1", 1, "without a key"), iSay(alice, "M3", 3, "sent"),
		bridge.SendResult{Chat: alice, ID: "M3", Status: bridge.DeliverySent})
	save(t, s, key("K", "M2", time.Now()), iSay(alice, "M2", 2, "with a key"))
	for range 2 {
		if err := s.FailPending(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]bridge.Delivery{
		"M1": bridge.DeliveryFailed, "M2": bridge.DeliveryPending, "M3": bridge.DeliverySent,
	} {
		if got := status(t, s, alice, id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}
