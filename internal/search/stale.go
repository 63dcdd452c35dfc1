package search

import (
	"fmt"

	"bridged/internal/store/db"
)

// What a message says or when it was written may change after its block was
// indexed, and it may be removed. Its pack is stale from then on: its texts are
// gone from the disk with the transaction, searches look at its messages
// themselves, and the background packs them again.

// staleQuery selects the stale packs before a number. Those of blocks that are not
// indexed yet are left out: until then their messages are scanned anyway.
const staleQuery = "SELECT id, messages FROM packs WHERE texts IS NULL AND id < ?" + db.Limited

// packsOfBlockQuery selects what messages packs have. Their texts are not read.
const packsOfBlockQuery = "SELECT id, messages FROM packs WHERE id >= ? AND id < ?"

// noLimit tells SQLite that a query has none.
const noLimit = -1

// MarkStale notes, in the transaction of the change, that messages have changed:
// what they say, when they were written, or their chat. Only blocks that are
// indexed, or are about to be, need to be indexed again.
func (x *Index) MarkStale(c *db.Conn, seqs ...int64) {
	if x.markStale(c, seqs) {
		x.stale = true
	}
}

// MarkRemoved does what MarkStale does for messages that are removed for their
// age. It does not wake the background: most of their blocks are empty soon, and
// need not be indexed again.
func (x *Index) MarkRemoved(c *db.Conn, seqs []int64) { x.markStale(c, seqs) }

func (x *Index) markStale(c *db.Conn, seqs []int64) (any bool) {
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
		for _, id := range packsWith(c, block, changed) {
			c.Run("UPDATE packs SET texts = NULL WHERE id = ?", id)
			any = true
		}
	}
	return any
}

// packsWith returns the packs of a block that have any of some messages.
func packsWith(c *db.Conn, block int64, seqs map[int64]bool) (packs []int64) {
	for row := range c.Rows(packsOfBlockQuery, firstPack(block), firstPack(block+1)) {
		if plan := scanPlan(c, row); plan.hasAny(seqs) {
			packs = append(packs, plan.id)
		}
	}
	return packs
}

// scanPlan reads which messages a pack has.
func scanPlan(c *db.Conn, row *db.Row) packPlan {
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

// stalePlans reads which messages the first few stale packs have.
func stalePlans(c *db.Conn, limit int) (plans []packPlan) {
	for row := range c.Rows(staleQuery, firstPack(lastIndexed(c)+1), limit) {
		plans = append(plans, scanPlan(c, row))
	}
	return plans
}

// reindexPack packs the messages of a stale pack again, as far as they are still
// there.
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
