package api_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
)

func votes(options ...string) [][]byte {
	var hashes [][]byte
	for _, option := range options {
		hash := sha256.Sum256([]byte(option))
		hashes = append(hashes, hash[:])
	}
	return hashes
}

// stream is an open stream of events.
type stream struct {
	t      *testing.T
	body   io.ReadCloser
	lines  *bufio.Reader
	lastID string // as a browser would hand it in when it comes back
}

// sse is one server-sent event, or a comment.
type sse struct{ id, event, data, comment string }

// stream opens a stream; it is closed with the test.
func (s *server) stream(query, lastEventID string) *stream {
	s.t.Helper()
	st, err := s.openStream(query, lastEventID)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(st.close)
	return st
}

func (s *server) openStream(query, lastEventID string) (*stream, error) {
	return s.openStreamAs(token, query, lastEventID)
}

func (s *server) openStreamAs(token, query, lastEventID string) (*stream, error) {
	req, err := http.NewRequest(http.MethodGet, s.url+"/api/events"+query, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "text/event-stream")
	if lastEventID != "" {
		req.Header.Set("Last-Event-ID", lastEventID)
	}
	resp, err := apitest.Checked(s.t, s.transport()).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream" {
		return nil, fmt.Errorf("status %d, type %s", resp.StatusCode, got)
	}
	return &stream{t: s.t, body: resp.Body, lines: bufio.NewReader(resp.Body)}, nil
}

func (s *server) transport() *http.Transport {
	transport := &http.Transport{}
	s.t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func (st *stream) close() { st.body.Close() }

// next reads to the next empty line, as the standard has it.
func (st *stream) next() (sse, error) {
	var got sse
	for {
		line, err := st.lines.ReadString('\n')
		if err != nil {
			return got, err
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n":
			if got.id != "" {
				st.lastID = got.id
			}
			return got, nil
		case field == "":
			got.comment = value
		case field == "id":
			got.id = value
		case field == "event":
			got.event = value
		case field == "data":
			got.data += value
		}
	}
}

// event returns the next event that has data.
func (st *stream) event() bridge.Event {
	st.t.Helper()
	for {
		got, err := st.next()
		if err != nil {
			st.t.Fatalf("the stream ended: %v", err)
		}
		if got.data == "" {
			continue
		}
		var e bridge.Event
		if err := json.Unmarshal([]byte(got.data), &e); err != nil {
			st.t.Fatalf("data %s: %v", got.data, err)
		}
		if got.event != string(e.Type) || e.Type != "reset" && got.id != fmt.Sprint(e.ID) {
			st.t.Errorf("id %s, event %s of %s", got.id, got.event, got.data)
		}
		return e
	}
}

// events returns the next n events.
func (st *stream) events(n int) []string {
	st.t.Helper()
	var lines []string
	for range n {
		lines = append(lines, toldLine(st.event()))
	}
	return lines
}

func created(from, to int) []string {
	var lines []string
	for i := from; i < to; i++ {
		lines = append(lines, fmt.Sprint("message.created A", i))
	}
	return lines
}

// tell stores messages A<from> to A<to-1>.
func (s *server) tell(from, to int) {
	s.t.Helper()
	for i := from; i < to; i++ {
		s.know(say(grace, grace, fmt.Sprint("A", i), "a", i))
	}
}

func TestStream_TellsWhatComes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.tell(0, 3)
	live := s.stream("?types=message.created", "")
	s.tell(3, 6)
	want(t, "live", live.events(3), created(3, 6))
	replayed := s.stream("?types=message.created&after=0", "")
	want(t, "replay", replayed.events(6), created(0, 6))
	s.tell(6, 8)
	want(t, "live, after the replay", replayed.events(2), created(6, 8))
	want(t, "live", live.events(2), created(6, 8))
}

// A stream shows a message as its history shows it, whichever way it is read.
func TestStream_ShowsWhatTheReadingRoutesShow(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	live := s.stream("", "")
	s.know(members(club, "Readers", grace, alan), poll("P1"),
		bridge.PollVote{Chat: club, Target: "P1", Voter: alan, Hashes: votes("Tuesday"), Timestamp: bridge.At(noon)},
		bridge.ReactionChange{Chat: club, Target: "P1", Sender: alan, Emoji: "👍", Timestamp: bridge.At(noon)})
	for range 4 { // chat, group, created and, once for both changes, updated
		s.wantAsRead(live.event())
	}
}

