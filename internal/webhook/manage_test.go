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

	"github.com/prometheus/client_golang/prometheus"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
	"bridged/internal/webhook/format"
)

func TestCreate_GivesASecretAndShowsItOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		w, err := b.Create(t.Context(), bridge.Webhook{URL: "https://hooks.example.com/x", Enabled: true, Cursor: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := format.CheckSecret(w.Secret); err != nil {
			t.Errorf("the secret that was made is refused: %v", err)
		}
		other, err := b.Create(t.Context(), bridge.Webhook{URL: "https://hooks.example.com/x", Enabled: true, Cursor: -1})
		if err != nil || other.Secret == w.Secret {
			t.Errorf("two webhooks have one secret, %v", err)
		}
		secret := format.NewSecret()
		changed, err := b.Update(t.Context(), w.ID, false, func(w *bridge.Webhook) { w.Secret = secret })
		if err != nil || changed.Secret != secret {
			t.Errorf("the new secret: %q, %v", changed.Secret, err)
		}
	})
}

func TestCreate_RefusesWhatCouldNeverWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		good := format.NewSecret()
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
		if took := r.took(); len(took) != 1 || took[0].payload.Type != format.Test || !strings.HasPrefix(took[0].id, "test_") {
			t.Errorf("posted %+v", took)
		}
		r.answers(always(http.StatusTeapot))
		got, err = b.Test(t.Context(), w.ID)
		if err != nil || got.OK || *got.Status != http.StatusTeapot || !strings.Contains(*got.Error, "418") {
			t.Errorf("got %+v, %v", got, err)
		}
		r.answers(always(-1))
		got, err = b.Test(t.Context(), w.ID)
		if err != nil || got.OK || got.Status != nil || !strings.Contains(*got.Error, "30 s") || got.DurationMS != attemptTimeout.Milliseconds() {
			t.Errorf("got %+v, %v", got, err)
		}
		if left := b.deliveries(w.ID, ""); len(left) != 0 {
			t.Errorf("a test is no delivery: %+v", left)
		}
		r.answers(always(http.StatusBadGateway))
		if _, err := b.Test(t.Context(), w.ID); err != nil {
			t.Error(err)
		}
		for _, outcome := range []kind{succeeded, refusedBy4xx, failedBy5xx, timedOut} {
			if n := attemptsOf(t, b.Dispatcher, outcome); n != 1 {
				t.Errorf("%v attempts are counted as %s", n, outcome)
			}
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
		endpoint := func(host string, r *receiver) bridge.Webhook {
			return bridge.Webhook{URL: "http://" + host + "/", Secret: r.secret, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated}}, AllowPrivate: true}
		}
		configure := func(endpoints ...bridge.Webhook) {
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

		first.secret = format.NewSecret() // and with another secret
		configure(endpoint("first", first), endpoint("second", second))
		b.say(grace, "A", 4, 5)
		synctest.Wait()
		want(t, "the first", first.accepted(""), named("A", 0, 5))
		want(t, "the second, named again", second.accepted(""), named("A", 0, 5))
		all, err := b.store.Webhooks(t.Context())
		if err != nil || len(all) != 2 || all[0].Source != bridge.WebhookFromEnvironment {
			t.Errorf("got %+v, %v", all, err)
		}
		if _, err := b.Update(t.Context(), all[0].ID, false, enabled(false)); bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("changed over the API: %v", err)
		}
		if err := b.Delete(t.Context(), all[0].ID); bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("deleted over the API: %v", err)
		}
	})
}

// Over real connections: the guard judges what is dialled, and what the receiver sees is what
// was signed. An address with a space and a letter beyond ASCII in its query is reached, too.
func TestDispatcher_OverRealConnections(t *testing.T) {
	got := make(chan string, 10)
	r := newReceiver(t)
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if of := req.URL.Query().Get("of"); of != "das Büro" {
			t.Errorf("the query says %q", of)
		}
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
		URL: listener.URL + "?of=das Büro", Secret: r.secret, AllowPrivate: true, Enabled: true, Cursor: -1, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated}},
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
	for look := time.NewTicker(5 * time.Millisecond); attemptsOf(t, d, succeeded) < 2; { // the receiver has the last one before the answer is read
		<-look.C
	}

	// The same receiver, for a webhook that may only reach public addresses.
	w.AllowPrivate = false
	if tried := d.post(t.Context(), format.Delivery{Webhook: w, ID: "test_1", Event: bridge.Event{Type: format.Test}}, 0); !strings.Contains(tried.failure, "public address") {
		t.Errorf("a private address was reached: %+v", tried)
	}
	listener.Close()
	w.AllowPrivate = true
	if tried := d.post(t.Context(), format.Delivery{Webhook: w, ID: "test_2", Event: bridge.Event{Type: format.Test}}, 0); tried.failure != "the receiver refused the connection" {
		t.Errorf("got %+v", tried)
	}
	for outcome, want := range map[kind]float64{succeeded: 2, blocked: 1, notConnected: 1, refusedBy4xx: 0} {
		if n := attemptsOf(t, d, outcome); n != want {
			t.Errorf("%v attempts are counted as %s, want %v", n, outcome, want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// attemptsOf returns how many attempts /metrics counts with an outcome.
func attemptsOf(t *testing.T, d *Dispatcher, outcome kind) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(d.Metrics()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range families[0].Metric {
		if m.Label[0].GetValue() == string(outcome) {
			return m.Counter.GetValue()
		}
	}
	t.Fatalf("there is no outcome %s", outcome)
	return 0
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
