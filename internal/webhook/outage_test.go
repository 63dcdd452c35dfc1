package webhook

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
)

// A delivery is tried again about a second after its first failure, and then with growing pauses.
func TestDispatcher_TriesAgainSoonAtFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, _ := b.receive("n8n")
		r.answers(always(http.StatusBadGateway))
		b.say(grace, "A", 0, 1)
		time.Sleep(time.Hour)
		took := r.took()
		pause := firstPause
		for i := range took[1:] {
			got := took[i+1].at.Sub(took[i].at)
			if got < pause*9/10 || got > pause*11/10+time.Millisecond {
				t.Errorf("after %d failures it waited %v, want about %v", i+1, got, pause)
			}
			pause = min(2*pause, longestPause)
		}
	})
}

// A refused event delays only its own chat.
func TestDispatcher_ARefusalHoldsUpItsChatAlone(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 405, 413, 422} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			r, _ := b.receive("n8n")
			r.answers(func(p posted) int {
				if strings.HasPrefix(p.about(), "A") {
					return status
				}
				return http.StatusOK
			})
			for i := range 12 {
				b.say(chatOf(i), "A", i, i+1)
			}
			for i := range 10 {
				b.say(alan, "B", i, i+1)
				synctest.Wait()
				want(t, "alan's, at once", r.accepted(alan), named("B", 0, i+1))
				time.Sleep(time.Minute)
			}
		})
	}
}

// While a receiver is down, one event at a time is tried. The first success ends the outage for all chats.
func TestDispatcher_AnOutageIsProbed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, _ := b.receive("n8n")
		r.answers(always(http.StatusServiceUnavailable))
		const count = pageSize + 50
		for i := range count {
			b.say(chatOf(i), "A", i, i+1)
		}
		time.Sleep(time.Minute)
		before := len(r.took())
		time.Sleep(time.Hour)
		if n := len(r.took()) - before; n < 50 || n > 75 {
			t.Errorf("it was tried %d times in an hour", n)
		}
		r.answers(func(p posted) int { // one is bad, and the receiver is back
			if p.about() == "A0" {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		time.Sleep(3 * longestOutage)
		if n := len(r.accepted("")); n != count-1 {
			t.Errorf("%d were delivered", n)
		}
	})
}

// Retry-After pauses the posts of all chats.
func TestDispatcher_HonoursRetryAfter(t *testing.T) {
	for value, pause := range map[string]time.Duration{
		"120": 2 * time.Minute, "Sat, 01 Jan 2000 00:05:00 GMT": 5 * time.Minute, "99999999": longestAsked, "": 900 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) { // it begins at midnight of 2000-01-01
			b := newBench(t)
			r, _ := b.receive("n8n")
			r.answers(always(http.StatusTooManyRequests))
			r.set(func(r *receiver) { r.header.Set("Retry-After", value) })
			b.say(grace, "A", 0, 1)
			synctest.Wait()
			began := time.Now()
			b.say(alan, "B", 0, 1)
			r.answers(always(http.StatusOK))
			time.Sleep(pause - time.Millisecond)
			want(t, "meanwhile", r.accepted(""), []string{})
			time.Sleep(2 * firstPause)
			if n := len(r.accepted("")); n != 2 {
				t.Errorf("%q: %d were delivered %v later", value, n, time.Since(began))
			}
		})
	}
}

// If a receiver answers 429 to one chat's events for hours, the other chats are delayed by about a second
// each time, not for as long as that chat.
func TestDispatcher_ALimitOfOneChatHoldsUpOthersBriefly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, _ := b.receive("n8n")
		r.answers(func(p posted) int {
			if strings.HasPrefix(p.about(), "A") {
				return http.StatusTooManyRequests
			}
			return http.StatusOK
		})
		b.say(grace, "A", 0, 1)
		for i := range 120 {
			b.say(alan, "B", i, i+1)
			time.Sleep(2 * firstPause)
			want(t, "alan's, soon", r.accepted(alan), named("B", 0, i+1))
			time.Sleep(28 * time.Second)
		}
	})
}

// A post that has not read its event yet goes on while the webhook stays as it is, and ends if it is changed.
func TestAttempt_EndsOnlyAfterAChange(t *testing.T) {
	w := bridge.Webhook{URL: "https://n8n.example/hook", EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated}}}
	a := attempt{begunAs: w}
	delivered, elsewhere, fewer := w, w, w
	delivered.Cursor, delivered.Pending = 7, 1
	elsewhere.URL = "https://other.example/hook"
	fewer.Types = []bridge.EventType{bridge.EventCallCreated}
	got := []bool{a.isOutdated(w), a.isOutdated(delivered), a.isOutdated(elsewhere), a.isOutdated(fewer)}
	want(t, "ends", got, []bool{false, false, true, true})
}

