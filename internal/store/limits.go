package store

import (
	"context"
	"fmt"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/settings"
)

// newChatLife limits how long a new chat counts.
const newChatLife = 24 * time.Hour

// saveNewChat counts the first message of a chat, or refuses it. One that fails counts: the
// network has seen it. Another try in the same chat does not count again.
func (t *writeTx) saveNewChat(f bridge.NewChat) {
	if !f.Limit.IsLimited() || !f.Chat.IsPerson() {
		return
	}
	c := t.ensureChat(f.Chat)
	if c.person == t.People.OwnerID() || !isNewChat(t.Conn, t.People.Canonical(f.Chat)) {
		return
	}
	t.Run("DELETE FROM new_chats WHERE at <= ?", t.at-newChatLife.Milliseconds())
	mayBegin(t.Conn, f.Limit, t.at)
	t.Run("INSERT INTO new_chats (chat, at) VALUES (?, ?)", c.id, t.at)
}

// MayBegin fails with [bridge.CodeNewChatsLimited] if a chat with all of these names is new,
// and may not be begun now.
func (s *Store) MayBegin(ctx context.Context, limit bridge.NewChats, names ...bridge.JID) error {
	return s.read(ctx, func(r *readTx) {
		if s.areNew(r, names) {
			mayBegin(r.Conn, limit, s.now())
		}
	})
}

// IsNewChat reports whether no chat with any of these names was ever used. The chat with
// oneself is never new.
func (s *Store) IsNewChat(ctx context.Context, names ...bridge.JID) (isNew bool, err error) {
	err = s.read(ctx, func(r *readTx) { isNew = s.areNew(r, names) })
	return isNew, err
}

func (s *Store) areNew(r *readTx, names []bridge.JID) bool {
	for _, name := range names {
		if p, known := s.people.Find(name); known && p.ID == s.people.OwnerID() || !isNewChat(r.Conn, s.Canonical(name)) {
			return false
		}
	}
	return true
}

// isNewChat reports whether a chat was never used. An own message that failed was not sent.
func isNewChat(c *sqlite.Conn, canonical bridge.JID) bool {
	var used bool
	c.Find(`
		SELECT used OR EXISTS (SELECT 1 FROM new_chats WHERE chat = chats.id)
			OR EXISTS (SELECT 1 FROM messages WHERE chat = chats.id AND ifnull(status, -1) != ?)
		FROM chats WHERE jid = ?`, []any{statusFailed, string(canonical)}, &used)
	return !used
}

// mayBegin refuses a new chat beyond the limit, and says when there may be one.
func mayBegin(c *sqlite.Conn, limit bridge.NewChats, now int64) {
	refuseFor := func(wait time.Duration, because string) {
		if wait > 0 {
			settings.Refuse(c, bridge.CodeNewChatsLimited, wait, "%s: the next may begin in %s; whoever wrote first can be answered at any time", because, settings.InWords(wait))
		}
	}
	if limit.PerDay > 0 {
		refuseFor(settings.UntilFewer(c, "new_chats", limit.PerDay, newChatLife, now), fmt.Sprintf("the new chats of a day are used up (NEW_CHATS_PER_DAY=%d)", limit.PerDay))
	}
	refuseFor(settings.UntilFewer(c, "new_chats", 1, limit.MinGap, now), fmt.Sprintf("two new chats are at least %s apart (NEW_CHATS_MIN_GAP)", settings.InWords(limit.MinGap)))
}
