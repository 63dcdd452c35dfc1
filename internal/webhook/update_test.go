package webhook

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
	"bridged/internal/webhook/format"
)

// enabled returns the change that switches a webhook on or off.
func enabled(is bool) func(*bridge.Webhook) { return func(w *bridge.Webhook) { w.Enabled = is } }

// A change takes effect at once, also in the pause after failures.
func TestUpdate_TakesEffectAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, w := b.receive("old")
		old.answers(always(http.StatusNotFound))
		for _, chat := range []bridge.JID{grace, alan, "15550000001@s.whatsapp.net", "15550000002@s.whatsapp.net"} {
			b.say(chat, "A", 0, 2)
		}
		time.Sleep(time.Hour)
		pending := b.deliveries(w.ID, bridge.WebhookPending)[0].ID
		fresh := newReceiver(t)
		b.hosts.put("new", fresh)
		change := func(w *bridge.Webhook) {
			w.URL, w.Secret, w.Types = "http://new/hook", fresh.secret, []bridge.EventType{bridge.EventMessageCreated}
		}
		if _, err := b.Update(t.Context(), w.ID, true, change); err != nil {
			t.Fatal(err)
		}
		// It may be delivered already, and no longer stored.
		if _, err := b.Redeliver(t.Context(), w.ID, pending); err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Fatal(err)
		}
		synctest.Wait()
		want(t, "grace's", fresh.accepted(grace), named("A", 0, 2))
		want(t, "alan's", fresh.accepted(alan), named("A", 0, 2))
	})
}

// A new address and secret apply at once, also to posts under way.
func TestUpdate_ReachesPostsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, w := b.receive("old")
		old.answers(always(-1))
		for i := range 40 {
			b.say(chatOf(i%10), "A", i, i+1)
		}
		synctest.Wait()
		tried := len(old.took())
		fresh := newReceiver(t)
		b.hosts.put("new", fresh)
		change := func(w *bridge.Webhook) { w.URL, w.Secret = "http://new/hook", fresh.secret }
		if _, err := b.Update(t.Context(), w.ID, true, change); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := len(fresh.accepted("")); n != 40 {
			t.Errorf("%d came to the new address at once", n)
		}
		if n := len(old.took()); n != tried || tried != 10 {
			t.Errorf("%d were under way to the old one, %d more came there", tried, n-tried)
		}
		for _, d := range b.deliveries(w.ID, bridge.WebhookDelivered) {
			if d.Attempts != 1 {
				t.Errorf("a cancelled post counts as a try: %+v", d)
			}
		}
	})
}

// A change of the filter also applies to pending deliveries.
func TestUpdate_DropsWhatIsNotWantedAnyMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(always(http.StatusBadRequest))
		b.say(grace, "A", 0, 3)
		b.say(alan, "B", 0, 3)
		time.Sleep(time.Hour)
		r.answers(always(http.StatusOK))
		if _, err := b.Update(t.Context(), w.ID, false, func(w *bridge.Webhook) { w.Chats = []bridge.JID{alan} }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(longestPause + longestPause/5)
		want(t, "of one chat", r.accepted(""), named("B", 0, 3))
		r.answers(always(-1))
		b.say(alan, "B", 3, 5)
		synctest.Wait()
		types := []bridge.EventType{bridge.EventChatUpdated}
		if _, err := b.Update(t.Context(), w.ID, false, func(w *bridge.Webhook) { w.Types = types }); err != nil {
			t.Fatal(err)
		}
		r.answers(always(http.StatusOK))
		time.Sleep(time.Hour)
		want(t, "of another type", r.accepted(""), named("B", 0, 3))
		if got := b.webhook(w.ID); got.Pending != 0 || got.Dead != 0 {
			t.Errorf("shown as %+v", got)
		}
	})
}

