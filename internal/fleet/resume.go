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

// The publisher resumes from the stream: acknowledgements may have been lost, and the
// cursor is saved later than events are published. The rules, for the account's last
// message in the stream (M) and the cursor (C):
//
//   - M is of this log: go on behind it. If C is further, the messages between were
//     stored and are gone. They are published again where the stream has lost its end (a
//     restored copy, a node without power), and not where its limits or a person removed
//     them.
//   - There is no M: the same, with nothing before it. A new stream gets all that the
//     log keeps.
//   - M is of this log, which has another event under that number or has not come so
//     far: the log goes on from an old copy. It gets another id, goes on behind the last
//     event that both have, and consumers get a reset.
//   - M is of another log: consumers get a reset, and C counts.
//
// Every message then names the one before it, and the stream refuses it if another has
// become the last meanwhile. So an early read or a late publish does no harm.

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
	return s.resumeBehind(ctx, last)
}

// load reads the cursor. A log without an id gets one before it is published.
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

// resumeBefore goes on where the stream has less than the cursor knows of.
func (s *publication) resumeBefore(ctx context.Context, last published) error {
	if last.sequence > 0 && last.sequence == s.at.Sequence && s.at.Stream.Equal(s.stream.info.Created) {
		return nil // nothing is shown of the events between
	}
	isLost, err := s.hasLostItsEnd(ctx)
	if err != nil || !isLost {
		return err
	}
	if s.at.Sequence > 0 {
		s.log.Warn().Int64("from", last.event).Int64("to", s.at.Event).Msg("the stream has lost events: they are published again")
	}
	s.at.Event = last.event
	return nil
}

// hasLostItsEnd reports whether the stream never had the message that the cursor
// stands at, or had it and has stored another under its sequence.
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

// resumeBehind goes on behind a message of this log, if it is the log's own.
func (s *publication) resumeBehind(ctx context.Context, last published) error {
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

// hasEvent reports whether a log has an event. One that is not shown any more, or
// whose time is not known, cannot be compared.
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

// resumeCopy goes on with a log that goes on from an old copy.
func (s *publication) resumeCopy(ctx context.Context) error {
	common, err := s.lastCommon(ctx)
	if err != nil {
		return err
	}
	s.log.Warn().Int64("event", common).Msg("the log goes on from an old copy: it is published as another one, and consumers are told")
	s.at = Position{LogID: rand.Text(), Event: common, Sequence: s.last, Stream: s.stream.info.Created}
	s.isReset = true
	return s.save(ctx)
}

// lastCommon returns the last event that both the stream and the log have. It begins
// at the cursor, behind which the copy was made.
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

// resumeForeign goes on behind messages that another log has published for the account.
func (s *publication) resumeForeign(ctx context.Context) error {
	if s.hasPublished {
		s.isForeign = true
		return fmt.Errorf("another bridge publishes events of this account: %w", errForeign)
	}
	s.isReset = true
	return nil
}

var errForeign = errors.New("stop one of the two")

// publishReset publishes that events are lost to consumers, or that the numbers of
// the log begin anew.
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
