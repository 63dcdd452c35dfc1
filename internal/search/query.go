package search

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// Query asks for the first messages, by timestamp and seq in either direction,
// whose text contains a needle.
type Query struct {
	Needle       string // folded; empty for any text
	Bare         bool   // the needle is without accents, and found in texts without theirs
	Desc         bool
	Limit        int   // how many are wanted
	Chat, Sender int64 // 0 is all
	Kind         bridge.ChatType
	Only         map[int64]bool // chats, nil for all
	Since, Until *int64         // milliseconds; nil for no bound
	After        *Position      // only what comes after it, in the query's order
}

// narrow makes the time range no wider than After allows.
func (q *Query) narrow() {
	if q.After == nil {
		return
	}
	at := q.After.Timestamp
	if q.Desc && (q.Until == nil || *q.Until > at) {
		q.Until = &at
	}
	if !q.Desc && (q.Since == nil || *q.Since < at) {
		q.Since = &at
	}
}

// Where returns the condition on a message m.
func (q *Query) Where(c *db.Conn) (string, []any) {
	var f db.Filter
	if q.Chat != 0 {
		f.Add("m.chat = ?", q.Chat)
	}
	if q.Only != nil {
		f.Add("m.chat IN (SELECT value FROM json_each(?))", c.Encode(slices.Sorted(maps.Keys(q.Only))))
	}
	if q.Sender != 0 {
		f.Add("m.sender = ?", q.Sender)
	}
	if q.Since != nil {
		f.Add("m.timestamp >= ?", *q.Since)
	}
	if q.Until != nil {
		f.Add("m.timestamp <= ?", *q.Until)
	}
	if q.After != nil {
		behind := ">"
		if q.Desc {
			behind = "<"
		}
		f.Add("(m.timestamp, m.seq) "+behind+" (?, ?)", q.After.Timestamp, q.After.Seq)
	}
	if q.Needle != "" {
		f.Add("instr("+textOf(q.Bare)+", ?) > 0", q.Needle)
	}
	if group, one := q.group(); one {
		f.Add("EXISTS (SELECT 1 FROM chats c WHERE c.id = m.chat AND c.is_group = ?)", group)
	}
	return f.Where(), f.Args
}

// group reports whether only one kind of chat is searched, and whether it is groups.
func (q *Query) group() (group, one bool) {
	return q.Kind == bridge.ChatsGroup, q.Kind == bridge.ChatsGroup || q.Kind == bridge.ChatsIndividual
}

// wants applies the condition of [Query.Where] to a message in a pack, but for its kind, its sender and its text.
func (q *Query) wants(m packed) bool {
	return (q.Chat == 0 || m.chat == q.Chat) && (q.Only == nil || q.Only[m.chat]) &&
		(q.Since == nil || m.timestamp >= *q.Since) && (q.Until == nil || m.timestamp <= *q.Until) &&
		(q.After == nil || q.After.compare(m.position(), q.Desc) < 0)
}

// direction returns the order as it stands behind a column.
func direction(desc bool) string {
	if desc {
		return " DESC"
	}
	return " ASC"
}

// Order returns the order of messages m.
func (q *Query) Order() string {
	return " ORDER BY m.timestamp" + direction(q.Desc) + ", m.seq" + direction(q.Desc)
}

// Scan finds messages without the index: it looks at all of them.
func (q Query) Scan(c *db.Conn) []Position {
	found := &topK{desc: q.Desc, limit: q.Limit}
	q.scanFrom(c, 0, q.Chat != 0, found)
	return found.positions
}

// Find scans the messages that are not indexed yet and those of stale packs, and looks into
// the packs that the index names.
func (x *Index) Find(c *db.Conn, q Query) []Position {
	q.narrow()
	found := &topK{desc: q.Desc, limit: q.Limit}
	indexed, newest := int64(0), int64(0)
	c.Find("SELECT ("+indexedQuery+"), ifnull(max(seq), 0) FROM messages", nil, &indexed, &newest)
	tail := x.firstSeq(indexed + 1)
	q.scanFrom(c, tail, q.Chat != 0 && newest-tail > maxTail, found)
	q.scanStale(c, found)
	x.lookUp(c, &q, indexed, found)
	return found.positions
}

// scanFrom looks at every message from a seq on.
func (q *Query) scanFrom(c *db.Conn, seq int64, byChat bool, found *topK) {
	query, args := q.scanQuery(c, seq, byChat)
	found.collect(c, query, args)
}

// scanQuery goes by seq or, better where many messages are not indexed, through the chat
// in the order of the search.
func (q *Query) scanQuery(c *db.Conn, seq int64, byChat bool) (string, []any) {
	where, args := q.Where(c)
	args = append([]any{seq}, args...)
	index, order := "NOT INDEXED", ""
	if byChat {
		index = "INDEXED BY messages_by_time"
		if q.Sender != 0 {
			index = "INDEXED BY messages_by_sender"
		}
		order = q.Order() + db.Limited
		args = append(args, q.Limit)
	}
	return "SELECT m.seq, m.timestamp FROM messages m " + index + " WHERE m.seq >= ? AND " + where + order, args
}

