package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// The search index is built behind the acknowledgements: a block is sealed
// once it is full, which means that a later message has arrived. Searches scan
// what is not sealed in the same snapshot, so that they are exact whatever is
// indexed yet.

const (
	// blockBits makes blocks of 32 messages: with fewer the index grows, with
	// more a rare word costs more to find.
	blockBits = 5
	blockSize = 1 << blockBits

	// indexVersion changes with the form of grams or with [fold]; an index of
	// another version is made anew.
	indexVersion = 1

	createGrams = `CREATE VIRTUAL TABLE grams USING fts5
		(words, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii')`
)

func blockOf(seq int64) int64 { return seq >> blockBits }

// prepareIndex sees to it that there is an index of today's form, if need be an
// empty one that is filled in the background.
func (s *Store) prepareIndex(ctx context.Context) error {
	return s.write(ctx, func(ctx context.Context, t *writeTx) error {
		version, err := t.setting(ctx, settingIndex)
		if err != nil {
			return err
		}
		if version != strconv.Itoa(indexVersion) {
			if version != "" {
				s.log.Warn().Str("version", version).Msg("search index is made anew")
			}
			return t.emptyIndex(ctx)
		}
		s.claimed, err = t.lastIndexed(ctx)
		return err
	})
}

// emptyIndex makes an index that knows nothing yet.
func (t *writeTx) emptyIndex(ctx context.Context) error {
	for _, step := range []string{"DROP TABLE IF EXISTS grams", createGrams, "DELETE FROM blocks", "DELETE FROM stale_blocks"} {
		if err := t.run(ctx, step); err != nil {
			return fmt.Errorf("empty the search index: %w", err)
		}
	}
	t.s.claimed = noneIndexed
	return t.setSetting(ctx, settingIndex, strconv.Itoa(indexVersion))
}

// noneIndexed is the number before the first block's.
const noneIndexed = -1

const (
	indexedQuery = "SELECT ifnull(max(id), -1) FROM blocks"
	// A block that is about to be sealed may be stale already; until then it is
	// scanned anyway.
	staleQuery = "SELECT block FROM stale_blocks WHERE block <= (" + indexedQuery + ")"
)

// lastIndexed is the last block that is indexed.
func (t *writeTx) lastIndexed(ctx context.Context) (int64, error) {
	var indexed int64
	_, err := t.find(ctx, indexedQuery, nil, &indexed)
	return indexed, err
}

