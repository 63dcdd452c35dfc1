package store

import (
	"context"
	"database/sql"
	"fmt"
)

// What a message says or when it was written may change after its block was
// indexed, and it may be removed. Its pack is stale from then on: its texts are
// gone from the disk with the transaction, searches look at its messages
// themselves, and the background packs them again.

// staleQuery selects the stale packs before a number. Those of blocks that are not
// indexed yet are left out: until then their messages are scanned anyway.
const staleQuery = "SELECT id, messages FROM packs WHERE texts IS NULL AND id < ?" + limited

// packsOfBlockQuery selects what messages packs have. Their texts are not read.
const packsOfBlockQuery = "SELECT id, messages FROM packs WHERE id >= ? AND id < ?"

// noLimit is how SQLite is told that a query has none.
const noLimit = -1

// markStale notes that messages have changed. Only blocks that are indexed, or are
// about to be, need to be indexed again.
func (t *writeTx) markStale(ctx context.Context, seqs ...int64) error {
	x := t.s.index
	blocks := make(map[int64]map[int64]bool)
	for _, seq := range seqs {
		block := x.blockOf(seq)
		if block > x.claimed {
			continue
		}
		if block == x.claimed {
			x.touched[seq] = true
		}
		if blocks[block] == nil {
			blocks[block] = make(map[int64]bool)
		}
		blocks[block][seq] = true
	}
	for block, changed := range blocks {
		if err := t.emptyPacks(ctx, block, func(m packed) bool { return changed[m.seq] }); err != nil {
			return err
		}
	}
	return nil
}

// markChatStale notes that messages are about to move to another chat.
func (t *writeTx) markChatStale(ctx context.Context, chat int64) error {
	seqs, err := t.ids(ctx, "SELECT seq FROM messages WHERE chat = ?", chat)
	if err != nil {
		return err
	}
	return t.markStale(ctx, seqs...)
}

// emptyPacks takes the texts from those packs of a block that have a message that
// changed.
func (t *writeTx) emptyPacks(ctx context.Context, block int64, changed func(packed) bool) error {
	var stale []int64
	err := t.each(ctx, packsOfBlockQuery, []any{firstPack(block), firstPack(block + 1)},
		func(rows *resultSet) error {
			var p pack
			if err := rows.Scan(&p.id, (*sql.RawBytes)(&p.messages)); err != nil {
				return err
			}
			for m, err := range p.all() {
				if err != nil {
					return err
				}
				if changed(m) {
					stale = append(stale, p.id)
					break
				}
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("look for the packs of a block: %w", err)
	}
	for _, id := range stale {
		t.staleMarked = true
		if err := t.run(ctx, "UPDATE packs SET texts = NULL WHERE id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// stalePlans reads which messages the first few stale packs have.
func stalePlans(ctx context.Context, q *conn, limit int) ([]packPlan, error) {
	var indexed int64
	if err := q.scan(ctx, indexedQuery, nil, &indexed); err != nil {
		return nil, err
	}
	var plans []packPlan
	err := q.each(ctx, staleQuery, []any{firstPack(indexed + 1), limit}, func(rows *resultSet) error {
		var p pack
		if err := rows.Scan(&p.id, (*sql.RawBytes)(&p.messages)); err != nil {
			return err
		}
		plan := packPlan{id: p.id}
		for m, err := range p.all() {
			if err != nil {
				return err
			}
			plan.seqs = append(plan.seqs, m.seq)
		}
		plans = append(plans, plan)
		return nil
	})
	return plans, err
}

// reindexPack packs the messages of a stale pack again, as far as they are still
// there.
func (t *writeTx) reindexPack(ctx context.Context, plan packPlan) error {
	p, err := readPack(ctx, t.conn, plan)
	if err != nil {
		return err
	}
	if err := t.dropPack(ctx, plan.id); err != nil {
		return err
	}
	id := plan.id >> packBits
	if len(p.messages) == 0 {
		return t.run(ctx, "DELETE FROM blocks WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM packs WHERE id >= ?2 AND id < ?3)",
			id, firstPack(id), firstPack(id+1))
	}
	if err := t.savePack(ctx, p); err != nil {
		return err
	}
	return t.saveBlock(ctx, block{id: id, oldest: p.oldest, newest: p.newest})
}
