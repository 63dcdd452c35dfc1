package store

import (
	"context"
	"database/sql"
)

const (
	indexedQuery = "SELECT ifnull(max(id), -1) FROM blocks"
	// staleQuery leaves out blocks that are about to be indexed: until then they
	// are scanned anyway.
	staleQuery = "SELECT block FROM stale_blocks WHERE block <= (" + indexedQuery + ")"
)

// lastIndexed returns the last block that is indexed.
func (t *writeTx) lastIndexed(ctx context.Context) (int64, error) {
	var indexed int64
	_, err := t.find(ctx, indexedQuery, nil, &indexed)
	return indexed, err
}

// markStale notes that the text or the time of a message has changed. Only blocks
// that are indexed, or are about to be, need to be indexed again.
func (t *writeTx) markStale(ctx context.Context, seq int64) error {
	block := blockOf(seq)
	if block > t.s.index.claimed {
		return nil
	}
	t.staleMarked = true
	return t.run(ctx, "INSERT INTO stale_blocks (block) VALUES (?) ON CONFLICT DO NOTHING", block)
}

// block is what the index keeps of one block.
type block struct {
	id             int64
	oldest, newest int64
	grams          string
}

// readBlocks reads the messages of a range of blocks and takes their grams.
// Blocks without messages are left out.
func readBlocks(ctx context.Context, q *conn, first, last int64) ([]block, error) {
	var blocks []block
	var grams *gramSet
	finish := func() {
		if grams != nil {
			blocks[len(blocks)-1].grams = grams.text.String()
		}
	}
	err := q.each(ctx, `
		SELECT arrival, timestamp, ifnull(folded, content) FROM messages
		WHERE arrival BETWEEN ? AND ? ORDER BY arrival`,
		[]any{first << blockBits, last<<blockBits + blockSize - 1}, func(rows *sql.Rows) error {
			var seq, timestamp int64
			var text sql.RawBytes
			if err := rows.Scan(&seq, &timestamp, &text); err != nil {
				return err
			}
			if id := blockOf(seq); len(blocks) == 0 || blocks[len(blocks)-1].id != id {
				finish()
				blocks = append(blocks, block{id: id, oldest: timestamp, newest: timestamp})
				grams = newGramSet()
			}
			b := &blocks[len(blocks)-1]
			b.oldest, b.newest = min(b.oldest, timestamp), max(b.newest, timestamp)
			grams.add(string(text))
			return nil
		})
	finish()
	return blocks, err
}

// saveBlock enters a block into the index, for the first time or again.
func (t *writeTx) saveBlock(ctx context.Context, b block) error {
	if err := t.run(ctx, "DELETE FROM grams WHERE rowid = ?", b.id); err != nil {
		return err
	}
	if err := t.run(ctx, "INSERT INTO grams (rowid, words) VALUES (?, ?)", b.id, b.grams); err != nil {
		return err
	}
	err := t.run(ctx, `
		INSERT INTO blocks (id, oldest, newest, upto, downto) VALUES (?1, ?2, ?3,
			max(?3, ifnull((SELECT upto FROM blocks WHERE id < ?1 ORDER BY id DESC LIMIT 1), ?3)),
			min(?2, ifnull((SELECT downto FROM blocks WHERE id > ?1 ORDER BY id LIMIT 1), ?2)))
		ON CONFLICT (id) DO UPDATE SET oldest = excluded.oldest, newest = excluded.newest,
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
	if err := t.run(ctx, "DELETE FROM grams WHERE rowid = ?", id); err != nil {
		return err
	}
	return t.run(ctx, "DELETE FROM blocks WHERE id = ?", id)
}
