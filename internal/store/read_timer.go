package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"bridged/internal/bridge"
)

// ChatTimer returns a chat's timer for disappearing messages, which need not be
// stored itself: 0 seconds when it is off or not known.
func (s *Store) ChatTimer(ctx context.Context, jid bridge.JID) (bridge.ChatTimer, error) {
	timer := bridge.ChatTimer{Chat: jid}
	err := s.read(ctx, func(r *readTx) error {
		if jid.IsGroup() {
			return r.scan(ctx, "SELECT timer FROM chats WHERE jid = ?", []any{string(jid)}, &timer.Seconds)
		}
		person, known := s.people.find(jid)
		if !known {
			return nil
		}
		var set int64
		err := r.scan(ctx, "SELECT timer, timer_set_at FROM people WHERE id = ?", []any{person.id}, &timer.Seconds, &set)
		if set > 0 {
			timer.SetAt = bridge.Millis(set)
		}
		return err
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return bridge.ChatTimer{}, fmt.Errorf("read a chat's timer: %w", err)
	}
	return timer, nil
}
