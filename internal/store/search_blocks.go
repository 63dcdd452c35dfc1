package store

import (
	"cmp"
	"context"
	"slices"
)

const indexedQuery = "SELECT ifnull(max(id), -1) FROM blocks"

// lastIndexed returns the last block that is indexed.
func (t *writeTx) lastIndexed(ctx context.Context) (int64, error) {
	var indexed int64
	_, err := t.find(ctx, indexedQuery, nil, &indexed)
	return indexed, err
}

// packPlan is which messages a pack is to have.
type packPlan struct {
	id   int64
	seqs []int64
}

// block is a block that is about to be indexed.
type block struct {
	id             int64
	oldest, newest int64
	packs          []packPlan
}

// planned is a message that is about to be packed.
type planned struct {
	packed
	group int64 // 1 in groups
}

// planBlock reads which messages a block has, all but their texts, and divides
// them among packs.
func (x *searchIndex) planBlock(ctx context.Context, q *conn, id int64) (block, error) {
	b := block{id: id}
	var messages []planned
	err := q.each(ctx, `
		SELECT m.seq, m.chat, m.timestamp, octet_length(ifnull(m.folded, m.content)), c.is_group
		FROM messages m JOIN chats c ON c.id = m.chat
		WHERE m.seq BETWEEN ? AND ? ORDER BY m.seq`,
		[]any{x.firstSeq(id), x.firstSeq(id+1) - 1}, func(rows *resultSet) error {
			var m planned
			err := rows.Scan(&m.seq, &m.chat, &m.timestamp, &m.length, &m.group)
			messages = append(messages, m)
			return err
		})
	if err != nil || len(messages) == 0 {
		return b, err
	}
	b.oldest, b.newest = messages[0].timestamp, messages[0].timestamp
	for _, m := range messages {
		b.oldest, b.newest = min(b.oldest, m.timestamp), max(b.newest, m.timestamp)
	}
	slices.SortStableFunc(messages, func(m, n planned) int {
		return cmp.Or(cmp.Compare(m.group, n.group), cmp.Compare(m.chat, n.chat))
	})
	b.packs = x.cut(id, messages)
	return b, nil
}

// cut divides sorted messages of a block among packs.
func (x *searchIndex) cut(block int64, messages []planned) []packPlan {
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

// saveBlock enters a block whose packs are all there: from now on it is searched
// by them.
func (t *writeTx) saveBlock(ctx context.Context, b block) error {
	err := t.run(ctx, `
		INSERT INTO blocks (id, oldest, newest, upto, downto) VALUES (?1, ?2, ?3,
			max(?3, ifnull((SELECT upto FROM blocks WHERE id < ?1 ORDER BY id DESC LIMIT 1), ?3)),
			min(?2, ifnull((SELECT downto FROM blocks WHERE id > ?1 ORDER BY id LIMIT 1), ?2)))
		ON CONFLICT (id) DO UPDATE SET oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest),
			upto = max(upto, excluded.upto), downto = min(downto, excluded.downto)`,
		b.id, b.oldest, b.newest)
	if err != nil {
		return err
	}
	return t.extendRange(ctx, b)
}

// extendRange keeps upto and downto true of the blocks around b. Both grow with
// the block's number, so that one look at a neighbour mostly shows that there
// is nothing to do.
func (t *writeTx) extendRange(ctx context.Context, b block) error {
	var neighbour int64
	after, err := t.find(ctx, "SELECT upto FROM blocks WHERE id > ? ORDER BY id LIMIT 1", []any{b.id}, &neighbour)
	if err != nil {
		return err
	}
	if after && neighbour < b.newest {
		if err := t.run(ctx, "UPDATE blocks SET upto = ?1 WHERE id > ?2 AND +upto < ?1", b.newest, b.id); err != nil {
			return err
		}
	}
	before, err := t.find(ctx, "SELECT downto FROM blocks WHERE id < ? ORDER BY id DESC LIMIT 1", []any{b.id}, &neighbour)
	if err != nil || !before || neighbour <= b.oldest {
		return err
	}
	return t.run(ctx, "UPDATE blocks SET downto = ?1 WHERE downto > ?1 AND +id < ?2", b.oldest, b.id)
}

// dropBlock removes a block without messages from the index.
func (t *writeTx) dropBlock(ctx context.Context, id int64) error {
	if err := t.dropPacks(ctx, firstPack(id), firstPack(id+1)); err != nil {
		return err
	}
	return t.run(ctx, "DELETE FROM blocks WHERE id = ?", id)
}

// dropPacks removes the packs from one number up to another.
func (t *writeTx) dropPacks(ctx context.Context, from, to int64) error {
	packs, err := t.ids(ctx, "SELECT id FROM packs WHERE id >= ? AND id < ?", from, to)
	if err != nil {
		return err
	}
	for _, id := range packs {
		if err := t.dropPack(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
