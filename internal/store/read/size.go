package read

import "context"

// Size counts the bytes of the database, and of the log of events in it.
type Size struct{ Bytes, Log int64 }

// Size measures the store. That takes about 60 ms for a million events.
func (s *Reader) Size(ctx context.Context) (Size, error) {
	return As(ctx, s, "measure the store", func(r *Snapshot) (size Size) {
		r.Find("SELECT pgsize FROM dbstat WHERE schema = 'main' AND aggregate = 1 AND name = 'events'", nil, &size.Log)
		size.Bytes = r.fileSize()
		return size
	})
}

// FileSize returns the bytes of the database.
func (s *Reader) FileSize(ctx context.Context) (int64, error) {
	return As(ctx, s, "measure the store", (*Snapshot).fileSize)
}

// fileSize returns the size of the database file after a checkpoint. The size of the write-ahead log
// depends on the recent load, not on the stored data.
func (r *Snapshot) fileSize() int64 {
	var pages, size int64
	r.Find("PRAGMA page_count", nil, &pages)
	r.Find("PRAGMA page_size", nil, &size)
	return pages * size
}
