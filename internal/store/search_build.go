package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
)

// indexBatch is how many blocks are indexed in one transaction: it holds up an
// acknowledgement for as long as that takes.
const indexBatch = 8

// indexNext indexes the next full blocks and reports whether there were any.
// Grams are taken outside the transaction; a message that changes meanwhile
// finds its block claimed and makes it stale.
func (x *searchIndex) indexNext(ctx context.Context) (bool, error) {
	x.building.Lock()
	defer x.building.Unlock()
	first, last, err := x.claim(ctx)
	if err != nil || last < first {
		return false, err
	}
	var blocks []block
	err = x.s.read(ctx, func(r *readTx) (err error) {
		blocks, err = readBlocks(ctx, r.conn, first, last)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("read messages to index: %w", err)
	}
	err = x.s.write(ctx, func(ctx context.Context, t *writeTx) error {
		for _, b := range blocks {
			if err := t.saveBlock(ctx, b); err != nil {
				return fmt.Errorf("index a block: %w", err)
			}
		}
		return nil
	})
	return err == nil, err
}

// claim returns which blocks to index next: those that are full, up to a batch.
// Gaps in the numbers of messages cost nothing.
func (x *searchIndex) claim(ctx context.Context) (first, last int64, err error) {
	x.s.writing.Lock()
	defer x.s.writing.Unlock()
	var indexed, newest int64
	if err := x.s.writer.scan(ctx, indexedQuery, nil, &indexed); err != nil {
		return 0, -1, err
	}
	err = x.s.writer.scan(ctx, "SELECT arrival FROM messages WHERE arrival >= ? ORDER BY arrival LIMIT 1",
		[]any{(indexed + 1) << blockBits}, &first)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, -1, nil
	}
	if err != nil {
		return 0, -1, err
	}
	if err := x.s.writer.scan(ctx, "SELECT ifnull(max(arrival), 0) FROM messages", nil, &newest); err != nil {
		return 0, -1, err
	}
	first, last = blockOf(first), blockOf(newest)-1
	last = min(last, first+indexBatch-1)
	x.claimed = max(x.claimed, last)
	return first, last, nil
}

// reindexStale indexes stale blocks again and reports whether there were any.
func (x *searchIndex) reindexStale(ctx context.Context) (bool, error) {
	x.building.Lock()
	defer x.building.Unlock()
	found := false
	err := x.s.read(ctx, func(r *readTx) error {
		return r.scan(ctx, "SELECT EXISTS ("+staleQuery+")", nil, &found)
	})
	if err != nil || !found {
		return false, err
	}
	err = x.s.write(ctx, func(ctx context.Context, t *writeTx) error {
		stale, err := t.ids(ctx, staleQuery+" LIMIT "+strconv.Itoa(indexBatch))
		if err != nil {
			return err
		}
		for _, id := range stale {
			if err := t.reindexBlock(ctx, id); err != nil {
				return fmt.Errorf("index a block again: %w", err)
			}
		}
		return nil
	})
	return err == nil, err
}

func (t *writeTx) reindexBlock(ctx context.Context, id int64) error {
	if err := t.run(ctx, "DELETE FROM stale_blocks WHERE block = ?", id); err != nil {
		return err
	}
	blocks, err := readBlocks(ctx, t.conn, id, id)
	if err != nil {
		return err
	}
	if len(blocks) == 0 {
		return t.dropBlock(ctx, id)
	}
	return t.saveBlock(ctx, blocks[0])
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
	if total-done < (indexEvery+2)*blockSize {
		done = total
	}
	return done, total, err
}

// coverage returns how many messages are indexed, of how many.
func (x *searchIndex) coverage(ctx context.Context) (done, total int, err error) {
	err = x.s.read(ctx, func(r *readTx) error {
		var indexed int
		if err := r.scan(ctx, indexedQuery, nil, &indexed); err != nil {
			return err
		}
		done = (indexed + 1) * blockSize
		return r.scan(ctx, "SELECT ifnull(max(arrival), 0) FROM messages", nil, &total)
	})
	return min(done, total), total, err
}
