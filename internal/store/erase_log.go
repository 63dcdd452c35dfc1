package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// errBusyLog is for a log that somebody still reads from.
var errBusyLog = errors.New("the write-ahead log is being read")

// truncateLog copies the write-ahead log into the database and cuts it off. It
// tries until nobody reads from the log: a slow search, or a backup. Slow reads
// of which each begins before the last one ends are held up in the end.
func (e *eraser) truncateLog(ctx context.Context) error {
	for pause := eraseRetry; ; pause = min(2*pause, e.retryMax) {
		err := e.truncateOnce(ctx)
		if errors.Is(err, errBusyLog) && pause >= e.retryMax {
			err = e.truncateAlone(ctx)
		}
		if !errors.Is(err, errBusyLog) {
			return err
		}
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

func (e *eraser) truncateOnce(ctx context.Context) error {
	// Most of the copying without anybody waiting for it.
	if err := e.checkpoint(ctx, "PASSIVE"); err != nil && !errors.Is(err, errBusyLog) {
		return err
	}
	e.s.writing.Lock()
	defer e.s.writing.Unlock()
	if err := e.s.mayWrite(ctx); err != nil {
		return err
	}
	if err := e.s.watch.Check(); err != nil {
		return err
	}
	return e.checkpoint(ctx, "TRUNCATE")
}

// truncateAlone cuts the log off while no read begins. Reads under way have
// readsHeld to end.
func (e *eraser) truncateAlone(ctx context.Context) error {
	var held []*conn
	defer func() {
		for _, r := range held {
			e.s.readers <- r
		}
	}()
	late := time.NewTimer(readsHeld)
	defer late.Stop()
	for range e.s.opened {
		select {
		case r := <-e.s.readers:
			held = append(held, r)
		case <-late.C:
			return errBusyLog
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return e.truncateOnce(ctx)
}

func (e *eraser) checkpoint(ctx context.Context, mode string) error {
	var busy, frames, copied sql.NullInt64
	err := e.db.scan(ctx, "PRAGMA wal_checkpoint("+mode+")", nil, &busy, &frames, &copied)
	if err != nil {
		return fmt.Errorf("cut off the write-ahead log: %w", explain(err))
	}
	if busy.Int64 != 0 {
		return errBusyLog
	}
	return nil
}
