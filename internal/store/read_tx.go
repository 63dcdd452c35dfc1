package store

import (
	"context"
	"errors"
	"fmt"
)

// readTx is one consistent view of the store, for reading.
type readTx struct {
	*conn
	s *Store

	withoutIndex bool   // searches scan
	limit        *limit // what the reader may see; nil is all
}

// read runs f on one snapshot. Its errors are those of explainRead.
func (s *Store) read(ctx context.Context, f func(*readTx) error) (err error) {
	var r *conn
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return errClosed()
	case r = <-s.readers:
	}
	defer func() { s.readers <- r }()
	// Beginning and ending are not cut short: the connection is used again.
	whole := context.WithoutCancel(ctx)
	if err := r.run(whole, "BEGIN"); err != nil {
		return explainRead(ctx, fmt.Errorf("begin reading: %w", err))
	}
	defer func() { // also behind a panic of f: the connection is used again
		if end := r.run(whole, "ROLLBACK"); end != nil {
			err = errors.Join(err, explainRead(ctx, fmt.Errorf("end reading: %w", end)))
		}
	}()
	return explainRead(ctx, f(&readTx{conn: r, s: s}))
}
