package fleet

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"bridged/internal/bridge"
)

// A batch is stored as a whole or not at all (atomic batch publishing, NATS 2.12).
// A server holds 50 open batches of a stream, so they are for a backlog only.
const (
	minBatch      = 8
	maxBatch      = 256
	maxBatchBytes = 1 << 20

	headerBatch       = "Nats-Batch-Id"
	headerBatchSeq    = "Nats-Batch-Sequence"
	headerBatchCommit = "Nats-Batch-Commit"
)

// errDuplicate says that the server knows the id: the message was stored, and its
// acknowledgement was lost.
var errDuplicate = errors.New("the message was stored before")

// outgoing is a message and the event up to which it publishes the log.
type outgoing struct {
	*nats.Msg
	event int64
}

// messages returns the messages of events, in their order.
func (s *publication) messages(events []bridge.Event) (list []outgoing, err error) {
	for _, e := range events {
		m, err := newMessage(s.subjects, s.at.LogID, e, s.stream.limit())
		if err != nil {
			return nil, err
		}
		list = append(list, outgoing{m, e.ID})
	}
	return list, nil
}

// publishAll publishes messages in their order, as many at a time as may be.
func (s *publication) publishAll(ctx context.Context, list []outgoing) error {
	for len(list) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := s.together(list)
		if err := s.publish(list[:n]); err != nil {
			return err
		}
		list = list[n:]
		if s.stream.info.Config.AllowAtomicPublish {
			s.window = min(2*s.window, maxBatch)
		}
	}
	return nil
}

// together returns how many messages go together now.
func (s *publication) together(list []outgoing) int {
	n, size := 0, 0
	for n < min(len(list), s.window) && size+len(list[n].Data) <= maxBatchBytes {
		size += len(list[n].Data)
		n++
	}
	if n < minBatch {
		return 1
	}
	return n
}

// publish publishes messages behind the account's last one, all of them or none.
// After an error it is not known which, so a stop lets it end.
func (s *publication) publish(list []outgoing) error {
	ctx, cancel := context.WithTimeout(s.publishing, storeTime)
	defer cancel()
	first, final := list[0], list[len(list)-1]
	first.Header.Set(jetstream.ExpectedStreamHeader, s.stream.info.Config.Name)
	first.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(s.last, 10))
	first.Header.Set(jetstream.ExpectedLastSubjSeqSubjHeader, s.subjects.all())
	if len(list) > 1 {
		markBatch(list)
		for _, m := range list[:len(list)-1] {
			if err := s.stream.nc.PublishMsg(m.Msg); err != nil {
				return fmt.Errorf("publish events: %w", err)
			}
		}
	}
	ack, err := s.stream.js.PublishMsg(ctx, final.Msg, jetstream.WithRetryAttempts(0))
	if err != nil {
		return fmt.Errorf("publish events: %w", err)
	}
	if ack.Duplicate {
		return errDuplicate
	}
	s.stored(ack.Sequence, final.event, len(list))
	return nil
}

// markBatch makes a batch of messages.
func markBatch(list []outgoing) {
	id := nuid.Next()
	for i, m := range list {
		m.Header.Set(headerBatch, id)
		m.Header.Set(headerBatchSeq, strconv.Itoa(i+1))
	}
	list[len(list)-1].Header.Set(headerBatchCommit, "1")
}

// stored notes messages that the stream has acknowledged.
func (s *publication) stored(sequence uint64, event int64, count int) {
	s.last, s.hasPublished, s.failures = sequence, true, 0
	s.at.Event, s.at.Sequence, s.at.Stream = event, sequence, s.stream.info.Created
	s.published.Add(uint64(count))
	s.event.Store(event)
}
