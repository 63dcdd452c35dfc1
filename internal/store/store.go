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

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/people"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
	"bridged/internal/store/storefile"
)

// The types of the queries of [read.Reader], for callers that have a store.
type (
	EventQuery = read.EventQuery
	EventPage  = read.EventPage
	EventRef   = read.EventRef
	EventRefs  = read.EventRefs
	Post       = read.Post
	Counts     = read.Counts
	Size       = read.Size
)

// Options says how a store is opened.
type Options struct {
	Path  string         // of the database file, whose directory exists
	Log   zerolog.Logger // gets no message text
	Watch *dbfile.Watch  // of the data directory; nil for one of the store's own
	// WithoutQuote returns a message's protobuf without the copy of the message that it quotes.
	WithoutQuote func(raw []byte) []byte
	// MergeEdit returns a message's protobuf with the caption of an edit that came
	// without the file; not ok where the message takes no caption. Nil keeps the protobuf.
	MergeEdit func(original, edit []byte) (merged []byte, ok bool)
	// Open decrypts a change with the secret of its message; senders and authors are the
	// JIDs of who sent it and of who wrote the message. It returns nothing where it
	// cannot. Nil never can.
	Open       func(pending bridge.Encrypted, original bridge.Message, senders, authors []bridge.JID) []bridge.Fact
	Transcribe bridge.TranscribeMode // which voice notes get a transcript; empty for off
	// Clock is what things expire by; nil is a new one, from the last event on.
	Clock *bridge.Clock
	// Spare is space that revoking a token may use on a full disk; nil is none.
	Spare *dbfile.Spare
	// BeforeCommit may refuse a commit; tests use it to make writes fail.
	BeforeCommit func() error

	blockBits, packSize int // of the search index; 0 but in tests
}

// Store is an open store. All methods may be called at the same time.
type Store struct {
	*settings.Tables
	*read.Reader

	o      Options
	people *people.Directory

	// writing guards writer, numbers and chats, and the order in which
	// commits are published.
	writing sync.Mutex
	writer  *sqlite.Conn
	numbers numbers
	chats   map[bridge.JID]chatRow // found before; emptied when one may have changed
	readers chan *sqlite.Conn
	opened  int // of them

	// waking guards changed.
	waking  sync.Mutex
	changed chan struct{}

	index  *search.Index
	eraser *eraser
	queued chan struct{} // a token when there are transcripts to make

	damage    atomic.Pointer[error] // the first that was found
	unchecked atomic.Pointer[error] // why the last check could not read the store; nil where it could
	checked   chan struct{}         // closed when the whole store was looked at

	closed  chan struct{}
	stop    context.CancelFunc
	done    sync.WaitGroup
	closing sync.Once
}

// Close finishes erasing deleted text (see [eraser.stop]), waits for writes and reads that are
// under way, and refuses later ones.
func (s *Store) Close() error {
	var errs []error
	s.closing.Do(func() {
		if s.stop != nil {
			s.stop()
			s.done.Wait()
			s.eraser.stop()
		}
		close(s.closed)
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

// ReleaseMemory gives back the pages that connections keep, but for those that are reading.
// They are read again when they are needed, mostly from the kernel's memory.
func (s *Store) ReleaseMemory(ctx context.Context) error {
	var errs []error
	for range cap(s.readers) { // each time the one that has rested longest
		select {
		case <-s.closed:
			return errClosed()
		case r := <-s.readers:
			errs = append(errs, release(r))
			s.readers <- r
		default:
		}
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.mayWrite(ctx); err != nil {
		return err
	}
	return errors.Join(append(errs, release(s.writer))...)
}

// release uses a statement that is not kept: SQLite releases when it prepares it.
func release(c *sqlite.Conn) error {
	if err := c.Script("PRAGMA shrink_memory"); err != nil {
		return fmt.Errorf("release memory: %w", storefile.Explain(err))
	}
	return nil
}

// Changed returns a channel that is closed at the next commit that appends events. Ask for
// it before reading, so that nothing falls between reading and waiting.
func (s *Store) Changed() <-chan struct{} {
	s.waking.Lock()
	defer s.waking.Unlock()
	return s.changed
}

// notify puts a token into a channel with room for one.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // the receiver is awake, or will be
	}
}

// Clock returns the clock by which things expire.
func (s *Store) Clock() *bridge.Clock { return s.o.Clock }

// now returns the time in milliseconds by the store's clock.
func (s *Store) now() int64 { return s.o.Clock.Now().UnixMilli() }

// minReaders lets a slow search not hold up short reads on small machines.
const minReaders = 4

// Open opens the store at o.Path, brings its schema up to date, and makes a
// new one only where there never was one. A file that is empty, damaged, of
// another program or of a newer version is refused with a sentence that says
// what to do.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := storefile.Prepare(o.Path); err != nil {
		return nil, err
	}
	if o.WithoutQuote == nil {
		o.WithoutQuote = func(raw []byte) []byte { return raw }
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
		o:       o,
		people:  people.New(),
		chats:   make(map[bridge.JID]chatRow),
		changed: make(chan struct{}),
		closed:  make(chan struct{}),
		checked: make(chan struct{}),
		queued:  make(chan struct{}, 1),
		readers: make(chan *sqlite.Conn, max(minReaders, runtime.GOMAXPROCS(0))),
	}
	s.Tables = settings.New(transactions{s}, settings.Options{Log: o.Log, Spare: o.Spare, Transcribe: o.Transcribe})
	s.index = search.New(transactions{s}, search.Options{Log: o.Log, BlockBits: o.blockBits, PackSize: o.packSize})
	s.Reader = read.New(read.Options{View: transactions{s}.View, People: s.people, Index: s.index, Now: s.now, Log: o.Log})
	s.eraser = newEraser(s)
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if s.writer, err = sqlite.Open(s.o.Path, storefile.WriterPragmas); err != nil {
		return storefile.Opening(s.o.Path, err)
	}
	for range cap(s.readers) {
		r, err := sqlite.Open(s.o.Path, storefile.ReaderPragmas)
		if err != nil {
			return storefile.Opening(s.o.Path, err)
		}
		s.opened++
		s.readers <- r
	}
	loadPeople := func(ctx context.Context) error { return s.people.Load(ctx, s.writer) }
	for _, load := range []func(context.Context) error{loadPeople, s.loadNumbers, s.startClock, s.index.Prepare, s.eraser.open} {
		if err := load(ctx); err != nil {
			return storefile.Opening(s.o.Path, err)
		}
	}
	if s.o.Watch == nil {
		if s.o.Watch, err = dbfile.NewWatch(filepath.Dir(s.o.Path)); err != nil {
			return err
		}
	}
	if err := s.o.Watch.AddDatabase(s.o.Path); err != nil {
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

func (s *Store) startClock(ctx context.Context) error {
	if s.o.Clock != nil {
		return nil
	}
	var last bridge.Time
	err := s.Read(ctx, func(r *read.Snapshot) { r.Find("SELECT at FROM events ORDER BY id DESC LIMIT 1", nil, &last) })
	s.o.Clock = bridge.NewClock(last.Time)
	return err
}
