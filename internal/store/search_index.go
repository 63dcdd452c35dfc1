package store

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// searchIndex knows which blocks of messages contain which grams. It is built
// behind the acknowledgements: a block is indexed once it is full, which means
// that a later message has arrived. Searches scan what is not indexed in the
// same snapshot, so that they are exact whatever is indexed yet.
type searchIndex struct {
	s    *Store
	work chan struct{} // a token when there is something to index

	building sync.Mutex // held while blocks are indexed
	// claimed is the last block that is indexed or about to be; Store.writing
	// guards it.
	claimed  int64
	broken   atomic.Bool  // searches scan instead
	rebuilt  bool         // only the background's: once is enough
	lastSave atomic.Int64 // nanoseconds since Store.began
}

const (
	// blockBits makes blocks of 32 messages: with fewer the index grows, with
	// more a rare word costs more to find.
	blockBits = 5
	blockSize = 1 << blockBits

	// noneIndexed is the number before the first block's.
	noneIndexed = -1

	// indexVersion changes with the form of grams or with [fold]; an index of
	// another version is rebuilt.
	indexVersion = 1

	createGrams = `CREATE VIRTUAL TABLE grams USING fts5
		(words, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii')`
)

func blockOf(seq int64) int64 { return seq >> blockBits }

func newSearchIndex(s *Store) *searchIndex {
	return &searchIndex{s: s, work: make(chan struct{}, 1), claimed: noneIndexed}
}

// prepare makes sure that there is an index of today's form, if need be an
// empty one that is filled in the background.
func (x *searchIndex) prepare(ctx context.Context) error {
	return x.s.write(ctx, func(ctx context.Context, t *writeTx) error {
		version, err := t.setting(ctx, settingIndex)
		if err != nil {
			return err
		}
		if version != strconv.Itoa(indexVersion) {
			if version != "" {
				x.s.log.Warn().Str("version", version).Msg("rebuilding the search index")
			}
			return x.empty(ctx, t)
		}
		x.claimed, err = t.lastIndexed(ctx)
		return err
	})
}

// empty replaces the index with one that knows nothing yet.
func (x *searchIndex) empty(ctx context.Context, t *writeTx) error {
	for _, step := range []string{"DROP TABLE IF EXISTS grams", createGrams, "DELETE FROM blocks", "DELETE FROM stale_blocks"} {
		if err := t.run(ctx, step); err != nil {
			return fmt.Errorf("empty the search index: %w", err)
		}
	}
	return t.setSetting(ctx, settingIndex, strconv.Itoa(indexVersion))
}

const (
	// quiet is how long nothing must have been saved before indexing goes on:
	// a burst is taken in first.
	quiet = 20 * time.Millisecond
	// maxTail is how many messages may wait for the index in a burst: more
	// would make searches slow.
	maxTail = 8192
	// indexEvery is how many full blocks gather before they are indexed.
	indexEvery = 4
)

// committed wakes the background if a transaction left enough to index.
func (x *searchIndex) committed(t *writeTx) {
	if len(t.appended) > 0 {
		x.lastSave.Store(int64(time.Since(x.s.began)))
	}
	if blockOf(t.numbers.seq) > x.claimed+indexEvery || t.staleMarked {
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
	if err := x.awaitQuiet(ctx); err != nil {
		return false, err
	}
	if stale, err := x.reindexStale(ctx); stale || err != nil {
		return stale, err
	}
	return x.indexNext(ctx)
}

// awaitQuiet waits for a pause between writes, unless much has gathered.
func (x *searchIndex) awaitQuiet(ctx context.Context) error {
	for {
		pause := time.Since(x.s.began) - time.Duration(x.lastSave.Load())
		if pause >= quiet || x.tail() > maxTail {
			return nil
		}
		if !sleep(ctx, quiet-pause) {
			return ctx.Err()
		}
	}
}

// tail returns how many messages wait for the index.
func (x *searchIndex) tail() int64 {
	x.s.writing.Lock()
	defer x.s.writing.Unlock()
	return x.s.numbers.seq - (x.claimed+1)<<blockBits
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
