package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

const hookSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

// hookReceiver is a program that receives webhooks, as n8n does.
type hookReceiver struct {
	*httptest.Server
	t testing.TB

	mu     sync.Mutex
	answer func(hook) int // guarded by mu
	took   []hook         // guarded by mu
}

// hook is a posted event and the answer to it.
type hook struct {
	id     string
	status int
	Type   bridge.EventType
	Data   bridge.Event
	raw    json.RawMessage // the bytes of data
	body   []byte
}

func newHookReceiver(t testing.TB) *hookReceiver {
	r := &hookReceiver{t: t, answer: func(hook) int { return http.StatusOK }}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

// settings returns the environment of a bridge that posts to r.
func (r *hookReceiver) settings(types ...string) []string {
	return []string{"WEBHOOK_URL=" + r.URL + "/webhook", "WEBHOOK_SECRET=" + hookSecret, "WEBHOOK_EVENTS=" + strings.Join(types, ", ")}
}

func (r *hookReceiver) answers(answer func(hook) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *hookReceiver) take(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the bridge was killed meanwhile
	}
	verifier, err := standardwebhooks.NewWebhook(hookSecret)
	if err == nil {
		err = verifier.Verify(body, req.Header)
	}
	if err != nil {
		r.t.Errorf("the signature of %s does not hold: %v", body, err)
	}
	if err := apitest.CheckPosted(req, body); err != nil {
		r.t.Errorf("posted %s: %v", body, err)
	}
	h := hook{id: req.Header.Get("webhook-id")}
	var raw struct{ Data json.RawMessage }
	for _, v := range []any{&h, &raw} {
		if err := json.Unmarshal(body, v); err != nil {
			r.t.Errorf("posted %s: %v", body, err)
		}
	}
	h.raw, h.body = raw.Data, body
	r.mu.Lock()
	answer := r.answer
	r.mu.Unlock()
	h.status = answer(h)
	r.mu.Lock()
	r.took = append(r.took, h)
	r.mu.Unlock()
	w.WriteHeader(h.status)
}

// accepted returns the events that were answered with 200, each once: a kill before the
// answer was stored has them posted again.
func (r *hookReceiver) accepted() []hook {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(r.took), func(h hook) bool {
		isAgain := seen[h.id]
		seen[h.id] = isAgain || h.status == http.StatusOK
		return isAgain || h.status != http.StatusOK
	})
}

// waitFor waits until n events were accepted.
func (r *hookReceiver) waitFor(n int) []hook {
	r.t.Helper()
	eventually(r.t, func() error {
		if got := len(r.accepted()); got < n {
			return fmt.Errorf("%d of %d webhooks", got, n)
		}
		return nil
	})
	return r.accepted()
}

// eventStream is an open stream of events.
type eventStream struct {
	t    testing.TB
	body io.ReadCloser
	scan *bufio.Scanner
}

func (p *process) stream(query string) *eventStream {
	p.t.Helper()
	return p.streamAs(testToken, query)
}

func (p *process) streamAs(token, query string) *eventStream {
	p.t.Helper()
	req, err := http.NewRequestWithContext(within(p.t), http.MethodGet, "http://"+p.address+"/api/events"+query, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { resp.Body.Close() })
	scan := bufio.NewScanner(resp.Body)
	scan.Buffer(nil, 1<<20)
	return &eventStream{p.t, resp.Body, scan}
}

// next returns the next event.
func (s *eventStream) next() (e bridge.Event) {
	s.t.Helper()
	for s.scan.Scan() {
		data, found := strings.CutPrefix(s.scan.Text(), "data: ")
		if !found {
			continue
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			s.t.Fatal(err)
		}
		return e
	}
	s.t.Fatalf("the stream ended: %v", s.scan.Err())
	return e
}

// until checks that the next event, apart from receipts, is the one wanted.
func (s *eventStream) until(want string) {
	s.t.Helper()
	got := about(s.next())
	for strings.HasPrefix(got, "message.status ") {
		got = about(s.next())
	}
	if got != want {
		s.t.Fatalf("got %s, want %s", got, want)
	}
}

// untilStatus follows an own message until it has a status. The number of events
// may vary: receipts may overtake the network's own answer.
func (s *eventStream) untilStatus(id string, want bridge.Delivery) {
	s.t.Helper()
	for {
		e := s.next()
		if got := about(e); got != "message.status "+id {
			s.t.Fatalf("got %s, want message.status %s", got, id)
		}
		if *e.Message.Status == want {
			return
		}
	}
}

// ended reports whether the stream has ended without an error.
func (s *eventStream) ended() bool {
	for s.scan.Scan() {
		if strings.HasPrefix(s.scan.Text(), "data: ") {
			s.t.Errorf("one more event: %s", s.scan.Text())
		}
	}
	return s.scan.Err() == nil
}

// allEvents returns the log, read page by page.
func (p *process) allEvents(query string) (all []bridge.Event) {
	p.t.Helper()
	for cursor := "0"; ; {
		var page struct {
			Events     []bridge.Event
			NextCursor string
		}
		p.Get("/api/events?limit=7&after=" + cursor + query).Want(http.StatusOK).Decode(&page)
		if len(page.Events) == 0 {
			return all
		}
		all, cursor = append(all, page.Events...), page.NextCursor
	}
}

func about(e bridge.Event) string {
	if e.Message != nil {
		return string(e.Type) + " " + e.Message.ID
	}
	return string(e.Type) + " " + string(e.ChatJID)
}

