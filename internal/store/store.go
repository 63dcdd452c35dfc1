// Package store stores the account's data in SQLite: chats, people, groups, messages and the log of
// events, in one file.
//
// [Store.Save] writes the updates of one stanza in one durable transaction. Saving them again changes
// nothing. Acknowledge a stanza only after Save has returned nil. An update that changes something
// appends to the log of events in the same transaction; [Store.Changed] wakes readers that wait for
// events. [read.Reader] answers queries.
//
// Each person has one chat. The store maps phone numbers and LIDs to people: callers may use any JID of
// a person, and results have the phone JID if it is known.
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
	EventQuery  = read.EventQuery
	EventPage   = read.EventPage
	WebhookWork = read.WebhookWork
	Post        = read.Post
	Counts      = read.Counts
	Size        = read.Size
)

// Options says how a store is opened.
type Options struct {
	Path  string         // of the database file, whose directory exists
	Log   zerolog.Logger // never gets message text
	Watch *dbfile.Watch  // of the data directory; nil for one of the store's own
	// WithoutQuote returns a message's protobuf without the copy of the message that it quotes.
	WithoutQuote func(raw []byte) []byte
	// MergeEdit returns a message's protobuf with the caption of an edit that has no file.
	// It reports false if the message cannot have a caption. If MergeEdit is nil, protobufs stay unchanged.
	MergeEdit func(original, edit []byte) (merged []byte, ok bool)
	// Open decrypts a change with the secret of its message. senders and authors are the JIDs of the
	// sender of the change and of the author of the message. It returns nil if it cannot decrypt the
	// change.
	Open       func(pending bridge.Encrypted, original bridge.Message, senders, authors []bridge.JID) []bridge.Fact
	Transcribe bridge.TranscribeMode // which voice notes get a transcript; empty for off
	// Clock returns the time by which data expires; nil means a new one that starts at the last event.
	Clock *bridge.Clock
	// Spare is the space that revoking a token may use on a full disk; nil means none.
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

	// writing guards writer, numbers and chats, and orders the publishing of commits.
	writing sync.Mutex
	writer  *sqlite.Conn
	numbers numbers
	chats   map[bridge.JID]chatRow // a cache; cleared when a chat may have changed
	readers *readers

	// waking guards changed.
	waking  sync.Mutex
	changed chan struct{}

	index  *search.Index
	eraser *eraser
	queued chan struct{} // has an element when there are transcripts to make

	damage    atomic.Pointer[error] // the first that was found
	unchecked atomic.Pointer[error] // why the last check could not read the store; nil if it could
	checked   chan struct{}         // closed when the whole store was looked at

	closed  chan struct{}
	stop    context.CancelFunc
	done    sync.WaitGroup
	closing sync.Once
}

// Close finishes erasing deleted text (see [eraser.stop]), waits for running writes and reads, and
// refuses later ones.
func (s *Store) Close() error {
	var errs []error
	s.closing.Do(func() {
		if s.stop != nil {
			s.stop()
			s.done.Wait()
			s.eraser.stop()
		}
		close(s.closed)
		errs = append(errs, s.readers.close())
		s.writing.Lock()
		defer s.writing.Unlock()
		errs = append(errs, s.writer.Close())
		if s.eraser.db != nil {
			errs = append(errs, s.eraser.db.Close())
		}
	})
	return errors.Join(errs...)
}

// ReleaseMemory releases the cached pages of all connections that are not in use. They are read again
// when they are needed, mostly from the kernel's cache.
func (s *Store) ReleaseMemory(ctx context.Context) error {
	var errs []error
	for range len(s.readers.idle) { // each time the one that was idle for the longest time
		select {
		case <-s.closed:
			return errClosed()
		case r := <-s.readers.idle:
			errs = append(errs, release(r))
			s.readers.idle <- r
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

// release uses an uncached statement: SQLite releases the memory when it prepares the statement.
func release(c *sqlite.Conn) error {
	if err := c.Script("PRAGMA shrink_memory"); err != nil {
		return fmt.Errorf("release memory: %w", storefile.Explain(err))
	}
	return nil
}

// Changed returns a channel that is closed at the next commit that appends events. Call it before
// reading, so that no event is missed between reading and waiting.
func (s *Store) Changed() <-chan struct{} {
	s.waking.Lock()
	defer s.waking.Unlock()
	return s.changed
}

// Clock returns the clock by which data expires.
func (s *Store) Clock() *bridge.Clock { return s.o.Clock }

// now returns the time in milliseconds by the store's clock.
func (s *Store) now() int64 { return s.o.Clock.Now().UnixMilli() }

// minReaders prevents that a slow search blocks short reads on small machines.
const minReaders = 4

// Open opens the store at o.Path and upgrades its schema. It creates a store if there is no file. It
// refuses a file that is empty, damaged, from another program or from a newer version; the error says
// how to repair it.
func Open(ctx context.Context, o Options) (*Store, error) {
	writer, err := storefile.Open(o.Path)
	if err != nil {
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
		writer:  writer,
		people:  people.New(),
		chats:   make(map[bridge.JID]chatRow),
		changed: make(chan struct{}),
		closed:  make(chan struct{}),
		checked: make(chan struct{}),
		queued:  make(chan struct{}, 1),
		readers: newReaders(max(minReaders, runtime.GOMAXPROCS(0))),
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
	if err := s.readers.openOne(s.o.Path); err != nil {
		return storefile.Opening(s.o.Path, err)
	}
	loadPeople := func(ctx context.Context) error { return s.people.Load(ctx, s.writer) }
	for _, load := range []func(context.Context) error{loadPeople, s.loadNumbers, s.startClock, s.index.Prepare, s.eraser.resume} {
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