func TestStream_LastEventIDComesBeforeTheAddress(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.tell(0, 4)
	st := s.stream("?types=message.created&after=0", "")
	want(t, "first", st.events(2), created(0, 2))
	back := s.stream("?types=message.created&after=0", st.lastID)
	want(t, "after coming back", back.events(2), created(2, 4))
}

// A reader that is cut off after every single event, while more come, sees
// each of them once and in order.
func TestStream_ReaderThatReconnectsAtEveryEvent(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const all = 200
	last := s.stream("?types=message.created", "")
	if _, err := last.next(); err != nil { // where it begins
		t.Fatal(err)
	}
	lastID := last.lastID
	stored := make(chan struct{})
	go func() {
		defer close(stored)
		for i := range all {
			if err := s.store.Save(context.Background(), say(grace, grace, fmt.Sprint("A", i), "a", i)); err != nil {
				t.Error(err)
			}
		}
	}()
	var got []string
	for range all {
		st := s.stream("?types=message.created", lastID)
		got = append(got, toldLine(st.event()))
		st.close()
		lastID = st.lastID
	}
	<-stored
	want(t, "events", got, created(0, all))
}

// A reader that does not read falls behind, holds up nobody and loses nothing.
func TestStream_SlowReaderLosesNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	slow := s.stream("?types=message.created", "")
	quick := s.stream("?types=message.created", "")
	text := strings.Repeat("x", 60_000)
	const all = 300 // 18 MB: more than what lies in the buffers of a connection
	for i := range all {
		s.know(say(grace, grace, fmt.Sprint("A", i), text, i))
		want(t, "the quick one", quick.events(1), created(i, i+1))
	}
	want(t, "the slow one", slow.events(all), created(0, all))
}

func TestStream_TellsWhoHasMissedSomething(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.tell(0, 10)
	if _, err := s.store.PruneEvents(t.Context(), time.Time{}, 4); err != nil {
		t.Fatal(err)
	}
	st := s.stream("", "2")
	if got := st.event(); got.Type != "reset" {
		t.Fatalf("got %s, want a reset", toldLine(got))
	}
	from := st.lastID
	want(t, "what is left", st.events(4), created(6, 10))
	want(t, "cut off right after it was told", s.stream("", from).events(4), created(6, 10))

	ahead := s.stream("", "99999")
	if got := ahead.event(); got.Type != "reset" {
		t.Fatalf("a number of another log: got %s, want a reset", toldLine(got))
	}
	s.tell(10, 11)
	want(t, "and goes on", ahead.events(1), created(10, 11))
}

// Streams end when the service begins to stop, so that they do not hold it up.
func TestStream_EndsWithTheService(t *testing.T) {
	t.Parallel()
	stop, cancel := context.WithCancel(t.Context())
	s := newServer(t, func(o *api.Options) { o.Streams = stop })
	st := s.stream("", "")
	s.tell(0, 1)
	st.events(2)
	cancel()
	if got, err := st.next(); err != io.EOF {
		t.Errorf("got %+v, %v; want the end", got, err)
	}
}

// Streams that ask for the same share one reading, and each is told what it
// asked for.
func TestStream_SharesOneReading(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var streams []*stream
	for i := range 20 {
		query := "?types=message.created"
		if i%2 == 1 {
			query += "&chat=" + string(alan)
		}
		streams = append(streams, s.stream(query, ""))
	}
	for i := range 50 {
		s.know(say(grace, grace, fmt.Sprint("A", i), "a", i), say(alan, alan, fmt.Sprint("A", i), "a", i))
	}
	for i, st := range streams {
		if i%2 == 1 {
			want(t, "alan's chat", st.events(50), created(0, 50))
			continue
		}
		got := st.events(100)
		for j := range 50 {
			if got[2*j] != got[2*j+1] || got[2*j] != fmt.Sprint("message.created A", j) {
				t.Fatalf("stream %d: %v", i, got)
			}
		}
	}
}

func TestStream_HeadIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := s.Do(http.MethodHead, "/api/events", "", "Accept", "text/event-stream").Want(http.StatusOK)
	if got.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("Content-Type %s", got.Header.Get("Content-Type"))
	}
}
