package webhook

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
)

func TestCreate_GivesASecretAndShowsItOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		w, err := b.Create(t.Context(), bridge.Webhook{URL: "https://hooks.example.com/x", Enabled: true, Cursor: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckSecret(w.Secret); err != nil {
			t.Errorf("the secret that was made is refused: %v", err)
		}
		other, err := b.Create(t.Context(), bridge.Webhook{URL: "https://hooks.example.com/x", Enabled: true, Cursor: -1})
		if err != nil || other.Secret == w.Secret {
			t.Errorf("two webhooks have one secret, %v", err)
		}
		changed, err := b.Update(t.Context(), w.ID, Change{NewSecret: true})
		if err != nil || changed.Secret == w.Secret || CheckSecret(changed.Secret) != nil {
			t.Errorf("the new secret: %q, %v", changed.Secret, err)
		}
	})
}

func TestCreate_RefusesWhatCouldNeverWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		good := newSecret()
		for _, c := range []struct {
			w    bridge.Webhook
			says string
		}{
			{bridge.Webhook{URL: ""}, "url is required"},
			{bridge.Webhook{URL: "ftp://hooks.example.com/"}, "http:// or https://"},
			{bridge.Webhook{URL: "http:///x"}, "name a host"},
			{bridge.Webhook{URL: "http://user:word@hooks.example.com/"}, "user name or password"},
			{bridge.Webhook{URL: "http://hooks.example.com/%zz"}, "malformed"},
			{bridge.Webhook{URL: "http://hooks.example.com/" + strings.Repeat("x", maxURL)}, "longer than"},
			{bridge.Webhook{URL: "http://127.0.0.1/"}, "allowPrivate"},
			{bridge.Webhook{URL: "http://n8n:5678/webhook"}, "allowPrivate"},
			{bridge.Webhook{URL: "http://2130706433/"}, "allowPrivate"},
			{bridge.Webhook{URL: "https://hooks.example.com/", Secret: "secret"}, "whsec_"},
			{bridge.Webhook{URL: "https://hooks.example.com/", Secret: "whsec_c2hvcnQ="}, "24 to 64 bytes"},
			{bridge.Webhook{URL: "https://hooks.example.com/", Secret: strings.TrimPrefix(good, "whsec_")}, "whsec_"},
		} {
			_, err := b.Create(t.Context(), c.w)
			if bridge.CodeOf(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s %s: got %v, want it to say %q", c.w.URL, c.w.Secret, err, c.says)
			}
			if err != nil && strings.Contains(err.Error(), "word") && c.says == "user name or password" && strings.Contains(err.Error(), ":word") {
				t.Errorf("the refusal repeats a password: %v", err)
			}
		}
		for i := range Most {
			if _, err := b.Create(t.Context(), bridge.Webhook{URL: "https://hooks.example.com/x", Cursor: -1}); err != nil {
				t.Fatalf("webhook %d: %v", i, err)
			}
		}
		_, err := b.Create(t.Context(), bridge.Webhook{URL: "https://hooks.example.com/x", Cursor: -1})
		if bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("one too many: %v", err)
		}
	})
}

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
		url, types := "http://new/hook", []bridge.EventType{bridge.EventMessageCreated}
		if _, err := b.Update(t.Context(), w.ID, Change{URL: &url, Secret: &fresh.secret, Types: &types}); err != nil {
			t.Fatal(err)
		}
		// By now it may be delivered, which is forgotten then.
		if _, err := b.Redeliver(t.Context(), w.ID, pending); err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Fatal(err)
		}
		synctest.Wait()
		want(t, "grace's", fresh.accepted(grace), named("A", 0, 2))
		want(t, "alan's", fresh.accepted(alan), named("A", 0, 2))
	})
}

func TestDelete_EndsDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(always(http.StatusInternalServerError))
		b.say(grace, "A", 0, 2)
		synctest.Wait()
		if err := b.Delete(t.Context(), w.ID); err != nil {
			t.Fatal(err)
		}
		tried := len(r.took())
		b.say(grace, "A", 2, 4)
		time.Sleep(time.Hour)
		if n := len(r.took()); n != tried {
			t.Errorf("tried %d times more", n-tried)
		}
		if err := b.Delete(t.Context(), w.ID); bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Errorf("deleted twice: %v", err)
		}
	})
}

