package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// queryTimeout limits every query to the server, publishTimeout every publish.
const (
	queryTimeout   = 2 * time.Second
	publishTimeout = 5 * time.Second
)

// bridged creates the stream of events with these limits. An operator who wants other limits
// creates or changes the stream.
const (
	eventsMaxAge    = 30 * 24 * time.Hour
	duplicateWindow = 2 * time.Minute
)

// Limits configures the stream of events when bridged creates it.
type Limits struct {
	Replicas   int
	Duplicates time.Duration // how long the server remembers message ids; 0 is [duplicateWindow]
}

// config returns the configuration of the stream, which all accounts share.
func (l Limits) config(prefix string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: streamName(prefix, "EVENTS"), Description: "events of bridged",
		Subjects: []string{streamSubject(prefix)}, Storage: jetstream.FileStorage, Compression: jetstream.S2Compression,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld,
		Replicas: l.Replicas, MaxAge: eventsMaxAge, MaxBytes: -1, Duplicates: cmp.Or(l.Duplicates, duplicateWindow),
		AllowDirect: true,
	}
}

// stream is the stream of events, read from its leader, as other nodes may lag.
type stream struct {
	jetstream.Stream
	info *jetstream.StreamInfo
}

// openStream opens the stream, or creates it. It does not change the limits of an existing
// stream.
func (l *link) openStream(ctx context.Context) (*stream, error) {
	want := l.options.Stream.config(l.options.Prefix)
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	found, err := openOrMake(jetstream.ErrStreamNotFound, jetstream.ErrStreamNameAlreadyInUse,
		func() (jetstream.Stream, error) { return l.js.Stream(ctx, want.Name) },
		func() (jetstream.Stream, error) { return l.js.CreateStream(ctx, want) })
	if err != nil {
		return nil, fmt.Errorf("open the stream %s: %w", want.Name, err)
	}
	readFromLeader(found)
	return &stream{found, found.CachedInfo()}, nil
}

// unfit returns why a stream that bridged has not created cannot hold each event exactly once, or
// "".
func (s *stream) unfit(subject string) string {
	have := s.info.Config
	switch {
	case have.Retention != jetstream.LimitsPolicy:
		return "the stream removes events after they are read: use limits retention, or events may be stored twice"
	case have.NoAck:
		return "the stream does not acknowledge messages: switch no_ack off"
	case !slices.Contains(have.Subjects, subject):
		return "the stream may lack the events of some accounts: its subjects should contain " + subject
	}
	return ""
}

// readFromLeader makes the client read messages from the stream's leader. If a stream permits
// direct reads, as bridged's streams do, the client would ask any node.
func readFromLeader(s jetstream.Stream) { s.CachedInfo().Config.AllowDirect = false }

// last returns the last message of some subjects, or the zero value.
func (s *stream) last(ctx context.Context, subjects string) (published, error) {
	return read(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return s.GetLastMsgForSubject(ctx, subjects)
	})
}

// from returns the message at a sequence, or with options a later one, or the zero value.
func (s *stream) from(ctx context.Context, sequence uint64, options ...jetstream.GetMsgOpt) (published, error) {
	return read(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) { return s.GetMsg(ctx, sequence, options...) })
}

func read(ctx context.Context, get func(context.Context) (*jetstream.RawStreamMsg, error)) (published, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	m, err := get(ctx)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return published{}, nil
	case err != nil:
		return published{}, fmt.Errorf("read a message of the stream: %w", err)
	}
	return readPublished(m), nil
}

// limit returns the largest message that the server and the stream accept, in bytes.
func (s *publication) limit() int {
	limit := int(s.nc.MaxPayload())
	if most := int(s.stream.info.Config.MaxMsgSize); most > 0 {
		limit = min(limit, most)
	}
	return limit
}
