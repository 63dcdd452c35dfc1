package sending

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// onceRoom is a room that counts the other side's copies of a message.
type onceRoom struct{ *room }

func newOnceRoom(t testing.TB, c *Cast) onceRoom {
	t.Helper()
	r := &room{Conversation: &Conversation{TB: t, Me: c.Owner, By: c.Ben, In: c.Ben.PN(), ToMe: c.Owner.PN()}, b: c.Bridge}
	r.hears("a session in either direction") // so that every further send is one stanza
	r.sends("send", Object{"text": "indeed"})
	return onceRoom{r}
}

// keyed posts a text with a key.
func (r onceRoom) keyed(text, key string) apitest.Response {
	r.Helper()
	return r.b.Post("/api/messages/send", Object{"jid": r.In.String(), "text": text}, "Idempotency-Key", key)
}

// posts makes calls in the background, during which the program may die.
func (r onceRoom) posts(text string, headers ...string) <-chan *http.Response {
	answered := make(chan *http.Response, 1)
	go func() {
		defer close(answered)
		resp, err := call(r.b, context.Background(), Object{"jid": r.In.String(), "text": text}, headers...)
		if err == nil {
			answered <- resp
		}
	}()
	return answered
}

// call posts a text without judging the answer; the caller may hang up.
func call(p *Process, ctx context.Context, body Object, headers ...string) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.Address+"/api/messages/send", bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+p.Env["BRIDGE_TOKEN"])
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	return resp, resp.Body.Close()
}

// pending waits for the row of a pending text and returns its id.
func (r onceRoom) pending(text string) simnet.MessageID {
	r.Helper()
	return r.has(text, bridge.DeliveryPending)
}

// has waits until the list shows one message with a text and a status.
func (r onceRoom) has(text string, status bridge.Delivery) (id simnet.MessageID) {
	r.Helper()
	Eventually(r, func() error {
		found := r.rows(text)
		if len(found) != 1 || StatusOf(found[0]) != status {
			return fmt.Errorf("%q is stored as %+v, want one that is %s", text, found, status)
		}
		id = found[0].ID
		return nil
	})
	return id
}

// rows returns the stored messages with a text.
func (r onceRoom) rows(text string) (found []bridge.Message) {
	r.Helper()
	var page struct{ Messages []bridge.Message }
	r.b.Get(r.List() + "?limit=1000").Want(http.StatusOK).Decode(&page)
	for _, m := range page.Messages {
		if m.Content == text {
			found = append(found, m)
		}
	}
	return found
}

// arrivedOnce checks that the other side, and the account's own phone, have a text
// under one id only.
func (r onceRoom) arrivedOnce(text string, id simnet.MessageID) {
	r.Helper()
	for _, phone := range []*simnet.Phone{r.By, r.Me} {
		Must(phone.ReceivedID(Within(r), id))(r)
		for _, m := range phone.Messages() {
			if decryptedText(m) == text && m.Info.ID != id {
				r.Errorf("%s has %q under %s, too, beside %s", phone.Name(), text, m.Info.ID, id)
			}
		}
	}
	if rows := r.rows(text); len(rows) != 1 || rows[0].ID != id {
		r.Errorf("%q is stored as %+v, want once as %s", text, rows, id)
	}
}

func decryptedText(m *simnet.Received) string {
	raw := m.RawMessage
	if inner := raw.GetDeviceSentMessage().GetMessage(); inner != nil {
		raw = inner
	}
	return raw.GetConversation()
}

// neverArrived checks that no phone has a text, after everything on its way has
// arrived.
func (r onceRoom) neverArrived(text string) {
	r.Helper()
	r.arrivedOnce("behind "+text, r.room.sends("send", Object{"text": "behind " + text}))
	for _, m := range r.By.Messages() {
		if decryptedText(m) == text {
			r.Errorf("%q arrived as %s", text, m.Info.ID)
		}
	}
}

