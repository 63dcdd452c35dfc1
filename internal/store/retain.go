package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"bridged/internal/store/db"
)

// retainBatch is how many messages are looked at, and at most removed, in one
// transaction: it holds up an acknowledgement for as long as that takes.
const retainBatch = 256

// Retain removes the messages that are older than a moment, with all that
// belongs to them, and returns how many. So it does with calls, and with changes
// that have waited since then for their message. Their chats stay. The log of events
// is left as it is: see [Store.PruneEvents].
//
// It goes by seq, not by chat, so that whole blocks of the search index
// become empty instead of many being indexed again.
func (s *Store) Retain(ctx context.Context, olderThan time.Time) (int, error) {
	before := olderThan.UnixMilli()
	if _, err := s.forgetPendingBefore(ctx, olderThan); err != nil {
		return 0, err
	}
	if err := s.removeCallsBefore(ctx, before); err != nil {
		return 0, fmt.Errorf("remove old calls: %w", err)
	}
	last, tail := int64(0), int64(0)
	if err := s.read(ctx, func(r *readTx) { last, tail = s.index.Before(r.Conn, before) }); err != nil {
		return 0, fmt.Errorf("look for old messages: %w", err)
	}
	total := 0
	for _, seqs := range [][2]int64{{0, last}, {max(tail, last+1), math.MaxInt64}} {
		n, err := s.retainRange(ctx, seqs[0], seqs[1], before)
		total += n
		if err != nil {
			return total, fmt.Errorf("remove old messages: %w", err)
		}
	}
	s.index.Wake() // packs that have lost only some of their messages
	return total, nil
}

// retainRange removes the old ones of some messages and returns how many.
func (s *Store) retainRange(ctx context.Context, from, to, before int64) (total int, err error) {
	for seen := retainBatch; seen == retainBatch; {
		var old []int64
		seen = 0
		err := s.read(ctx, func(r *readTx) {
			for row := range r.Rows("SELECT seq, timestamp FROM messages WHERE seq BETWEEN ? AND ? ORDER BY seq"+db.Limited, from, to, retainBatch) {
				var p position
				row.Scan(&p.Seq, &p.Timestamp)
				if p.Timestamp < before {
					old = append(old, p.Seq)
				}
				seen, from = seen+1, p.Seq+1
			}
		})
		removed := 0
		if err == nil && len(old) > 0 {
			err = s.write(ctx, func(t *writeTx) { removed = t.removeOld(old, before) })
		}
		if err != nil {
			return total, err
		}
		total += removed
	}
	return total, nil
}

// removeOld removes messages, and from the index what only they contained. It
// returns how many: some may have got another time since they were looked at.
func (t *writeTx) removeOld(seqs []int64, before int64) int {
	old := slices.DeleteFunc(seqs, func(seq int64) bool {
		var timestamp int64
		return !t.Find("SELECT timestamp FROM messages WHERE seq = ? AND timestamp < ?", []any{seq, before}, &timestamp)
	})
	t.s.index.MarkRemoved(t.Conn, old)
	for _, seq := range old {
		t.markUsed(seq)
		t.removeUnpacked(seq)
	}
	t.s.index.DropEmpty(t.Conn, old)
	return len(old)
}

// pruneBatch is how many events are removed in one transaction.
const pruneBatch = 2000

// PruneEvents removes events from before a moment, and as many more that no
// more than keep are left; keep 0 is no such limit. It returns how many it
// removed.
func (s *Store) PruneEvents(ctx context.Context, before time.Time, keep int) (int, error) {
	total := 0
	for {
		n, err := s.pruneSome(ctx, before.UnixMilli(), keep)
		total += n
		if err != nil {
			return total, fmt.Errorf("remove old events: %w", err)
		}
		if n < pruneBatch {
			return total, nil
		}
	}
}

func (s *Store) pruneSome(ctx context.Context, before int64, keep int) (int, error) {
	var removed int64
	err := s.write(ctx, func(t *writeTx) {
		last := t.lastToPrune(before, keep)
		if last == 0 {
			return
		}
		t.setSetting(settingPruned, strconv.FormatInt(last, 10))
		removed = t.Change("DELETE FROM events WHERE id <= ?", last)
	})
	return int(removed), err
}

// lastToPrune returns the last event of the next batch to remove, 0 when there is
// none.
func (t *writeTx) lastToPrune(before int64, keep int) int64 {
	surplus := int64(0)
	if keep > 0 {
		t.Find("SELECT ifnull(max(id), 0) - ? FROM events", []any{keep}, &surplus)
	}
	var last int64
	t.Find(`
		SELECT ifnull(max(id), 0) FROM (SELECT id, at FROM events ORDER BY id LIMIT ?) WHERE at < ? OR id <= ?`,
		[]any{pruneBatch, before, surplus}, &last)
	return last
}
