package webhook

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/bridge"
)

func TestDispatcher_DeliversNewEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.say(grace, "A", 0, 2) // before there was a webhook
		r, w := b.receive("n8n")
		b.say(grace, "A", 2, 6)
		synctest.Wait()
		want(t, "delivered", r.accepted(""), named("A", 2, 6))
		got := b.webhook(w.ID)
		if got.LastDeliveredAt == nil || got.LastError != nil || got.Pending != 0 {
			t.Errorf("shown as %+v", got)
		}
		last, err := b.store.LastEvent(t.Context())
		if err != nil || got.Cursor != last {
			t.Errorf("cursor %d, want %d, %v", got.Cursor, last, err)
		}
	})
}

func TestDispatcher_PostsTheEventAsTheLogShowsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		everything := func(w *bridge.Webhook) { w.Types = nil }
		r, _ := b.receive("n8n", everything)
		code := "ABCD-EFGH"
		b.know(message(grace, "A1"))
		b.know(bridge.ReactionChange{Chat: grace, Target: "A1", Sender: grace, Emoji: "👍", Timestamp: bridge.At(time.Now())})
		b.know(bridge.Status{Status: bridge.StateNeedsPair, PairingCode: &code, Since: bridge.At(time.Now())})
		synctest.Wait()
		took := r.took()
		if len(took) != 4 { // chat, message, reaction, status
			t.Fatalf("%d were posted", len(took))
		}
		for _, p := range took {
			if p.payload.Data.Type != p.payload.Type || !p.payload.Timestamp.Equal(p.payload.Data.At.Time) {
				t.Errorf("type or time of %s differ", p.body)
			}
			if strings.Contains(string(p.body), code) {
				t.Errorf("a pairing code was posted: %s", p.body)
			}
		}
		shown := slices.ContainsFunc(took, func(p posted) bool {
			m := p.payload.Data.Message
			return p.payload.Type == bridge.EventMessageCreated && m != nil && m.Content == "text of A1"
		})
		if !shown {
			t.Error("the message was not posted as it is shown")
		}
	})
}

// Posts have the same text as the API's answers.
func TestDispatcher_PostsTextAsItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, _ := b.receive("n8n")
		m := message(grace, "A0")
		m.Content = "<b>bread & butter</b>"
		b.know(m)
		synctest.Wait()
		took := r.took()
		if len(took) != 1 || !bytes.Contains(took[0].body, []byte(`"<b>bread & butter</b>"`)) {
			t.Errorf("posted %+v", took)
		}
	})
}

func TestDispatcher_Filters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ofGrace, _ := b.receive("grace", func(w *bridge.Webhook) { w.Chats = []bridge.JID{grace} })
		status, _ := b.receive("status", func(w *bridge.Webhook) { w.Types = []bridge.EventType{bridge.EventAccountStatus} })
		b.say(grace, "A", 0, 2)
		b.say(alan, "B", 0, 2)
		b.know(bridge.Status{Status: bridge.StateOpen, Since: bridge.At(time.Now())})
		synctest.Wait()
		want(t, "of grace", ofGrace.accepted(""), named("A", 0, 2))
		want(t, "status", status.accepted(""), []string{"account.status"})
	})
}

// A receiver that was down for hours gets all events soon after it is back, in order within each chat.
func TestDispatcher_ReceiverDownForHours(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(posted) int{
		"answers 500":   always(http.StatusInternalServerError),
		"answers 410":   always(http.StatusGone),
		"answers 301":   always(http.StatusMovedPermanently),
		"breaks off":    always(0),
		"never answers": always(-1),
		"answers too late": func(posted) int {
			time.Sleep(attemptTimeout + time.Second)
			return -1
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				r, w := b.receive("n8n")
				r.answers(broken)
				for i := range 20 {
					b.say(grace, "A", i, i+1)
					b.say(alan, "B", i, i+1)
					time.Sleep(10 * time.Minute)
				}
				time.Sleep(2 * time.Hour)
				if down := b.webhook(w.ID); down.LastError == nil || down.LastFailedAt == nil || down.Dead != 0 {
					t.Errorf("shown as %+v", down)
				}
				if got := r.accepted(""); len(got) > 0 {
					t.Errorf("it took %v", got)
				}
				if n := len(r.took()); n > 1000 {
					t.Errorf("it was tried %d times in 5 hours", n)
				}
				r.answers(always(http.StatusNoContent))
				time.Sleep(longestPause + longestPause/5 + attemptTimeout*2)
				want(t, "grace's", r.accepted(grace), named("A", 0, 20))
				want(t, "alan's", r.accepted(alan), named("B", 0, 20))
				if up := b.webhook(w.ID); up.LastError != nil || up.Pending != 0 || up.Dead != 0 {
					t.Errorf("shown as %+v", up)
				}
			})
		})
	}
}