func TestTest_TellsHowItWent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		got, err := b.Test(t.Context(), w.ID)
		if err != nil || !got.OK || *got.Status != 200 || got.Error != nil {
			t.Errorf("got %+v, %v", got, err)
		}
		if took := r.took(); len(took) != 1 || took[0].payload.Type != eventTest || !strings.HasPrefix(took[0].id, "test_") {
			t.Errorf("posted %+v", took)
		}
		r.answers(always(http.StatusTeapot))
		got, err = b.Test(t.Context(), w.ID)
		if err != nil || got.OK || *got.Status != http.StatusTeapot || !strings.Contains(*got.Error, "418") {
			t.Errorf("got %+v, %v", got, err)
		}
		r.answers(always(-1))
		got, err = b.Test(t.Context(), w.ID)
		if err != nil || got.OK || got.Status != nil || !strings.Contains(*got.Error, "30 s") || got.DurationMS != tryTime.Milliseconds() {
			t.Errorf("got %+v, %v", got, err)
		}
		if left := b.deliveries(w.ID, ""); len(left) != 0 {
			t.Errorf("a test is no delivery: %+v", left)
		}
	})
}

func TestRedeliver_RefusesWhatIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		b.say(grace, "A", 0, 2)
		synctest.Wait()
		first := b.deliveries(w.ID, bridge.WebhookDelivered)[1]
		again, err := b.Redeliver(t.Context(), w.ID, first.ID)
		if err != nil || again.Status != bridge.WebhookDelivered || again.Attempts != 2 {
			t.Errorf("got %+v, %v", again, err)
		}
		want(t, "delivered", r.accepted(""), []string{"A0", "A1", "A0"})
		if _, err := b.store.PruneEvents(t.Context(), time.Time{}, 1); err != nil {
			t.Fatal(err)
		}
		for _, ids := range [][2]int64{{w.ID, first.ID}, {w.ID, 99}, {99, first.ID}} {
			if _, err := b.Redeliver(t.Context(), ids[0], ids[1]); bridge.CodeOf(err) != bridge.CodeNotFound {
				t.Errorf("webhook %d, delivery %d: %v", ids[0], ids[1], err)
			}
		}
	})
}

func TestConfigure_FollowsTheEnvironment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.stop()
		first, second := newReceiver(t), newReceiver(t)
		b.hosts.put("first", first)
		b.hosts.put("second", second)
		endpoint := func(host string, r *receiver) Configured {
			return Configured{URL: "http://" + host + "/", Secret: r.secret, Filter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated}}, AllowPrivate: true}
		}
		configure := func(endpoints ...Configured) {
			t.Helper()
			if err := b.Configure(context.Background(), endpoints); err != nil {
				t.Fatal(err)
			}
			b.start()
			synctest.Wait()
		}
		configure(endpoint("first", first), endpoint("second", second))
		b.say(grace, "A", 0, 2)
		synctest.Wait()
		b.stop()

		configure(endpoint("first", first)) // the second is no longer named
		b.say(grace, "A", 2, 4)
		synctest.Wait()
		want(t, "the first", first.accepted(""), named("A", 0, 4))
		want(t, "the second, not named", second.accepted(""), named("A", 0, 2))
		b.stop()

		first.secret = newSecret() // and with another secret
		configure(endpoint("first", first), endpoint("second", second))
		b.say(grace, "A", 4, 5)
		synctest.Wait()
		want(t, "the first", first.accepted(""), named("A", 0, 5))
		want(t, "the second, named again", second.accepted(""), named("A", 0, 5))
		all, err := b.List(t.Context())
		if err != nil || len(all) != 2 || all[0].Source != bridge.WebhookFromEnvironment {
			t.Errorf("got %+v, %v", all, err)
		}
		off := false
		if _, err := b.Update(t.Context(), all[0].ID, Change{Enabled: &off}); bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("changed over the API: %v", err)
		}
		if err := b.Delete(t.Context(), all[0].ID); bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("deleted over the API: %v", err)
		}
	})
}

