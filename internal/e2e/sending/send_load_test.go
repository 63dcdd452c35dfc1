package sending

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestSend_InParallel sends fifty messages into four chats at once; each arrives
// once.
func TestSend_InParallel(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, bens, hike, club := c.Conversations(t)
	rooms := make([]onceRoom, 0, 4)
	for _, chat := range []*Conversation{annas, bens, hike, club} {
		r := onceRoom{&room{Conversation: chat, b: c.Bridge}}
		r.TB = t
		r.hears("hello")
		r.room.sends("send", Object{"text": "hello"})
		rooms = append(rooms, r)
	}
	const count = 50
	ids := make([]simnet.MessageID, count)
	var calls sync.WaitGroup
	for i := range count {
		calls.Go(func() {
			resp := rooms[i%len(rooms)].keyed(fmt.Sprintf("message %d", i), fmt.Sprintf("key-%d", i))
			if resp.Status != http.StatusOK {
				t.Errorf("message %d: %s", i, resp.Body)
				return
			}
			ids[i] = SentID(t, resp)
		})
	}
	calls.Wait()
	if t.Failed() {
		return
	}
	for i, id := range ids {
		rooms[i%len(rooms)].arrivedOnce(fmt.Sprintf("message %d", i), id)
	}
	for i, id := range ids {
		replayed(t, rooms[i%len(rooms)].keyed(fmt.Sprintf("message %d", i), fmt.Sprintf("key-%d", i)), id, true)
	}
}

// TestSend_OneKeyInParallel makes the same call twenty times at once: one message.
func TestSend_OneKeyInParallel(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	quiet(t, c)
	sent := c.Device.Counters().Sent
	answers := make(chan apitest.Response, 20)
	var calls sync.WaitGroup
	for range cap(answers) {
		calls.Go(func() { answers <- r.keyed("just one", "k") })
	}
	calls.Wait()
	close(answers)
	var id simnet.MessageID
	first := 0
	for resp := range answers {
		if resp.Status == http.StatusConflict {
			Refused(t, resp, http.StatusConflict, bridge.CodeRequestInProgress, "in progress")
			continue
		}
		got := SentID(t, resp)
		if id != "" && got != id {
			t.Errorf("answered %s and %s", id, got)
		}
		id = got
		if resp.Header.Get("Idempotency-Replayed") == "" {
			first++
		}
	}
	if first != 1 {
		t.Errorf("%d calls sent the message", first)
	}
	r.arrivedOnce("just one", id)
	if got := c.Device.Counters().Sent - sent; got != 1 {
		t.Errorf("%d messages left, want 1", got)
	}
}

// TestSend_StatusUntilPlayed follows a voice note in a direct chat and a group:
// pending, sent, delivered, read, played, as the lists show it.
func TestSend_StatusUntilPlayed(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, bens, hike, _ := c.Conversations(t)
	source := &room{Conversation: annas, b: c.Bridge}
	source.TB = t
	voice := Must(c.Anna.SendAudio(Within(t), source.ToMe, simnet.Media{Data: []byte("voice"), Voice: true, Seconds: 2}))(t)
	source.stored(voice)
	for _, chat := range []*Conversation{bens, hike} {
		r := onceRoom{&room{Conversation: chat, b: c.Bridge}}
		r.TB = t
		r.hears("send me the voice note")
		others := []*simnet.Phone{chat.By}
		if chat.Witness != nil {
			others = append(others, chat.Witness)
		}
		for _, phone := range others {
			phone.Disconnect()
			if err := phone.Device().WaitOffline(Within(t)); err != nil {
				t.Fatal(err)
			}
		}
		id := r.forwards(source.In, voice)
		is := func(want bridge.Delivery) {
			t.Helper()
			Eventually(t, func() error {
				if got := r.stored(id); StatusOf(got) != want {
					return fmt.Errorf("in %s the status is %s, want %s", r.In, StatusOf(got), want)
				}
				return nil
			})
		}
		is(bridge.DeliverySent)
		if err := chat.By.Connect(Within(t)); err != nil { // in the group, the first one counts
			t.Fatal(err)
		}
		theirs := Must(chat.By.ReceivedID(Within(t), id))(t)
		is(bridge.DeliveryDelivered)
		if err := chat.By.MarkRead(Within(t), theirs); err != nil {
			t.Fatal(err)
		}
		is(bridge.DeliveryRead)
		if err := chat.By.MarkPlayed(Within(t), theirs); err != nil {
			t.Fatal(err)
		}
		is(bridge.DeliveryPlayed)
		for _, phone := range others[1:] { // whose receipts do not lower the status
			if err := phone.Connect(Within(t)); err != nil {
				t.Fatal(err)
			}
			Must(phone.ReceivedID(Within(t), id))(t)
		}
		quiet(t, c)
		is(bridge.DeliveryPlayed)
	}
}
