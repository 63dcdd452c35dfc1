package search

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// Query asks for the first messages whose text contains a needle, by timestamp and seq in either
// direction.
type Query struct {
	Needle       string // folded; empty for any text
	Stripped     bool   // the needle has no accents, and the accents of texts are ignored
	Desc         bool
	Limit        int   // most messages to return
	Chat, Sender int64 // 0 for all
	Kind         bridge.ChatType
	Only         map[int64]bool // chat ids; nil for all
	Since, Until *int64         // milliseconds; nil for no bound
	After        *Position      // return only messages after it, in the query's order
}

// narrow limits the time range to what After allows.
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

// Where returns the SQL condition on a message m.
func (q *Query) Where(c *sqlite.Conn) (string, []any) {
	var f sqlite.Filter
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
		than := ">"
		if q.Desc {
			than = "<"
		}
		f.Add("(m.timestamp, m.seq) "+than+" (?, ?)", q.After.Timestamp, q.After.Seq)
	}
	if q.Needle != "" {
		f.Add("instr("+textOf(q.Stripped)+", ?) > 0", q.Needle)
	}
	if group, one := q.group(); one {
		f.Add("EXISTS (SELECT 1 FROM chats c WHERE c.id = m.chat AND c.is_group = ?)", group)
	}
	return f.Where(), f.Args
}

// group reports whether the query is about one kind of chat only (one), and whether that kind is
// groups.
func (q *Query) group() (group, one bool) {
	return q.Kind == bridge.ChatsGroup, q.Kind == bridge.ChatsGroup || q.Kind == bridge.ChatsIndividual
}

// wants checks the condition of [Query.Where] on a message of a pack, except the kind of chat,
// the sender and the text.
func (q *Query) wants(m packed) bool {
	return (q.Chat == 0 || m.chat == q.Chat) && (q.Only == nil || q.Only[m.chat]) &&
		(q.Since == nil || m.timestamp >= *q.Since) && (q.Until == nil || m.timestamp <= *q.Until) &&
		(q.After == nil || q.After.compare(m.position(), q.Desc) < 0)
}

// direction returns the sort direction in SQL.
func direction(desc bool) string {
	if desc {
		return " DESC"
	}
	return " ASC"
}

// Order returns the ORDER BY clause for messages m.
func (q *Query) Order() string {
	return " ORDER BY m.timestamp" + direction(q.Desc) + ", m.seq" + direction(q.Desc)
}

// Scan finds messages without the index, by reading all of them.
func (q Query) Scan(c *sqlite.Conn) []Position {
	found := &topK{desc: q.Desc, limit: q.Limit}
	q.scanFrom(c, 0, q.Chat != 0, found)
	return found.positions
}

