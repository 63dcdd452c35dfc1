package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Size is how much the store holds.
type Size struct {
	Bytes int64 // of the database's files
	Log   int64 // of these, for the log of events
}

// Size measures the store. It looks at every page of the log, which takes about
// 60 ms for a million events.
func (s *Store) Size(ctx context.Context) (Size, error) {
	var size Size
	err := s.read(ctx, func(r *readTx) error {
		return r.scan(ctx, "SELECT pgsize FROM dbstat WHERE schema = 'main' AND aggregate = 1 AND name = 'events'", nil, &size.Log)
	})
	if err != nil {
		return Size{}, fmt.Errorf("measure the store: %w", err)
	}
	size.Bytes, err = s.FileSize()
	return size, err
}

// FileSize returns the bytes of the database's files.
func (s *Store) FileSize() (bytes int64, err error) {
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(s.path + suffix)
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
