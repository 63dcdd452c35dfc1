package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.uber.org/goleak"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
	"bridged/internal/urlguard"
	"bridged/internal/webhook/format"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	grace = bridge.JID("15557654321@s.whatsapp.net")
	alan  = bridge.JID("447700900123@s.whatsapp.net")
)

// posted is a request that a receiver got.
type posted struct {
	id      string
	at      time.Time
	status  int // of the answer
	body    []byte
	payload struct {
		Type      bridge.EventType
		Timestamp bridge.Time
		Data      bridge.Event
	}
}

func (p posted) about() string {
	if p.payload.Data.Message == nil {
		return string(p.payload.Type)
	}
	return p.payload.Data.Message.ID
}

// receiver is a receiver in memory. It checks every signature with another implementation.
type receiver struct {
	t      *testing.T
	secret string

	mu          sync.Mutex       // guards all below
	answer      func(posted) int // 0 breaks the connection, -1 never answers
	ignoresTime bool
	header      http.Header // of answers
	body        func() io.ReadCloser
	all         []posted
}

func newReceiver(t *testing.T) *receiver {
	return &receiver{
		t: t, secret: format.NewSecret(), answer: always(http.StatusOK), header: http.Header{},
		body: func() io.ReadCloser { return io.NopCloser(strings.NewReader("thanks")) },
	}
}

// set changes how the receiver behaves, between two posts.
func (r *receiver) set(change func(*receiver)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

func (r *receiver) answers(answer func(posted) int) {
	r.set(func(r *receiver) { r.answer = answer })
}

// sends sets the body of answers.
func (r *receiver) sends(body func() io.ReadCloser) {
	r.set(func(r *receiver) { r.body = body })
}

func always(status int) func(posted) int { return func(posted) int { return status } }

// RoundTrip implements http.RoundTripper.
func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.check(req, body)
	p := posted{id: req.Header.Get("webhook-id"), at: time.Now(), body: body}
	if err := json.Unmarshal(body, &p.payload); err != nil {
		r.t.Errorf("body %s: %v", body, err)
	}
	r.mu.Lock()
	answer := r.answer
	r.mu.Unlock()
	if p.status = answer(p); p.status == -1 {
		r.keep(p)
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if req.Context().Err() != nil { // it has hung up
		p.status = -1
		r.keep(p)
		return nil, req.Context().Err()
	}
	r.keep(p)
	if p.status == 0 {
		return nil, errors.New("connection reset")
	}
	return r.respond(req, p.status), nil
}

func (r *receiver) respond(req *http.Request, status int) *http.Response {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &http.Response{StatusCode: status, Header: r.header.Clone(), Body: r.body(), Request: req}
}

func (r *receiver) keep(p posted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, p)
}

func (r *receiver) check(req *http.Request, body []byte) {
	r.mu.Lock()
	secret, ignoresTime := r.secret, r.ignoresTime
	r.mu.Unlock()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		r.t.Error(err)
		return
	}
	verify := verifier.Verify
	if ignoresTime {
		verify = verifier.VerifyIgnoringTimestamp
	}
	if err := verify(body, req.Header); err != nil {
		r.t.Errorf("the signature does not hold: %v", err)
	}
	if req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json" {
		r.t.Errorf("%s with type %s", req.Method, req.Header.Get("Content-Type"))
	}
	if bytes.Contains(body, []byte("whsec_")) {
		r.t.Error("a secret was posted")
	}
}

// took returns all requests.
func (r *receiver) took() []posted {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// accepted returns the events that were answered with success, in order.
func (r *receiver) accepted(chat bridge.JID) []string {
	about := []string{}
	for _, p := range r.took() {
		if p.status >= 200 && p.status <= 299 && (chat == "" || p.payload.Data.ChatJID == chat) {
			about = append(about, p.about())
		}
	}
	return about
}

// hosts sends requests to the receiver of their host.
type hosts struct {
	mu sync.Mutex
	of map[string]*receiver // guarded by mu
}

func (h *hosts) put(host string, r *receiver) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of[host] = r
}

func (h *hosts) get(host string) *receiver {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of[host]
}