// Find scans the messages that are not indexed yet and those of stale packs, and reads the packs
// that match in the index.
func (x *Index) Find(c *sqlite.Conn, q Query) []Position {
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

// scanFrom scans all messages from a seq on.
func (q *Query) scanFrom(c *sqlite.Conn, seq int64, byChat bool, found *topK) {
	query, args := q.scanQuery(c, seq, byChat)
	found.collect(c, query, args)
}

// scanQuery reads messages by seq or, which is faster if many are not indexed, through the chat
// in the order of the query.
func (q *Query) scanQuery(c *sqlite.Conn, seq int64, byChat bool) (string, []any) {
	where, args := q.Where(c)
	args = append([]any{seq}, args...)
	index, order := "NOT INDEXED", ""
	if byChat {
		index = "INDEXED BY messages_by_time"
		if q.Sender != 0 {
			index = "INDEXED BY messages_by_sender"
		}
		order = q.Order() + sqlite.Limited
		args = append(args, q.Limit)
	}
	return "SELECT m.seq, m.timestamp FROM messages m " + index + " WHERE m.seq >= ? AND " + where + order, args
}

// collect adds the results of a SQL query.
func (b *topK) collect(c *sqlite.Conn, query string, args []any) {
	for row := range c.Rows(query, args...) {
		var p Position
		if row.Scan(&p.Seq, &p.Timestamp) {
			b.add(p)
		}
	}
}

// scanStale checks every message of stale packs.
func (q *Query) scanStale(c *sqlite.Conn, found *topK) {
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

// Position is the sort key of a message in every list.
type Position struct{ Timestamp, Seq int64 }

// compare returns a negative number if p comes before q in the given direction.
func (p Position) compare(q Position, desc bool) int {
	if desc {
		p, q = q, p
	}
	return cmp.Or(cmp.Compare(p.Timestamp, q.Timestamp), cmp.Compare(p.Seq, q.Seq))
}

// topK holds the first limit positions it was given, in the given direction.
type topK struct {
	desc      bool
	limit     int
	positions []Position // sorted
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

// full reports whether the limit is reached.
func (b *topK) full() bool { return len(b.positions) >= b.limit }

// settled reports whether p and all positions after it come too late to be added.
func (b *topK) settled(p Position) bool {
	return b.full() && (b.limit == 0 || b.positions[b.limit-1].compare(p, b.desc) < 0)
}

// lookUp reads the packs that match in the index, block by block.
func (x *Index) lookUp(c *sqlite.Conn, q *Query, indexed int64, found *topK) {
	first, last := blockRange(c, q, indexed)
	if first > last {
		return
	}
	query, args := x.lookUpQuery(q, first, last)
	needle, block := []byte(q.Needle), int64(noneIndexed)
	var p pack
	var buffer []byte
	for row := range c.Rows(query, args...) {
		if !row.Scan(&p.id, (*sqlite.Raw)(&p.messages), (*sqlite.Raw)(&p.texts), (*sqlite.Raw)(&p.accents)) {
			break
		}
		if next := p.id >> packBits; next != block {
			block = next
			if isSettled(c, block, found) {
				break
			}
		}
		texts := p.texts
		if q.Stripped {
			texts = p.stripped(c, &buffer)
		}
		x.match(c, q, p, texts, needle, found)
	}
}

// blockRange returns the first and the last block that may have messages in the time range.
func blockRange(c *sqlite.Conn, q *Query, indexed int64) (first, last int64) {
	first, last = 0, indexed
	if q.Since != nil && !c.Find(firstSinceQuery, []any{*q.Since}, &first) {
		first = indexed + 1
	}
	if q.Until != nil && !c.Find(lastUntilQuery, []any{*q.Until}, &last) {
		last = noneIndexed
	}
	return first, last
}

// match adds the matching messages of one pack. texts have accents unless the needle has none.
func (x *Index) match(c *sqlite.Conn, q *Query, p pack, texts, needle []byte, found *topK) {
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

// bySender returns the messages that q's sender wrote. All of them are in q's chat. One query for
// all messages of the sender in their time range is cheaper than one query for each message.
func (x *Index) bySender(c *sqlite.Conn, q *Query, matching []Position) []Position {
	first, last, seqs := matching[0].Timestamp, matching[0].Timestamp, make([]int64, len(matching))
	for i, at := range matching {
		first, last, seqs[i] = min(first, at.Timestamp), max(last, at.Timestamp), at.Seq
	}
	wrote := sqlite.List[int64](c, `
		SELECT seq FROM messages INDEXED BY messages_by_sender
		WHERE chat = ? AND sender = ? AND timestamp BETWEEN ? AND ?`+sqlite.Limited, q.Chat, q.Sender, first, last, x.OfSender)
	if len(wrote) == x.OfSender {
		wrote = sqlite.List[int64](c, `
			SELECT m.seq FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value
			WHERE m.sender = ?`, c.Encode(seqs), q.Sender)
	}
	return slices.DeleteFunc(matching, func(at Position) bool { return !slices.Contains(wrote, at.Seq) })
}

// These queries ask whether a block, or a later one in the direction of the search, may have
// messages at or after (at or before) a time.
const (
	newerQuery = "SELECT 1 FROM blocks WHERE id <= ? AND newest >= ? ORDER BY id DESC LIMIT 1"
	olderQuery = "SELECT 1 FROM blocks WHERE id >= ? AND oldest <= ? ORDER BY id LIMIT 1"
)

// isSettled reports whether neither this block nor a later one in the query's direction can
// contain a result that is still needed.
func isSettled(c *sqlite.Conn, block int64, found *topK) bool {
	if !found.full() || found.limit == 0 {
		return found.full()
	}
	query := olderQuery
	if found.desc {
		query = newerQuery
	}
	return !c.Find(query, []any{block, found.positions[found.limit-1].Timestamp}, new(int))
}

// mostChats is the number of chats up to which a search names them in the FTS5 query. With more,
// it reads the packs of all chats.
const mostChats = 64

// lookUpQuery selects the matching packs in the order of their blocks. Stale packs have no texts.
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
		ORDER BY g.rowid` + direction(q.Desc), []any{gramQuery(q.Needle, q.Stripped, chats, x.rarity.Load(), packs), firstPack(first), firstPack(last + 1)}
}