// A reset is posted before other events, also if it is refused at first. If it is refused too often, the
// other events are posted.
func TestDispatcher_AResetComesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.say(grace, "A", 0, 10)
		b.say(alan, "B", 0, 10)
		if _, err := b.store.PruneEvents(t.Context(), time.Time{}, 16); err != nil {
			t.Fatal(err)
		}
		r := newReceiver(t)
		b.hosts.put("once", r)
		var tries atomic.Int32
		r.answers(func(p posted) int {
			if tries.Add(1) == 1 {
				return http.StatusBadRequest
			}
			return http.StatusOK
		})
		b.create("once", r, func(w *bridge.Webhook) { w.Cursor = 1 })
		time.Sleep(time.Minute)
		if got := r.accepted(""); len(got) != 16 || got[0] != "reset" {
			t.Errorf("delivered: %v", got)
		}

		never := newReceiver(t)
		b.hosts.put("never", never)
		never.answers(func(p posted) int {
			if p.payload.Type == bridge.EventReset {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		w := b.create("never", never, func(w *bridge.Webhook) { w.Cursor = 1 })
		time.Sleep(110 * time.Second) // the eighth try comes after 127 s, give or take a tenth
		want(t, "while the reset is tried", never.accepted(""), []string{})
		time.Sleep(3 * time.Minute)
		if n := len(never.accepted("")); n != 15 {
			t.Errorf("%d were delivered", n)
		}
		time.Sleep(giveUpAfter + time.Hour)
		if dead := b.deliveries(w.ID, bridge.WebhookDead); len(dead) != 1 || dead[0].EventType != bridge.EventReset {
			t.Errorf("dead letters: %+v", dead)
		}
	})
}

// Deliveries stay in order when the chats of a LID and of a phone number become one while some of them
// are pending and others under way.
func TestDispatcher_KeepsOrderWhenTwoChatsBecomeOne(t *testing.T) {
	const lid = bridge.JID("99887766554433@lid")
	for name, answer := range map[string]int{"refused": http.StatusBadRequest, "hanging": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				r, w := b.receive("n8n")
				r.answers(of(lid, answer))
				b.say(lid, "A", 0, 3)
				b.say(grace, "A", 3, 4)
				time.Sleep(10 * time.Second)
				r.answers(of(grace, answer))
				b.say(grace, "A", 4, 6)
				b.say(lid, "A", 6, 7)
				synctest.Wait()
				b.know(bridge.Identity{PN: grace, LID: lid})
				b.say(grace, "A", 7, 9)
				synctest.Wait()
				r.answers(always(http.StatusOK))
				b.say(alan, "B", 0, 1)
				synctest.Wait()
				want(t, "alan's, meanwhile", r.accepted(alan), named("B", 0, 1))
				time.Sleep(longestPause)
				want(t, "grace's", r.accepted(grace), []string{"A3", "A0", "A1", "A2", "A4", "A5", "A6", "A7", "A8"})
				if got := b.webhook(w.ID); got.Pending != 0 || got.Dead != 0 {
					t.Errorf("shown as %+v", got)
				}
			})
		})
	}
}

// A clock that jumps causes no early dead letter, no pause of days and no repeated post.
func TestDispatcher_AClockThatJumps(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{"forward": 30 * 24 * time.Hour, "back": -30 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				r, w := b.receive("n8n")
				r.answers(of(grace, http.StatusBadRequest))
				b.say(grace, "A", 0, 3)
				b.say(alan, "B", 0, 3)
				time.Sleep(time.Hour)
				r.set(func(r *receiver) { r.ignoresTime = true })
				b.jump(jump)
				time.Sleep(time.Hour)
				b.jump(0) // and back again
				time.Sleep(time.Hour)
				for _, by := range []time.Duration{jump, 0} {
					b.stop()
					b.jump(by)
					b.start()
					time.Sleep(time.Hour)
				}
				time.Sleep(giveUpAfter - 6*time.Hour)
				if got := b.webhook(w.ID); got.Pending != 3 || got.Dead != 0 {
					t.Errorf("after less than three days it is shown as %+v", got)
				}
				r.answers(always(http.StatusOK))
				time.Sleep(longestPause + longestPause/5)
				want(t, "grace's", r.accepted(grace), named("A", 0, 3))
				want(t, "alan's", r.accepted(alan), named("B", 0, 3))
			})
		})
	}
}

// If the store cannot be read while the receiver is down, it is read again after pauses.
func TestDispatcher_AnUnreadableStoreIsAskedNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.stop()
		ctx, cancel := context.WithCancel(context.Background())
		log := &countLines{most: 500, full: cancel}
		d := New(Options{
			Store: b.store, Guard: urlguard.New(urlguard.Options{}), AllowPrivate: urlguard.Everywhere(),
			Resolver: lan{}, Transport: b.hosts, Log: zerolog.New(log).Level(zerolog.ErrorLevel),
		})
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		b.Dispatcher, b.stop = d, func() {}
		r, _ := b.receive("n8n")
		r.answers(always(http.StatusInternalServerError))
		for i := range outageAfter {
			b.say(chatOf(i), "A", i, i+1)
		}
		time.Sleep(10 * time.Minute)
		if err := b.store.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		lines := log.count.Load()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if lines == 0 || lines > 10*60/5+10 {
			t.Errorf("%d errors in ten minutes", lines)
		}
	})
}

// countLines counts what is logged, and calls full beyond the most.
type countLines struct {
	count atomic.Int64
	most  int64
	full  func()
}

func (c *countLines) Write(line []byte) (int, error) {
	if c.count.Add(1) > c.most {
		c.full()
	}
	return len(line), nil
}
