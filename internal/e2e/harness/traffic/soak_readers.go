package traffic

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// toldMessages counts the messages that a reader got as new.
type toldMessages struct {
	mu    sync.Mutex
	count map[string]int // by message id; guarded by mu
}

// hear takes an event from a stream or a webhook.
func (m *toldMessages) hear(data []byte) (id int64) {
	var event struct {
		ID      int64
		Type    string
		Message struct{ MsgID string }
	}
	if json.Unmarshal(data, &event) != nil || event.Type != "message.created" {
		return event.ID
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count == nil {
		m.count = map[string]int{}
	}
	m.count[event.Message.MsgID]++
	return event.ID
}

// of returns how often a reader got a message.
func (m *toldMessages) of(id string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count[id]
}

// soakStreams reads the log from its beginning to its end, in many streams.
type soakStreams struct {
	told   toldMessages
	number string // the last one received
	opened int
}

// Follow reads streams one after the other, each from where the last one ended.
func (s *Soak) Follow(ctx context.Context) {
	s.streams.number = "0"
	for ctx.Err() == nil {
		s.followOnce(ctx, time.Duration(1+rand.IntN(20))*time.Second)
		_ = Pause(ctx, 100*time.Millisecond) // the loop looks at its end
	}
}

// followOnce reads one stream for a while.
func (s *Soak) followOnce(ctx context.Context, d time.Duration) {
	ctx, hangUp := context.WithTimeout(ctx, d)
	defer hangUp()
	s.streams.opened++
	s.readStream(ctx, "Last-Event-ID", s.streams.number, func(field, value string) {
		switch field {
		case "id":
			s.streams.number = value
		case "data":
			s.streams.told.hear([]byte(value))
		}
	})
}

// readStream passes on the fields of a stream until it ends.
func (s *Soak) readStream(ctx context.Context, header, value string, hear func(field, value string)) {
	req := s.Calls.request(ctx, http.MethodGet, "/api/events", "", "Accept", "text/event-stream", header, value)
	resp, err := s.Calls.http.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		s.Calls.count(req, resp.StatusCode, body)
		return
	}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if field, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); found {
			hear(field, value)
		}
	}
}

// ListenNowAndThen opens streams of new events and leaves them.
func (s *Soak) ListenNowAndThen(ctx context.Context) {
	for Pause(ctx, time.Duration(rand.IntN(3000))*time.Millisecond) == nil {
		listening, hangUp := context.WithTimeout(ctx, time.Duration(rand.IntN(10_000))*time.Millisecond)
		s.readStream(listening, "X-Nothing", "", func(string, string) {})
		hangUp()
	}
}

// flakyReceiver receives webhooks and refuses one in a hundred, and now and then
// all of them for some seconds.
type flakyReceiver struct {
	*httptest.Server
	told    toldMessages
	mu      sync.Mutex
	refused int       // guarded by mu
	down    time.Time // end of the period in which it refuses all; guarded by mu
}

func NewFlakyReceiver(t testing.TB) *flakyReceiver {
	r := &flakyReceiver{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *flakyReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil || r.refuses() {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	var post struct{ Data json.RawMessage }
	if json.Unmarshal(body, &post) == nil {
		r.told.hear(post.Data)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *flakyReceiver) refuses() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rand.IntN(2000) == 0 {
		r.down = time.Now().Add(5 * time.Second)
	}
	refuses := time.Now().Before(r.down) || rand.IntN(100) == 0
	if refuses {
		r.refused++
	}
	return refuses
}
