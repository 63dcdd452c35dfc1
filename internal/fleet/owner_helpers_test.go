package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// meeting is where the processes of a test meet: a registry in virtual time, from
// which each can be cut off.
type meeting struct {
	life time.Duration

	mu      sync.Mutex // guards all below
	values  map[string]value
	written uint64 // the last revision
	last    published
}

// value is one of a registry; the key's lives until a moment.
type value struct {
	data     []byte
	revision uint64
	until    time.Time
}

const ownerTTL = time.Minute

func newMeeting() *meeting {
	return &meeting{life: ownerTTL, values: make(map[string]value)}
}

// seat is one process's way to the meeting.
type seat struct {
	*meeting
	mu     sync.Mutex
	isCut  bool // guarded by mu
	swears int  // how many puts are made, but not answered; guarded by mu
}

var errCut = errors.New("no way to NATS")

func (s *seat) cut(isCut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isCut = isCut
}

// enter takes the meeting's lock, or waits in vain as for servers that are silent.
func (s *seat) enter(ctx context.Context) (func(), error) {
	s.mu.Lock()
	isCut := s.isCut
	s.mu.Unlock()
	if isCut {
		<-ctx.Done()
		return nil, errCut
	}
	s.meeting.mu.Lock()
	if time.Now().After(s.values[""].until) {
		delete(s.values, "")
	}
	return s.meeting.mu.Unlock, nil
}

func (s *seat) open(context.Context) (time.Duration, error) { return s.life, nil }

func (s *seat) read(ctx context.Context, session string, into any) (uint64, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	v := s.values[session]
	if v.revision == 0 {
		return 0, nil
	}
	return v.revision, json.Unmarshal(v.data, into)
}

func (s *seat) write(ctx context.Context, session string, what any, revision uint64) (uint64, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	if revision != s.values[session].revision {
		return 0, errTaken
	}
	data, err := json.Marshal(what)
	if err != nil {
		return 0, err
	}
	s.written++
	s.values[session] = value{data, s.written, time.Now().Add(s.life)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == "" && s.swears > 0 {
		s.swears--
		return 0, errCut
	}
	return s.values[session].revision, nil
}

func (s *seat) remove(ctx context.Context, revision uint64) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if revision != s.values[""].revision {
		return errTaken
	}
	delete(s.values, "")
	return nil
}

func (s *seat) published(ctx context.Context) (published, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return published{}, err
	}
	defer leave()
	return s.last, nil
}

// candidate is a process that wants to run the account.
type candidate struct {
	*owner
	t       *testing.T
	seat    *seat
	events  *memoryLog
	state   atomic.Value // of the account: a string
	kill    context.CancelFunc
	done    chan struct{}
	release func()
}

// directory is a data directory with its log.
type directory struct {
	place  *DataDir
	events *memoryLog
}

// newDirectory makes a directory of this machine with a log of so many events.
func newDirectory(t *testing.T, name string, events int64) directory {
	d := directory{place: &DataDir{Directory: name, path: filepath.Join(t.TempDir(), "fleet.json")}, events: newMemoryLog(ada)}
	d.events.position.LogID = "log"
	for range events {
		d.happens()
	}
	return d
}

// happens adds an event to the directory's log.
func (d directory) happens() {
	d.events.change(func(l *memoryLog) {
		l.last++
		l.events = append(l.events, bridge.Event{ID: l.last, At: bridge.At(time.Now())})
	})
	time.Sleep(time.Millisecond) // no two at one moment
}

// copyTo returns what a copy of the directory is, as it is now.
func (d directory) copyTo(t *testing.T, name string) directory {
	c := newDirectory(t, name, 0)
	d.events.mu.Lock()
	defer d.events.mu.Unlock()
	c.events.events, c.events.last = append(c.events.events, d.events.events...), d.events.last
	return c
}

// again is the directory for a process of another machine.
func (d directory) again() directory {
	place := *d.place
	d.place = &place
	return d
}

// publish brings the directory's log into the stream.
func (d directory) publish(m *meeting) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := d.events.events[len(d.events.events)-1]
	m.last = published{logID: "log", event: last.ID, at: last.At}
}

// start starts a process on a directory.
func (m *meeting) start(t *testing.T, host string, d directory) *candidate {
	t.Helper()
	s := &seat{meeting: m}
	c := &candidate{t: t, seat: s, events: d.events, done: make(chan struct{})}
	c.state.Store("open")
	options := Options{Log: d.events, Owner: OwnerOptions{DataDir: d.place, TTL: m.life, Host: host, State: func() string { return c.state.Load().(string) }}}
	c.owner = newOwner(options, zerolog.Nop())
	ctx, cancel := context.WithCancel(context.Background())
	c.kill = func() { cancel(); <-c.done }
	go func() { defer close(c.done); c.run(ctx, s) }()
	t.Cleanup(c.kill)
	return c
}

// seek has the process seek a session.
func (c *candidate) seek(session string) *candidate {
	c.release = c.Acquire(session, func() {})
	return c
}

// holds reports whether the process may run the session.
func (c *candidate) holds() bool { return c.Refusal() == nil }

// waits until the process may run the session, and returns how long that took.
func (c *candidate) takes(within time.Duration) time.Duration {
	c.t.Helper()
	began := time.Now()
	for !c.holds() {
		if time.Since(began) > within {
			c.t.Fatalf("not within %v: %v", within, c.Refusal())
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began)
}

// never checks for a while that the process may not run the session, and why.
func (c *candidate) never(during time.Duration, says string) {
	c.t.Helper()
	for range during / time.Second {
		time.Sleep(time.Second)
		if c.holds() {
			c.t.Fatal("it runs the session")
		}
	}
	if err := c.Refusal(); !strings.Contains(err.Error(), says) {
		c.t.Errorf("refused with %q, want %q", err, says)
	}
}
