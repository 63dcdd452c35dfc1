package search

import (
	"context"
	"fmt"

	"bridged/internal/sqlite"
)

const (
	// indexBatch is how many packs are indexed, and mergePages how many pages of the index are
	// merged, in one transaction. Acknowledgements wait for that transaction.
	indexBatch = 2
	mergePages = 64
	// manySegments and fewSegments are how many FTS5 segments of one size are merged while there
	// is more to index, and when there is not. Each search reads all segments: a million messages
	// have 19 of them at first, which merge to 3.
	manySegments = 4
	fewSegments  = 2
)

// indexNext indexes the next full block and reports whether there was one. Acknowledgements wait
// for transactions, so it reads the messages before the transaction, and again inside it only if
// one has changed.
func (x *Index) indexNext(ctx context.Context) (bool, error) {
	x.building.Lock()
	defer x.building.Unlock()
	id, found, err := x.claim(ctx)
	if err != nil || !found {
		return false, err
	}
	var b block
	if err := x.store.View(ctx, func(c *sqlite.Conn) { b = x.planBlock(c, id) }); err != nil {
		return false, fmt.Errorf("read messages to index: %w", err)
	}
	for left := b.packs; ; {
		n := min(indexBatch, len(left))
		var built []builtPack
		if err := x.store.View(ctx, func(c *sqlite.Conn) { built = readPacks(c, left[:n]) }); err != nil {
			return false, fmt.Errorf("read messages to index: %w", err)
		}
		if err := x.writePacks(ctx, &b, left[:n], built, n == len(left)); err != nil {
			return false, err
		}
		if _, err := x.merge(ctx, mergePages, manySegments); err != nil {
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

// claim returns the next block to index, if one is full, and records that it is being indexed. It
// skips blocks without messages.
func (x *Index) claim(ctx context.Context) (block int64, found bool, err error) {
	err = x.store.View(ctx, func(c *sqlite.Conn) {
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
	return block, true, x.store.Update(ctx, func(*sqlite.Conn) {
		x.claimed.Store(max(x.claimed.Load(), block))
		x.touched = false
	})
}

// writePacks adds packs of a block. With its last packs the block counts as indexed. If a message
// has changed since the packs were built, it builds them again.
func (x *Index) writePacks(ctx context.Context, b *block, plans []packPlan, built []builtPack, last bool) error {
	err := x.store.Update(ctx, func(c *sqlite.Conn) {
		if len(plans) > 0 && plans[0].id == b.packs[0].id { // left over from an interrupted run
			dropPacks(c, firstPack(b.id), firstPack(b.id+1))
		}
		if x.touched {
			built = readPacks(c, plans)
		}
		for _, p := range built {
			savePack(c, p)
			b.oldest, b.newest = min(b.oldest, p.oldest), max(b.newest, p.newest) // sent messages get another time
		}
		if last && len(b.packs) > 0 {
			saveBlock(c, *b)
		}
	})
	if err != nil {
		return fmt.Errorf("index packs: %w", err)
	}
	return nil
}

// reindexStale rebuilds some stale packs and reports whether there were any.
func (x *Index) reindexStale(ctx context.Context) (bool, error) {
	x.building.Lock()
	defer x.building.Unlock()
	var stale []packPlan
	err := x.store.View(ctx, func(c *sqlite.Conn) { stale = stalePlans(c, 1) })
	if err != nil || len(stale) == 0 {
		return false, err
	}
	err = x.store.Update(ctx, func(c *sqlite.Conn) {
		for _, plan := range stalePlans(c, indexBatch) { // read again: the list may have changed
			reindexPack(c, plan)
		}
	})
	if err != nil {
		return false, fmt.Errorf("index packs again: %w", err)
	}
	_, err = x.merge(ctx, mergePages, manySegments)
	return true, err
}

// merge merges some pages of the index's segments if there are enough segments of one size, and
// reports whether it merged any. A negative number of pages merges all segments.
func (x *Index) merge(ctx context.Context, pages, segments int) (bool, error) {
	var before, after int64
	err := x.store.Update(ctx, func(c *sqlite.Conn) {
		if x.mergedAt != segments {
			c.Run("INSERT INTO grams (grams, rank) VALUES ('usermerge', ?)", segments)
		}
		c.Find("SELECT total_changes()", nil, &before)
		c.Run("INSERT INTO grams (grams, rank) VALUES ('merge', ?)", pages)
		c.Find("SELECT total_changes()", nil, &after)
	})
	if err != nil {
		x.unmerged = true
		return false, fmt.Errorf("merge the search index: %w", err)
	}
	// The statement itself counts as a change (sqlite.org/fts5.html, 6.8).
	more := after-before >= 2
	x.mergedAt, x.unmerged = segments, more || segments > fewSegments
	return more, nil
}

// mergeMore merges some pages when there is nothing to index, and reports whether it merged any.
// It commits nothing unless this process has indexed something; segments of an earlier run wait
// for that.
func (x *Index) mergeMore(ctx context.Context) (bool, error) {
	x.building.Lock()
	defer x.building.Unlock()
	if !x.unmerged {
		return false, nil
	}
	return x.merge(ctx, mergePages, fewSegments)
}

// Forget rebuilds the stale packs and merges all segments of the index. That removes the grams of
// deleted texts from the file.
func (x *Index) Forget(ctx context.Context) error {
	for more := true; more; {
		var err error
		if more, err = x.reindexStale(ctx); err != nil {
			return err
		}
	}
	// This many steps merge the whole index. The limit matters because new blocks add more to
	// merge.
	var steps int
	err := x.store.View(ctx, func(c *sqlite.Conn) { c.Find("SELECT count(*) / ? + 2 FROM grams_data", []any{mergePages}, &steps) })
	if err != nil {
		return err
	}
	for range steps {
		x.building.Lock()
		more, err := x.merge(ctx, -mergePages, fewSegments)
		x.building.Unlock()
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// Rebuild rebuilds the index and reports its progress; progress may be nil. Searches stay exact
// in the meantime, but are slow.
func (x *Index) Rebuild(ctx context.Context, progress func(done, total int)) error {
	x.building.Lock()
	err := x.store.Update(ctx, x.empty)
	if err == nil {
		x.claimed.Store(noneIndexed)
	}
	x.building.Unlock()
	if err != nil {
		return fmt.Errorf("empty the search index: %w", err)
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
			done = total // the last messages do not fill a block; searches scan them
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

// Indexed returns how many of the messages the index covers. The messages of the last, incomplete
// block count as done when the background has no work left.
func (x *Index) Indexed(ctx context.Context) (done, total int, err error) {
	done, total, err = x.coverage(ctx)
	if x.resting.Load() && total-done < 2<<x.blockBits {
		done = total
	}
	return done, total, err
}

// coverage returns how many messages are in indexed blocks, and how many there are.
func (x *Index) coverage(ctx context.Context) (done, total int, err error) {
	err = x.store.View(ctx, func(c *sqlite.Conn) {
		done = int(x.firstSeq(lastIndexed(c) + 1))
		c.Find("SELECT ifnull(max(seq), 0) FROM messages", nil, &total)
	})
	return min(done, total), total, err
}

// A pack becomes stale when one of its messages changes or is removed after the block was
// indexed: the transaction of the change removes the pack's texts, searches read the pack's
// messages from the table, and the background rebuilds the pack.

// staleQuery selects the stale packs up to a pack number. Blocks that are not indexed yet are
// scanned anyway.
const staleQuery = "SELECT id, messages FROM packs WHERE texts IS NULL AND id < ?" + sqlite.Limited

// packsOfBlockQuery selects the messages of packs without reading their texts.
const packsOfBlockQuery = "SELECT id, messages FROM packs WHERE id >= ? AND id < ?"

// noLimit is SQLite's LIMIT for "all".
const noLimit = -1

// MarkStale marks the packs of messages whose text, time or chat changes. It must be called in
// the transaction of the change.
func (x *Index) MarkStale(c *sqlite.Conn, seqs ...int64) {
	if x.MarkRemoved(c, seqs) {
		x.stale = true
	}
}

// MarkRemoved is MarkStale for messages that retention removes. It reports whether any pack has
// become stale. It does not wake the background, because most of the blocks are empty soon and
// need not be rebuilt.
func (x *Index) MarkRemoved(c *sqlite.Conn, seqs []int64) (any bool) {
	blocks, claimed := make(map[int64]map[int64]bool), x.claimed.Load()
	for _, seq := range seqs {
		block := x.blockOf(seq)
		if block > claimed {
			continue
		}
		x.touched = x.touched || block == claimed
		if blocks[block] == nil {
			blocks[block] = make(map[int64]bool)
		}
		blocks[block][seq] = true
	}
	for block, changed := range blocks {
		for _, plan := range plansOf(c, packsOfBlockQuery, firstPack(block), firstPack(block+1)) {
			if plan.hasAny(changed) {
				c.Run("UPDATE packs SET texts = NULL, accents = NULL WHERE id = ?", plan.id)
				any = true
			}
		}
	}
	return any
}

// plansOf reads the messages of packs.
func plansOf(c *sqlite.Conn, query string, args ...any) []packPlan {
	scan := func(row *sqlite.Row) packPlan {
		var p pack
		row.Scan(&p.id, (*sqlite.Raw)(&p.messages))
		plan := packPlan{id: p.id}
		for m, err := range p.all() {
			if err != nil {
				c.Fail(fmt.Errorf("pack %d: %w", p.id, err))
				break
			}
			plan.seqs = append(plan.seqs, m.seq)
		}
		return plan
	}
	return sqlite.Collect(c, scan, query, args...)
}

// stalePlans reads the messages of the first stale packs, up to limit.
func stalePlans(c *sqlite.Conn, limit int) []packPlan {
	return plansOf(c, staleQuery, firstPack(lastIndexed(c)+1), limit)
}

// reindexPack rebuilds a stale pack from the messages that still exist.
func reindexPack(c *sqlite.Conn, plan packPlan) {
	p := readPack(c, plan)
	dropPack(c, plan.id)
	id := plan.id >> packBits
	if len(p.messages) == 0 {
		c.Run("DELETE FROM blocks WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM packs WHERE id >= ?2 AND id < ?3)",
			id, firstPack(id), firstPack(id+1))
		return
	}
	savePack(c, p)
	saveBlock(c, block{id: id, oldest: p.oldest, newest: p.newest})
}
