package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
)

// The publisher resumes from the stream, because acknowledgements may have been lost and the
// cursor is saved later than events are published. The rules compare the account's last message
// in the stream (M) with the cursor (C):
//
//   - M belongs to this log: continue after it. If C is further, the messages in between were
//     stored and are missing now. They are published again if the stream has lost its end (a
//     restored copy, a node without power), but not if its limits or a person removed them.
//   - There is no M: the same rule, starting at the beginning. A new stream gets all events that
//     the log still has.
//   - M belongs to this log, but the log has another event under that number or has not reached
//     it: the log was restored from an old copy. It gets a new id and continues after the last
//     event that both have, and consumers get a reset.
//   - M belongs to another log: consumers get a reset, and publishing continues after C.
//
// From then on every message names the one before it, and the stream refuses the message if
// another one has become the last. So reading too early or publishing too late does no harm.

func (s *publication) resume(ctx context.Context) error {
	if err := s.load(ctx); err != nil {
		return err
	}
	last, err := s.stream.last(ctx, s.subjects.all())
	if err != nil {
		return err
	}
	s.last = last.sequence
	if last.sequence > 0 && last.logID == s.at.LogID {
		s.isReset = false // messages of this log follow the reset
	}
	switch {
	case last.sequence == 0 || last.logID == s.at.LogID && last.event < s.at.Event:
		return s.resumeBefore(ctx, last)
	case last.logID != s.at.LogID:
		return s.resumeForeign(ctx)
	}
	return s.resumeAfter(ctx, last)
}

// load reads the cursor. A log that was never published gets its id first.
func (s *publication) load(ctx context.Context) (err error) {
	if s.isLoaded {
		return nil
	}
	if s.at, err = s.source.Position(ctx); err != nil {
		return err
	}
	if s.at.LogID == "" {
		s.at = Position{LogID: rand.Text()}
		if err := s.source.SavePosition(ctx, s.at); err != nil {
			return err
		}
	}
	s.saved, s.isLoaded = s.at, true
	return nil
}

// resumeBefore resumes if the stream ends before the cursor.
func (s *publication) resumeBefore(ctx context.Context, last published) error {
	if last.sequence > 0 && last.sequence == s.at.Sequence && s.at.Stream.Equal(s.stream.info.Created) {
		return nil // the events in between are not shown any more
	}
	isLost, err := s.hasLostItsEnd(ctx)
	if err != nil || !isLost {
		return err
	}
	if s.at.Sequence > 0 {
		s.log.Warn().Int64("from", last.event).Int64("to", s.at.Event).Msg("the stream has lost events; publishing them again")
	}
	s.at.Event = last.event
	return nil
}

// hasLostItsEnd reports whether the stream never had the message at the cursor, or has lost it
// and stored another message under its sequence.
func (s *publication) hasLostItsEnd(ctx context.Context) (bool, error) {
	info := s.stream.info
	switch {
	case s.at.Sequence == 0:
		return true, nil
	case !s.at.Stream.Equal(info.Created) || s.at.Sequence > info.State.LastSeq:
		return true, nil
	}
	p, err := s.stream.from(ctx, s.at.Sequence)
	return p.sequence > 0, err
}

// resumeAfter continues after a message of this log, if the log has the same event.
func (s *publication) resumeAfter(ctx context.Context, last published) error {
	isOwn, err := hasEvent(ctx, s.source, last.event, last.at)
	if err != nil {
		return err
	}
	if !isOwn {
		return s.resumeCopy(ctx)
	}
	s.at.Event = last.event
	s.at.Sequence, s.at.Stream = last.sequence, s.stream.info.Created
	return nil
}

// hasEvent reports whether a log has an event. It returns true if it cannot know: if the event is
// not shown any more, or its time is unknown.
func hasEvent(ctx context.Context, log Log, event int64, at bridge.Time) (bool, error) {
	newest, err := log.LastEvent(ctx)
	if err != nil || event == 0 || event > newest {
		return event == 0, err
	}
	page, err := log.Events(ctx, event-1, 1)
	if err != nil || len(page.Events) == 0 || page.Events[0].ID != event || at.IsZero() {
		return err == nil, err
	}
	return page.Events[0].At.UnixMilli() == at.UnixMilli(), nil
}

// resumeCopy continues with a log that was restored from an old copy.
func (s *publication) resumeCopy(ctx context.Context) error {
	common, err := s.lastCommon(ctx)
	if err != nil {
		return err
	}
	s.log.Warn().Int64("event", common).Msg("the event log was restored from an old copy: publishing it as a new log, and sending consumers a reset")
	s.at = Position{LogID: rand.Text(), Event: common, Sequence: s.last, Stream: s.stream.info.Created}
	s.isReset = true
	return s.save(ctx)
}

// lastCommon returns the last event that both the stream and the log have. It searches from the
// cursor on, because the copy was made after the cursor was saved.
func (s *publication) lastCommon(ctx context.Context) (int64, error) {
	common, sequence := s.at.Event, s.at.Sequence
	if !s.at.Stream.Equal(s.stream.info.Created) {
		sequence = 0
	}
	for sequence < s.last {
		p, err := s.stream.from(ctx, sequence+1, jetstream.WithGetMsgSubject(s.subjects.all()))
		if err != nil {
			return 0, err
		}
		if p.sequence == 0 {
			break
		}
		sequence = p.sequence
		if p.logID != s.at.LogID || p.event <= common {
			continue
		}
		isOwn, err := hasEvent(ctx, s.source, p.event, p.at)
		if err != nil || !isOwn {
			return common, err
		}
		common = p.event
	}
	return common, nil
}

// resumeForeign continues after messages that another log has published for the account.
func (s *publication) resumeForeign(ctx context.Context) error {
	if s.hasPublished {
		s.isForeign = true
		return fmt.Errorf("another bridge publishes events of this account: %w", errForeign)
	}
	s.isReset = true
	return nil
}

var errForeign = errors.New("stop one of the two")

// publishReset publishes that consumers have missed events, or that the numbers of the log start
// again.
func (s *publication) publishReset(after int64) error {
	m, err := newReset(s.subjects, s.at.LogID, after, bridge.At(time.Now()))
	if err != nil {
		return err
	}
	if err := s.publish(m, after); err != nil {
		return err
	}
	s.isReset = false
	return nil
}
