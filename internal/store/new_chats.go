package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// newChatLife is how long the beginning of a chat counts.
const newChatLife = 24 * time.Hour

// saveNewChat counts the first message of a chat, or refuses it. A try counts, also one
// that fails: the network has seen it. Another try in the same chat does not count again.
func (t *writeTx) saveNewChat(ctx context.Context, f bridge.NewChat) error {
	if !f.Limit.IsLimited() || !f.Chat.IsPerson() {
		return nil
	}
	c, err := t.ensureChat(ctx, f.Chat)
	if err != nil {
		return err
	}
	if isNew, err := t.isNewChat(ctx, t.people.canonical(f.Chat)); err != nil || !isNew || c.person == t.people.owner {
		return err
	}
	if err := t.run(ctx, "DELETE FROM new_chats WHERE at <= ?", t.at-newChatLife.Milliseconds()); err != nil {
		return err
	}
	if err := t.mayBegin(ctx, f.Limit, t.at); err != nil {
		return err
	}
	return t.run(ctx, "INSERT INTO new_chats (chat, at) VALUES (?, ?)", c.id, t.at)
}

// MayBegin fails with [bridge.CodeNewChatsLimited] if a first message may not be sent
// now. Any of the names may be the chat's: if one of them is not new, none is.
func (s *Store) MayBegin(ctx context.Context, limit bridge.NewChats, names ...bridge.JID) error {
	return s.read(ctx, func(r *readTx) error {
		isNew, err := s.areNew(ctx, r, names)
		if err != nil || !isNew {
			return err
		}
		return r.mayBegin(ctx, limit, s.now())
	})
}

// IsNewChat reports whether nothing was ever sent or received in a chat that has any of
// the names. The chat with oneself is never new.
func (s *Store) IsNewChat(ctx context.Context, names ...bridge.JID) (isNew bool, err error) {
	err = s.read(ctx, func(r *readTx) (err error) {
		isNew, err = s.areNew(ctx, r, names)
		return err
	})
	return isNew, err
}

// areNew reports whether none of the names is that of a chat in use.
func (s *Store) areNew(ctx context.Context, r *readTx, names []bridge.JID) (bool, error) {
	for _, name := range names {
		isNew, err := r.isNewChat(ctx, s.Canonical(name))
		if err != nil || !isNew || s.isOwner(name) {
			return false, err
		}
	}
	return true, nil
}

// isOwner reports whether a JID is the account's own.
func (s *Store) isOwner(jid bridge.JID) bool {
	p, known := s.people.find(jid)
	s.people.mu.RLock()
	defer s.people.mu.RUnlock()
	return known && p.id == s.people.owner
}

// isNewChat reports whether nothing was ever sent or received in a chat. An own message
// that failed was not sent.
func (c *conn) isNewChat(ctx context.Context, canonical bridge.JID) (bool, error) {
	var used bool
	err := c.scan(ctx, `
		SELECT used OR EXISTS (SELECT 1 FROM new_chats WHERE chat = chats.id)
			OR EXISTS (SELECT 1 FROM messages WHERE chat = chats.id AND ifnull(status, -1) != ?)
		FROM chats WHERE jid = ?`, []any{statusFailed, string(canonical)}, &used)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look whether a chat is new: %w", err)
	}
	return !used, nil
}

// markUsed keeps a chat from being new again without the message.
func (t *writeTx) markUsed(ctx context.Context, seq int64) error {
	return t.run(ctx, `
		UPDATE chats SET used = 1 WHERE used = 0 AND id =
			(SELECT chat FROM messages WHERE seq = ? AND ifnull(status, -1) != ?)`, seq, statusFailed)
}

// mayBegin refuses a new chat beyond the limit, and says when there may be one.
func (c *conn) mayBegin(ctx context.Context, limit bridge.NewChats, now int64) error {
	if limit.PerDay > 0 {
		wait, err := c.sinceNewChat(ctx, limit.PerDay-1, newChatLife, now)
		if err != nil {
			return err
		}
		if wait > 0 {
			return newChatsLimited(wait, "the new chats of a day are used up (NEW_CHATS_PER_DAY=%d)", limit.PerDay)
		}
	}
	wait, err := c.sinceNewChat(ctx, 0, limit.MinGap, now)
	if err != nil || wait <= 0 {
		return err
	}
	return newChatsLimited(wait, "two new chats are at least %s apart (NEW_CHATS_MIN_GAP)", inWords(limit.MinGap))
}

// sinceNewChat returns how much is missing from the time that must have passed since
// the last new chat but a few.
func (c *conn) sinceNewChat(ctx context.Context, but int, must time.Duration, now int64) (time.Duration, error) {
	var at int64
	err := c.scan(ctx, "SELECT min(at, ?1) FROM new_chats WHERE at > ?2 ORDER BY at DESC LIMIT 1 OFFSET ?3",
		[]any{now, now - must.Milliseconds(), but}, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for new chats: %w", err)
	}
	return must - time.Duration(now-at)*time.Millisecond, nil
}

func newChatsLimited(wait time.Duration, because string, args ...any) error {
	refusal := bridge.Fail(bridge.CodeNewChatsLimited, because+": the next may begin in %s; whoever wrote first can be answered at any time",
		append(args, inWords(wait))...)
	refusal.RetryAfter = wait
	return refusal
}

// inWords returns a duration without the parts that are zero: 21h, 1h30m, 4s.
func inWords(d time.Duration) string {
	text := max(d, time.Second).Round(time.Second).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}
