package offline_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
	"bridged/internal/wa/offline"
)

// queue is a [offline.Queue] with a record of its requests.
type queue struct {
	*offline.Queue
	t    *testing.T
	next int // the number of the next stanza

	mu       sync.Mutex // guards the fields below
	requests []time.Time
	stalls   []bridge.CatchingUp
	ended    int
}

// inBubble runs a test with an empty queue and artificial time.
func inBubble(t *testing.T, test func(q *queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		q := &queue{t: t}
		q.Queue = offline.New(ctx, offline.Options{
			Send: func(node waBinary.Node) error {
				if batch := node.GetChildByTag("offline_batch"); batch.Attrs["count"] != "200" {
					t.Errorf("requested %v", node)
				}
				q.note(func() { q.requests = append(q.requests, time.Now()) })
				return nil
			},
			Stalled: func(p bridge.CatchingUp) { q.note(func() { q.stalls = append(q.stalls, p) }) },
			Ended:   func() { q.note(func() { q.ended++ }) }, Received: func() {},
			Log: zerolog.Nop(),
		})
		test(q)
	})
}

func (q *queue) note(change func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	change()
}

func (q *queue) made() (requests []time.Time) {
	q.note(func() { requests = slices.Clone(q.requests) })
	return requests
}

func (q *queue) stalled() (stalls []bridge.CatchingUp) {
	q.note(func() { stalls = slices.Clone(q.stalls) })
	return stalls
}

func (q *queue) ends() (ended int) {
	q.note(func() { ended = q.ended })
	return ended
}

func (q *queue) ib(child string, attrs waBinary.Attrs) {
	q.OnReceived(&waBinary.Node{Tag: "ib", Content: []waBinary.Node{{Tag: child, Attrs: attrs}}})
	synctest.Wait()
}

func (q *queue) preview(count int) {
	q.ib("offline_preview", waBinary.Attrs{"count": fmt.Sprint(count)})
}

// receive receives queued stanzas.
func (q *queue) receive(count int) {
	for range count {
		q.OnReceived(&waBinary.Node{Tag: "message", Attrs: waBinary.Attrs{"id": fmt.Sprint(q.next), "offline": "0"}})
		q.next++
	}
	synctest.Wait()
}

// acknowledge acknowledges a stanza, and with it those before.
func (q *queue) acknowledge(number int) {
	q.OnWritten(&waBinary.Node{Tag: "ack", Attrs: waBinary.Attrs{"id": fmt.Sprint(number)}})
	synctest.Wait()
}

// pass lets time pass, and waits for what it sets off.
func (q *queue) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (q *queue) wantRequests(want int) {
	q.t.Helper()
	if len(q.made()) != want {
		q.t.Fatalf("%d requests, want %d", len(q.made()), want)
	}
}

func TestQueue_RequestsTheNextBatchWhenOneBegins(t *testing.T) {
	inBubble(t, func(q *queue) {
		q.preview(711)
		q.wantRequests(1)
		q.pass(time.Second)
		q.wantRequests(1)
		q.receive(1)
		q.wantRequests(2)
		q.receive(199)
		q.wantRequests(2) // they came at once: the next request waits for 100 ms
		q.pass(100 * time.Millisecond)
		q.receive(1)
		q.wantRequests(3)
		if gap := q.made()[2].Sub(q.made()[1]); gap < 100*time.Millisecond {
			t.Errorf("two requests within %v", gap)
		}
		if got := *q.Progress(); got != (bridge.CatchingUp{Received: 201, Expected: 711}) {
			t.Errorf("progress %+v", got)
		}
		q.ib("offline", waBinary.Attrs{"count": "711"})
		q.pass(5 * time.Minute)
		q.wantRequests(3)
		if q.Progress() != nil || q.ends() != 1 || len(q.stalled()) != 0 {
			t.Errorf("after the end: progress %+v, ended %d times, stalled %v", q.Progress(), q.ends(), q.stalled())
		}
	})
}

// TestQueue_WaitsForTheHandling: whatsmeow loses the order of stanzas if it has to hold more than 2,048.
func TestQueue_WaitsForTheHandling(t *testing.T) {
	inBubble(t, func(q *queue) {
		q.preview(10_000)
		for range 400 {
			q.receive(1)
			q.pass(time.Second)
		}
		q.wantRequests(401)
		q.receive(101)
		q.pass(time.Second)
		q.wantRequests(401)
		q.acknowledge(100) // acknowledges all before it, too: 400 are left
		q.pass(time.Second)
		q.wantRequests(402)
		q.receive(1)
		q.pass(time.Second)
		q.wantRequests(402)
		q.acknowledge(500)
		q.pass(time.Second)
		q.wantRequests(403)
	})
}

func TestQueue_ReportsEachMinuteOfSilence(t *testing.T) {
	inBubble(t, func(q *queue) {
		q.preview(711)
		q.pass(50 * time.Second)
		q.receive(5)
		q.pass(59 * time.Second)
		if len(q.stalled()) != 0 {
			t.Errorf("stalled within a minute: %v", q.stalled())
		}
		q.pass(2 * time.Second)
		requests := len(q.made())
		if len(q.stalled()) != 1 || q.stalled()[0] != (bridge.CatchingUp{Received: 5, Expected: 711}) {
			t.Fatalf("stalls: %v", q.stalled())
		}
		q.pass(time.Minute)
		if len(q.stalled()) != 2 || len(q.made()) != requests+1 {
			t.Errorf("a minute later: %d stalls and %d requests, want 2 and %d", len(q.stalled()), len(q.made()), requests+1)
		}
		q.Abandon()
		q.pass(5 * time.Minute)
		if len(q.stalled()) != 2 || q.Progress() != nil {
			t.Errorf("after the end of the connection: %d stalls, progress %+v", len(q.stalled()), q.Progress())
		}
	})
}

func TestQueue_AnEmptyOneIsNotRequested(t *testing.T) {
	inBubble(t, func(q *queue) {
		q.preview(0)
		q.ib("offline", waBinary.Attrs{"count": "0"})
		q.receive(1)
		q.pass(2 * time.Minute)
		q.wantRequests(0)
		if q.Progress() != nil || len(q.stalled()) != 0 || q.ends() != 0 {
			t.Errorf("progress %+v, stalls %v, ended %d times", q.Progress(), q.stalled(), q.ends())
		}
	})
}
