package store

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"
)

// retainBatch is how many messages are looked at, and at most removed, in one
// transaction: it holds up an acknowledgement for as long as that takes.
const retainBatch = 256

// Retain removes the messages that are older than a moment, with all that
// belongs to them, and returns how many. So it does with calls, and with changes
// that have waited since then for their message. Their chats stay. The log of events
// is left as it is: see [Store.PruneEvents].
//
// It goes by arrival, not by chat, so that whole blocks of the search index
// become empty instead of many being indexed again.
func (s *Store) Retain(ctx context.Context, olderThan time.Time) (int, error) {
	before := olderThan.UnixMilli()
	if _, err := s.forgetPendingBefore(ctx, olderThan); err != nil {
		return 0, err
	}
	if err := s.removeCallsBefore(ctx, before); err != nil {
		return 0, fmt.Errorf("remove old calls: %w", err)
	}
	last, tail, err := s.rangesBefore(ctx, before)
	if err != nil {
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
	notify(s.index.work) // packs that have lost only some of their messages
	return total, nil
}

// rangesBefore returns where messages from before a moment may be: up to one
// arrival among those that are indexed, and from another on among those that
// are not.
func (s *Store) rangesBefore(ctx context.Context, before int64) (last, tail int64, err error) {
	err = s.read(ctx, func(r *readTx) error {
		var indexed int64
		if err := r.scan(ctx, indexedQuery, nil, &indexed); err != nil {
			return err
		}
		edge, err := r.blockAt(ctx, lastDowntoQuery, before, noneIndexed)
		last, tail = s.index.firstSeq(edge+1)-1, s.index.firstSeq(indexed+1)
		return err
	})
	return last, tail, err
}

func (s *Store) retainRange(ctx context.Context, from, to, before int64) (int, error) {
	total := 0
	for {
		old, next, err := s.oldMessages(ctx, from, to, before)
		if err != nil {
			return total, err
		}
		if len(old) > 0 {
			n := 0
			err := s.write(ctx, func(ctx context.Context, t *writeTx) (err error) {
				n, err = t.removeOld(ctx, old, before)
				return err
			})
			if err != nil {
				return total, err
			}
			total += n
		}
		if next == 0 {
			return total, nil
		}
		from = next
	}
}

// oldMessages looks at the next batch of arrivals and returns which of the
// messages are old, and where to look next, 0 for nowhere.
func (s *Store) oldMessages(ctx context.Context, from, to, before int64) (old []int64, next int64, err error) {
	err = s.read(ctx, func(r *readTx) error {
		seen := 0
		err := r.each(ctx, `
			SELECT seq, timestamp FROM messages WHERE seq BETWEEN ? AND ? ORDER BY seq`+limited,
			[]any{from, to, retainBatch}, func(rows *resultSet) error {
				var p position
				err := rows.Scan(&p.seq, &p.timestamp)
				if p.timestamp < before {
					old = append(old, p.seq)
				}
				seen, next = seen+1, p.seq+1
				return err
			})
		if seen < retainBatch {
			next = 0
		}
		return err
	})
	return old, next, err
}

// removeOld removes messages, and from the index what only they contained.
func (t *writeTx) removeOld(ctx context.Context, seqs []int64, before int64) (int, error) {
	var old []int64
	blocks := make(map[int64]bool)
	for _, seq := range seqs {
		var timestamp int64
		found, err := t.find(ctx, "SELECT timestamp FROM messages WHERE seq = ?", []any{seq}, &timestamp)
		if err != nil {
			return 0, err
		}
		if found && timestamp < before {
			old = append(old, seq)
			blocks[t.s.index.blockOf(seq)] = true
		}
	}
	if err := t.markStale(ctx, old...); err != nil {
		return 0, err
	}
	for _, seq := range old {
		if err := t.markUsed(ctx, seq); err != nil {
			return 0, err
		}
		if err := t.removeUnpacked(ctx, seq); err != nil {
			return 0, err
		}
	}
	for id := range blocks {
		if err := t.dropIfEmpty(ctx, id); err != nil {
			return 0, err
		}
	}
	t.staleMarked = false // most blocks are empty soon, and need not be indexed again
	return len(old), nil
}

// dropIfEmpty removes a block from the index if none of its messages is left. One
// that is not indexed yet may be about to be.
func (t *writeTx) dropIfEmpty(ctx context.Context, block int64) error {
	var left int64
	x := t.s.index
	some, err := t.find(ctx, "SELECT seq FROM messages WHERE seq BETWEEN ? AND ? LIMIT 1",
		[]any{x.firstSeq(block), x.firstSeq(block+1) - 1}, &left)
	if err != nil || some {
		return err
	}
	indexed, err := t.lastIndexed(ctx)
	if err != nil || block > indexed {
		return err
	}
	return t.dropBlock(ctx, block)
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
	err := s.write(ctx, func(ctx context.Context, t *writeTx) error {
		last, err := t.lastToPrune(ctx, before, keep)
		if err != nil || last == 0 {
			return err
		}
		if err := t.setSetting(ctx, settingPruned, strconv.FormatInt(last, 10)); err != nil {
			return err
		}
		removed, err = t.change(ctx, "DELETE FROM events WHERE id <= ?", last)
		return err
	})
	return int(removed), err
}

// lastToPrune returns the last event of the next batch to remove, 0 when there is
// none.
func (t *writeTx) lastToPrune(ctx context.Context, before int64, keep int) (int64, error) {
	surplus := int64(0)
	if keep > 0 {
		if _, err := t.find(ctx, "SELECT ifnull(max(id), 0) - ? FROM events", []any{keep}, &surplus); err != nil {
			return 0, err
		}
	}
	var last int64
	_, err := t.find(ctx, `
		SELECT ifnull(max(id), 0) FROM (SELECT id, at FROM events ORDER BY id LIMIT ?) WHERE at < ? OR id <= ?`,
		[]any{pruneBatch, before, surplus}, &last)
	return last, err
}
