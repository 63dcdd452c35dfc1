package settings

import (
	"context"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// KeyLife limits how long an Idempotency-Key is remembered.
const KeyLife = 24 * time.Hour

// SaveSendKey binds a key to a message. It fails if the key is bound to another message, and the
// transaction with it, so that two requests with one key never become two messages. The key of a
// change is saved again when the network has accepted the change.
func SaveSendKey(c *sqlite.Conn, at int64, f bridge.SendKey) {
	if f.At.IsZero() {
		f.At = bridge.Millis(at)
	}
	c.Run("DELETE FROM send_keys WHERE at <= ?", at-KeyLife.Milliseconds())
	bound := f.MsgID
	c.Find(`
		INSERT INTO send_keys (key, route, body_hash, chat, msg_id, at, taken_at, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET taken_at = ifnull(taken_at, iif(msg_id = excluded.msg_id, excluded.taken_at, NULL))
		RETURNING msg_id`,
		[]any{f.Key, f.Route, bridge.NotNil(f.BodyHash), f.Chat, f.MsgID, f.At, f.TakenAt, f.ChangedAt}, &bound)
	if bound != f.MsgID {
		c.Fail(bridge.Fail(bridge.CodeRequestInProgress, "another message is being sent under this Idempotency-Key"))
	}
}

// SendKey returns an Idempotency-Key of the last 24 hours, and reports whether there is one.
func (t *Tables) SendKey(ctx context.Context, key string) (found bridge.SendKey, isBound bool, err error) {
	found, err = view(ctx, t, "look up an idempotency key", func(c *sqlite.Conn) (k bridge.SendKey) {
		isBound = c.Find("SELECT key, route, body_hash, chat, msg_id, at, taken_at, changed_at FROM send_keys WHERE key = ? AND at > ?",
			[]any{key, t.now() - KeyLife.Milliseconds()}, &k.Key, &k.Route, &k.BodyHash, &k.Chat, &k.MsgID, &k.At, &k.TakenAt, &k.ChangedAt)
		k.Chat = t.db.Canonical(k.Chat)
		return k
	})
	return found, isBound, err
}

// SaveKeyedRequest stores a request, or its result, for as long as its key.
func SaveKeyedRequest(c *sqlite.Conn, at int64, f bridge.KeyedRequest) {
	c.Run("DELETE FROM keyed_requests WHERE at <= ?", at-KeyLife.Milliseconds())
	c.Run(`
		INSERT INTO keyed_requests (id, plan, chat, answer, refused, at) VALUES (?, ?, ?, nullif(?, ''), ?, ?)
		ON CONFLICT (id) DO UPDATE SET plan = excluded.plan, refused = excluded.refused, answer = ifnull(excluded.answer, answer),
			chat = iif(excluded.chat = '', chat, excluded.chat)`,
		f.ID, string(f.Plan), f.Chat, string(f.Answer), f.Refused, at)
}

// SaveGroupMade stores which group a request created.
func SaveGroupMade(c *sqlite.Conn, f bridge.GroupMade) {
	c.Run("UPDATE keyed_requests SET chat = ? WHERE id = ?", f.JID, f.Key)
}

// KeyedRequest returns a request: [bridge.CodeNotFound] if there is no such request.
func (t *Tables) KeyedRequest(ctx context.Context, id string) (bridge.KeyedRequest, error) {
	return view(ctx, t, "look up a request", func(c *sqlite.Conn) bridge.KeyedRequest {
		request := bridge.KeyedRequest{ID: id}
		if !c.Find("SELECT plan, chat, answer, refused FROM keyed_requests WHERE id = ?", []any{id},
			&request.Plan, &request.Chat, &request.Answer, &request.Refused) {
			c.Fail(bridge.NotFound("there is no request %s", id))
		}
		return request
	})
}

// GroupsMadeElse returns the groups that other requests created.
func (t *Tables) GroupsMadeElse(ctx context.Context, request string) ([]bridge.JID, error) {
	return view(ctx, t, "look up groups", func(c *sqlite.Conn) []bridge.JID {
		return bridge.NotNil(sqlite.List[bridge.JID](c, "SELECT chat FROM keyed_requests WHERE chat != '' AND id != ?", request))
	})
}