// TestEvents_ReachEveryReader follows people's actions from the network to the
// stream, the pages and a webhook: each has the same events, once, in order.
func TestEvents_ReachEveryReader(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	sam := newPhone(t, network, simnet.PhoneOptions{Number: "15550100501", Name: "Sam"})
	receiver := newHookReceiver(t)
	p := startBridge(t, network, receiver.settings("message.created", "message.updated", "message.status")...)
	pair(t, p, owner)
	live := p.stream("?types=message.created,message.updated,message.status")

	first := must(sam.SendText(within(t), owner.PN(), "Good morning"))(t)
	heard := must(owner.ReceivedID(within(t), first))(t)
	live.until("message.created " + first)
	must(owner.React(within(t), heard, "👍"))(t)
	live.until("message.updated " + first)
	must(sam.Edit(within(t), owner.PN(), first, "Good evening"))(t)
	live.until("message.updated " + first)
	var sent struct{ MsgID string }
	p.Post("/api/messages/send", object{"jid": sam.PN().String(), "text": "Good night"}).Want(http.StatusOK).Decode(&sent)
	live.until("message.created " + sent.MsgID)
	answer := must(sam.ReceivedID(within(t), sent.MsgID))(t)
	live.untilStatus(sent.MsgID, bridge.DeliveryDelivered)
	if err := sam.MarkRead(within(t), answer); err != nil {
		t.Fatal(err)
	}
	live.untilStatus(sent.MsgID, bridge.DeliveryRead)
	poll := must(sam.SendPoll(within(t), owner.PN(), "When?", []string{"Now", "Later"}, 1))(t)
	live.until("message.created " + poll)
	must(owner.Vote(within(t), must(owner.ReceivedID(within(t), poll))(t), []string{"Later"}))(t)
	live.until("message.updated " + poll)
	must(sam.Revoke(within(t), owner.PN(), first))(t)
	live.until("message.updated " + first)

	told := p.allEvents("&types=message.created,message.updated,message.status")
	var want, posted []string
	for _, e := range told {
		want = append(want, about(e))
	}
	for _, h := range receiver.waitFor(len(told)) {
		posted = append(posted, about(h.Data))
	}
	if diff := cmp.Diff(want, posted); diff != "" {
		t.Errorf("the log (-) and what was posted (+)\n%s", diff)
	}
	last, final := receiver.accepted()[len(posted)-1].Data, told[len(told)-1]
	if diff := cmp.Diff(final, last); diff != "" {
		t.Errorf("the last event in the log (-) and as posted (+)\n%s", diff)
	}

	// A stop ends the streams and does not wait for them.
	began := time.Now()
	p.stop()
	if took := time.Since(began); took > stopLimit/2 {
		t.Errorf("it took %v to stop with an open stream", took)
	}
	if !live.ended() {
		t.Errorf("the stream broke: %v", live.scan.Err())
	}
}

// TestEvents_WebhookOutlivesKills kills the program while a receiver has an event
// and has not answered: after the start the event is posted again under the same
// id, followed by those that came meanwhile.
func TestEvents_WebhookOutlivesKills(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	sam := newPhone(t, network, simnet.PhoneOptions{Number: "15550100502", Name: "Sam"})
	receiver := newHookReceiver(t)
	p := startBridge(t, network, receiver.settings("message.created")...)
	pair(t, p, owner)
	var ids []string
	for round := range 5 {
		taken := make(chan hook, 10)
		killed := make(chan struct{})
		done := receiver.accepted()
		receiver.answers(func(h hook) int {
			if slices.ContainsFunc(done, func(d hook) bool { return d.id == h.id }) {
				return http.StatusOK // again: the answer was not stored before the kill
			}
			taken <- h
			<-killed
			return http.StatusBadGateway // the bridge is gone and will not read this
		})
		id := must(sam.SendText(within(t), owner.PN(), fmt.Sprint("round ", round)))(t)
		before := <-taken
		p.kill()
		close(killed)
		receiver.answers(func(hook) int { return http.StatusOK })
		ids = append(ids, id, must(sam.SendText(within(t), owner.PN(), fmt.Sprint("meanwhile ", round)))(t))
		p.start()
		accepted := receiver.waitFor(len(ids))
		if again := accepted[len(ids)-2]; again.id != before.id || again.Data.Message.ID != id {
			t.Errorf("round %d: posted as %s and then as %s", round, before.id, again.id)
		}
	}
	var got []string
	for _, h := range receiver.accepted() {
		got = append(got, h.Data.Message.ID)
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("sent (-) and posted (+)\n%s", diff)
	}
}

// TestEvents_LogIsBounded starts the program with a small log: a reader that has
// fallen behind it is notified.
func TestEvents_LogIsBounded(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	sam := newPhone(t, network, simnet.PhoneOptions{Number: "15550100503", Name: "Sam"})
	p := startBridge(t, network)
	pair(t, p, owner)
	var ids []string
	for n := range 6 {
		ids = append(ids, must(sam.SendText(within(t), owner.PN(), fmt.Sprint("message ", n)))(t))
	}
	eventually(t, func() error {
		if got := len(p.allEvents("&types=message.created")); got < len(ids) {
			return errors.New("still waiting")
		}
		return nil
	})
	p.stop()
	p.set("EVENTS_MAX_COUNT=3")
	p.start()
	eventually(t, func() error {
		var page struct{ Reset bool }
		p.Get("/api/events?after=1").Want(http.StatusOK).Decode(&page)
		if !page.Reset {
			return errors.New("still waiting")
		}
		return nil
	})
}
