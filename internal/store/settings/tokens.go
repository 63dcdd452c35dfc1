package settings

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// Tokens returns all tokens, the oldest first.
func (t *Tables) Tokens(ctx context.Context) ([]bridge.Token, error) {
	return view(ctx, t, "list tokens", func(c *sqlite.Conn) []bridge.Token {
		scan := func(row *sqlite.Row) (token bridge.Token) {
			var scopes, chats []byte
			row.Scan(&token.ID, &token.Name, &token.Hash, &scopes, &chats, &token.ExpiresAt, &token.CreatedAt, &token.LastUsedAt, &token.Parent,
				&token.SecretEnds, &token.OAuthClient)
			c.Decode(scopes, &token.Scopes)
			c.Decode(chats, &token.Chats)
			return token
		}
		return sqlite.Collect(c, scan, `SELECT id, name, hash, scopes, chats, expires_at, created_at, last_used_at, ifnull(parent, 0), secret_ends, host
			FROM tokens LEFT JOIN oauth_grants ON token = id ORDER BY id`)
	})
}

// AddToken stores a new token and returns it with its id.
func (t *Tables) AddToken(ctx context.Context, token bridge.Token) (bridge.Token, error) {
	err := t.update(ctx, "store a token", func(c *sqlite.Conn) {
		var chats any
		if token.Chats != nil {
			chats = c.Encode(token.Chats)
		}
		token.CreatedAt = bridge.Millis(t.now())
		token.ID = c.Insert(`
			INSERT INTO tokens (name, hash, scopes, chats, expires_at, created_at, parent) VALUES (?, ?, ?, ?, ?, ?, nullif(?, 0))`,
			token.Name, token.Hash, c.Encode(token.Scopes), chats, token.ExpiresAt, token.CreatedAt, token.Parent)
	})
	return token, err
}

// RemovedTokens lists tokens that ended, and the webhooks that ended with them.
type RemovedTokens struct{ Tokens, Webhooks []int64 }

// RemoveToken removes a token tree with its webhooks and hooks, even if the disk is full. It fails
// with [bridge.CodeNotFound] if there is no such token.
func (t *Tables) RemoveToken(ctx context.Context, id int64) (removed RemovedTokens, err error) {
	err = t.remove(ctx, "remove a token", func(c *sqlite.Conn) {
		if removed = removeTokens(c, "id = ?", id); len(removed.Tokens) == 0 {
			c.Fail(bridge.NotFound("there is no token %d", id))
		}
	})
	return removed, err
}

// RemoveExpiredTokens removes expired tokens and the tokens that they created, with their webhooks
// and hooks.
func (t *Tables) RemoveExpiredTokens(ctx context.Context) (removed RemovedTokens, err error) {
	err = t.update(ctx, "remove expired tokens", func(c *sqlite.Conn) { removed = removeTokens(c, "expires_at <= ?", t.now()) })
	return removed, err
}

func removeTokens(c *sqlite.Conn, which string, arg any) (removed RemovedTokens) {
	tree := "WITH RECURSIVE tree (id) AS (SELECT id FROM tokens WHERE " + which +
		" UNION SELECT t.id FROM tokens t JOIN tree ON t.parent = tree.id) "
	removed.Tokens = sqlite.List[int64](c, tree+"SELECT id FROM tree ORDER BY id", arg)
	removed.Webhooks = sqlite.List[int64](c, tree+"SELECT w.id FROM webhooks w WHERE w.token IN (SELECT id FROM tree) ORDER BY w.id", arg)
	c.Run("DELETE FROM tokens WHERE "+which, arg) // foreign keys delete the rest
	return removed
}

// TokenUsed stores when a token was last used.
func (t *Tables) TokenUsed(ctx context.Context, id int64, at bridge.Time) error {
	return t.update(ctx, "note the use of a token", func(c *sqlite.Conn) {
		c.Run("UPDATE tokens SET last_used_at = ? WHERE id = ?", at, id)
	})
}
