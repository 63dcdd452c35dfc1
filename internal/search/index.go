// Package search finds messages by any part of their text, in every script, in
// the tables of bridged.db.
//
// # Why not FTS5 alone
//
// SQLite's full-text search finds words, or sequences of three characters
// (trigrams), but Chinese, Japanese and Korean words have one or two: these take a scan,
// 120 ms for a million messages. This index finds texts of any length, and its tails
// are 4 to 10 times shorter (p99 of random texts 11 ms against 37, of common phrases 4
// against 55).
//
// # How
//
// Messages are indexed in blocks of some thousand consecutive seqs. The messages of a
// block are sorted by chat, those of individual chats first, and cut into packs of a few
// dozen, each with their folded texts ([Fold]). An FTS5 table has the sequences of one to
// four characters (grams) of each pack, and its chats. A text that contains q contains all
// grams of q: so a search asks for the packs that have the rarest of q's grams, from the
// newest or the oldest block on, compares their texts, and stops when no block that is
// left can have anything better.
//
// A search without accents removes those of the texts before it compares them; each pack knows
// where they are ([folding.AppendAccents]). The table has the grams of such texts like others. It
// marks those that a pack has only without accents, so that exact searches can skip the pack.
//
// Searches are exact at any time: they scan messages that are not indexed yet, or have
// changed since ([Index.MarkStale]), in the same snapshot. The index is built in the
// background, which merges the segments of the table where it has nothing else to do, and can
// be made anew from the messages.
//
// The package reads the tables messages and chats, and owns blocks, packs and
// grams. It does not know who asks, or what a message shows.
package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// Store is the store that an index belongs to.
type Store interface {
	// View runs f on one snapshot.
	View(ctx context.Context, f func(*db.Conn)) error
	// Update runs f in one transaction. There is one at a time.
	Update(ctx context.Context, f func(*db.Conn)) error
}

// Index knows which packs of messages contain which grams.
type Index struct {
	store Store
	log   zerolog.Logger
	work  chan struct{} // a token when there is something to index
	began time.Time     // lastSave counts from it: no leap of the clock changes that

	blockBits, packSize int
	// OfSender limits how many of a sender's messages are looked at for one pack. There may be
	// more where a chat did not come in its order; then those of the pack are looked at.
	OfSender int

	building sync.Mutex   // held while blocks are indexed
	mergedAt int          // how many segments of one size were merged last; 0 for unknown
	unmerged bool         // there may be fewSegments of one size
	touched  bool         // a message has changed since its block was claimed; transactions only
	stale    bool         // some pack is; transactions only
	claimed  atomic.Int64 // the last block that is indexed or about to be
	newest   atomic.Int64 // the last message

	rarity    atomic.Pointer[rarity]
	sampledAt int64        // how many blocks there were; only the background's
	broken    atomic.Bool  // searches scan instead
	resting   atomic.Bool  // the background has nothing to do
	rebuilt   bool         // only the background's: once is enough
	lastSave  atomic.Int64 // nanoseconds since began
}

const (
	// blockBits makes blocks of 2,048 messages. With more, large chats have packs of
	// their own more often, but every search scans more that wait for a full block.
	blockBits = 11

	// noneIndexed comes before the first block's number.
	noneIndexed = -1

	// version changes with the form of grams or with [Fold].
	version = 4

	createGrams = `CREATE VIRTUAL TABLE grams USING fts5
		(words, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii')`
	// mergeByHand has segments merged in transactions of their own ([Index.merge]), not in
	// those that write packs, for which acknowledgements would wait longer.
	mergeByHand = "INSERT INTO grams (grams, rank) VALUES ('automerge', 0)"
	createPacks = `CREATE TABLE packs (id INTEGER PRIMARY KEY, messages BLOB NOT NULL, accents BLOB, texts BLOB) STRICT`
	createStale = `CREATE INDEX packs_stale ON packs (id) WHERE texts IS NULL`
)

// Options serve tests, but for the log.
type Options struct {
	Log                 zerolog.Logger
	BlockBits, PackSize int // 0 for what the constants say
}

// New returns the index of a store. It must be prepared.
func New(store Store, o Options) *Index {
	x := &Index{store: store, log: o.Log, work: make(chan struct{}, 1), began: time.Now(), OfSender: 256}
	x.blockBits, x.packSize = cmp.Or(o.BlockBits, blockBits), cmp.Or(o.PackSize, packSize)
	x.claimed.Store(noneIndexed)
	return x
}

// setting names the setting with the form of the index.
const setting = "store.search_index"

