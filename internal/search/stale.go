package search

import (
	"fmt"

	"bridged/internal/store/db"
)

// When a message changes after its block was indexed, or is removed, its pack becomes
// stale: the transaction removes the pack's texts, searches look at its messages
// themselves, and the background packs them again.

// staleQuery selects the stale packs before a number: of blocks that are not indexed yet,
// all messages are scanned.
const staleQuery = "SELECT id, messages FROM packs WHERE texts IS NULL AND id < ?" + db.Limited

// packsOfBlockQuery selects which messages packs have. It does not read their texts.
const packsOfBlockQuery = "SELECT id, messages FROM packs WHERE id >= ? AND id < ?"

// noLimit tells SQLite that a query has none.
const noLimit = -1

// MarkStale notes, in the transaction of the change, that the texts, the times or the chats
// of messages have changed.
func (x *Index) MarkStale(c *db.Conn, seqs ...int64) {
	if x.MarkRemoved(c, seqs) {
		x.stale = true
	}
}

// MarkRemoved is MarkStale of messages that are removed for their age, and reports whether
// it concerns any pack. It does not wake the background: most of their blocks are empty
// soon, and need not be indexed again.
func (x *Index) MarkRemoved(c *db.Conn, seqs []int64) (any bool) {
	blocks, claimed := make(map[int64]map[int64]bool), x.claimed.Load()
	for _, seq := range seqs {
		block := x.blockOf(seq)
		if block > claimed {
			continue
		}
		if block == claimed {
			x.touched[seq] = true
		}
		if blocks[block] == nil {
			blocks[block] = make(map[int64]bool)
		}
		blocks[block][seq] = true
	}
	for block, changed := range blocks {
		for _, plan := range plansOf(c, packsOfBlockQuery, firstPack(block), firstPack(block+1)) {
			if plan.hasAny(changed) {
				c.Run("UPDATE packs SET texts = NULL WHERE id = ?", plan.id)
				any = true
			}
		}
	}
	return any
}

// plansOf reads which messages packs have.
func plansOf(c *db.Conn, query string, args ...any) []packPlan {
	scan := func(row *db.Row) packPlan {
		var p pack
		row.Scan(&p.id, (*db.Raw)(&p.messages))
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
	return db.Collect(c, scan, query, args...)
}

// stalePlans reads which messages the first few stale packs have.
func stalePlans(c *db.Conn, limit int) []packPlan {
	return plansOf(c, staleQuery, firstPack(lastIndexed(c)+1), limit)
}

// reindexPack packs the messages of a stale pack again that are still there.
func reindexPack(c *db.Conn, plan packPlan) {
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
