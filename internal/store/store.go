// Package store keeps the facts in SQLite: chats, people, groups, messages and
// the log of events, in one file.
//
// [Store.Save] writes the facts of one stanza in one durable transaction and
// is safe to repeat; a nil answer is the only licence to acknowledge. Reading
// methods answer [bridge] values as the API shows them, each from one
// consistent snapshot. Every fact that changes something appends to the event
// log in its own transaction; [Store.Changed] wakes readers who wait for more.
//
// One person is one chat. The store owns the mapping between phone numbers and
// LIDs: whatever form a JID is given in, it means the same person, and every
// JID that is read is the phone JID where that is known.
//
// The package does not know who asks or who listens.
package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/search"
	"bridged/internal/store/db"
)

// Options says how a store is opened.
type Options struct {
	Path string         // of the database file, whose directory exists
	Log  zerolog.Logger // no message text is ever written to it
	// Watch notices files that are taken away, those of others included; without
	// one the store watches its own.
	Watch *dbfile.Watch
	// MergeEdit returns a message's protobuf with the caption of an edit that
	// came without the file; not ok where the message takes no caption. Without
	// it the protobuf stays as it is.
	MergeEdit func(original, edit []byte) (merged []byte, ok bool)
	// Open opens what is encrypted with the secret of a message; senders and authors
	// are the forms of who sent it and of who wrote the message. It returns nothing
	// where it cannot. Without it nothing is opened.
	Open func(pending bridge.Encrypted, original bridge.Message, senders, authors []bridge.JID) []bridge.Fact
	// Clock is what things expire by; without one it is a new one that knows the
	// time of the last event.
	Clock *bridge.Clock
	// BeforeCommit may refuse a commit; tests use it to make writes fail.
	BeforeCommit func() error
	// Readers is how many reads run at once; 0 is chosen by the processors.
	Readers int

	blockBits, packSize int // of the search index; 0 but in tests
}

// Store is an open store. All methods may be called at the same time.
type Store struct {
	log       zerolog.Logger
	path      string
	watch     *dbfile.Watch
	clock     *bridge.Clock
	began     time.Time // for durations, which no leap of the clock changes
	people    *people
	mergeEdit func(original, edit []byte) (merged []byte, ok bool)
	decrypt   func(pending bridge.Encrypted, original bridge.Message, senders, authors []bridge.JID) []bridge.Fact

	// writing guards writer, numbers and chats, and the order in which
	// commits are published.
	writing      sync.Mutex
	writer       *db.Conn
	numbers      numbers
	chats        map[bridge.JID]chatRow // found before; emptied when one may have changed
	readers      chan *db.Conn
	nreaders     int
	opened       int // of them
	beforeCommit func() error
	tuning       tuning

	eventPages atomic.Pointer[eventPages]

	// waking guards changed.
	waking  sync.Mutex
	changed chan struct{}

	index  *search.Index
	eraser *eraser

	damage atomic.Pointer[error] // the first that was found
	// unchecked is why the last check could not read the store; nil where it could.
	unchecked atomic.Pointer[error]
	checked   chan struct{} // closed when the whole store was looked at

	closed  chan struct{}
	stop    context.CancelFunc
	done    sync.WaitGroup
	closing sync.Once
}

// tuning is where one way of reading gives way to another, and where a page ends.
// What is read is the same; tests choose other values to see both ways in small
// stores.
type tuning struct {
	// page is how many bytes of JSON the elements of a page take at most.
	page int
	// small is how many messages a chat has at most that is searched without the
	// index: they are spread over as many packs.
	small int
}

// Close ends the store. It waits for writes and reads that are under way; later
// ones are refused.
func (s *Store) Close() error {
	var errs []error
	s.closing.Do(func() {
		close(s.closed)
		if s.stop != nil {
			s.stop()
		}
		s.done.Wait()
		for range s.opened {
			errs = append(errs, (<-s.readers).Close())
		}
		s.writing.Lock()
		defer s.writing.Unlock()
		if s.writer != nil {
			errs = append(errs, s.writer.Close())
		}
		if s.eraser.db != nil {
			errs = append(errs, s.eraser.db.Close())
		}
	})
	return errors.Join(errs...)
}

// Changed returns a channel that is closed at the next commit that appends events. Ask for it before
// reading, so that nothing falls between reading and waiting.
func (s *Store) Changed() <-chan struct{} {
	s.waking.Lock()
	defer s.waking.Unlock()
	return s.changed
}

// notify puts a token into a channel with room for one: the receiver
// is awake, or will be.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (s *Store) notifyChanged() {
	s.waking.Lock()
	defer s.waking.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Clock returns the clock by which things expire.