// form returns today's form: an index of another one is rebuilt.
func (x *Index) form() string { return fmt.Sprintf("%d/%d", version, x.blockBits) }

// Prepare replaces an index that is not of today's form by an empty one.
func (x *Index) Prepare(ctx context.Context) error {
	return x.store.Update(ctx, func(c *db.Conn) {
		var form string
		if c.Find("SELECT value FROM settings WHERE name = ?", []any{setting}, &form); form != x.form() {
			if form != "" {
				x.log.Warn().Str("version", form).Msg("rebuilding the search index")
			}
			x.empty(c)
			return
		}
		indexed := lastIndexed(c)
		x.claimed.Store(indexed)
		c.Run(mergeByHand)
		dropPacks(c, firstPack(indexed+1), math.MaxInt64) // of a block that was not finished
	})
}

// empty replaces the index by an empty one.
func (x *Index) empty(c *db.Conn) {
	for _, step := range []string{
		"DROP TABLE IF EXISTS grams", createGrams, "DROP TABLE IF EXISTS packs", createPacks, createStale, "DELETE FROM blocks", mergeByHand,
	} {
		c.Run(step)
	}
	x.mergedAt = 0
	c.Run("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", setting, x.form())
}

const (
	// quiet is how long nothing must have been saved before indexing goes on, and
	// mostBetween how long a block that is begun waits for that.
	quiet       = 20 * time.Millisecond
	mostBetween = 200 * time.Millisecond
	// maxTail limits the messages that wait for such a pause: more make searches slow.
	maxTail = 8192
)

// Committed is called after each transaction, with the last message and whether anything
// was logged. It wakes the background if there is something to index.
func (x *Index) Committed(newest int64, changed bool) {
	if changed {
		x.lastSave.Store(int64(time.Since(x.began)))
	}
	x.newest.Store(newest)
	if x.blockOf(newest) > x.claimed.Load()+1 || x.stale {
		x.stale = false
		x.Wake()
	}
}

// Wake makes the background look for work.
func (x *Index) Wake() {
	select {
	case x.work <- struct{}{}:
	default: // it is awake, or will be
	}
}

// SetBroken makes searches scan until the background has rebuilt the index, and
// reports whether the index was whole so far.
func (x *Index) SetBroken() bool {
	first := !x.broken.Swap(true)
	if first {
		x.Wake()
	}
	return first
}

// IsBroken reports whether searches scan.
func (x *Index) IsBroken() bool { return x.broken.Load() }

// IsTable reports whether a table is the index's, and so can be made anew from the messages.
func IsTable(name string) bool {
	return name == "blocks" || name == "packs" || strings.HasPrefix(name, "grams_")
}

// Run indexes in the background until ctx ends.
func (x *Index) Run(ctx context.Context) {
	for {
		worked, err := x.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			x.log.Error().Err(err).Msg("search index cannot be written; searches scan meanwhile")
			if !bridge.Sleep(ctx, time.Minute) {
				return
			}
		case !worked:
			x.resting.Store(true)
			select {
			case <-ctx.Done():
				return
			case <-x.work:
				x.resting.Store(false)
			}
		}
	}
}

// step does the next piece of work and reports whether there was any.
func (x *Index) step(ctx context.Context) (bool, error) {
	if x.broken.Load() && !x.rebuilt {
		x.rebuilt = true
		return true, x.Rebuild(ctx, nil)
	}
	if err := x.awaitQuiet(ctx, math.MaxInt64); err != nil {
		return false, err
	}
	if worked, err := x.IndexSome(ctx); worked || err != nil {
		return worked, err
	}
	return false, x.sample(ctx)
}

// IndexSome indexes stale packs, or else the next full block, or else merges segments, and
// reports whether there was anything to do.
func (x *Index) IndexSome(ctx context.Context) (bool, error) {
	if stale, err := x.reindexStale(ctx); stale || err != nil {
		return stale, err
	}
	if indexed, err := x.indexNext(ctx); indexed || err != nil {
		return indexed, err
	}
	return x.mergeMore(ctx)
}

// awaitQuiet waits for a pause between writes, for most at most, unless much has gathered.
func (x *Index) awaitQuiet(ctx context.Context, most time.Duration) error {
	for began := time.Now(); time.Since(began) < most; {
		pause := time.Since(x.began) - time.Duration(x.lastSave.Load())
		waiting := x.newest.Load() - x.firstSeq(x.claimed.Load()+1)
		if pause >= quiet || waiting > maxTail {
			return nil
		}
		if !bridge.Sleep(ctx, quiet-pause) {
			return ctx.Err()
		}
	}
	return nil
}