// RoundTrip implements http.RoundTripper.
func (h *hosts) RoundTrip(req *http.Request) (*http.Response, error) {
	return h.get(req.URL.Host).RoundTrip(req)
}

// bench is a store and a dispatcher that may be stopped and started again.
type bench struct {
	t     *testing.T
	store *store.Store
	fault *storetest.Fault
	hosts *hosts
	*Dispatcher
	stop    func()
	options func(*Options) // changes those of the next start

	began time.Time
	off   atomic.Int64 // by how much the clock is wrong
}

// jump sets by how much the clock is wrong.
func (b *bench) jump(by time.Duration) { b.off.Store(int64(by)) }

// newBench runs a dispatcher. Its receivers are private and public alike.
func newBench(t *testing.T) *bench {
	t.Helper()
	fault := new(storetest.Fault)
	st, err := store.Open(t.Context(), store.Options{Path: storetest.NewFile(t), Log: zerolog.Nop(), BeforeCommit: fault.BeforeCommit})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, store: st, fault: fault, hosts: &hosts{of: make(map[string]*receiver)}, began: time.Now()}
	b.start()
	t.Cleanup(func() {
		b.stop()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// lan knows every name.
type lan struct{}

func (lan) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
}

// start runs a new dispatcher, as a new process would.
func (b *bench) start() {
	o := Options{
		Store: b.store, Guard: urlguard.New(urlguard.Options{}), AllowPrivate: urlguard.Everywhere(), Resolver: lan{},
		Transport: b.hosts, Log: zerolog.Nop(),
	}
	if b.options != nil {
		b.options(&o)
	}
	b.Dispatcher = New(o)
	b.Dispatcher.wall = func() time.Time { return time.Now().Add(time.Duration(b.off.Load())) }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := b.Run(ctx); err != nil {
			b.t.Error(err)
		}
	}()
	b.stop = func() {
		cancel()
		<-ended
	}
}

// receive adds a receiver at a host and a webhook for it.
func (b *bench) receive(host string, changes ...func(*bridge.Webhook)) (*receiver, bridge.Webhook) {
	b.t.Helper()
	r := newReceiver(b.t)
	b.hosts.put(host, r)
	return r, b.create(host, r, changes...)
}

// create adds a webhook for a receiver.
func (b *bench) create(host string, r *receiver, changes ...func(*bridge.Webhook)) bridge.Webhook {
	b.t.Helper()
	w := bridge.Webhook{
		URL: "http://" + host + "/hook", Secret: r.secret, AllowPrivate: true, Enabled: true, Cursor: -1,
		EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated}},
	}
	for _, change := range changes {
		change(&w)
	}
	w, err := b.Create(b.t.Context(), w)
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

func (b *bench) know(facts ...bridge.Fact) {
	b.t.Helper()
	if err := b.store.Save(context.Background(), facts...); err != nil {
		b.t.Fatal(err)
	}
}

// say stores messages "<prefix><from>" to before "<prefix><to>" of a chat.
func (b *bench) say(chat bridge.JID, prefix string, from, to int) {
	b.t.Helper()
	for i := from; i < to; i++ {
		b.know(message(chat, fmt.Sprint(prefix, i)))
	}
}

func message(chat bridge.JID, id string) bridge.Message {
	return bridge.Message{
		Chat: chat, ID: id, SenderJID: chat, MessageType: "conversation", Content: "text of " + id, Timestamp: bridge.At(time.Now()),
	}
}

func named(prefix string, from, to int) []string {
	list := []string{}
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprint(prefix, i))
	}
	return list
}

func (b *bench) webhook(id int64) bridge.Webhook {
	b.t.Helper()
	w, err := b.store.Webhook(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

func (b *bench) deliveries(id int64, status bridge.DeliveryState) []bridge.WebhookDelivery {
	b.t.Helper()
	page, err := b.store.Deliveries(b.t.Context(), bridge.DeliveryQuery{Webhook: id, Status: status, Limit: 1000})
	if err != nil {
		b.t.Fatal(err)
	}
	return page.Items
}

func want[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want +got\n%s", what, diff)
	}
}

var errDisk = errors.New("the disk is gone")
