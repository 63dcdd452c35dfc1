package harness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
)

const hookSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

// HookReceiver is a program that receives webhooks, as n8n does.
type HookReceiver struct {
	*httptest.Server
	t testing.TB

	mu     sync.Mutex
	answer func(Hook) int // guarded by mu
	took   []Hook         // guarded by mu
}

// Hook is a posted event and the answer to it.
type Hook struct {
	ID     string
	status int
	Type   bridge.EventType
	Data   bridge.Event
	raw    json.RawMessage // the bytes of data
	Body   []byte
}

func NewHookReceiver(t testing.TB) *HookReceiver {
	r := &HookReceiver{t: t, answer: func(Hook) int { return http.StatusOK }}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

// Settings returns the environment of a bridge that posts to r.
func (r *HookReceiver) Settings(types ...string) []string {
	return []string{"WEBHOOK_URL=" + r.URL + "/webhook", "WEBHOOK_SECRET=" + hookSecret, "WEBHOOK_EVENTS=" + strings.Join(types, ", ")}
}

func (r *HookReceiver) Answers(answer func(Hook) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *HookReceiver) take(w http.ResponseWriter, req *http.Request) {
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
	h := Hook{ID: req.Header.Get("webhook-id")}
	var raw struct{ Data json.RawMessage }
	for _, v := range []any{&h, &raw} {
		if err := json.Unmarshal(body, v); err != nil {
			r.t.Errorf("posted %s: %v", body, err)
		}
	}
	h.raw, h.Body = raw.Data, body
	r.mu.Lock()
	answer := r.answer
	r.mu.Unlock()
	h.status = answer(h)
	r.mu.Lock()
	r.took = append(r.took, h)
	r.mu.Unlock()
	w.WriteHeader(h.status)
}

// Accepted returns the events that were answered with 200, each once: a kill before the
// answer was stored has them posted again.
func (r *HookReceiver) Accepted() []Hook {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(r.took), func(h Hook) bool {
		isAgain := seen[h.ID]
		seen[h.ID] = isAgain || h.status == http.StatusOK
		return isAgain || h.status != http.StatusOK
	})
}

// WaitFor waits until n events were accepted.
func (r *HookReceiver) WaitFor(n int) []Hook {
	r.t.Helper()
	Eventually(r.t, func() error {
		if got := len(r.Accepted()); got < n {
			return fmt.Errorf("%d of %d webhooks", got, n)
		}
		return nil
	})
	return r.Accepted()
}

// EventStream is an open stream of events.
type EventStream struct {
	T    testing.TB
	body io.ReadCloser
	Scan *bufio.Scanner
}

func (p *Process) Stream(query string) *EventStream {
	p.T.Helper()
	return p.StreamAs(TestToken, query)
}

func (p *Process) StreamAs(token, query string) *EventStream {
	p.T.Helper()
	req, err := http.NewRequestWithContext(Within(p.T), http.MethodGet, "http://"+p.Address+"/api/events"+query, nil)
	if err != nil {
		p.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(func() { resp.Body.Close() })
	scan := bufio.NewScanner(resp.Body)
	scan.Buffer(nil, 1<<20)
	return &EventStream{p.T, resp.Body, scan}
}

// Next returns the next event.
func (s *EventStream) Next() (e bridge.Event) {
	s.T.Helper()
	for s.Scan.Scan() {
		data, found := strings.CutPrefix(s.Scan.Text(), "data: ")
		if !found {
			continue
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			s.T.Fatal(err)
		}
		return e
	}
	s.T.Fatalf("the stream ended: %v", s.Scan.Err())
	return e
}

// Until checks that the next event, apart from receipts, is the one wanted.
func (s *EventStream) Until(want string) {
	s.T.Helper()
	got := About(s.Next())
	for strings.HasPrefix(got, "message.status ") {
		got = About(s.Next())
	}
	if got != want {
		s.T.Fatalf("got %s, want %s", got, want)
	}
}

// UntilStatus follows an own message until it has a status. The number of events
// may vary: receipts may overtake the network's own answer.
func (s *EventStream) UntilStatus(id string, want bridge.Delivery) {
	s.T.Helper()
	for {
		e := s.Next()
		if got := About(e); got != "message.status "+id {
			s.T.Fatalf("got %s, want message.status %s", got, id)
		}
		if *e.Message.Status == want {
			return
		}
	}
}

// Ended reports whether the stream has ended without an error.
func (s *EventStream) Ended() bool {
	for s.Scan.Scan() {
		if strings.HasPrefix(s.Scan.Text(), "data: ") {
			s.T.Errorf("one more event: %s", s.Scan.Text())
		}
	}
	return s.Scan.Err() == nil
}

// AllEvents returns the log, read page by page.
func (p *Process) AllEvents(query string) (all []bridge.Event) {
	p.T.Helper()
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

func About(e bridge.Event) string {
	if e.Message != nil {
		return string(e.Type) + " " + e.Message.ID
	}
	return string(e.Type) + " " + string(e.ChatJID)
}
