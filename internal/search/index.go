// Package search finds messages by any part of their text, in every script. Its index is in the
// tables of bridged.db.
//
// # Why not FTS5 alone
//
// SQLite's full-text search finds words, or sequences of three characters (trigrams). Chinese,
// Japanese and Korean words have one or two characters, so searches for them would scan the
// table: 120 ms for a million messages. This index finds texts of any length, and its slowest
// searches are 4 to 10 times faster (p99 of random texts 11 ms against 37, of common phrases 4
// against 55).
//
// # How
//
// Messages are indexed in blocks of some thousand consecutive seqs. The messages of a block are
// sorted by chat, individual chats first, and divided into packs of a few dozen, which store
// their folded texts ([folding.Fold]). Packs are what other indexes call documents: an FTS5 table
// lists for each pack its grams, the n-grams of one to four characters, and its chats. A text
// that contains q contains all grams of q. So a search asks for the packs that have the rarest
// grams of q, starting at the newest or the oldest block, compares their texts, and stops when no
// remaining block can contain a better result.
//
// A search that ignores accents strips them from the texts before it compares; each pack stores
// where they are ([folding.AppendAccents]). The grams of the stripped texts are in the table,
// too. A gram that a pack has only in stripped texts is marked, so that exact searches can skip
// the pack.
//
// Searches are always exact: in the same snapshot, they scan the messages that are not indexed
// yet or have changed since ([Index.MarkStale]). A background goroutine builds the index and
// merges the table's segments when it has nothing else to do. The index can be rebuilt from the
// messages.
//
// The package reads the tables messages and chats and owns blocks, packs and grams. It knows
// neither its callers nor how a message is shown.
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
	"bridged/internal/sqlite"
)

// Store is the database of an index.
type Store interface {
	// View runs f on one snapshot.
	View(ctx context.Context, f func(*sqlite.Conn)) error
	// Update runs f in one transaction. Transactions do not overlap.
	Update(ctx context.Context, f func(*sqlite.Conn)) error
}

// Index is the search index of a store.
type Index struct {
	store Store
	log   zerolog.Logger
	work  chan struct{} // has an element when there may be something to index
	began time.Time     // lastSave is relative to it, so that clock changes do not matter

	blockBits, packSize int
	// OfSender limits how many of a sender's messages are read to check one pack. If there are
	// more, which happens in chats whose messages did not arrive in order, the messages of the
	// pack are read instead.
	OfSender int

	building sync.Mutex   // held while blocks are indexed
	mergedAt int          // the number of segments of one size that the last merge looked for; 0 if unknown
	unmerged bool         // fewSegments of one size may exist
	touched  bool         // a message has changed since its block was claimed; only used in transactions
	stale    bool         // some pack is stale; only used in transactions
	claimed  atomic.Int64 // the last block that is indexed or being indexed
	newest   atomic.Int64 // seq of the last message

	rarity    atomic.Pointer[rarity]
	sampledAt int64        // number of blocks at the last sample; only used by the background
	broken    atomic.Bool  // searches scan the messages instead
	resting   atomic.Bool  // the background has no work
	rebuilt   bool         // only used by the background, which rebuilds at most once
	lastSave  atomic.Int64 // nanoseconds since began
}

const (
	// blockBits makes blocks of 2,048 messages. In larger blocks, busy chats would have packs of
	// their own more often, but every search would scan more messages of the incomplete block.
	blockBits = 11

	// noneIndexed is the number before the first block.
	noneIndexed = -1

	// version changes with the form of grams or with [folding.Fold].
	version = 4

	createGrams = `CREATE VIRTUAL TABLE grams USING fts5
		(words, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii')`
	// mergeByHand turns automatic merging off. [Index.merge] merges in separate transactions, as
	// acknowledgements would otherwise wait longer for the transactions that write packs.
	mergeByHand = "INSERT INTO grams (grams, rank) VALUES ('automerge', 0)"
	createPacks = `CREATE TABLE packs (id INTEGER PRIMARY KEY, messages BLOB NOT NULL, accents BLOB, texts BLOB) STRICT`
	createStale = `CREATE INDEX packs_stale ON packs (id) WHERE texts IS NULL`
)

// Options are for tests, except Log.
type Options struct {
	Log                 zerolog.Logger
	BlockBits, PackSize int // 0 for the constants of this package
}

// New returns the index of a store. Call [Index.Prepare] before use.
func New(store Store, o Options) *Index {
	x := &Index{store: store, log: o.Log, work: make(chan struct{}, 1), began: time.Now(), OfSender: 256}
	x.blockBits, x.packSize = cmp.Or(o.BlockBits, blockBits), cmp.Or(o.PackSize, packSize)
	x.claimed.Store(noneIndexed)
	return x
}

// setting is the name of the setting that stores the form of the index.
const setting = "store.search_index"

// form returns the current form. An index in another form is rebuilt.
func (x *Index) form() string { return fmt.Sprintf("%d/%d", version, x.blockBits) }

// Prepare empties an index that is not in the current form.
func (x *Index) Prepare(ctx context.Context) error {
	return x.store.Update(ctx, func(c *sqlite.Conn) {
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
		dropPacks(c, firstPack(indexed+1), math.MaxInt64) // of an unfinished block
	})
}

// empty replaces the index by an empty one.
func (x *Index) empty(c *sqlite.Conn) {
	for _, step := range []string{
		"DROP TABLE IF EXISTS grams", createGrams, "DROP TABLE IF EXISTS packs", createPacks, createStale, "DELETE FROM blocks", mergeByHand,
	} {
		c.Run(step)
	}
	x.mergedAt = 0
	c.Run("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", setting, x.form())
}

const (
	// quiet is the pause between writes after which indexing goes on. mostBetween is how long a
	// started block waits for such a pause.
	quiet       = 20 * time.Millisecond
	mostBetween = 200 * time.Millisecond
	// maxTail is the number of unindexed messages above which indexing does not wait: searches
	// would become slow.
	maxTail = 8192
)

// Committed must be called after each transaction with the seq of the last message; changed says
// whether the transaction logged an event. It wakes the background if there is something to
// index.
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
func (x *Index) Wake() { bridge.Wake(x.work) }

// SetBroken makes searches scan until the background has rebuilt the index. It returns true for
// the first call.
func (x *Index) SetBroken() bool {
	first := !x.broken.Swap(true)
	if first {
		x.Wake()
	}
	return first
}

// IsBroken reports whether searches scan because the index is broken.
func (x *Index) IsBroken() bool { return x.broken.Load() }

// IsTable reports whether a table belongs to the index and can thus be rebuilt from the messages.
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
			x.log.Error().Err(err).Msg("cannot write the search index; searches scan all messages until it is written")
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

// step does one piece of work and reports whether there was any.
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

// IndexSome rebuilds stale packs, or else indexes the next full block, or else merges segments.
// It reports whether there was anything to do.
func (x *Index) IndexSome(ctx context.Context) (bool, error) {
	if stale, err := x.reindexStale(ctx); stale || err != nil {
		return stale, err
	}
	if indexed, err := x.indexNext(ctx); indexed || err != nil {
		return indexed, err
	}
	return x.mergeMore(ctx)
}

// awaitQuiet waits up to most for a pause between writes. It returns at once if many messages
// wait to be indexed.
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
