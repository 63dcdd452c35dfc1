package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// indexBatch is how many packs are indexed in one transaction: it holds up an
// acknowledgement for as long as that takes.
const indexBatch = 2

// indexNext indexes the next full block and reports whether there was one. Grams
// are taken outside the transactions; a message that changes meanwhile finds
// its block claimed, and its pack becomes stale.
func (x *searchIndex) indexNext(ctx context.Context) (bool, error) {
	x.building.Lock()
	defer x.building.Unlock()
	id, found, err := x.claim(ctx)
	if err != nil || !found {
		return false, err
	}
	var b block
	err = x.s.read(ctx, func(r *readTx) (err error) {
		b, err = x.planBlock(ctx, r.conn, id)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("read messages to index: %w", err)
	}
	for left := b.packs; ; {
		n := min(indexBatch, len(left))
		made, err := x.readPacks(ctx, left[:n])
		if err != nil {
			return false, err
		}
		if err := x.writePacks(ctx, b, left[:n], made, n == len(left)); err != nil {
			return false, err
		}
		if err := x.mergeNew(ctx); err != nil {
			return false, err
		}
		if left = left[n:]; len(left) == 0 {
			return true, nil
		}
		if err := x.awaitQuiet(ctx, mostBetween); err != nil {
			return false, err
		}
	}
}

// readPacks makes packs of what their messages say now.
func (x *searchIndex) readPacks(ctx context.Context, plans []packPlan) ([]madePack, error) {
	made := make([]madePack, len(plans))
	err := x.s.read(ctx, func(r *readTx) (err error) {
		for i := 0; i < len(plans) && err == nil; i++ {
			made[i], err = readPack(ctx, r.conn, plans[i])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read messages to index: %w", err)
	}
	return made, nil
}

// writePacks enters packs of a block, those as stale of which a message has
// changed since they were read. With the last of them the block counts as
// indexed.
func (x *searchIndex) writePacks(ctx context.Context, b block, plans []packPlan, made []madePack, last bool) error {
	return x.s.write(ctx, func(ctx context.Context, t *writeTx) error {
		if len(plans) > 0 && plans[0].id == b.packs[0].id {
			if err := t.dropPacks(ctx, firstPack(b.id), firstPack(b.id+1)); err != nil {
				return fmt.Errorf("remove what was indexed before an interruption: %w", err)
			}
		}
		for i, p := range made {
			if plans[i].hasAny(x.touched) {
				p, t.staleMarked = emptyPack(plans[i]), true
			}
			if err := t.savePack(ctx, p); err != nil {
				return fmt.Errorf("index a pack: %w", err)
			}
		}
		if !last || len(b.packs) == 0 {
			return nil
		}
		return t.saveBlock(ctx, b)
	})
}

func (p packPlan) hasAny(seqs map[int64]bool) bool {
	return slices.ContainsFunc(p.seqs, func(seq int64) bool { return seqs[seq] })
}

// claim returns which block to index next, if one is full. Gaps in the numbers of
// messages cost nothing.
func (x *searchIndex) claim(ctx context.Context) (block int64, found bool, err error) {
	x.s.writing.Lock()
	defer x.s.writing.Unlock()
	var indexed, first, newest int64
	if err := x.s.writer.scan(ctx, indexedQuery, nil, &indexed); err != nil {
		return 0, false, err
	}
	err = x.s.writer.scan(ctx, "SELECT seq FROM messages WHERE seq >= ? ORDER BY seq LIMIT 1",
		[]any{x.firstSeq(indexed + 1)}, &first)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	if err := x.s.writer.scan(ctx, "SELECT ifnull(max(seq), 0) FROM messages", nil, &newest); err != nil {
		return 0, false, err
	}
	block = x.blockOf(first)
	if block >= x.blockOf(newest) {
		return 0, false, nil
	}
	x.claimed = max(x.claimed, block)
	clear(x.touched)
	return block, true, nil
}

// reindexStale packs stale packs again and reports whether there were any.
func (x *searchIndex) reindexStale(ctx context.Context) (bool, error) {
	x.building.Lock()
	defer x.building.Unlock()
	var stale []packPlan
	err := x.s.read(ctx, func(r *readTx) (err error) {
		stale, err = stalePlans(ctx, r.conn, 1)
		return err
	})
	if err != nil || len(stale) == 0 {
		return false, err
	}
	err = x.s.write(ctx, func(ctx context.Context, t *writeTx) error {
		stale, err := stalePlans(ctx, t.conn, indexBatch)
		if err != nil {
			return err
		}
		for _, plan := range stale {
			if err := t.reindexPack(ctx, plan); err != nil {
				return fmt.Errorf("index a pack again: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	return true, x.mergeNew(ctx)
}

// Reindex rebuilds the search index and reports how many messages of how many
// are indexed. Searches go on meanwhile; they are exact, but slow.
func (s *Store) Reindex(ctx context.Context, progress func(done, total int)) error {
	return s.index.rebuild(ctx, progress)
}

func (x *searchIndex) rebuild(ctx context.Context, progress func(done, total int)) error {
	if err := x.drop(ctx); err != nil {
		return err
	}
	for {
		more, err := x.indexNext(ctx)
		if err != nil {
			return fmt.Errorf("rebuild the search index: %w", err)
		}
		done, total, err := x.coverage(ctx)
		if err != nil {
			return err
		}
		if !more {
			done = total // the last ones fill no block yet and are scanned
		}
		if progress != nil {
			progress(done, total)
		}
		if !more {
			x.broken.Store(false)
			return nil
		}
	}
}

func (x *searchIndex) drop(ctx context.Context) error {
	x.building.Lock()
	defer x.building.Unlock()
	if err := x.s.write(ctx, x.empty); err != nil {
		return err
	}
	x.s.writing.Lock()
	defer x.s.writing.Unlock()
	x.claimed = noneIndexed
	return nil
}

// Indexed returns how many messages the search index covers, of how many. What
// it does not cover yet is scanned; the last few wait until there are more.
func (s *Store) Indexed(ctx context.Context) (done, total int, err error) {
	done, total, err = s.index.coverage(ctx)
	if total-done < 2<<s.index.blockBits {
		done = total
	}
	return done, total, err
}

// coverage returns how many messages are indexed, of how many.
func (x *searchIndex) coverage(ctx context.Context) (done, total int, err error) {
	err = x.s.read(ctx, func(r *readTx) error {
		var indexed int64
		if err := r.scan(ctx, indexedQuery, nil, &indexed); err != nil {
			return err
		}
		done = int(x.firstSeq(indexed + 1))
		return r.scan(ctx, "SELECT ifnull(max(seq), 0) FROM messages", nil, &total)
	})
	return min(done, total), total, err
}
