package store

import (
	"context"
	"database/sql"
	"encoding/json"
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

// match looks into one pack.
func (r *readTx) match(ctx context.Context, w *searchPlan, p pack, needle []byte, found *topK) error {
	var matching []position
	for m, err := range p.matching(needle) {
		if err != nil {
			return err
		}
		if w.wants(m) && !found.settled(m.position()) {
			matching = append(matching, m.position())
		}
	}
	if w.sender != 0 && len(matching) > 0 {
		var err error
		if matching, err = r.ofSender(ctx, w, matching); err != nil {
			return err
		}
	}
	for _, at := range matching {
		found.add(at)
	}
	return nil
}

// ofSender returns those of a pack's messages, all of w's chat, that w's sender
// wrote: packs do not know who wrote them. One look at all that the sender wrote
// between the first and the last of them is cheaper than one at each.
func (r *readTx) ofSender(ctx context.Context, w *searchPlan, matching []position) ([]position, error) {
	first, last := matching[0].timestamp, matching[0].timestamp
	for _, at := range matching {
		first, last = min(first, at.timestamp), max(last, at.timestamp)
	}
	wrote := make(map[int64]bool)
	collect := func(rows *resultSet) error {
		var seq int64
		err := rows.Scan(&seq)
		wrote[seq] = true
		return err
	}
	err := r.each(ctx, `
		SELECT seq FROM messages INDEXED BY messages_by_sender
		WHERE chat = ? AND sender = ? AND timestamp BETWEEN ? AND ?`+limited,
		[]any{w.chat, w.sender, first, last, r.s.tuning.ofSender}, collect)
	if err == nil && len(wrote) == r.s.tuning.ofSender {
		var list []byte
		if list, err = json.Marshal(seqs(matching)); err != nil {
			return nil, err
		}
		err = r.each(ctx, `
			SELECT m.seq FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value
			WHERE m.sender = ?`, []any{string(list), w.sender}, collect)
	}
	return slices.DeleteFunc(matching, func(at position) bool { return !wrote[at.seq] }), err
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
