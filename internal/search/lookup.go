package search

import (
	"fmt"
	"maps"
	"slices"

	"bridged/internal/store/db"
)

// lookUp looks into the packs that the index names, block by block.
func (x *Index) lookUp(c *db.Conn, q *Query, indexed int64, found *topK) {
	first, last := blockRange(c, q, indexed)
	if first > last {
		return
	}
	query, args := x.lookUpQuery(q, first, last)
	needle, block := []byte(q.Needle), int64(noneIndexed)
	var p pack
	for row := range c.Rows(query, args...) {
		if !row.Scan(&p.id, (*db.Raw)(&p.messages), (*db.Raw)(&p.texts)) {
			break
		}
		if next := p.id >> packBits; next != block {
			block = next
			if x.isSettled(c, q, block, found) {
				break
			}
		}
		x.match(c, q, p, needle, found)
	}
}

// blockRange returns the blocks that may have messages of the time range.
func blockRange(c *db.Conn, q *Query, indexed int64) (first, last int64) {
	first, last = 0, indexed
	if q.Since != nil && !c.Find(firstUptoQuery, []any{*q.Since}, &first) {
		first = indexed + 1
	}
	if q.Until != nil && !c.Find(lastDowntoQuery, []any{*q.Until}, &last) {
		last = noneIndexed
	}
	return first, last
}

// match looks into one pack.
func (x *Index) match(c *db.Conn, q *Query, p pack, needle []byte, found *topK) {
	var matching []Position
	for m, err := range p.matching(needle) {
		if err != nil {
			c.Fail(err)
			return
		}
		if q.wants(m) && !found.settled(m.position()) {
			matching = append(matching, m.position())
		}
	}
	if q.Sender != 0 && len(matching) > 0 {
		matching = x.bySender(c, q, matching)
	}
	for _, at := range matching {
		found.add(at)
	}
}

// bySender returns those of a pack's messages, all of q's chat, that q's sender wrote. One
// look at all that the sender wrote between the first and the last of them is cheaper than
// one at each.
func (x *Index) bySender(c *db.Conn, q *Query, matching []Position) []Position {
	first, last, seqs := matching[0].Timestamp, matching[0].Timestamp, make([]int64, len(matching))
	for i, at := range matching {
		first, last, seqs[i] = min(first, at.Timestamp), max(last, at.Timestamp), at.Seq
	}
	wrote := db.List[int64](c, `
		SELECT seq FROM messages INDEXED BY messages_by_sender
		WHERE chat = ? AND sender = ? AND timestamp BETWEEN ? AND ?`+db.Limited, q.Chat, q.Sender, first, last, x.OfSender)
	if len(wrote) == x.OfSender {
		wrote = db.List[int64](c, `
			SELECT m.seq FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value
			WHERE m.sender = ?`, c.Encode(seqs), q.Sender)
	}
	return slices.DeleteFunc(matching, func(at Position) bool { return !slices.Contains(wrote, at.Seq) })
}

const (
	uptoQuery   = "SELECT upto FROM blocks WHERE id = ?"
	downtoQuery = "SELECT downto FROM blocks WHERE id = ?"
)

// isSettled reports whether no message of a block, or of the blocks that come after it in
// the query's order, can be among the first ones any more.
func (x *Index) isSettled(c *db.Conn, q *Query, block int64, found *topK) bool {
	if !found.full() {
		return false
	}
	query, boundary := downtoQuery, Position{Seq: x.firstSeq(block)}
	if q.Desc {
		query, boundary.Seq = uptoQuery, x.firstSeq(block+1)-1
	}
	return c.Find(query, []any{block}, &boundary.Timestamp) && found.settled(boundary)
}

// mostChats is how many chats the index is asked for by name. With more, a search looks into
// the packs of all chats.
const mostChats = 64

// lookUpQuery selects packs in the order of their blocks. Stale ones have no texts.
func (x *Index) lookUpQuery(q *Query, first, last int64) (string, []any) {
	var chats []int64
	switch {
	case q.Chat != 0:
		chats = []int64{q.Chat}
	case len(q.Only) <= mostChats:
		chats = slices.Sorted(maps.Keys(q.Only))
	}
	kind := ""
	if group, one := q.group(); one {
		kind = fmt.Sprintf(" AND (g.rowid & %d != 0) = %t", groupBit, group)
	}
	packs := float64(last-first+1) * float64(int(1)<<x.blockBits) / float64(x.packSize)
	return `
		SELECT g.rowid, p.messages, p.texts FROM grams g CROSS JOIN packs p ON p.id = g.rowid
		WHERE g.grams MATCH ? AND g.rowid >= ? AND g.rowid < ?` + kind + `
		ORDER BY g.rowid` + direction(q.Desc), []any{gramQuery(q.Needle, chats, x.rarity.Load(), packs), firstPack(first), firstPack(last + 1)}
}
