package store

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// searchIndex knows which packs of messages contain which grams. It is built
// behind the acknowledgements: a block is indexed once it is full, which means
// that a later message has arrived. Searches scan what is not indexed in the
// same snapshot, so that they are exact whatever is indexed yet.
type searchIndex struct {
	s    *Store
	work chan struct{} // a token when there is something to index

	blockBits, packSize int // as the constants say, but in tests

	building sync.Mutex // held while blocks are indexed
	// claimed is the last block that is indexed or about to be, and touched are its
	// messages that have changed since; Store.writing guards both.
	claimed int64
	touched map[int64]bool

	rarity    atomic.Pointer[rarity]
	sampledAt int64        // how many blocks there were; only the background's
	broken    atomic.Bool  // searches scan instead
	rebuilt   bool         // only the background's: once is enough
	lastSave  atomic.Int64 // nanoseconds since Store.began
}

const (
	// blockBits makes blocks of 2,048 messages. With more, a large chat has packs of
	// its own more often, but more messages wait for their block to be full and are
	// scanned by every search.
	blockBits = 11

	// noneIndexed is the number before the first block's.
	noneIndexed = -1

	// indexVersion changes with the form of grams or with [fold]; an index of
	// another version is rebuilt.
	indexVersion = 2

	createGrams = `CREATE VIRTUAL TABLE grams USING fts5
		(words, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii')`
	// mergeByHand has segments merged in transactions of their own ([searchIndex.mergeNew]),
	// not in one that writes packs: that would hold up an acknowledgement longer.
	mergeByHand = "INSERT INTO grams (grams, rank) VALUES ('automerge', 0)"
	createPacks = `CREATE TABLE packs (id INTEGER PRIMARY KEY, messages BLOB NOT NULL, texts BLOB) STRICT`
	createStale = `CREATE INDEX packs_stale ON packs (id) WHERE texts IS NULL`
)

func newSearchIndex(s *Store) *searchIndex {
	return &searchIndex{
		s: s, work: make(chan struct{}, 1), claimed: noneIndexed, touched: make(map[int64]bool),
	}
}

func (x *searchIndex) blockOf(seq int64) int64 { return seq >> x.blockBits }

// firstSeq returns the first arrival that belongs to a block.
func (x *searchIndex) firstSeq(block int64) int64 { return block << x.blockBits }

// prepare makes sure that there is an index of today's form, if need be an
// empty one that is filled in the background.
func (x *searchIndex) prepare(ctx context.Context) error {
	return x.s.write(ctx, func(ctx context.Context, t *writeTx) error {
		version, err := t.setting(ctx, settingIndex)
		if err != nil {
			return err
		}
		if version != x.form() {
			if version != "" {
				x.s.log.Warn().Str("version", version).Msg("rebuilding the search index")
			}
			return x.empty(ctx, t)
		}
		if x.claimed, err = t.lastIndexed(ctx); err != nil {
			return err
		}
		if err := t.run(ctx, mergeByHand); err != nil {
			return err
		}
		// What a killed process has written of the next block.
		return t.dropPacks(ctx, firstPack(x.claimed+1), math.MaxInt64)
	})
}

// empty replaces the index with one that knows nothing yet.
func (x *searchIndex) empty(ctx context.Context, t *writeTx) error {
	for _, step := range []string{
		"DROP TABLE IF EXISTS grams", createGrams, "DROP TABLE IF EXISTS packs", createPacks, createStale, "DELETE FROM blocks", mergeByHand,
	} {
		if err := t.run(ctx, step); err != nil {
			return fmt.Errorf("empty the search index: %w", err)
		}
	}
	return t.setSetting(ctx, settingIndex, x.form())
}

// form says how an index is written, so that one of another form is rebuilt.
func (x *searchIndex) form() string { return fmt.Sprintf("%d/%d", indexVersion, x.blockBits) }

const (
	// quiet is how long nothing must have been saved before indexing goes on:
	// a burst is taken in first.
	quiet = 20 * time.Millisecond
	// mostBetween is how long a block that is begun waits for such a pause.
	mostBetween = 200 * time.Millisecond
	// maxTail is how many messages may wait for the index in a burst: more
	// would make searches slow.
	maxTail = 8192
)

// committed wakes the background if a transaction left something to index.
func (x *searchIndex) committed(t *writeTx) {
	if len(t.appended) > 0 {
		x.lastSave.Store(int64(time.Since(x.s.began)))
	}
	if x.blockOf(t.numbers.seq) > x.claimed+1 || t.staleMarked {
		notify(x.work)
	}
}

// setBroken makes searches scan until the background has rebuilt the index. It
// reports whether the index was whole so far.
func (x *searchIndex) setBroken() bool {
	first := !x.broken.Swap(true)
	if first {
		notify(x.work)
	}
	return first
}

// run indexes in the background until ctx ends.
func (x *searchIndex) run(ctx context.Context) {
	for {
		worked, err := x.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			x.s.log.Error().Err(err).Msg("search index cannot be written; searches scan meanwhile")
			if !sleep(ctx, time.Minute) {
				return
			}
		case !worked:
			select {
			case <-ctx.Done():
				return
			case <-x.work:
			}
		}
	}
}

// step does the next piece of work and reports whether there was any.
func (x *searchIndex) step(ctx context.Context) (bool, error) {
	if x.broken.Load() && !x.rebuilt {
		x.rebuilt = true
		return true, x.rebuild(ctx, nil)
	}
	if err := x.awaitQuiet(ctx, math.MaxInt64); err != nil {
		return false, err
	}
	if stale, err := x.reindexStale(ctx); stale || err != nil {
		return stale, err
	}
	if next, err := x.indexNext(ctx); next || err != nil {
		return next, err
	}
	return false, x.sample(ctx)
}

// awaitQuiet waits for a pause between writes, unless much has gathered, for most
// at most.
func (x *searchIndex) awaitQuiet(ctx context.Context, most time.Duration) error {
	for began := time.Now(); time.Since(began) < most; {
		pause := time.Since(x.s.began) - time.Duration(x.lastSave.Load())
		if pause >= quiet || x.tail() > maxTail {
			return nil
		}
		if !sleep(ctx, quiet-pause) {
			return ctx.Err()
		}
	}
	return nil
}

// tail returns how many messages wait for the index.
func (x *searchIndex) tail() int64 {
	x.s.writing.Lock()
	defer x.s.writing.Unlock()
	return x.s.numbers.seq - x.firstSeq(x.claimed+1)
}

// sleep waits for d and reports whether it did: false when ctx ended first.
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