// An event that a receiver cannot process delays only its own chat.
func TestDispatcher_OneBadEventHoldsUpItsChatAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(func(p posted) int {
			if p.about() == "A1" {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		b.say(grace, "A", 0, 4)
		for i := range 20 {
			b.say(alan, "B", i, i+1)
			time.Sleep(time.Second)
			want(t, "alan's, at once", r.accepted(alan), named("B", 0, i+1))
			time.Sleep(time.Hour)
		}
		want(t, "grace's, before it", r.accepted(grace), named("A", 0, 1))
		if got := b.webhook(w.ID); got.Pending != 3 || got.Dead != 0 {
			t.Errorf("shown as %+v", got)
		}
		time.Sleep(giveUpAfter) // a dead letter lets the others pass
		want(t, "grace's, behind it", r.accepted(grace), []string{"A0", "A2", "A3"})
		dead := b.deliveries(w.ID, bridge.WebhookDead)
		if len(dead) != 1 || dead[0].Attempts < 100 || *dead[0].ResponseStatus != 500 || dead[0].NextAttemptAt != nil {
			t.Fatalf("dead letters: %+v", dead)
		}
		first, last := dead[0].FirstAttemptAt, dead[0].LastAttemptAt
		if tried := last.Sub(first.Time); tried < giveUpAfter || tried > giveUpAfter+2*longestPause {
			t.Errorf("it was tried for %v", tried)
		}
		if n := dead[0].Attempts; n > 1000 {
			t.Errorf("it was tried %d times", n)
		}

		still, err := b.Redeliver(t.Context(), w.ID, dead[0].ID)
		if err != nil || still.Status != bridge.WebhookDead || still.Attempts != dead[0].Attempts+1 {
			t.Errorf("posted again in vain: %+v, %v", still, err)
		}
		r.answers(always(http.StatusOK))
		done, err := b.Redeliver(t.Context(), w.ID, dead[0].ID)
		if err != nil || done.Status != bridge.WebhookDelivered || done.LastError != nil {
			t.Errorf("posted again: %+v, %v", done, err)
		}
		want(t, "grace's, at last", r.accepted(grace), []string{"A0", "A2", "A3", "A1"})
		if left := b.deliveries(w.ID, bridge.WebhookDead); len(left) != 0 {
			t.Errorf("still dead: %+v", left)
		}
	})
}

// All tries of an event have the same webhook-id, which no other event has.
func TestDispatcher_IDIsStableOverRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, _ := b.receive("n8n")
		tries := 0
		r.answers(func(posted) int {
			if tries++; tries%3 != 0 {
				return http.StatusServiceUnavailable
			}
			return http.StatusOK
		})
		b.say(grace, "A", 0, 3)
		time.Sleep(time.Hour)
		ids := map[string]string{}
		for _, p := range r.took() {
			if about, known := ids[p.id]; known && about != p.about() {
				t.Errorf("%s names %s and %s", p.id, about, p.about())
			}
			ids[p.id] = p.about()
		}
		if len(ids) != 3 || len(r.took()) != 9 {
			t.Errorf("%d ids in %d tries", len(ids), len(r.took()))
		}
	})
}

// A process that is killed after a receiver has accepted an event, and before the outcome is stored,
// posts the event again, under the same id: at least once.
func TestDispatcher_KilledBetweenDeliveryAndCursor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		b.say(grace, "A", 0, 2)
		synctest.Wait()
		r.answers(func(posted) int {
			b.fault.Set(errDisk) // nothing is stored from now on
			return http.StatusOK
		})
		b.say(grace, "A", 2, 3)
		time.Sleep(time.Hour)
		want(t, "while nothing can be stored", r.accepted(""), named("A", 0, 3))
		b.stop()
		b.fault.Set(nil)
		if got := b.webhook(w.ID).Pending; got != 1 {
			t.Fatalf("%d deliveries are pending, want 1", got)
		}
		b.start()
		synctest.Wait()
		want(t, "after the start", r.accepted(""), []string{"A0", "A1", "A2", "A2"})
		if took := r.took(); took[2].id != took[3].id {
			t.Errorf("posted as %s and as %s", took[2].id, took[3].id)
		}
	})
}

