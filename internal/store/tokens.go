package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"bridged/internal/bridge"
)

const tokenColumns = "id, name, hash, scopes, chats, expires_at, created_at, last_used_at, ifnull(parent, 0)"

// Tokens returns all tokens, the oldest first.
func (s *Store) Tokens(ctx context.Context) ([]bridge.Token, error) {
	tokens := []bridge.Token{}
	err := s.read(ctx, func(r *readTx) error {
		return r.each(ctx, "SELECT "+tokenColumns+" FROM tokens ORDER BY id", nil, func(rows *resultSet) error {
			t, err := scanToken(rows.Scan)
			tokens = append(tokens, t)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	return tokens, nil
}

func scanToken(scan func(...any) error) (bridge.Token, error) {
	var t bridge.Token
	var scopes string
	var chats sql.NullString
	var created int64
	var expires, used sql.NullInt64
	if err := scan(&t.ID, &t.Name, &t.Hash, &scopes, &chats, &expires, &created, &used, &t.Parent); err != nil {
		return t, err
	}
	t.CreatedAt, t.ExpiresAt, t.LastUsedAt = bridge.Millis(created), timeOf(expires), timeOf(used)
	if err := json.Unmarshal([]byte(scopes), &t.Scopes); err != nil || !chats.Valid {
		return t, err
	}
	return t, json.Unmarshal([]byte(chats.String), &t.Chats)
}

// AddToken keeps a new token and returns it with its id.
func (s *Store) AddToken(ctx context.Context, token bridge.Token) (bridge.Token, error) {
	scopes, err := json.Marshal(token.Scopes)
	if err != nil {
		return token, err
	}
	var chats any
	if token.Chats != nil {
		list, err := json.Marshal(token.Chats)
		if err != nil {
			return token, err
		}
		chats = string(list)
	}
	var expires any
	if token.ExpiresAt != nil {
		expires = token.ExpiresAt.UnixMilli()
	}
	err = s.write(ctx, func(ctx context.Context, t *writeTx) error {
		token.CreatedAt = bridge.Millis(t.at)
		token.ID, err = t.insert(ctx, `
			INSERT INTO tokens (name, hash, scopes, chats, expires_at, created_at, parent) VALUES (?, ?, ?, ?, ?, ?, nullif(?, 0))`,
			token.Name, token.Hash, string(scopes), chats, expires, t.at, token.Parent)
		return err
	})
	if err != nil {
		return token, fmt.Errorf("keep a token: %w", err)
	}
	return token, nil
}

// RemovedTokens are tokens that ended, and the webhooks that ended with them.
type RemovedTokens struct{ Tokens, Webhooks []int64 }

// RemoveToken removes a token, and all that was made with it:
// [bridge.CodeNotFound] when there is none.
func (s *Store) RemoveToken(ctx context.Context, id int64) (RemovedTokens, error) {
	removed, err := s.removeTokens(ctx, "id = ?", id)
	if err == nil && len(removed.Tokens) == 0 {
		err = bridge.NotFound("there is no token %d", id)
	}
	if err != nil {
		return removed, fmt.Errorf("remove a token: %w", err)
	}
	return removed, nil
}

// RemoveExpiredTokens removes the tokens whose time is over, and all that was
// made with them.
func (s *Store) RemoveExpiredTokens(ctx context.Context) (RemovedTokens, error) {
	removed, err := s.removeTokens(ctx, "expires_at <= ?", s.now())
	if err != nil {
		return removed, fmt.Errorf("remove expired tokens: %w", err)
	}
	return removed, nil
}

func (s *Store) removeTokens(ctx context.Context, which string, arg any) (removed RemovedTokens, err error) {
	err = s.write(ctx, func(ctx context.Context, t *writeTx) error {
		removed = RemovedTokens{}
		family := "WITH RECURSIVE family (id) AS (SELECT id FROM tokens WHERE " + which +
			" UNION SELECT t.id FROM tokens t JOIN family f ON t.parent = f.id) "
		for query, list := range map[string]*[]int64{
			family + "SELECT id FROM family ORDER BY id":                                                  &removed.Tokens,
			family + "SELECT w.id FROM webhooks w WHERE w.token IN (SELECT id FROM family) ORDER BY w.id": &removed.Webhooks,
		} {
			err := t.each(ctx, query, []any{arg}, func(rows *resultSet) error {
				var id int64
				err := rows.Scan(&id)
				*list = append(*list, id)
				return err
			})
			if err != nil {
				return err
			}
		}
		return t.run(ctx, "DELETE FROM tokens WHERE "+which, arg) // the rest goes with it
	})
	return removed, err
}

// TokenUsed notes when a token was used last.
func (s *Store) TokenUsed(ctx context.Context, id int64, at bridge.Time) error {
	err := s.write(ctx, func(ctx context.Context, t *writeTx) error {
		return t.run(ctx, "UPDATE tokens SET last_used_at = ? WHERE id = ?", at.UnixMilli(), id)
	})
	if err != nil {
		return fmt.Errorf("note the use of a token: %w", err)
	}
	return nil
}
