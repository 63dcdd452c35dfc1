package search

import (
	"cmp"
	"slices"

	"bridged/internal/sqlite"
)

const indexedQuery = "SELECT ifnull(max(id), -1) FROM blocks" // noneIndexed is -1

// lastIndexed returns the number of the last indexed block, or noneIndexed.
func lastIndexed(c *sqlite.Conn) (indexed int64) {
	c.Find(indexedQuery, nil, &indexed)
	return indexed
}

func (x *Index) blockOf(seq int64) int64 { return seq >> x.blockBits }

// firstSeq returns the lowest seq of a block.
func (x *Index) firstSeq(block int64) int64 { return block << x.blockBits }

// block is a block while it is indexed.
type block struct {
	id             int64
	oldest, newest int64
	packs          []packPlan
}

// planned is a message that is assigned to a pack.
type planned struct {
	packed
	length int   // of its text, in bytes
	group  int64 // 1 for a group, 0 for an individual chat
}

// planBlock assigns the messages of a block to packs, without reading their texts.
func (x *Index) planBlock(c *sqlite.Conn, id int64) block {
	b := block{id: id}
	var messages []planned
	for row := range c.Rows(`
		SELECT m.seq, m.chat, m.timestamp, octet_length(ifnull(m.folded, m.content)), c.is_group
		FROM messages m JOIN chats c ON c.id = m.chat
		WHERE m.seq BETWEEN ? AND ? ORDER BY m.seq`, x.firstSeq(id), x.firstSeq(id+1)-1) {
		var m planned
		row.Scan(&m.seq, &m.chat, &m.timestamp, &m.length, &m.group)
		if len(messages) == 0 {
			b.oldest, b.newest = m.timestamp, m.timestamp
		}
		b.oldest, b.newest = min(b.oldest, m.timestamp), max(b.newest, m.timestamp)
		messages = append(messages, m)
	}
	slices.SortStableFunc(messages, func(m, n planned) int {
		return cmp.Or(cmp.Compare(m.group, n.group), cmp.Compare(m.chat, n.chat))
	})
	b.packs = x.divide(id, messages)
	return b
}

// divide assigns the sorted messages of a block to packs.
func (x *Index) divide(block int64, messages []planned) []packPlan {
	var packs []packPlan
	next, size := [2]int64{firstPack(block), firstPack(block) + groupBit}, 0
	for i, m := range messages {
		if i == 0 || m.group != messages[i-1].group || size >= packBytes || len(packs[len(packs)-1].seqs) == x.packSize {
			packs, size = append(packs, packPlan{id: next[m.group]}), 0
			next[m.group]++
		}
		p := &packs[len(packs)-1]
		p.seqs, size = append(p.seqs, m.seq), size+m.length
	}
	return packs
}

// saveBlock adds a block whose packs are all stored, or widens the time range of a stored block.
func saveBlock(c *sqlite.Conn, b block) {
	c.Run(`
		INSERT INTO blocks (id, oldest, newest) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest)`,
		b.id, b.oldest, b.newest)
}

// firstSinceQuery finds the first block that may have messages at or after a time, lastUntilQuery
// the last block that may have messages at or before it. Both scan the table: a row has about ten
// bytes, and a million messages make 500 rows.
const (
	firstSinceQuery = "SELECT id FROM blocks WHERE newest >= ? ORDER BY id LIMIT 1"
	lastUntilQuery  = "SELECT id FROM blocks WHERE oldest <= ? ORDER BY id DESC LIMIT 1"
)

// DropEmpty removes the blocks of deleted messages from the index if they have no message left.
// It skips blocks that are not indexed yet, because the background may be indexing them.
func (x *Index) DropEmpty(c *sqlite.Conn, seqs []int64) {
	indexed, blocks := lastIndexed(c), make(map[int64]bool)
	for _, seq := range seqs {
		blocks[x.blockOf(seq)] = true
	}
	for id := range blocks {
		var left int64
		if id > indexed || c.Find("SELECT seq FROM messages WHERE seq BETWEEN ? AND ? LIMIT 1", []any{x.firstSeq(id), x.firstSeq(id+1) - 1}, &left) {
			continue
		}
		dropPacks(c, firstPack(id), firstPack(id+1))
		c.Run("DELETE FROM blocks WHERE id = ?", id)
	}
}
