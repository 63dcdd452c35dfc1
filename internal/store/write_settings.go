package store

import (
	"bridged/internal/bridge"
)

// saveSettings keeps how the account's devices show a chat. Those of a chat
// that is not stored wait for it: the account's state alone makes no chat.
func (t *writeTx) saveSettings(f bridge.ChatSettings) {
	if !isChat(f.Chat) {
		return
	}
	c, found := t.findChat(f.Chat)
	if !found {
		t.postponeSettings(f)
		return
	}
	changed := t.Change(`
		UPDATE chats SET archived = ifnull(?1, archived), pinned = ifnull(?2, pinned), muted_until = iif(?3, ?4, muted_until)
		WHERE id = ?5 AND (archived, pinned, muted_until) IS NOT (ifnull(?1, archived), ifnull(?2, pinned), iif(?3, ?4, muted_until))`,
		f.Archived, f.Pinned, f.MutedUntil != nil, mutedColumn(f.MutedUntil), c.id)
	if changed == 0 {
		return
	}
	t.appendEvent(eventChatUpdated, 0, c.id)
}

// mutedColumn returns null for a chat that is not muted.
func mutedColumn(until *bridge.Time) any {
	if until == nil || until.UnixMilli() <= 0 {
		return nil
	}
	return until.UnixMilli()
}

// postponeSettings keeps the settings of a chat that is not stored yet, unless they
// are those of any chat.
func (t *writeTx) postponeSettings(f bridge.ChatSettings) {
	jid := string(t.people.canonical(f.Chat))
	t.Run(`
		INSERT INTO pending_settings (jid, archived, pinned, muted_until) VALUES (?1, ifnull(?2, 0), ifnull(?3, 0), ?5)
		ON CONFLICT (jid) DO UPDATE SET archived = ifnull(?2, archived), pinned = ifnull(?3, pinned),
			muted_until = iif(?4, ?5, muted_until)`,
		jid, f.Archived, f.Pinned, f.MutedUntil != nil, mutedColumn(f.MutedUntil))
	t.Run("DELETE FROM pending_settings WHERE jid = ? AND NOT archived AND NOT pinned AND muted_until IS NULL", jid)
}

// takeSettingsOf gives the chat with p, if there is one, the settings that were
// told under a JID that is only now known to be theirs.
func (t *writeTx) takeSettingsOf(p person) {
	var chat int64
	found := t.Find("SELECT id FROM chats WHERE person = ?", []any{p.id}, &chat)
	if !found {
		return
	}
	t.takeSettings(chat, p.jid(), p.lid)
}

// takeSettings gives a new chat the settings that waited for it, under either
// form of its JID.
func (t *writeTx) takeSettings(chat int64, jid, lid bridge.JID) {
	for _, name := range []bridge.JID{lid, jid} {
		var archived, pinned bool
		var muted *int64
		found := t.Find("DELETE FROM pending_settings WHERE jid = ? RETURNING archived, pinned, muted_until",
			[]any{string(name)}, &archived, &pinned, &muted)
		if !found {
			continue
		}
		t.Run("UPDATE chats SET archived = ?, pinned = ?, muted_until = ? WHERE id = ?", archived, pinned, muted, chat)
	}
}