// replayed checks the answer to a repeated call.
func replayed(t testing.TB, resp apitest.Response, id simnet.MessageID, want bool) {
	t.Helper()
	if got := SentID(t, resp); got != id {
		t.Errorf("the repeated call answers %s, want %s", got, id)
	}
	if got := resp.Header.Get("Idempotency-Replayed") == "true"; got != want {
		t.Errorf("Idempotency-Replayed is %v, want %v", got, want)
	}
}

// TestKilled_BetweenStoringAndSending: the row exists, but the network has no
// message. With the key it is sent once, under its id.
func TestKilled_BetweenStoringAndSending(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	sent := c.Device.Counters().Sent
	c.Device.Freeze() // the network accepts nothing any more
	keyed := r.posts("with a key", "Idempotency-Key", "k")
	keyedID := r.pending("with a key")
	c.Bridge.Kill()
	if resp, ok := <-keyed; ok {
		t.Fatalf("the call was answered: %v", resp.Status)
	}
	if got := c.Device.Counters().Sent; got != sent {
		t.Fatalf("%d messages left", got-sent)
	}
	c.Bridge.Start()
	c.Bridge.Becomes(bridge.StateOpen)
	if id := r.pending("with a key"); id != keyedID {
		t.Errorf("after the crash the message is %s, want %s", id, keyedID)
	}
	replayed(t, r.keyed("with a key", "k"), keyedID, false)
	r.arrivedOnce("with a key", keyedID)
	r.has("with a key", bridge.DeliveryDelivered)
	replayed(t, r.keyed("with a key", "k"), keyedID, true)
	Refused(t, r.keyed("another body", "k"), http.StatusUnprocessableEntity, bridge.CodeIdempotencyMismatch, "another body")
	r.arrivedOnce("with a key", keyedID)
}

// TestKilled_WithoutAKey: the call cannot be repeated, so the message is failed at
// the next start and never sent.
func TestKilled_WithoutAKey(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	c.Device.Freeze()
	answered := r.posts("without a key")
	id := r.pending("without a key")
	c.Bridge.Kill()
	<-answered
	c.Bridge.Start()
	if got := r.has("without a key", bridge.DeliveryFailed); got != id {
		t.Errorf("after the crash the message is %s, want %s", got, id)
	}
	c.Bridge.Becomes(bridge.StateOpen)
	r.neverArrived("without a key")
	r.has("without a key", bridge.DeliveryFailed)
}

// TestKilled_BeforeTheAcknowledgement: the message is sent, but the program dies
// before the acknowledgement. The repeated call sends it under the same id.
func TestKilled_BeforeTheAcknowledgement(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	c.Device.FailSends(simnet.SendFault{LoseAck: true})
	keyed := r.posts("out with a key", "Idempotency-Key", "k")
	id := r.rowOf("out with a key")
	Must(c.Ben.ReceivedID(Within(t), id))(t)
	c.Bridge.Kill()
	<-keyed
	c.Bridge.Start()
	c.Bridge.Becomes(bridge.StateOpen)
	// The recipient's receipt proves that it was sent; there is no second attempt.
	r.has("out with a key", bridge.DeliveryDelivered)
	replayed(t, r.keyed("out with a key", "k"), id, true)
	r.arrivedOnce("out with a key", id)
}

// TestKilled_BeforeTheAcknowledgement_RecipientAway: without a receipt the outcome
// is unknown, so the same id is sent again; the recipient gets one message.
func TestKilled_BeforeTheAcknowledgement_RecipientAway(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	c.Ben.Disconnect()
	if err := c.Ben.Device().WaitOffline(Within(t)); err != nil {
		t.Fatal(err)
	}
	c.Device.FailSends(simnet.SendFault{LoseAck: true})
	keyed := r.posts("while you are away", "Idempotency-Key", "k")
	id := r.pending("while you are away")
	Must(c.Owner.ReceivedID(Within(t), id))(t) // it was sent
	c.Bridge.Kill()
	<-keyed
	c.Bridge.Start()
	c.Bridge.Becomes(bridge.StateOpen)
	if got := r.pending("while you are away"); got != id {
		t.Errorf("after the crash the message is %s, want %s", got, id)
	}
	replayed(t, r.keyed("while you are away", "k"), id, false)
	r.has("while you are away", bridge.DeliverySent)
	if err := c.Ben.Connect(Within(t)); err != nil {
		t.Fatal(err)
	}
	r.arrivedOnce("while you are away", id)
	r.has("while you are away", bridge.DeliveryDelivered)
}

