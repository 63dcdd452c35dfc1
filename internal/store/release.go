package store

import (
	"context"
	"errors"
	"fmt"
)

// ReleaseMemory gives back the pages of the database that the connections keep.
// They are read again when they are needed, mostly from the kernel's memory. A
// connection that is reading keeps its pages.
func (s *Store) ReleaseMemory(ctx context.Context) error {
	var errs []error
	for range s.nreaders {
		errs = append(errs, s.releaseReader())
	}
	return errors.Join(append(errs, s.releaseWriter(ctx))...)
}

// releaseReader does it for the reader that has rested longest.
func (s *Store) releaseReader() error {
	select {
	case <-s.closed:
		return errClosed()
	case r := <-s.readers:
		defer func() { s.readers <- r }()
		return r.release()
	default:
		return nil
	}
}

func (s *Store) releaseWriter(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.mayWrite(ctx); err != nil {
		return err
	}
	return s.writer.release()
}

// release gives back the pages of one connection. SQLite does it when it
// prepares the statement, so that it cannot be kept.
func (c *conn) release() error {
	c.interruptWith(context.Background())
	if err := c.once("PRAGMA shrink_memory"); err != nil {
		return fmt.Errorf("release memory: %w", explain(err))
	}
	return nil
}
