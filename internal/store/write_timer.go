package store

import (
	"bridged/internal/bridge"
)

// saveTimer keeps a chat's timer for disappearing messages, unless it was set
// before the one that is known. Between two it belongs to the person, so that
// it is known before there is a chat.
func (t *writeTx) saveTimer(f bridge.ChatTimer) {
	if !isChat(f.Chat) {
		return
	}
	if !f.FromHistory {
		t.ensureChat(f.Chat)
	}
	if f.Chat.IsGroup() {
		t.Run("UPDATE chats SET timer = ? WHERE jid = ?", f.Seconds, string(f.Chat))
		return
	}
	p := t.ensurePerson(f.Chat)
	set := int64(0)
	if !f.SetAt.IsZero() {
		set = f.SetAt.UnixMilli()
	}
	t.Run("UPDATE people SET timer = ?1, timer_set_at = ?2 WHERE id = ?3 AND timer_set_at <= ?2", f.Seconds, set, p.id)
}

// mergeTimers keeps the timer of two people who are one that was set last.
func (t *writeTx) mergeTimers(from, into int64) {
	t.Run(`
		UPDATE people SET timer = old.timer, timer_set_at = old.timer_set_at
		FROM (SELECT timer, timer_set_at FROM people WHERE id = ?1) AS old
		WHERE people.id = ?2 AND (old.timer_set_at > people.timer_set_at OR people.timer = 0 AND people.timer_set_at = 0)`, from, into)
}