// Over real connections: the guard judges what is dialled, and what the
// receiver sees is what was signed.
func TestDispatcher_OverRealConnections(t *testing.T) {
	got := make(chan string, 10)
	r := newReceiver(t)
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		resp, err := r.RoundTrip(req)
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteHeader(resp.StatusCode)
		got <- r.took()[len(r.took())-1].about()
	}))
	t.Cleanup(listener.Close)
	b := newBench(t)
	b.stop()
	d := New(Options{
		Store: b.store, Guard: urlguard.New(urlguard.Options{}), UserAgent: "bridged",
		AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	w, err := d.Create(t.Context(), bridge.Webhook{
		URL: listener.URL, Secret: r.secret, AllowPrivate: true, Enabled: true, Cursor: -1, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"A0", "A1"} {
		b.say(grace, id[:1], int(id[1]-'0'), int(id[1]-'0')+1)
		if about := <-got; about != id {
			t.Errorf("got %s, want %s", about, id)
		}
	}

	// The same receiver, for a webhook that may only reach public addresses.
	w.AllowPrivate = false
	if tried := d.post(t.Context(), w, "test_1", bridge.EventPayload{Type: eventTest}); !strings.Contains(tried.failure, "public address") {
		t.Errorf("a private address was reached: %+v", tried)
	}
	listener.Close()
	w.AllowPrivate = true
	if tried := d.post(t.Context(), w, "test_2", bridge.EventPayload{Type: eventTest}); tried.failure != "the receiver refused the connection" {
		t.Errorf("got %+v", tried)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A new address and a new secret hold at once, also for what is under way.
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
		url := "http://new/hook"
		if _, err := b.Update(t.Context(), w.ID, Change{URL: &url, Secret: &fresh.secret}); err != nil {
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
				t.Errorf("what was broken off counts as a try: %+v", d)
			}
		}
	})
}