// collect adds the messages of a query.
func (b *topK) collect(c *db.Conn, query string, args []any) {
	for row := range c.Rows(query, args...) {
		var p Position
		if row.Scan(&p.Seq, &p.Timestamp) {
			b.add(p)
		}
	}
}

// scanStale looks at every message of stale packs.
func (q *Query) scanStale(c *db.Conn, found *topK) {
	stale := stalePlans(c, noLimit)
	if len(stale) == 0 {
		return
	}
	where, args := q.Where(c)
	for _, pack := range stale {
		found.collect(c, `
			SELECT m.seq, m.timestamp FROM json_each(?) wanted CROSS JOIN messages m NOT INDEXED ON m.seq = wanted.value
			WHERE `+where, append([]any{c.Encode(pack.seqs)}, args...))
	}
}

// Position says where a message stands in the order of every list.
type Position struct{ Timestamp, Seq int64 }

// compare returns less than 0 if p comes before q in the order that is asked for.
func (p Position) compare(q Position, desc bool) int {
	if desc {
		p, q = q, p
	}
	return cmp.Or(cmp.Compare(p.Timestamp, q.Timestamp), cmp.Compare(p.Seq, q.Seq))
}

// topK keeps the first few of many positions, in the order that is asked for.
type topK struct {
	desc      bool
	limit     int
	positions []Position // in order
}

func (b *topK) add(p Position) {
	if b.settled(p) {
		return
	}
	at, found := slices.BinarySearchFunc(b.positions, p, func(p, q Position) int { return p.compare(q, b.desc) })
	if !found {
		b.positions = slices.Insert(b.positions, at, p)
		b.positions = b.positions[:min(len(b.positions), b.limit)]
	}
}

// full reports whether there are as many positions as are wanted.
func (b *topK) full() bool { return len(b.positions) >= b.limit }

// settled reports whether nothing from p on can be among the kept positions any more.
func (b *topK) settled(p Position) bool {
	return b.full() && (b.limit == 0 || b.positions[b.limit-1].compare(p, b.desc) < 0)
}

// lookUp looks into the packs that the index names, block by block.
func (x *Index) lookUp(c *db.Conn, q *Query, indexed int64, found *topK) {
	first, last := blockRange(c, q, indexed)
	if first > last {
		return
	}
	query, args := x.lookUpQuery(q, first, last)
	needle, block := []byte(q.Needle), int64(noneIndexed)
	var p pack
	var buffer []byte
	for row := range c.Rows(query, args...) {
		if !row.Scan(&p.id, (*db.Raw)(&p.messages), (*db.Raw)(&p.texts), (*db.Raw)(&p.accents)) {
			break
		}
		if next := p.id >> packBits; next != block {
			block = next
			if isSettled(c, block, found) {
				break
			}
		}
		texts := p.texts
		if q.Bare {
			texts = p.bare(c, &buffer)
		}
		x.match(c, q, p, texts, needle, found)
	}
}

// blockRange returns the blocks that may have messages of the time range.
func blockRange(c *db.Conn, q *Query, indexed int64) (first, last int64) {
	first, last = 0, indexed
	if q.Since != nil && !c.Find(firstSinceQuery, []any{*q.Since}, &first) {
		first = indexed + 1
	}
	if q.Until != nil && !c.Find(lastUntilQuery, []any{*q.Until}, &last) {
		last = noneIndexed
	}
	return first, last
}

// match looks into one pack, whose texts are those that the needle is like.
func (x *Index) match(c *db.Conn, q *Query, p pack, texts, needle []byte, found *topK) {
	var matching []Position
	for m, err := range p.matching(texts, needle) {
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

// Whether a block, or one that comes after it in the order of a search, may have messages
// at a moment or before it in that order.
const (
	newerQuery = "SELECT 1 FROM blocks WHERE id <= ? AND newest >= ? ORDER BY id DESC LIMIT 1"
	olderQuery = "SELECT 1 FROM blocks WHERE id >= ? AND oldest <= ? ORDER BY id LIMIT 1"
)

// isSettled reports whether no message of a block, or of the blocks that come after it in
// the query's order, can be among the first ones any more.
func isSettled(c *db.Conn, block int64, found *topK) bool {
	if !found.full() || found.limit == 0 {
		return found.full()
	}
	query := olderQuery
	if found.desc {
		query = newerQuery
	}
	return !c.Find(query, []any{block, found.positions[found.limit-1].Timestamp}, new(int))
}

// mostChats limits the chats that the index is asked for by name. With more, a search looks into
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
		SELECT g.rowid, p.messages, p.texts, p.accents FROM grams g CROSS JOIN packs p ON p.id = g.rowid
		WHERE g.grams MATCH ? AND g.rowid >= ? AND g.rowid < ?` + kind + `
		ORDER BY g.rowid` + direction(q.Desc), []any{gramQuery(q.Needle, q.Bare, chats, x.rarity.Load(), packs), firstPack(first), firstPack(last + 1)}
}