func (s *Store) Clock() *bridge.Clock { return s.clock }

// now returns the moment that goes into the log of events.
func (s *Store) now() int64 { return s.clock.Now().UnixMilli() }

// sleep waits for d and reports whether it did: false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// minReaders lets a slow search not hold up short reads on small machines.
const minReaders = 4

// Open opens the store at o.Path, brings its schema up to date, and makes a
// new one only where there never was one. A file that is empty, damaged, of
// another program or of a newer version is refused with a sentence that says
// what to do.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := prepareFile(o.Path); err != nil {
		return nil, err
	}
	if o.MergeEdit == nil {
		o.MergeEdit = func(original, _ []byte) ([]byte, bool) { return original, true }
	}
	if o.Open == nil {
		o.Open = func(bridge.Encrypted, bridge.Message, []bridge.JID, []bridge.JID) []bridge.Fact { return nil }
	}
	if o.BeforeCommit == nil {
		o.BeforeCommit = func() error { return nil }
	}
	s := &Store{
		log:          o.Log,
		path:         o.Path,
		watch:        o.Watch,
		clock:        o.Clock,
		began:        time.Now(),
		people:       &people{identities: newIdentities(0)},
		mergeEdit:    o.MergeEdit,
		decrypt:      o.Open,
		beforeCommit: o.BeforeCommit,
		chats:        make(map[bridge.JID]chatRow),
		changed:      make(chan struct{}),
		closed:       make(chan struct{}),

		tuning: tuning{small: 768, page: bridge.PageBytes},

		checked:  make(chan struct{}),
		nreaders: o.Readers,
	}
	s.eventPages.Store(new(eventPages))
	s.index = search.New(indexed{s}, search.Options{Log: o.Log, BlockBits: o.blockBits, PackSize: o.packSize})
	s.eraser = newEraser(s)
	if s.nreaders <= 0 {
		s.nreaders = max(minReaders, runtime.GOMAXPROCS(0))
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if s.writer, err = db.Open(s.path, writerPragmas); err != nil {
		return fmt.Errorf("open %s: %w", s.path, explain(err))
	}
	s.readers = make(chan *db.Conn, s.nreaders)
	for range s.nreaders {
		r, err := db.Open(s.path, readerPragmas)
		if err != nil {
			return fmt.Errorf("open %s for reading: %w", s.path, explain(err))
		}
		s.opened++
		s.readers <- r
	}
	if err := s.loadPeople(ctx); err != nil {
		return err
	}
	if err := s.loadNumbers(ctx); err != nil {
		return fmt.Errorf("open %s: %w", s.path, err)
	}
	if err := s.startClock(ctx); err != nil {
		return fmt.Errorf("open %s: %w", s.path, err)
	}
	if err := s.index.Prepare(ctx); err != nil {
		return err
	}
	if err := s.eraser.open(); err != nil {
		return err
	}
	if err := s.startWatch(); err != nil {
		return err
	}
	s.index.Wake()
	background, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.done.Go(func() { s.index.Run(background) })
	s.done.Go(func() { s.eraser.run(background) })
	s.done.Go(func() { s.checkInBackground(background) })
	return nil
}

// startWatch watches the files that are open now.
func (s *Store) startWatch() (err error) {
	if s.watch == nil {
		if s.watch, err = dbfile.NewWatch(filepath.Dir(s.path)); err != nil {
			return err
		}
	}
	return s.watch.AddDatabase(s.path)
}

// Files are opened, never made (see create): a connection that is opened anew
// must not put an empty database where the store was taken away.
//
// The order of pragmas counts: the first to open waits, and does not fail, while
// another process finishes. synchronous(FULL), because an acknowledged message
// must survive a power cut; secure_delete, because a deleted one must not. A longer write-ahead log than usual lets pages that
// every message writes be copied into the database once for many messages.
var (
	writerPragmas = []string{
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)",
		"temp_store(MEMORY)", "cache_size(-4096)", "journal_size_limit(67108864)", "wal_autocheckpoint(2000)",
	}
	readerPragmas = []string{
		"busy_timeout(5000)", "query_only(1)", "temp_store(MEMORY)", "cache_size(-1024)",
	}
)

// startClock makes the clock by which things expire.
func (s *Store) startClock(ctx context.Context) error {
	if s.clock != nil {
		return nil
	}
	var last int64
	err := s.read(ctx, func(r *readTx) {
		r.Find("SELECT ifnull((SELECT at FROM events ORDER BY id DESC LIMIT 1), 0)", nil, &last)
	})
	var at time.Time
	if last > 0 {
		at = time.UnixMilli(last)
	}
	s.clock = bridge.NewClock(at)
	return err
}
