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
// one key can never become two messages.
func (t *writeTx) saveSendKey(ctx context.Context, f bridge.SendKey) error {
	at := f.At.UnixMilli()
	if f.At.IsZero() {
		at = t.at
	}
	var reactedAt int64
	if !f.ReactedAt.IsZero() {
		reactedAt = f.ReactedAt.UnixMilli()
	}
	if err := t.run(ctx, "DELETE FROM send_keys WHERE at <= ?", t.at-keyLife.Milliseconds()); err != nil {
		return err
	}
	var bound string
	_, err := t.find(ctx, `
		INSERT INTO send_keys (key, route, body_hash, chat, msg_id, at, reacted_at) VALUES (?, ?, ?, ?, ?, ?, nullif(?, 0))
		ON CONFLICT (key) DO UPDATE SET key = excluded.key
		RETURNING msg_id`,
		[]any{f.Key, f.Route, notNil(f.BodyHash), string(f.Chat), f.MsgID, at, reactedAt}, &bound)
	if err != nil {
		return err
	}
	if bound != f.MsgID {
		return bridge.Fail(bridge.CodeRequestInProgress, "another message is being sent under this Idempotency-Key")
	}
	return nil
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
		var at, reactedAt int64
		err := r.scan(ctx, "SELECT route, body_hash, chat, msg_id, at, ifnull(reacted_at, at) FROM send_keys WHERE key = ? AND at > ?",
			[]any{key, s.now() - keyLife.Milliseconds()},
			&found.Route, &found.BodyHash, &found.Chat, &found.MsgID, &at, &reactedAt)
		found.At, found.ReactedAt = bridge.Millis(at), bridge.Millis(reactedAt)
		return err
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
