package store

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/sqlite"
)

// Tokens returns all tokens, the oldest first.
func (s *Store) Tokens(ctx context.Context) ([]bridge.Token, error) {
	return readAs(ctx, s, "list tokens", func(r *readTx) []bridge.Token {
		scan := func(row *sqlite.Row) (t bridge.Token) {
			var scopes, chats []byte
			row.Scan(&t.ID, &t.Name, &t.Hash, &scopes, &chats, &t.ExpiresAt, &t.CreatedAt, &t.LastUsedAt, &t.Parent)
			r.Decode(scopes, &t.Scopes)
			r.Decode(chats, &t.Chats)
			return t
		}
		return sqlite.Collect(r.Conn, scan, "SELECT id, name, hash, scopes, chats, expires_at, created_at, last_used_at, ifnull(parent, 0) FROM tokens ORDER BY id")
	})
}

// AddToken keeps a new token and returns it with its id.
func (s *Store) AddToken(ctx context.Context, token bridge.Token) (bridge.Token, error) {
	err := s.writeAs(ctx, "keep a token", func(t *writeTx) {
		var chats any
		if token.Chats != nil {
			chats = t.Encode(token.Chats)
		}
		token.CreatedAt = bridge.Millis(t.at)
		token.ID = t.Insert(`
			INSERT INTO tokens (name, hash, scopes, chats, expires_at, created_at, parent) VALUES (?, ?, ?, ?, ?, ?, nullif(?, 0))`,
			token.Name, token.Hash, t.Encode(token.Scopes), chats, token.ExpiresAt, t.at, token.Parent)
	})
	return token, err
}

// RemovedTokens are tokens that ended, and the webhooks that ended with them.
type RemovedTokens struct{ Tokens, Webhooks []int64 }

// RemoveToken removes a token, and all that was made with it, also on a full disk:
// [bridge.CodeNotFound] when there is none.
func (s *Store) RemoveToken(ctx context.Context, id int64) (removed RemovedTokens, err error) {
	remove := func() error {
		return s.writeAs(ctx, "remove a token", func(t *writeTx) {
			if removed = t.removeTokens("id = ?", id); len(removed.Tokens) == 0 {
				t.Fail(bridge.NotFound("there is no token %d", id))
			}
		})
	}
	if err = remove(); dbfile.IsFull(err) && s.o.Spare.Release() {
		s.o.Log.Warn().Msg("the disk is full: the space that is reserved for revoking tokens is used, until the next start")
		err = remove()
	}
	return removed, err
}

// RemoveExpiredTokens removes expired tokens, and all that was made with them.
func (s *Store) RemoveExpiredTokens(ctx context.Context) (removed RemovedTokens, err error) {
	err = s.writeAs(ctx, "remove expired tokens", func(t *writeTx) { removed = t.removeTokens("expires_at <= ?", t.at) })
	return removed, err
}

func (t *writeTx) removeTokens(which string, arg any) (removed RemovedTokens) {
	family := "WITH RECURSIVE family (id) AS (SELECT id FROM tokens WHERE " + which +
		" UNION SELECT t.id FROM tokens t JOIN family f ON t.parent = f.id) "
	removed.Tokens = sqlite.List[int64](t.Conn, family+"SELECT id FROM family ORDER BY id", arg)
	removed.Webhooks = sqlite.List[int64](t.Conn, family+"SELECT w.id FROM webhooks w WHERE w.token IN (SELECT id FROM family) ORDER BY w.id", arg)
	t.Run("DELETE FROM tokens WHERE "+which, arg) // the rest goes with it
	return removed
}

// TokenUsed notes when a token was used last.
func (s *Store) TokenUsed(ctx context.Context, id int64, at bridge.Time) error {
	return s.writeAs(ctx, "note the use of a token", func(t *writeTx) {
		t.Run("UPDATE tokens SET last_used_at = ? WHERE id = ?", at, id)
	})
}