// Pending deliveries are tried at once after a restart, in order.
func TestDispatcher_GoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, _ := b.receive("n8n")
		r.answers(always(http.StatusBadGateway))
		b.say(grace, "A", 0, 5)
		time.Sleep(time.Hour)
		b.stop()
		r.answers(always(http.StatusOK))
		b.say(grace, "A", 5, 8)
		b.start()
		time.Sleep(longestPause + longestPause/5)
		want(t, "delivered", r.accepted(""), named("A", 0, 8))
	})
}

func TestDispatcher_BrokenReceiverHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hanging, _ := b.receive("hanging")
		hanging.answers(always(-1))
		sound, _ := b.receive("sound")
		for i := range 50 {
			b.say(grace, "A", i, i+1)
			synctest.Wait()
			want(t, "the sound one's", sound.accepted(""), named("A", 0, i+1))
		}
	})
}

// A stop waits for posts under way, but not for long.
func TestDispatcher_StopsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(func(posted) int {
			time.Sleep(stopTimeout / 2)
			return http.StatusOK
		})
		b.say(grace, "A", 0, 1)
		synctest.Wait()
		b.stop()
		if got := b.webhook(w.ID); got.LastDeliveredAt == nil {
			t.Error("a success at the end was not stored")
		}
		r.answers(always(-1))
		b.start()
		b.say(grace, "A", 1, 2)
		synctest.Wait()
		began := time.Now()
		b.stop()
		if took := time.Since(began); took > stopTimeout {
			t.Errorf("it took %v", took)
		}
		r.answers(always(http.StatusOK))
		b.start()
		synctest.Wait()
		want(t, "delivered", r.accepted(""), named("A", 0, 2))
	})
}

// A webhook whose events were removed from the log gets a reset and continues.
func TestDispatcher_SendsAResetForLostEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		if _, err := b.Update(t.Context(), w.ID, false, enabled(false)); err != nil {
			t.Fatal(err)
		}
		b.say(grace, "A", 0, 10)
		if _, err := b.store.PruneEvents(t.Context(), time.Time{}, 3); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		want(t, "while it is off", r.accepted(""), []string{})
		if _, err := b.Update(t.Context(), w.ID, false, enabled(true)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want(t, "when it is on again", r.accepted(grace), named("A", 7, 10))
		first := r.took()[0]
		if first.payload.Type != bridge.EventReset {
			t.Errorf("first came %s", first.body)
		}
	})
}

// If the event of a pending delivery is removed from the log, the receiver gets a reset before the other
// events, and there is no dead letter.
func TestDispatcher_EventThatLeavesTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(always(http.StatusInternalServerError))
		b.say(grace, "A", 0, 1)
		synctest.Wait()
		b.say(grace, "A", 1, 3)
		synctest.Wait()
		if _, err := b.store.PruneEvents(t.Context(), time.Time{}, 1); err != nil {
			t.Fatal(err)
		}
		r.answers(always(http.StatusOK))
		time.Sleep(time.Hour)
		want(t, "delivered", r.accepted(""), []string{"reset", "A2"})
		if left := b.deliveries(w.ID, bridge.WebhookDead); len(left) != 0 {
			t.Errorf("dead letters: %+v", left)
		}
		if got := b.webhook(w.ID); got.Pending != 0 {
			t.Errorf("shown as %+v", got)
		}
	})
}

// Chats are served at the same time, each in order.
func TestDispatcher_ServesChatsSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, _ := b.receive("n8n")
		r.answers(func(posted) int {
			time.Sleep(time.Second)
			return http.StatusOK
		})
		chats := []bridge.JID{grace, alan, "15550000001@s.whatsapp.net", "15550000002@s.whatsapp.net"}
		for i := range 8 {
			for _, chat := range chats {
				b.say(chat, "A", i, i+1)
			}
		}
		time.Sleep(12 * time.Second) // one after the other it would take 32
		for _, chat := range chats {
			want(t, string(chat), r.accepted(chat), named("A", 0, 8))
		}
	})
}
