package store

import (
	"context"
	"errors"
	"sync"

	"bridged/internal/sqlite"
	"bridged/internal/store/storefile"
)

// readers are the connections that read. The first one is opened with the store, each other one when all
// that are open are in use: a connection reads the whole schema and prepares its own statements.
type readers struct {
	idle     chan *sqlite.Conn
	unopened chan struct{} // has an element for each connection that may still be opened
	warned   sync.Once     // that one could not be opened
}

func newReaders(limit int) *readers {
	r := &readers{idle: make(chan *sqlite.Conn, limit), unopened: make(chan struct{}, limit)}
	for range limit {
		r.unopened <- struct{}{}
	}
	return r
}

// openOne opens a connection, before the store is in use.
func (r *readers) openOne(path string) error {
	c, err := sqlite.Open(path, storefile.ReaderPragmas)
	if err == nil {
		<-r.unopened
		r.idle <- c
	}
	return err
}

// put gives a connection back; nil is one that was not opened.
func (r *readers) put(c *sqlite.Conn) {
	if c == nil {
		r.unopened <- struct{}{}
	} else {
		r.idle <- c
	}
}

// close closes the connections when they are idle. No more can be opened.
func (r *readers) close() error {
	var errs []error
	for range cap(r.idle) {
		select {
		case c := <-r.idle:
			errs = append(errs, c.Close())
		case <-r.unopened:
		}
	}
	return errors.Join(errs...)
}

// reader returns a connection that is not in use. It opens one if none is idle and the limit permits;
// it waits for one if both fail.
func (s *Store) reader(ctx context.Context) (*sqlite.Conn, error) {
	unopened := s.readers.unopened
	for {
		select {
		case c := <-s.readers.idle:
			return c, nil
		default:
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.closed:
			return nil, errClosed()
		case c := <-s.readers.idle:
			return c, nil
		case <-unopened:
			c, err := s.connect(storefile.ReaderPragmas)
			if err == nil {
				return c, nil
			}
			s.readers.unopened <- struct{}{}
			s.readers.warned.Do(func() {
				s.o.Log.Warn().Err(err).Msg("reads wait for each other, because no further connection to the store can be opened")
			})
			unopened = nil
		}
	}
}

// connect opens a connection, unless the store's files were replaced: SQLite would write what the old log
// has into a new database.
func (s *Store) connect(pragmas []string) (*sqlite.Conn, error) {
	if err := s.o.Watch.Check(); err != nil {
		return nil, err
	}
	c, err := sqlite.Open(s.o.Path, pragmas)
	if err != nil {
		return nil, storefile.Opening(s.o.Path, err)
	}
	if err := s.o.Watch.Check(); err != nil { // replaced meanwhile
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}
