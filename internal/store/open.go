package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/search"
	"bridged/internal/store/db"
)

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
		o.Open = func(bridge.Sealed, bridge.Message, []bridge.JID, []bridge.JID) []bridge.Fact { return nil }
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
		people:       newPeople(),
		mergeEdit:    o.MergeEdit,
		decrypt:      o.Open,
		beforeCommit: o.BeforeCommit,
		chats:        make(map[bridge.JID]chatRow),
		changed:      make(chan struct{}),
		closed:       make(chan struct{}),

		eventCache: eventCache{pages: make(map[string]*cachedEvents)},
		tuning:     tuning{small: 768, page: bridge.PageBytes},

		checked:  make(chan struct{}),
		nreaders: o.Readers,
	}
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
