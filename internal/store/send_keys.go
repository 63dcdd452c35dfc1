package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"bridged/internal/bridge"
)

// keyLife is how long an Idempotency-Key is remembered.
const keyLife = 24 * time.Hour

// saveSendKey binds a key to a message. A key that is bound to another message is
// refused, and the message that came with it is not stored: two requests under
// one key can never become two messages. The key of a change is saved again once
// the network has taken the change.
func (t *writeTx) saveSendKey(ctx context.Context, f bridge.SendKey) error {
	at := f.At.UnixMilli()
	if f.At.IsZero() {
		at = t.at
	}
	if err := t.run(ctx, "DELETE FROM send_keys WHERE at <= ?", t.at-keyLife.Milliseconds()); err != nil {
		return err
	}
	var bound string
	_, err := t.find(ctx, `
		INSERT INTO send_keys (key, route, body_hash, chat, msg_id, at, taken_at, changed_at)
		VALUES (?, ?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0))
		ON CONFLICT (key) DO UPDATE SET taken_at = ifnull(taken_at, iif(msg_id = excluded.msg_id, excluded.taken_at, NULL))
		RETURNING msg_id`,
		[]any{f.Key, f.Route, notNil(f.BodyHash), string(f.Chat), f.MsgID, at, millis(f.TakenAt), millis(f.ChangedAt)}, &bound)
	if err != nil {
		return err
	}
	if bound != f.MsgID {
		return bridge.Fail(bridge.CodeRequestInProgress, "another message is being sent under this Idempotency-Key")
	}
	return nil
}

// millis returns a moment in milliseconds, 0 for none.
func millis(t bridge.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// SendKey finds what an Idempotency-Key is bound to, and reports whether it is.
// A key is forgotten after 24 hours.
func (s *Store) SendKey(ctx context.Context, key string) (bridge.SendKey, bool, error) {
	found := bridge.SendKey{Key: key}
	err := s.read(ctx, func(r *readTx) error {
		var at, takenAt, changedAt int64
		err := r.scan(ctx, `
			SELECT route, body_hash, chat, msg_id, at, ifnull(taken_at, 0), ifnull(changed_at, 0)
			FROM send_keys WHERE key = ? AND at > ?`,
			[]any{key, s.now() - keyLife.Milliseconds()},
			&found.Route, &found.BodyHash, &found.Chat, &found.MsgID, &at, &takenAt, &changedAt)
		if err != nil {
			return err
		}
		found.At = bridge.Millis(at)
		if takenAt > 0 {
			found.TakenAt = bridge.Millis(takenAt)
		}
		if changedAt > 0 {
			found.ChangedAt = bridge.Millis(changedAt)
		}
		return nil
	})
	if errors.Is(err, sql.ErrNoRows) {
		return bridge.SendKey{}, false, nil
	}
	if err != nil {
		return bridge.SendKey{}, false, fmt.Errorf("look up an idempotency key: %w", err)
	}
	found.Chat = s.Canonical(found.Chat)
	return found, true, nil
}
