package store

import (
	"context"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// keyLife limits how long an Idempotency-Key is remembered.
const keyLife = 24 * time.Hour

// saveSendKey binds a key to a message. A key that is bound to another message fails the
// transaction with the message that came with it: two requests under one key never become
// two messages. The key of a change is saved again once the network has taken the change.
func (t *writeTx) saveSendKey(f bridge.SendKey) {
	if f.At.IsZero() {
		f.At = bridge.Millis(t.at)
	}
	t.Run("DELETE FROM send_keys WHERE at <= ?", t.at-keyLife.Milliseconds())
	bound := f.MsgID
	t.Find(`
		INSERT INTO send_keys (key, route, body_hash, chat, msg_id, at, taken_at, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET taken_at = ifnull(taken_at, iif(msg_id = excluded.msg_id, excluded.taken_at, NULL))
		RETURNING msg_id`,
		[]any{f.Key, f.Route, notNil(f.BodyHash), f.Chat, f.MsgID, f.At, f.TakenAt, f.ChangedAt}, &bound)
	if bound != f.MsgID {
		t.Fail(bridge.Fail(bridge.CodeRequestInProgress, "another message is being sent under this Idempotency-Key"))
	}
}

// notNil returns an empty list for none.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// SendKey returns an Idempotency-Key of the last 24 hours, and reports whether there is one.
func (s *Store) SendKey(ctx context.Context, key string) (found bridge.SendKey, isBound bool, err error) {
	found, err = readAs(ctx, s, "look up an idempotency key", func(r *readTx) (k bridge.SendKey) {
		isBound = r.Find("SELECT key, route, body_hash, chat, msg_id, at, taken_at, changed_at FROM send_keys WHERE key = ? AND at > ?",
			[]any{key, s.now() - keyLife.Milliseconds()}, &k.Key, &k.Route, &k.BodyHash, &k.Chat, &k.MsgID, &k.At, &k.TakenAt, &k.ChangedAt)
		k.Chat = s.Canonical(k.Chat)
		return k
	})
	return found, isBound, err
}

// saveKeyedRequest keeps a request, or its result, as long as its key.
func (t *writeTx) saveKeyedRequest(f bridge.KeyedRequest) {
	t.Run("DELETE FROM keyed_requests WHERE at <= ?", t.at-keyLife.Milliseconds())
	t.Run(`
		INSERT INTO keyed_requests (id, plan, chat, answer, refused, at) VALUES (?, ?, ?, nullif(?, ''), ?, ?)
		ON CONFLICT (id) DO UPDATE SET plan = excluded.plan, refused = excluded.refused, answer = ifnull(excluded.answer, answer),
			chat = iif(excluded.chat = '', chat, excluded.chat)`,
		f.ID, string(f.Plan), f.Chat, string(f.Answer), f.Refused, t.at)
}

// saveGroupMade notes the group that a request made.
func (t *writeTx) saveGroupMade(f bridge.GroupMade) {
	t.Run("UPDATE keyed_requests SET chat = ? WHERE id = ?", f.JID, f.Key)
}

// KeyedRequest returns a request: [bridge.CodeNotFound] when there is none.
func (s *Store) KeyedRequest(ctx context.Context, id string) (bridge.KeyedRequest, error) {
	return readAs(ctx, s, "look up a request", func(r *readTx) bridge.KeyedRequest {
		request := bridge.KeyedRequest{ID: id}
		if !r.Find("SELECT plan, chat, answer, refused FROM keyed_requests WHERE id = ?", []any{id},
			&request.Plan, &request.Chat, &request.Answer, &request.Refused) {
			r.Fail(bridge.NotFound("there is no request %s", id))
		}
		return request
	})
}

// GroupsNamed returns the groups with a name.
func (s *Store) GroupsNamed(ctx context.Context, name string) ([]bridge.JID, error) {
	return s.jids(ctx, "SELECT jid FROM chats WHERE is_group AND name = ?", name)
}

// GroupsMadeElse returns the groups that other requests than one made.
func (s *Store) GroupsMadeElse(ctx context.Context, request string) ([]bridge.JID, error) {
	return s.jids(ctx, "SELECT chat FROM keyed_requests WHERE chat != '' AND id != ?", request)
}

func (s *Store) jids(ctx context.Context, query string, args ...any) ([]bridge.JID, error) {
	return readAs(ctx, s, "look up groups", func(r *readTx) []bridge.JID { return notNil(sqlite.List[bridge.JID](r.Conn, query, args...)) })
}
