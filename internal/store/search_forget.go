package store

import (
	"context"
	"fmt"
)

// forget indexes the blocks with deleted messages again, and then merges
// the segments of the index, which leaves out what was deleted from it.
func (x *searchIndex) forget(ctx context.Context) error {
	for {
		more, err := x.reindexStale(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	steps, err := x.mergeSteps(ctx)
	if err != nil {
		return err
	}
	for range steps {
		more, err := x.mergeSome(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	return nil
}

// mergeSteps returns how many steps merge the whole index at most. New blocks
// come in meanwhile, so that there may always be something left to merge.
func (x *searchIndex) mergeSteps(ctx context.Context) (steps int, err error) {
	err = x.s.read(ctx, func(r *readTx) error {
		return r.scan(ctx, "SELECT count(*) / ? + 2 FROM grams_data", []any{mergePages}, &steps)
	})
	return steps, err
}

// mergeNew merges what packs that were just written have made worth it.
func (x *searchIndex) mergeNew(ctx context.Context) error {
	return x.s.write(ctx, func(ctx context.Context, t *writeTx) error {
		if err := t.run(ctx, "INSERT INTO grams (grams, rank) VALUES ('merge', ?)", mergePages); err != nil {
			return fmt.Errorf("merge the search index: %w", err)
		}
		return nil
	})
}

// mergeSome merges some pages and reports whether there was anything to merge.
// A negative number of pages begins with all segments, also with a single one.
func (x *searchIndex) mergeSome(ctx context.Context) (bool, error) {
	x.building.Lock()
	defer x.building.Unlock()
	var before, after int64
	err := x.s.write(ctx, func(ctx context.Context, t *writeTx) error {
		if _, err := t.find(ctx, "SELECT total_changes()", nil, &before); err != nil {
			return err
		}
		if err := t.run(ctx, "INSERT INTO grams (grams, rank) VALUES ('merge', ?)", -mergePages); err != nil {
			return fmt.Errorf("merge the search index: %w", err)
		}
		_, err := t.find(ctx, "SELECT total_changes()", nil, &after)
		return err
	})
	// The statement itself counts as a change (sqlite.org/fts5.html, 6.8).
	return after-before >= 2, err
}
