package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"
)

// lookUp looks into the packs that the index names.
func (r *readTx) lookUp(ctx context.Context, w *searchPlan, indexed int64, found *topK) error {
	first, last, err := r.blockRange(ctx, w, indexed)
	if err != nil || first > last {
		return err
	}
	query, args := w.lookUpQuery(r.s.index, first, last)
	rows, err := r.query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	needle, block := []byte(w.needle), int64(noneIndexed)
	var p pack
	for rows.Next() {
		if err := rows.Scan(&p.id, (*sql.RawBytes)(&p.messages), (*sql.RawBytes)(&p.texts)); err != nil {
			return err
		}
		if next := p.id >> packBits; next != block {
			block = next
			if settled, err := r.settled(ctx, w, block, found); settled || err != nil {
				return err
			}
		}
		if err := r.match(ctx, w, p, needle, found); err != nil {
			return err
		}
	}
	return rows.Err()
}

// match looks into one pack. Where one sender is wanted, the messages are looked
// up: packs do not know who wrote them.
func (r *readTx) match(ctx context.Context, w *searchPlan, p pack, needle []byte, found *topK) error {
	for m, err := range p.matching(needle) {
		if err != nil {
			return err
		}
		if !w.wants(m) || found.settled(m.position()) {
			continue
		}
		if w.sender != 0 {
			var sender int64
			if err := r.scan(ctx, "SELECT sender FROM messages WHERE arrival = ?", []any{m.seq}, &sender); err != nil {
				return err
			}
			if sender != w.sender {
				continue
			}
		}
		found.add(m.position())
	}
	return nil
}

// Nothing of a block, or of those behind it, is newer than upto or older than downto.
const (
	uptoQuery   = "SELECT upto FROM blocks WHERE id = ?"
	downtoQuery = "SELECT downto FROM blocks WHERE id = ?"
)

// settled reports whether nothing in a block or behind it can be among the first
// messages any more.
func (r *readTx) settled(ctx context.Context, w *searchPlan, block int64, found *topK) (bool, error) {
	if !found.full() {
		return false, nil
	}
	query, boundary := downtoQuery, position{seq: r.s.index.firstSeq(block)}
	if w.desc {
		query, boundary.seq = uptoQuery, r.s.index.firstSeq(block+1)-1
	}
	err := r.scan(ctx, query, []any{block}, &boundary.timestamp)
	return found.settled(boundary), err
}

// mostChats is how many chats the index is asked for by name. Beyond that, packs
// of other chats are looked into as well.
const mostChats = 64

// lookUpQuery looks packs up in the order of their blocks. Stale ones have no
// texts.
func (w *searchPlan) lookUpQuery(x *searchIndex, first, last int64) (string, []any) {
	var chats []int64
	switch {
	case w.chat != 0:
		chats = []int64{w.chat}
	case len(w.only) <= mostChats:
		chats = slices.Sorted(maps.Keys(w.only))
	}
	kind := ""
	if group, one := w.group(); one && group {
		kind = " AND g.rowid & 2048 != 0"
	} else if one {
		kind = " AND g.rowid & 2048 = 0"
	}
	packs := float64(last-first+1) * float64(int(1)<<x.blockBits) / float64(x.packSize)
	return `
		SELECT g.rowid, p.messages, p.texts FROM grams g CROSS JOIN packs p ON p.id = g.rowid
		WHERE g.grams MATCH ? AND g.rowid >= ? AND g.rowid < ?` + kind + `
		ORDER BY g.rowid ` + direction(w.desc), []any{gramQuery(w.needle, chats, x.rarity.Load(), packs), firstPack(first), firstPack(last + 1)}
}