// TestSend_AcknowledgementLost: if a receipt proves that the message was sent, the
// call succeeds; otherwise the program tries again by itself, with the same id.
func TestSend_AcknowledgementLost(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]bool{"recipient there": false, "recipient away": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			losesAcknowledgement(t, away)
		})
	}
}

func losesAcknowledgement(t *testing.T, away bool) {
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	quiet(t, c)
	tries, status := 1, bridge.DeliveryDelivered
	if away {
		tries, status = 2, bridge.DeliveryPending
		c.Ben.Disconnect()
		if err := c.Ben.Device().WaitOffline(Within(t)); err != nil {
			t.Fatal(err)
		}
	}
	sent := c.Device.Counters().Sent
	c.Device.FailSends(simnet.SendFault{LoseAck: true})
	answered := r.posts("anybody?", "Idempotency-Key", "k")
	id := r.has("anybody?", status)
	if away { // otherwise the receipt has ended the wait
		Refused(t, r.keyed("anybody?", "k"), http.StatusConflict, bridge.CodeRequestInProgress, "in progress")
	}
	Refused(t, r.keyed("else", "k"), http.StatusUnprocessableEntity, bridge.CodeIdempotencyMismatch)
	select {
	case resp, ok := <-answered:
		if !ok || resp.StatusCode != http.StatusOK {
			t.Fatalf("answered %v", resp)
		}
	case <-time.After(2 * TestTimeout):
		t.Fatal("no answer")
	}
	replayed(t, r.keyed("anybody?", "k"), id, true)
	if got := c.Device.Counters().Sent - sent; got != tries {
		t.Errorf("%d tries, want %d", got, tries)
	}
	if away {
		if err := c.Ben.Connect(Within(t)); err != nil {
			t.Fatal(err)
		}
	}
	r.arrivedOnce("anybody?", id)
}

// TestSend_ConnectionCut while a message is on its way, before and after the
// network has it: it is sent on the next connection, once.
func TestSend_ConnectionCut(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(*simnet.Device){
		"before the network has it": func(d *simnet.Device) { d.Freeze() },
		"after the network has it":  func(d *simnet.Device) { d.FailSends(simnet.SendFault{LoseAck: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := PairedCast(t)
			r := newOnceRoom(t, c)
			logins := c.Device.Counters().Logins
			sent := c.Device.Counters().Sent
			cut(c.Device)
			answered := r.posts("through the cut")
			id := r.rowOf("through the cut")
			if name == "after the network has it" {
				if err := c.Device.WaitCounters(Within(t), func(n simnet.Counters) bool { return n.Sent > sent }); err != nil {
					t.Fatal(err)
				}
			}
			c.Device.Drop()
			resp, ok := <-answered
			if !ok || resp.StatusCode != http.StatusOK {
				t.Fatalf("answered %v", resp)
			}
			// The recipient's receipt may have answered before the next login.
			if err := c.Device.WaitLogins(Within(t), logins+1); err != nil {
				t.Fatal(err)
			}
			r.arrivedOnce("through the cut", id)
			r.has("through the cut", bridge.DeliveryDelivered)
		})
	}
}

// rowOf waits for the row of a text in any status.
func (r onceRoom) rowOf(text string) (id simnet.MessageID) {
	r.Helper()
	Eventually(r, func() error {
		rows := r.rows(text)
		if len(rows) != 1 {
			return fmt.Errorf("%q is stored as %+v", text, rows)
		}
		id = rows[0].ID
		return nil
	})
	return id
}

// TestSend_CallerHangsUp: a send that has begun continues, and the repeated call
// gets its outcome.
func TestSend_CallerHangsUp(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	c.Device.Freeze()
	ctx, hangUp := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := call(c.Bridge, ctx, Object{"jid": r.In.String(), "text": "never mind"}, "Idempotency-Key", "k")
		gone <- err
	}()
	id := r.rowOf("never mind")
	hangUp()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatalf("the call ended with %v", err)
	}
	c.Device.Thaw()
	r.has("never mind", bridge.DeliveryDelivered)
	Eventually(t, func() error {
		resp := r.keyed("never mind", "k")
		if resp.Status == http.StatusConflict {
			return fmt.Errorf("in progress: %s", resp.Body)
		}
		replayed(t, resp, id, true)
		return nil
	})
	r.arrivedOnce("never mind", id)
}

