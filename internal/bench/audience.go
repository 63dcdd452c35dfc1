package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
)

// audience is a consumer of all accounts' events, as a program of the operator's
// is. Texts are the moments at which they were written.
type audience struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	stream  string
	reading jetstream.ConsumeContext

	mu    sync.Mutex
	now   hearing       // guarded by mu
	total int           // texts; guarded by mu
	grown chan struct{} // guarded by mu; closed when one more was heard
	err   error         // guarded by mu
}

// hearing is what was heard since a moment.
type hearing struct {
	times  []time.Duration // of texts
	events int
}

// listen reads the stream of a prefix from its beginning. The first bridge has
// made it.
func listen(ctx context.Context, url, prefix string) (_ *audience, err error) {
	a := &audience{stream: strings.ToUpper(prefix) + "_EVENTS", grown: make(chan struct{})}
	if a.nc, err = nats.Connect(url); err != nil {
		return nil, fmt.Errorf("connect to --nats: %w", err)
	}
	if a.js, err = jetstream.New(a.nc); err != nil {
		return nil, err
	}
	consumer, err := a.js.OrderedConsumer(ctx, a.stream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		a.nc.Close()
		return nil, fmt.Errorf("read the stream of the bridges: %w", err)
	}
	if a.reading, err = consumer.Consume(a.hear); err != nil {
		a.nc.Close()
		return nil, fmt.Errorf("read the stream of the bridges: %w", err)
	}
	return a, nil
}

// hear notes one event.
func (a *audience) hear(m jetstream.Msg) {
	var event struct {
		Type bridge.EventType
		Data struct{ Message bridge.Message }
	}
	at := time.Now()
	err := json.Unmarshal(m.Data(), &event)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = errors.Join(a.err, err)
	a.now.events++
	written, err := strconv.ParseInt(event.Data.Message.Content, 10, 64)
	if event.Type != bridge.EventMessageCreated || err != nil {
		return
	}
	a.now.times = append(a.now.times, at.Sub(time.Unix(0, written)))
	a.total++
	close(a.grown)
	a.grown = make(chan struct{})
}

// begin returns what was heard since it was asked last.
func (a *audience) begin() hearing {
	a.mu.Lock()
	defer a.mu.Unlock()
	heard := a.now
	a.now = hearing{}
	return heard
}

// await waits until so many texts were heard. More are an error: each comes once.
func (a *audience) await(ctx context.Context, texts int) error {
	for {
		a.mu.Lock()
		total, grown, err := a.total, a.grown, a.err
		a.mu.Unlock()
		switch {
		case err != nil || total == texts:
			return err
		case total > texts:
			return fmt.Errorf("%d texts were heard of %d that were written", total, texts)
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return fmt.Errorf("%d texts were heard of %d that were written: %w", total, texts, ctx.Err())
		}
	}
}

// close stops listening, and removes the stream.
func (a *audience) close() error {
	a.reading.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), giveUp)
	defer cancel()
	err := a.js.DeleteStream(ctx, a.stream)
	a.nc.Close()
	return err
}
