package search

import (
	"cmp"
	"slices"

	"bridged/internal/store/db"
)

const indexedQuery = "SELECT ifnull(max(id), -1) FROM blocks" // -1 is noneIndexed

// lastIndexed returns the last block that is indexed.
func lastIndexed(c *db.Conn) (indexed int64) {
	c.Find(indexedQuery, nil, &indexed)
	return indexed
}

func (x *Index) blockOf(seq int64) int64 { return seq >> x.blockBits }

// firstSeq returns the first seq that belongs to a block.
func (x *Index) firstSeq(block int64) int64 { return block << x.blockBits }

// block is a block that is being indexed.
type block struct {
	id             int64
	oldest, newest int64
	packs          []packPlan
}

// planned is a message that is being packed.
type planned struct {
	packed
	group int64 // 1 in groups
}

// planBlock divides the messages of a block among packs, without reading their texts.
func (x *Index) planBlock(c *db.Conn, id int64) block {
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
	b.packs = x.cut(id, messages)
	return b
}

// cut divides the sorted messages of a block among packs.
func (x *Index) cut(block int64, messages []planned) []packPlan {
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

// saveBlock adds a block whose packs are all there, or widens its time range.
func saveBlock(c *db.Conn, b block) {
	c.Run(`
		INSERT INTO blocks (id, oldest, newest, upto, downto) VALUES (?1, ?2, ?3,
			max(?3, ifnull((SELECT upto FROM blocks WHERE id < ?1 ORDER BY id DESC LIMIT 1), ?3)),
			min(?2, ifnull((SELECT downto FROM blocks WHERE id > ?1 ORDER BY id LIMIT 1), ?2)))
		ON CONFLICT (id) DO UPDATE SET oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest),
			upto = max(upto, excluded.upto), downto = min(downto, excluded.downto)`,
		b.id, b.oldest, b.newest)
	// upto and downto stay true of the other blocks. Both grow with the block's number, so
	// that one look at a neighbour mostly shows that there is nothing to do.
	var neighbour int64
	if c.Find("SELECT upto FROM blocks WHERE id > ? ORDER BY id LIMIT 1", []any{b.id}, &neighbour) && neighbour < b.newest {
		c.Run(extendUpto, b.newest, b.id)
	}
	if c.Find("SELECT downto FROM blocks WHERE id < ? ORDER BY id DESC LIMIT 1", []any{b.id}, &neighbour) && neighbour > b.oldest {
		c.Run(extendDownto, b.oldest, b.id)
	}
}

const (
	extendUpto   = "UPDATE blocks SET upto = ?1 WHERE id > ?2 AND +upto < ?1"
	extendDownto = "UPDATE blocks SET downto = ?1 WHERE downto > ?1 AND +id < ?2"
)

// firstUptoQuery finds the first block that may have messages since a moment,
// lastDowntoQuery the last one that may have some until then.
const (
	firstUptoQuery  = "SELECT id FROM blocks WHERE upto >= ? ORDER BY upto, id LIMIT 1"
	lastDowntoQuery = "SELECT id FROM blocks WHERE downto <= ? ORDER BY downto DESC, id DESC LIMIT 1"
)

// Before returns where messages from before a moment may be: up to the seq last, and from
// the seq tail on, where they are not indexed.
func (x *Index) Before(c *db.Conn, moment int64) (last, tail int64) {
	edge := int64(noneIndexed)
	c.Find(lastDowntoQuery, []any{moment}, &edge)
	return x.firstSeq(edge+1) - 1, x.firstSeq(lastIndexed(c) + 1)
}

// DropEmpty removes those blocks of some messages from the index that have no message left.
// One that is not indexed yet may be about to be.
func (x *Index) DropEmpty(c *db.Conn, seqs []int64) {
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