// TestStop_WhileSending: on SIGTERM a send that cannot finish is answered. It ends
// as failed, or waits for its key to be repeated; it is never sent by itself.
func TestStop_WhileSending(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	c.Device.Freeze()
	keyed := r.posts("left to its key", "Idempotency-Key", "k")
	id := r.pending("left to its key")
	c.Bridge.Stop()
	if resp, ok := <-keyed; !ok || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the call was answered %v, want 503", resp)
	}
	c.Bridge.Start()
	c.Bridge.Becomes(bridge.StateOpen)
	if rows := r.rows("left to its key"); len(rows) != 1 || StatusOf(rows[0]) != bridge.DeliveryPending && StatusOf(rows[0]) != bridge.DeliveryFailed {
		t.Errorf("stored as %+v", rows)
	}
	r.neverArrived("left to its key")
	replayed(t, r.keyed("left to its key", "k"), id, false)
	r.arrivedOnce("left to its key", id)
}

// TestIdempotencyKey_OfEveryRoute repeats calls, which get the first one's answer,
// even after a restart and without the socket. Keys are separate for each route.
func TestIdempotencyKey_OfEveryRoute(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	heard := r.hears("about this")
	bodies := SendsWithoutSource(r.In)
	bodies["/api/messages/react"] = Object{"chatJid": r.In.String(), "msgId": heard, "emoji": "👍"}
	bodies["/api/messages/forward"] = Object{"sourceChatJid": r.In.String(), "sourceMsgId": heard, "destJid": c.Anna.PN().String()}
	first := map[string]apitest.Response{}
	for route, body := range bodies {
		first[route] = c.Bridge.Post(route, body, "Idempotency-Key", route)
		replayed(t, first[route], SentID(t, first[route]), false)
	}
	if err := c.Network.WaitQuiet(Within(t)); err != nil {
		t.Fatal(err)
	}
	sent := c.Device.Counters().Sent
	repeat := func() {
		t.Helper()
		for route, body := range bodies {
			resp := c.Bridge.Post(route, body, "Idempotency-Key", route)
			replayed(t, resp, SentID(t, first[route]), true)
			if !bytes.Equal(resp.Body, first[route].Body) {
				t.Errorf("%s: repeated %s, first %s", route, resp.Body, first[route].Body)
			}
			for other, body := range bodies {
				if other != route {
					Refused(t, c.Bridge.Post(other, body, "Idempotency-Key", route), http.StatusUnprocessableEntity, bridge.CodeIdempotencyMismatch, "another route")
				}
			}
		}
	}
	repeat()
	c.Bridge.Stop()
	c.Network.RefuseSockets(http.StatusServiceUnavailable)
	c.Bridge.Start()
	repeat()
	if got := c.Device.Counters().Sent; got != sent {
		t.Errorf("%d messages left", got-sent)
	}
	for _, key := range []string{"", " ", "two words", "ünicode", "tab\there", string(bytes.Repeat([]byte("k"), 256))} {
		Refused(t, r.keyed("x", key), http.StatusBadRequest, bridge.CodeInvalid, "Idempotency-Key")
	}
}
