package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"bridged/internal/bridge"
)

// saveHistoryPart writes a part of the phone's history down. One of the same
// kind and number that could not be had is replaced by it.
func (t *writeTx) saveHistoryPart(ctx context.Context, f bridge.HistoryPart) error {
	added, err := t.change(ctx, `
		INSERT INTO history_parts (id, kind, chunk, notification) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		f.ID, f.Kind, f.Chunk, f.Notification)
	if err != nil || added == 0 || f.Kind == bridge.HistoryOnDemand {
		return err
	}
	return t.run(ctx, `
		UPDATE history_parts SET state = ?, notification = NULL
		WHERE kind = ? AND chunk = ? AND state = ? AND tries > 0 AND id != ?`,
		bridge.HistoryReplaced, f.Kind, f.Chunk, bridge.HistoryWaiting, f.ID)
}

// saveHistoryStep notes what has become of a part. What it needed to be read
// goes once it is over with.
func (t *writeTx) saveHistoryStep(ctx context.Context, f bridge.HistoryStep) error {
	over := f.State >= bridge.HistoryDone
	if over {
		if err := t.markErased(ctx); err != nil {
			return err
		}
	}
	return t.run(ctx, `
		UPDATE history_parts SET state = ?, position = ?, tries = ?, next_at = ?, notification = iif(?, NULL, notification)
		WHERE id = ? AND state < ?`,
		f.State, f.Position, f.Tries, f.NextAt.UnixMilli(), over, f.ID, bridge.HistoryDone)
}

func (t *writeTx) forgetHistory(ctx context.Context) error {
	removed, err := t.change(ctx, "DELETE FROM history_parts")
	if err != nil || removed == 0 {
		return err
	}
	return t.markErased(ctx)
}

// NextHistoryPart returns the part of the phone's history that is to be taken
// over next, and whether there is one. It may not be due yet.
func (s *Store) NextHistoryPart(ctx context.Context) (part bridge.HistoryPart, found bool, err error) {
	var next int64
	err = s.read(ctx, func(r *readTx) error {
		return r.scan(ctx, `
			SELECT id, kind, chunk, notification, state, position, tries, next_at
			FROM history_parts WHERE state < 2 ORDER BY next_at, seq LIMIT 1`, nil,
			&part.ID, &part.Kind, &part.Chunk, &part.Notification, &part.State, &part.Position, &part.Tries, &next)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return bridge.HistoryPart{}, false, nil
	}
	if err != nil {
		return bridge.HistoryPart{}, false, fmt.Errorf("read the history that waits: %w", err)
	}
	part.NextAt = bridge.Millis(next)
	return part, true, nil
}

// HistoryKinds returns the kinds of parts of which the phone has told since the
// session began.
func (s *Store) HistoryKinds(ctx context.Context) (map[string]bool, error) {
	kinds := make(map[string]bool)
	err := s.read(ctx, func(r *readTx) error {
		return r.each(ctx, "SELECT DISTINCT kind FROM history_parts", nil, func(rows *resultSet) error {
			var kind string
			err := rows.Scan(&kind)
			kinds[kind] = true
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read which history was told of: %w", err)
	}
	return kinds, nil
}

// HistoryCount returns how many parts of the phone's history wait, are taken
// over and are given up.
func (s *Store) HistoryCount(ctx context.Context) (count bridge.HistoryCount, err error) {
	err = s.read(ctx, func(r *readTx) error {
		return r.scan(ctx, `
			SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state IN (1, 2)), count(*) FILTER (WHERE state = 3)
			FROM history_parts`, nil, &count.Waiting, &count.Done, &count.GivenUp)
	})
	if err != nil {
		return bridge.HistoryCount{}, fmt.Errorf("count the parts of the history: %w", err)
	}
	return count, nil
}