// markStale notes that the text or the time of a message has changed. Only blocks
// that are indexed, or are about to be, need to be looked at again.
func (t *writeTx) markStale(ctx context.Context, seq int64) error {
	block := blockOf(seq)
	if block > t.s.claimed {
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

// blocksOf reads the messages of a range of blocks and takes their grams.
// Blocks without messages are left out.
func blocksOf(ctx context.Context, q *conn, first, last int64) ([]block, error) {
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

// putBlock enters a block into the index, for the first time or again.
func (t *writeTx) putBlock(ctx context.Context, b block) error {
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

// extendRange keeps upto and downto true of the blocks around b. Both grow with the
// block's number, so that one look at a neighbour says whether there is
// anything to do: mostly there is not.
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

// dropBlock takes a block without messages out of the index.
func (t *writeTx) dropBlock(ctx context.Context, id int64) error {
	if err := t.run(ctx, "DELETE FROM grams WHERE rowid = ?", id); err != nil {
		return err
	}
	return t.run(ctx, "DELETE FROM blocks WHERE id = ?", id)
}

// indexBatch is how many blocks are sealed in one transaction: it holds up an
// acknowledgement for as long as that takes.
const indexBatch = 8

// indexNext indexes the next full blocks and says whether there were any.
// Grams are taken outside the transaction; a message that changes meanwhile
// finds its block claimed and makes it stale.
func (s *Store) indexNext(ctx context.Context) (bool, error) {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	first, last, err := s.claim(ctx)
	if err != nil || last < first {
		return false, err
	}
	var blocks []block
	err = s.read(ctx, func(r *readTx) (err error) {
		blocks, err = blocksOf(ctx, r.conn, first, last)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("read messages to index: %w", err)
	}
	err = s.write(ctx, func(ctx context.Context, t *writeTx) error {
		for _, b := range blocks {
			if err := t.putBlock(ctx, b); err != nil {
				return fmt.Errorf("index a block: %w", err)
			}
		}
		return nil
	})
	return err == nil, err
}

// claim says which blocks are to be sealed next: those that are full, up to a
// batch. Gaps in the arrivals cost nothing.
func (s *Store) claim(ctx context.Context) (first, last int64, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	var indexed, newest int64
	if err := s.writer.scan(ctx, indexedQuery, nil, &indexed); err != nil {
		return 0, -1, err
	}
	err = s.writer.scan(ctx, "SELECT arrival FROM messages WHERE arrival >= ? ORDER BY arrival LIMIT 1",
		[]any{(indexed + 1) << blockBits}, &first)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, -1, nil
	}
	if err != nil {
		return 0, -1, err
	}
	if err := s.writer.scan(ctx, "SELECT ifnull(max(arrival), 0) FROM messages", nil, &newest); err != nil {
		return 0, -1, err
	}
	first, last = blockOf(first), blockOf(newest)-1
	last = min(last, first+indexBatch-1)
	s.claimed = max(s.claimed, last)
	return first, last, nil
}

// reindexStale indexes stale blocks again and says whether there were any.
func (s *Store) reindexStale(ctx context.Context) (bool, error) {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	found := false
	err := s.read(ctx, func(r *readTx) error {
		return r.scan(ctx, "SELECT EXISTS ("+staleQuery+")", nil, &found)
	})
	if err != nil || !found {
		return false, err
	}
	err = s.write(ctx, func(ctx context.Context, t *writeTx) error {
		stale, err := t.ids(ctx, staleQuery+" LIMIT "+strconv.Itoa(indexBatch))
		if err != nil {
			return err
		}
		for _, id := range stale {
			if err := t.reindexBlock(ctx, id); err != nil {
				return fmt.Errorf("index a block again: %w", err)
			}
		}
		return nil
	})
	return err == nil, err
}

func (t *writeTx) reindexBlock(ctx context.Context, id int64) error {
	if err := t.run(ctx, "DELETE FROM stale_blocks WHERE block = ?", id); err != nil {
		return err
	}
	blocks, err := blocksOf(ctx, t.conn, id, id)
	if err != nil {
		return err
	}
	if len(blocks) == 0 {
		return t.dropBlock(ctx, id)
	}
	return t.putBlock(ctx, blocks[0])
}

// Reindex makes the search index anew and reports how many messages of how
// many are indexed. Searches go on meanwhile; they are exact, but slow.
func (s *Store) Reindex(ctx context.Context, progress func(done, total int)) error {
	if err := s.dropIndex(ctx); err != nil {
		return err
	}
	for {
		more, err := s.indexNext(ctx)
		if err != nil {
			return fmt.Errorf("make the search index: %w", err)
		}
		done, total, err := s.coverage(ctx)
		if err != nil {
			return err
		}
		if !more {
			done = total // the last ones fill no block yet and are scanned
		}
		if progress != nil {
			progress(done, total)
		}
		if !more {
			s.indexBroken.Store(false)
			return nil
		}
	}
}

func (s *Store) dropIndex(ctx context.Context) error {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	return s.write(ctx, func(ctx context.Context, t *writeTx) error { return t.emptyIndex(ctx) })
}

// Indexed returns how many messages the search index covers, of how many. What
// it does not cover yet is scanned; the last few wait until there are more.
func (s *Store) Indexed(ctx context.Context) (done, total int, err error) {
	done, total, err = s.coverage(ctx)
	if total-done < (indexEvery+2)*blockSize {
		done = total
	}
	return done, total, err
}

// coverage says how many arrivals are indexed of how many.
func (s *Store) coverage(ctx context.Context) (done, total int, err error) {
	err = s.read(ctx, func(r *readTx) error {
		var indexed int
		if err := r.scan(ctx, indexedQuery, nil, &indexed); err != nil {
			return err
		}
		done = (indexed + 1) * blockSize
		return r.scan(ctx, "SELECT ifnull(max(arrival), 0) FROM messages", nil, &total)
	})
	return min(done, total), total, err
}

const (
	// quiet is how long nothing must have been saved before indexing goes on:
	// a burst is taken in first.
	quiet = 20 * time.Millisecond
	// maxTail is how many messages may wait for the index in a burst: more
	// would make searches slow.
	maxTail = 8192
	// indexEvery is how many full blocks gather before they are sealed.
	indexEvery = 4
)

// notifyIndexOf says that there is work, once there is enough of it.
func (s *Store) notifyIndexOf(t *writeTx) {
	if blockOf(t.numbers.seq) <= s.claimed+indexEvery && !t.staleMarked {
		return
	}
	s.notifyIndex()
}

func (s *Store) notifyIndex() {
	select {
	case s.indexWork <- struct{}{}:
	default: // it is awake
	}
}

// index runs in the background until ctx ends.
func (s *Store) index(ctx context.Context) {
	for {
		worked, err := s.indexSome(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.log.Error().Err(err).Msg("search index cannot be written; searches scan meanwhile")
			if !sleep(ctx, time.Minute) {
				return
			}
		case !worked:
			select {
			case <-ctx.Done():
				return
			case <-s.indexWork:
			}
		}
	}
}

// indexSome does the next piece of work and says whether there was any.
func (s *Store) indexSome(ctx context.Context) (bool, error) {
	if s.indexBroken.Load() && !s.indexRemade {
		s.indexRemade = true
		return true, s.Reindex(ctx, nil)
	}
	if err := s.awaitQuiet(ctx); err != nil {
		return false, err
	}
	if stale, err := s.reindexStale(ctx); stale || err != nil {
		return stale, err
	}
	return s.indexNext(ctx)
}

// awaitQuiet waits for a pause between writes, unless much has gathered.
func (s *Store) awaitQuiet(ctx context.Context) error {
	for {
		pause := time.Since(s.began) - time.Duration(s.lastSave.Load())
		if pause >= quiet {
			return nil
		}
		if s.tail() > maxTail {
			return nil
		}
		if !sleep(ctx, quiet-pause) {
			return ctx.Err()
		}
	}
}

// tail is how many messages wait for the index.
func (s *Store) tail() int64 {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.numbers.seq - (s.claimed+1)<<blockBits
}

// sleep says false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
