package store

import (
	"context"
	"fmt"

	"bridged/internal/bridge"
)

// Counts is how many messages of a time are stored, by where they came from.
type Counts struct{ Received, Sent int }

// countQuery looks only at chats in which something was said in that time, and
// there only at the messages of that time.
const countQuery = `
	SELECT ifnull(sum(m.from_me = 0), 0), ifnull(sum(m.from_me = 1), 0)
	FROM chats c INDEXED BY chats_by_recency
	CROSS JOIN messages m INDEXED BY messages_by_time ON m.chat = c.id AND m.timestamp >= ?
	WHERE c.recency <= ?`

// Count counts the messages since a moment.
func (s *Store) Count(ctx context.Context, since bridge.Time) (counts Counts, err error) {
	at := since.UnixMilli()
	err = s.read(ctx, func(r *readTx) error {
		return r.scan(ctx, countQuery, []any{at, -at}, &counts.Received, &counts.Sent)
	})
	if err != nil {
		return Counts{}, fmt.Errorf("count messages: %w", err)
	}
	return counts, nil
}