// A pending delivery is tried before its time only after a change that may let it succeed, or if a
// caller asks for it.
func TestUpdate_TriesAtOnceWhatMayGetThrough(t *testing.T) {
	t.Parallel()
	types, chats := []bridge.EventType{bridge.EventMessageCreated, bridge.EventChatUpdated}, []bridge.JID{grace}
	for name, c := range map[string]struct {
		moves  bool
		change func(*bridge.Webhook)
		tries  int
	}{
		"nothing":      {false, func(*bridge.Webhook) {}, 0},
		"types":        {false, func(w *bridge.Webhook) { w.Types = types }, 0},
		"chats":        {false, func(w *bridge.Webhook) { w.Chats = chats }, 0},
		"on, as it is": {false, enabled(true), 0},
		"off":          {false, enabled(false), 0},
		"address":      {true, func(w *bridge.Webhook) { w.URL = "http://n8n/other" }, 1},
		"secret":       {false, func(w *bridge.Webhook) { w.Secret = format.NewSecret() }, 1},
		"allowPrivate": {true, func(w *bridge.Webhook) { w.AllowPrivate = false }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				r, w := b.receive("n8n", func(w *bridge.Webhook) { w.URL = "http://n8n.example.com/hook" })
				b.hosts.put("n8n.example.com", r)
				r.answers(always(http.StatusBadRequest))
				b.say(grace, "A", 0, 1)
				time.Sleep(time.Hour)
				before := len(r.took())
				changed, err := b.Update(t.Context(), w.ID, c.moves, func(w *bridge.Webhook) {
					c.change(w)
					r.set(func(r *receiver) { r.secret = w.Secret }) // before anything is posted under it
				})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if n := len(r.took()) - before; n != c.tries {
					t.Errorf("%d tries, want %d", n, c.tries)
				}
				if !changed.Enabled {
					return
				}
				before = len(r.took())
				if _, err := b.Redeliver(t.Context(), w.ID, b.deliveries(w.ID, bridge.WebhookPending)[0].ID); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if n := len(r.took()) - before; n != 1 {
					t.Errorf("asked for, it was tried %d times", n)
				}
			})
		})
	}
}

// A webhook that is switched off and on while a post hangs still has one worker, and posts nothing twice.
func TestUpdate_OffAndOnWhileAPostHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(func(p posted) int {
			if p.payload.Data.ChatJID == grace {
				time.Sleep(attemptTimeout / 2)
			}
			return http.StatusOK
		})
		b.say(grace, "A", 0, 3)
		b.say(alan, "B", 0, 3)
		synctest.Wait()
		for range 5 {
			if _, err := b.Update(t.Context(), w.ID, false, enabled(false)); err != nil {
				t.Fatal(err)
			}
			b.say(alan, "C", 0, 1)
			synctest.Wait()
			if _, err := b.Update(t.Context(), w.ID, false, enabled(true)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		time.Sleep(2 * time.Minute)
		want(t, "grace's", r.accepted(grace), named("A", 0, 3))
		want(t, "alan's", r.accepted(alan), []string{"B0", "B1", "B2", "C0"})
	})
}

// While a webhook is off, nothing is posted and nothing is lost.
func TestUpdate_OffKeepsWhatIsPending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(of(grace, http.StatusBadRequest))
		b.say(grace, "A", 0, 3)
		synctest.Wait()
		if _, err := b.Update(t.Context(), w.ID, false, enabled(false)); err != nil {
			t.Fatal(err)
		}
		tried := len(r.took())
		b.say(alan, "B", 0, 2)
		time.Sleep(10 * time.Hour)
		if n := len(r.took()); n != tried {
			t.Errorf("%d posts while it was off", n-tried)
		}
		r.answers(always(http.StatusOK))
		if _, err := b.Update(t.Context(), w.ID, false, enabled(true)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want(t, "grace's", r.accepted(grace), named("A", 0, 3))
		want(t, "alan's", r.accepted(alan), named("B", 0, 2))
	})
}

// A webhook whose address is not permitted any more can still be switched off, and is not reached.
func TestUpdate_OfWhatIsNoLongerPermitted(t *testing.T) {
	b := newBench(t)
	w, err := b.store.AddWebhook(t.Context(), bridge.Webhook{
		URL: "http://127.0.0.1:9/", Secret: format.NewSecret(), AllowPrivate: true, Source: bridge.WebhookFromAPI, Cursor: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	strict := New(Options{Store: b.store, Guard: urlguard.New(urlguard.Options{})})
	if _, err := strict.Update(t.Context(), w.ID, false, enabled(false)); err != nil {
		t.Errorf("it cannot be switched off: %v", err)
	}
	if tried, err := strict.Test(t.Context(), w.ID); err != nil || tried.OK || !strings.Contains(*tried.Error, "permitted") {
		t.Errorf("it was reached: %+v, %v", tried, err)
	}
	if _, err := strict.Update(t.Context(), w.ID, true, func(w *bridge.Webhook) { w.AllowPrivate = true }); bridge.CodeOf(err) != bridge.CodeInvalid {
		t.Errorf("it was permitted again: %v", err)
	}
}
