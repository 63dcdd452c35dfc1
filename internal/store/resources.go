package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// Size is the size of the database's files in bytes, and the part of the log of events.
type Size struct{ Bytes, Log int64 }

// Size measures the store. That takes about 60 ms for a million events.
func (s *Store) Size(ctx context.Context) (Size, error) {
	size, err := readAs(ctx, s, "measure the store", func(r *readTx) (size Size) {
		r.Find("SELECT pgsize FROM dbstat WHERE schema = 'main' AND aggregate = 1 AND name = 'events'", nil, &size.Log)
		return size
	})
	if err != nil {
		return Size{}, err
	}
	size.Bytes, err = s.FileSize()
	return size, err
}

// FileSize returns the bytes of the database's files.
func (s *Store) FileSize() (bytes int64, err error) {
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(s.o.Path + suffix)
		if errors.Is(err, fs.ErrNotExist) && suffix != "" {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("measure the store: %w", err)
		}
		bytes += info.Size()
	}
	return bytes, nil
}

// Counts is how many messages there are of others and of the account.
type Counts struct{ Received, Sent int }

// countQuery looks only at chats with messages of that time.
const countQuery = `
	SELECT ifnull(sum(m.from_me = 0), 0), ifnull(sum(m.from_me = 1), 0)
	FROM chats c INDEXED BY chats_by_recency
	CROSS JOIN messages m INDEXED BY messages_by_time ON m.chat = c.id AND m.timestamp >= ?
	WHERE c.recency <= ?`

// Count counts the messages since a moment.
func (s *Store) Count(ctx context.Context, since bridge.Time) (Counts, error) {
	return readAs(ctx, s, "count messages", func(r *readTx) (counts Counts) {
		at := since.UnixMilli()
		r.Find(countQuery, []any{at, -at}, &counts.Received, &counts.Sent)
		return counts
	})
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
func release(c *db.Conn) error {
	if err := c.Script("PRAGMA shrink_memory"); err != nil {
		return fmt.Errorf("release memory: %w", explain(err))
	}
	return nil
}
