package search

import (
	"context"
	"fmt"

	"bridged/internal/store/db"
)

const (
	// indexBatch is how many packs are indexed in one transaction: it holds up an
	// acknowledgement for as long as that takes.
	indexBatch = 2
	// mergePages is how many pages of the index are merged in one transaction, for
	// the same reason.
	mergePages = 64
)

// indexNext indexes the next full block and reports whether there was one. Grams
// are taken outside the transactions; a message that changes meanwhile finds
// its block claimed, and its pack becomes stale.
func (x *Index) indexNext(ctx context.Context) (bool, error) {
	x.building.Lock()
	defer x.building.Unlock()
	id, found, err := x.claim(ctx)
	if err != nil || !found {
		return false, err
	}
	var b block
	if err := x.store.View(ctx, func(c *db.Conn) { b = x.planBlock(c, id) }); err != nil {
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
		if _, err := x.merge(ctx, mergePages); err != nil {
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

// claim returns which block to index next, if one is full, and notes that it is
// being indexed. Gaps in the numbers of messages cost nothing.
func (x *Index) claim(ctx context.Context) (block int64, found bool, err error) {
	err = x.store.View(ctx, func(c *db.Conn) {
		var first, newest int64
		if c.Find("SELECT seq FROM messages WHERE seq >= ? ORDER BY seq LIMIT 1", []any{x.firstSeq(lastIndexed(c) + 1)}, &first) {
			c.Find("SELECT ifnull(max(seq), 0) FROM messages", nil, &newest)
			block = x.blockOf(first)
			found = block < x.blockOf(newest)
		}
	})
	if err != nil || !found {
		return 0, false, err
	}
	return block, true, x.store.Update(ctx, func(*db.Conn) {
		x.claimed.Store(max(x.claimed.Load(), block))
		clear(x.touched)
	})
}

// readPacks makes packs of what their messages say now.
func (x *Index) readPacks(ctx context.Context, plans []packPlan) ([]madePack, error) {
	made := make([]madePack, len(plans))
	err := x.store.View(ctx, func(c *db.Conn) {
		for i, plan := range plans {
			made[i] = readPack(c, plan)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read messages to index: %w", err)
	}
	return made, nil
}

// writePacks enters packs of a block, those as stale of which a message has
// changed since they were read. With the last of them the block counts as
// indexed.
func (x *Index) writePacks(ctx context.Context, b block, plans []packPlan, made []madePack, last bool) error {
	err := x.store.Update(ctx, func(c *db.Conn) {
		if len(plans) > 0 && plans[0].id == b.packs[0].id { // what is left of an interruption
			dropPacks(c, firstPack(b.id), firstPack(b.id+1))
		}
		for i, p := range made {
			if plans[i].hasAny(x.touched) {
				p, x.stale = emptyPack(plans[i]), true
			}
			savePack(c, p)
		}
		if last && len(b.packs) > 0 {
			saveBlock(c, b)
		}
	})
	if err != nil {
		return fmt.Errorf("index packs: %w", err)
	}
	return nil
}

// reindexStale packs stale packs again and reports whether there were any.
func (x *Index) reindexStale(ctx context.Context) (bool, error) {
	x.building.Lock()
	defer x.building.Unlock()
	var stale []packPlan
	err := x.store.View(ctx, func(c *db.Conn) { stale = stalePlans(c, 1) })
	if err != nil || len(stale) == 0 {
		return false, err
	}
	err = x.store.Update(ctx, func(c *db.Conn) {
		for _, plan := range stalePlans(c, indexBatch) {
			reindexPack(c, plan)
		}
	})
	if err != nil {
		return false, fmt.Errorf("index packs again: %w", err)
	}
	_, err = x.merge(ctx, mergePages)
	return true, err
}

// merge merges some pages of the index's segments, where packs that were written
// have made that worth it, and reports whether there was anything to merge. A
// negative number of pages begins with all segments, also with a single one.
func (x *Index) merge(ctx context.Context, pages int) (bool, error) {
	var before, after int64
	err := x.store.Update(ctx, func(c *db.Conn) {
		c.Find("SELECT total_changes()", nil, &before)
		c.Run("INSERT INTO grams (grams, rank) VALUES ('merge', ?)", pages)
		c.Find("SELECT total_changes()", nil, &after)
	})
	if err != nil {
		return false, fmt.Errorf("merge the search index: %w", err)
	}
	// The statement itself counts as a change (sqlite.org/fts5.html, 6.8).
	return after-before >= 2, nil
}

// Forget indexes the blocks with deleted messages again, and then merges
// the segments of the index, which leaves out what was deleted from it.
func (x *Index) Forget(ctx context.Context) error {
	for more := true; more; {
		var err error
		if more, err = x.reindexStale(ctx); err != nil {
			return err
		}
	}
	// New blocks come in meanwhile, so that there may always be something left to
	// merge: so many steps merge the whole index at most.
	var steps int
	err := x.store.View(ctx, func(c *db.Conn) { c.Find("SELECT count(*) / ? + 2 FROM grams_data", []any{mergePages}, &steps) })
	if err != nil {
		return err
	}
	for range steps {
		more, err := x.mergeAlone(ctx)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// mergeAlone merges some pages of all segments while nothing is indexed.
func (x *Index) mergeAlone(ctx context.Context) (bool, error) {
	x.building.Lock()
	defer x.building.Unlock()
	return x.merge(ctx, -mergePages)
}

// Rebuild builds the index anew and reports how many messages of how many are
// indexed; progress may be nil. Searches go on meanwhile; they are exact, but slow.
func (x *Index) Rebuild(ctx context.Context, progress func(done, total int)) error {
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

func (x *Index) drop(ctx context.Context) error {
	x.building.Lock()
	defer x.building.Unlock()
	if err := x.store.Update(ctx, x.empty); err != nil {
		return fmt.Errorf("empty the search index: %w", err)
	}
	return x.store.Update(ctx, func(*db.Conn) { x.claimed.Store(noneIndexed) })
}

// Indexed returns how many messages the index covers, of how many. What it does
// not cover yet is scanned; the last few wait until there are more.
func (x *Index) Indexed(ctx context.Context) (done, total int, err error) {
	done, total, err = x.coverage(ctx)
	if total-done < 2<<x.blockBits {
		done = total
	}
	return done, total, err
}

// coverage returns how many messages are indexed, of how many.
func (x *Index) coverage(ctx context.Context) (done, total int, err error) {
	err = x.store.View(ctx, func(c *db.Conn) {
		done = int(x.firstSeq(lastIndexed(c) + 1))
		c.Find("SELECT ifnull(max(seq), 0) FROM messages", nil, &total)
	})
	return min(done, total), total, err
}
