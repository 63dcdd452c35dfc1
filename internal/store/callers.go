package store

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// callerID returns the row of a caller, which it adds if it is new; nil for no caller. A hook may have another name now.
func (t *writeTx) callerID(by *bridge.CalledBy) any {
	if by == nil {
		return nil
	}
	var id int64
	if !t.Find("SELECT id FROM callers WHERE token = ? AND entrance = ? AND name = ?", []any{by.Token, string(by.Entrance), by.Name}, &id) {
		t.Find(`
			INSERT INTO callers (token, entrance, name, above) VALUES (?, ?, ?, ?)
			ON CONFLICT (token, entrance) DO UPDATE SET name = excluded.name RETURNING id`,
			[]any{by.Token, string(by.Entrance), by.Name, t.Encode(append([]int64{}, by.Ancestors...))}, &id)
	}
	return id
}

// SentBy returns the caller that has sent a message; nil if it was not sent through the bridge.
func (s *Store) SentBy(ctx context.Context, chat bridge.JID, id string) (*bridge.CalledBy, error) {
	return read.As(ctx, s.Reader, "read who sent a message", func(r *read.Snapshot) *bridge.CalledBy {
		by, above := new(bridge.CalledBy), []byte(nil)
		if !r.Find("SELECT c.token, c.entrance, c.name, c.above FROM messages m JOIN callers c ON c.id = m.sent_by WHERE m.chat = ? AND m.id = ?",
			[]any{chatID(r, chat), id}, &by.Token, &by.Entrance, &by.Name, &above) {
			return nil
		}
		r.Decode(above, &by.Ancestors)
		return by
	})
}
