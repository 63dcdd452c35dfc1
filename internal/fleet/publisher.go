package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// lazySave is how far the stored cursor may lag. The publisher resumes from the stream, so it
	// need not be exact.
	lazySave = time.Second
	// firstPause and longestPause bound the time between two attempts. foreignPause is the pause
	// if another bridge publishes for the account.
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
	foreignPause = time.Minute
	// ackTimeout limits the last acknowledgement when the program stops, saveTimeout the last save.
	ackTimeout  = time.Second
	saveTimeout = 2 * time.Second

	pageEvents = 256 // events read from the log at once
)

// publication publishes the event log to the stream. It resumes after the account's last message
// in the stream: a stored cursor lags after a crash, and JetStream removes duplicates of minutes
// only. Only run's goroutine uses it.
type publication struct {
	*link
	source     Log
	subjects   subjects
	publishing context.Context // ends ackTimeout after run's own context

	stream       *stream
	last         uint64   // sequence of the account's last message, 0 if none
	at           Position // published up to here
	saved        Position // the cursor in the store
	savedAt      time.Time
	isLoaded     bool
	isReset      bool // a reset must be published before anything else
	isForeign    bool // another bridge publishes for the account
	hasPublished bool
	failures     int    // since something was stored
	warned       string // why the stream is unfit, as logged
	reason       string // why nothing is published, as logged
}

// publishLog publishes until ctx ends. It may be called again after it has returned.
func (l *link) publishLog(ctx context.Context) {
	p := &publication{link: l, source: l.options.Log, subjects: subjectsOf(l.options.Prefix, l.account)}
	p.run(ctx)
}

func (s *publication) run(ctx context.Context) {
	defer s.finish(ctx)
	lasting, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(ackTimeout, abort) })()
	for {
		err := s.follow(ctx, lasting)
		if ctx.Err() != nil {
			return
		}
		s.warn(err)
		select {
		case <-ctx.Done():
		case <-time.After(s.pause()):
		case <-s.online:
		}
	}
}

// follow publishes the log as it grows. It returns at the first error, after which the state of
// the stream is unknown.
func (s *publication) follow(ctx, lasting context.Context) (err error) {
	ctx, cancel := s.whileUp(ctx)
	defer cancel()
	publishing, end := s.whileUp(lasting)
	defer end()
	s.publishing = publishing
	if err := checkVersion(s.nc.ConnectedServerVersion()); err != nil {
		return err
	}
	if s.stream, err = s.openStream(ctx); err != nil {
		return err
	}
	if why := s.stream.unfit(streamSubject(s.options.Prefix)); why != s.warned {
		s.warned = why
		if why != "" {
			s.log.Warn().Str("stream", s.stream.info.Config.Name).Msg(why)
		}
	}
	if err := s.resume(ctx); err != nil {
		return err
	}
	s.event.Store(s.at.Event)
	for {
		changed := s.source.Changed() // before reading
		more, err := s.step(ctx)
		if err != nil {
			return err
		}
		if !more {
			s.failures, s.reason = 0, ""
			if err := s.wait(ctx, changed); err != nil {
				return err
			}
		}
	}
}

// step publishes a page of the log and reports whether there is more.
func (s *publication) step(ctx context.Context) (more bool, err error) {
	page, err := s.source.Events(ctx, s.at.Event, pageEvents)
	if err != nil {
		return false, err
	}
	if page.IsReset || s.isReset {
		if err := s.publishReset(s.lost(page)); err != nil {
			return false, err
		}
	}
	for _, e := range page.Events {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		m, err := newMessage(s.subjects, s.at.LogID, e, s.limit())
		if err == nil {
			err = s.publish(m, e.ID)
		}
		if err != nil {
			return false, err
		}
	}
	s.at.Event = page.Next // events before it may not be shown any more
	s.event.Store(page.Next)
	if time.Since(s.savedAt) >= lazySave {
		err = s.save(ctx)
	}
	return page.More, err
}

// publish publishes a message after the account's last one. event is the event of the log up to
// which the log is then published. After an error it is unknown whether the message was stored,
// so stopping waits for the answer.
func (s *publication) publish(m *nats.Msg, event int64) error {
	ctx, cancel := context.WithTimeout(s.publishing, publishTimeout)
	defer cancel()
	ack, err := s.js.PublishMsg(ctx, m, jetstream.WithExpectStream(s.stream.info.Config.Name),
		jetstream.WithExpectLastSequenceForSubject(s.last, s.subjects.all()), jetstream.WithRetryAttempts(0))
	if err != nil {
		return fmt.Errorf("publish an event: %w", err)
	}
	if ack.Duplicate {
		return errors.New("the event was already stored, and its acknowledgement was lost")
	}
	s.last, s.hasPublished, s.failures = ack.Sequence, true, 0
	s.at.Event, s.at.Sequence, s.at.Stream = event, ack.Sequence, s.stream.info.Created
	s.published.Add(1)
	s.event.Store(event)
	return nil
}

// lost returns the number up to which consumers have missed events.
func (s *publication) lost(page Page) int64 {
	switch {
	case !page.IsReset:
		return s.at.Event
	case len(page.Events) > 0:
		return page.Events[0].ID - 1
	}
	return page.Next
}

// wait waits until the log grows, or saves the cursor when that is due.
func (s *publication) wait(ctx context.Context, changed <-chan struct{}) error {
	var due <-chan time.Time
	if s.at != s.saved {
		due = time.After(lazySave)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
		return nil
	case <-due:
		return s.save(ctx)
	}
}

// pause returns how long to wait after a failure. The first failure is retried at once.
func (s *publication) pause() time.Duration {
	if s.isForeign {
		s.isForeign, s.hasPublished = false, false // after the pause, consumers get a reset and publishing continues
		return foreignPause
	}
	s.failures++
	if s.failures == 1 {
		return 0
	}
	pause := longestPause
	if s.failures < 10 {
		pause = min(firstPause<<(s.failures-2), longestPause)
	}
	return pause/2 + rand.N(pause/2)
}

// warn logs why nothing is published, once for each reason.
func (s *publication) warn(err error) {
	if s.failures == 0 && !s.isForeign || !s.nc.IsConnected() {
		s.log.Debug().Err(err).Msg("cannot publish events; trying again") // it may be over at once, or was logged before
		return
	}
	if why := err.Error(); why != s.reason {
		s.reason = why
		s.log.Warn().Err(err).Msg("cannot publish events; trying again")
	}
}

// finish saves the cursor when the program stops.
func (s *publication) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := s.save(ctx); err != nil && !errors.Is(err, context.Canceled) {
		s.log.Warn().Err(err).Msg("cannot save the position of published events; the next start reads it from the stream")
	}
}

func (s *publication) save(ctx context.Context) error {
	if s.at == s.saved {
		return nil
	}
	if err := s.source.SavePosition(ctx, s.at); err != nil {
		return err
	}
	s.saved, s.savedAt = s.at, time.Now()
	return nil
}
