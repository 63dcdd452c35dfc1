package read

import (
	"context"
	"fmt"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/settings"
)

// NewChatLife limits how long a new chat counts.
const NewChatLife = 24 * time.Hour

// MayBegin fails with [bridge.CodeNewChatsLimited] if a chat with all of these names is new,
// and may not be begun now.
func (s *Reader) MayBegin(ctx context.Context, limit bridge.NewChats, names ...bridge.JID) error {
	return s.Read(ctx, func(r *Snapshot) {
		if s.areNew(r, names) {
			MayBegin(r.Conn, limit, s.o.Now())
		}
	})
}

// IsNewChat reports whether no chat with any of these names was ever used. The chat with
// oneself is never new.
func (s *Reader) IsNewChat(ctx context.Context, names ...bridge.JID) (isNew bool, err error) {
	err = s.Read(ctx, func(r *Snapshot) { isNew = s.areNew(r, names) })
	return isNew, err
}

func (s *Reader) areNew(r *Snapshot, names []bridge.JID) bool {
	for _, name := range names {
		if p, known := s.o.People.Find(name); known && p.ID == s.o.People.OwnerID() || !IsNewChat(r.Conn, s.Canonical(name)) {
			return false
		}
	}
	return true
}

// IsNewChat reports whether a chat was never used. An own message that failed was not sent.
func IsNewChat(c *sqlite.Conn, canonical bridge.JID) bool {
	var used bool
	c.Find(`
		SELECT used OR EXISTS (SELECT 1 FROM new_chats WHERE chat = chats.id)
			OR EXISTS (SELECT 1 FROM messages WHERE chat = chats.id AND ifnull(status, -1) != ?)
		FROM chats WHERE jid = ?`, []any{columns.StatusFailed, string(canonical)}, &used)
	return !used
}

// MayBegin refuses a new chat beyond the limit, and says when there may be one.
func MayBegin(c *sqlite.Conn, limit bridge.NewChats, now int64) {
	refuseFor := func(wait time.Duration, because string) {
		if wait > 0 {
			settings.Refuse(c, bridge.CodeNewChatsLimited, wait, "%s: the next may begin in %s; whoever wrote first can be answered at any time", because, settings.InWords(wait))
		}
	}
	if limit.PerDay > 0 {
		refuseFor(settings.UntilFewer(c, "new_chats", limit.PerDay, NewChatLife, now), fmt.Sprintf("the new chats of a day are used up (NEW_CHATS_PER_DAY=%d)", limit.PerDay))
	}
	refuseFor(settings.UntilFewer(c, "new_chats", 1, limit.MinGap, now), fmt.Sprintf("two new chats are at least %s apart (NEW_CHATS_MIN_GAP)", settings.InWords(limit.MinGap)))
}
