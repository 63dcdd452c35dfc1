package fleet

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

const ada = "15551234567" // the account of the tests

// memoryLog is a log of events that tests write, and make fail.
type memoryLog struct {
	mu       sync.Mutex // guards all below
	account  string
	events   []bridge.Event // those that are shown
	last     int64
	pruned   int64
	position Position
	saves    int
	saveErr  error // of saving
	changed  chan struct{}
}

func newMemoryLog(account string) *memoryLog {
	return &memoryLog{account: account, changed: make(chan struct{})}
}

// change does something to the log and wakes its readers.
func (l *memoryLog) change(do func(*memoryLog)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do(l)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *memoryLog) Account(context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.account, nil
}

func (l *memoryLog) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Events reads as the store does.
func (l *memoryLog) Events(_ context.Context, after int64, limit int) (Page, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	page := Page{Next: max(after, l.pruned), IsReset: after > 0 && after < l.pruned}
	if after > l.last {
		return Page{Next: l.last, IsReset: true}, nil
	}
	for _, e := range l.events {
		if e.ID <= page.Next {
			continue
		}
		if len(page.Events) == limit {
			page.More = true
			return page, nil
		}
		page.Events = append(page.Events, e)
		page.Next = e.ID
	}
	page.Next = l.last
	return page, nil
}

func (l *memoryLog) LastEvent(context.Context) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, nil
}

func (l *memoryLog) Position(context.Context) (Position, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.position, nil
}

func (l *memoryLog) SavePosition(_ context.Context, p Position) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.saveErr != nil {
		return l.saveErr
	}
	l.position = p
	l.saves++
	return nil
}

// running is a fleet that runs until its test ends, or is stopped before.
type running struct {
	*Fleet
	stop func()
}

// run runs a fleet on a log.
func run(t *testing.T, o Options) running {
	t.Helper()
	return runWith(t, o, nil)
}

// runWith runs a fleet that takes requests.
func runWith(t *testing.T, o Options, api http.HandlerFunc) running {
	t.Helper()
	o.Name, o.Logger = "test", zerolog.New(zerolog.NewTestWriter(t))
	if o.Owner.TTL == 0 {
		o.Owner = OwnerOptions{DataDir: &DataDir{}, TTL: time.Minute}
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := New(o)
	if api != nil {
		f.ServeRequests(api, func(_ context.Context, secret string) (int64, bool) {
			tree, err := strconv.ParseInt(strings.TrimPrefix(secret, "of-tree-"), 10, 64)
			return tree, err == nil
		})
	}
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return running{f, stop}
}

// eventually waits until something has become true.
func eventually(t *testing.T, what string, isTrue func() bool) {
	t.Helper()
	for late := time.Now().Add(time.Minute); !isTrue(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}