// A change of what is wanted holds for what is pending too.
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
		chats := []bridge.JID{alan}
		if _, err := b.Update(t.Context(), w.ID, Change{Chats: &chats}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(longestPause + longestPause/5)
		want(t, "of one chat", r.accepted(""), named("B", 0, 3))
		r.answers(always(-1))
		b.say(alan, "B", 3, 5)
		synctest.Wait()
		types := []bridge.EventType{bridge.EventChatUpdated}
		if _, err := b.Update(t.Context(), w.ID, Change{Types: &types}); err != nil {
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

// Only a change that may let through what failed before makes it be tried
// before its time; or somebody's asking for it.
func TestUpdate_TriesAtOnceWhatMayGetThrough(t *testing.T) {
	t.Parallel()
	url, on, off, private := "http://n8n/other", true, false, false
	types, chats := []bridge.EventType{bridge.EventMessageCreated, bridge.EventChatUpdated}, []bridge.JID{grace}
	for name, c := range map[string]struct {
		change Change
		tries  int
	}{
		"nothing":      {Change{}, 0},
		"types":        {Change{Types: &types}, 0},
		"chats":        {Change{Chats: &chats}, 0},
		"on, as it is": {Change{Enabled: &on}, 0},
		"off":          {Change{Enabled: &off}, 0},
		"address":      {Change{URL: &url}, 1},
		"secret":       {Change{NewSecret: true}, 1},
		"allowPrivate": {Change{AllowPrivate: &private}, 1},
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
				changed, err := b.Update(t.Context(), w.ID, c.change)
				if err != nil {
					t.Fatal(err)
				}
				r.set(func(r *receiver) { r.secret = changed.Secret })
				synctest.Wait()
				if n := len(r.took()) - before; n != c.tries {
					t.Errorf("%d tries, want %d", n, c.tries)
				}
				if c.change.Enabled == &off {
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

// Switched off and on while a post hangs, a webhook has one worker still, and
// nothing is posted twice.
func TestUpdate_OffAndOnWhileAPostHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(func(p posted) int {
			if p.payload.Data.ChatJID == grace {
				time.Sleep(tryTime / 2)
			}
			return http.StatusOK
		})
		b.say(grace, "A", 0, 3)
		b.say(alan, "B", 0, 3)
		synctest.Wait()
		off, on := false, true
		for range 5 {
			if _, err := b.Update(t.Context(), w.ID, Change{Enabled: &off}); err != nil {
				t.Fatal(err)
			}
			b.say(alan, "C", 0, 1)
			synctest.Wait()
			if _, err := b.Update(t.Context(), w.ID, Change{Enabled: &on}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		time.Sleep(2 * time.Minute)
		want(t, "grace's", r.accepted(grace), named("A", 0, 3))
		want(t, "alan's", r.accepted(alan), []string{"B0", "B1", "B2", "C0"})
	})
}

// Off means that nothing more is posted, and that nothing is lost.
func TestUpdate_OffKeepsWhatIsPending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(of(grace, http.StatusBadRequest))
		b.say(grace, "A", 0, 3)
		synctest.Wait()
		off, on := false, true
		if _, err := b.Update(t.Context(), w.ID, Change{Enabled: &off}); err != nil {
			t.Fatal(err)
		}
		tried := len(r.took())
		b.say(alan, "B", 0, 2)
		time.Sleep(10 * time.Hour)
		if n := len(r.took()); n != tried {
			t.Errorf("%d posts while it was off", n-tried)
		}
		r.answers(always(http.StatusOK))
		if _, err := b.Update(t.Context(), w.ID, Change{Enabled: &on}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want(t, "grace's", r.accepted(grace), named("A", 0, 3))
		want(t, "alan's", r.accepted(alan), named("B", 0, 2))
	})
}

// Private receivers must be where the operator permits them.
func TestCreate_PrivateReceiversAreTheOperatorsToPermit(t *testing.T) {
	b := newBench(t)
	create := func(prefixes string, w bridge.Webhook) error {
		t.Helper()
		o := Options{Store: b.store, Guard: urlguard.New(urlguard.Options{}), Resolver: lan{}, Transport: b.hosts}
		if prefixes != "" {
			o.AllowPrivate = []netip.Prefix{netip.MustParsePrefix(prefixes)}
		}
		_, err := New(o).Create(t.Context(), w)
		return err
	}
	for _, c := range []struct {
		prefixes, url string
		allowed       bool
	}{
		{"", "http://10.0.0.1/", false},
		{"", "https://hooks.example.com/", false}, // it asks for what nobody permits
		{"10.0.0.0/8", "http://10.0.0.1/", true},
		{"10.0.0.0/8", "http://n8n:5678/", true}, // 10.0.0.1
		{"192.168.0.0/16", "http://n8n:5678/", false},
		{"10.0.0.0/8", "http://127.0.0.1/", false},
		{"0.0.0.0/0", "http://169.254.169.254/latest/meta-data", false},
	} {
		err := create(c.prefixes, bridge.Webhook{URL: c.url, AllowPrivate: true, Cursor: -1})
		if c.allowed && err != nil || !c.allowed && (bridge.CodeOf(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), "WEBHOOK_ALLOW_PRIVATE")) {
			t.Errorf("%s with %q: %v", c.url, c.prefixes, err)
		}
	}
}

// One that is not permitted any more can still be switched off, and is not
// reached.
func TestUpdate_OfWhatIsNoLongerPermitted(t *testing.T) {
	b := newBench(t)
	w, err := b.store.AddWebhook(t.Context(), bridge.Webhook{
		URL: "http://127.0.0.1:9/", Secret: newSecret(), AllowPrivate: true, Source: bridge.WebhookFromAPI, Cursor: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	strict := New(Options{Store: b.store, Guard: urlguard.New(urlguard.Options{})})
	off := false
	if _, err := strict.Update(t.Context(), w.ID, Change{Enabled: &off}); err != nil {
		t.Errorf("it cannot be switched off: %v", err)
	}
	if tried, err := strict.Test(t.Context(), w.ID); err != nil || tried.OK || !strings.Contains(*tried.Error, "permitted") {
		t.Errorf("it was reached: %+v, %v", tried, err)
	}
	if _, err := strict.Update(t.Context(), w.ID, Change{AllowPrivate: &w.AllowPrivate}); bridge.CodeOf(err) != bridge.CodeInvalid {
		t.Errorf("it was permitted again: %v", err)
	}
}
