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

// retainBatch is how many messages one transaction removes at most: acknowledgements wait
// for it.
const retainBatch = 256

// Retain removes messages, calls and pending changes that are older than a moment, and
// returns how many messages. Chats and events stay.
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

// retainRange removes the old messages of a range and returns how many.
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

// removeOld removes messages that are still old, and returns how many.
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

// PruneEvents removes events from before a moment, and those beyond the newest keep, where
// that is not 0. It returns how many it removed.
func (s *Store) PruneEvents(ctx context.Context, before time.Time, keep int) (total int, err error) {
	for removed := int64(pruneBatch); removed == pruneBatch; total += int(removed) {
		err = s.writeAs(ctx, "remove old events", func(t *writeTx) { removed = t.pruneSome(before.UnixMilli(), keep) })
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// pruneSome removes the next batch of old events and returns how many these were.
func (t *writeTx) pruneSome(before int64, keep int) int64 {
	var surplus, last int64
	if keep > 0 {
		t.Find("SELECT ifnull(max(id), 0) - ? FROM events", []any{keep}, &surplus)
	}
	t.Find(`
		SELECT ifnull(max(id), 0) FROM (SELECT id, at FROM events ORDER BY id LIMIT ?) WHERE at < ? OR id <= ?`,
		[]any{pruneBatch, before, surplus}, &last)
	if last == 0 {
		return 0
	}
	t.setSetting(settingPruned, strconv.FormatInt(last, 10))
	return t.Change("DELETE FROM events WHERE id <= ?", last)
}
