package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
	"bridged/internal/fleet/fleettest"
)

// began is when the first event of the tests happened; each is a second later.
var began = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// write adds events to the log, of all types in turn.
func (l *memoryLog) write(n int) { l.writeAt(n, began) }

// writeLater adds events as a log does that goes on from an old copy.
func (l *memoryLog) writeLater(n int) { l.writeAt(n, began.Add(24*time.Hour)) }

func (l *memoryLog) writeAt(n int, began time.Time) {
	l.change(func(l *memoryLog) {
		for range n {
			l.last++
			kinds := bridge.EventTypes()
			l.events = append(l.events, bridge.Event{
				ID: l.last, Type: kinds[int(l.last)%len(kinds)], At: bridge.At(began.Add(time.Duration(l.last) * time.Second)),
				ChatJID: "15557654321@s.whatsapp.net", Message: &bridge.Message{ID: fmt.Sprintf("M%d", l.last)},
			})
		}
	})
}

// prune removes the events up to a number, as time does.
func (l *memoryLog) prune(upTo int64) {
	l.change(func(l *memoryLog) {
		l.pruned = upTo
		for len(l.events) > 0 && l.events[0].ID <= upTo {
			l.events = l.events[1:]
		}
	})
}

// copyOf returns the log as it is now, as a backup holds it.
func (l *memoryLog) copyOf() *memoryLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &memoryLog{
		account: l.account, events: append([]bridge.Event(nil), l.events...), last: l.last, pruned: l.pruned,
		position: l.position, changed: make(chan struct{}),
	}
}

// consumer reads the stream with nothing but the client library.
type consumer struct {
	t    *testing.T
	js   jetstream.JetStream
	name string
}

// dial connects a client, which comes back whenever the servers do.
func dial(t testing.TB, url string) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

func newConsumer(t *testing.T, cluster *fleettest.Cluster, prefix string) consumer {
	t.Helper()
	_, js := dial(t, cluster.URL())
	return consumer{t, js, streamName(prefix, "EVENTS")}
}

// got is a message as a consumer sees it.
type got struct {
	subject, log, event string
	isReset             bool
	header              nats.Header
	body                []byte
	payload             struct {
		Type      bridge.EventType
		Timestamp bridge.Time
		Data      struct {
			ID, After int64
			Message   *bridge.Message
		}
	}
}

// read returns everything that the stream holds of an account, once it holds
// the event with this number, in the order of the stream.
func (c consumer) read(account string, until int64) (all []got) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	ordered := c.ordered(account)
	messages, err := ordered.Messages()
	if err != nil {
		c.t.Fatal(err)
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			c.t.Fatalf("after %d messages: %v", len(all), err)
		}
		one := got{subject: m.Subject(), header: m.Headers(), body: m.Data(), log: m.Headers().Get("Bridged-Log"), event: m.Headers().Get("Bridged-Event")}
		if err := json.Unmarshal(m.Data(), &one.payload); err != nil {
			c.t.Fatal(err)
		}
		one.isReset = one.payload.Type == bridge.EventReset
		all = append(all, one)
		if one.payload.Data.ID == until && len(all) >= c.count(ctx, account) {
			return all
		}
	}
}

// count returns how many messages of an account the stream's leader has: other
// nodes may be behind.
func (c consumer) count(ctx context.Context, account string) (n int) {
	c.t.Helper()
	stream, err := c.js.Stream(ctx, c.name)
	if err != nil {
		c.t.Fatal(err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter("*."+account+".events.>"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, messages := range info.State.Subjects {
		n += int(messages)
	}
	return n
}

// ordered returns a reader of an account's messages, as soon as there is a
// stream that has a leader.
func (c consumer) ordered(account string) (ordered jetstream.Consumer) {
	c.t.Helper()
	config := jetstream.OrderedConsumerConfig{FilterSubjects: []string{"*." + account + ".events.>"}}
	eventually(c.t, "the stream "+c.name, func() bool {
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		defer cancel()
		made, err := c.js.OrderedConsumer(ctx, c.name, config)
		ordered = made
		return err == nil
	})
	return ordered
}

// waitFor waits until the stream holds an event of an account, or a later one.
func (c consumer) waitFor(account string, event int64) {
	c.t.Helper()
	eventually(c.t, "an event in the stream", func() bool {
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		defer cancel()
		stream, err := c.js.Stream(ctx, c.name)
		if err != nil {
			return false
		}
		m, err := stream.GetLastMsgForSubject(ctx, "*."+account+".events.>")
		if err != nil {
			return false
		}
		number, err := strconv.ParseInt(m.Header.Get("Bridged-Event"), 10, 64)
		return err == nil && number >= event
	})
}

// want checks that messages are these events, and nothing else, in order. A
// negative number is a reset after it.
func want(t *testing.T, all []got, events ...int64) {
	t.Helper()
	var numbers []int64
	for _, m := range all {
		if m.isReset {
			numbers = append(numbers, -m.payload.Data.After)
		} else {
			numbers = append(numbers, m.payload.Data.ID)
		}
	}
	for i, n := range numbers {
		if i >= len(events) || n != events[i] {
			t.Fatalf("message %d is of event %d; all: %v, want %v", i, n, numbers, events)
		}
	}
	if len(numbers) != len(events) {
		t.Fatalf("%d messages, want %d", len(numbers), len(events))
	}
}

// upTo returns the numbers from one to another.
func upTo(from, to int64) (numbers []int64) {
	for n := from; n <= to; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}
