package store

import (
	"bridged/internal/bridge"
	"bridged/internal/folding"
	"bridged/internal/sqlite"
	"bridged/internal/store/people"
)

// chatRow identifies a chat and, unless it is a group, the person it is with.
type chatRow struct {
	id, person int64
	hidden     bool
}

// isChat reports whether messages of a JID are stored. Status updates and broadcast lists are not.
func isChat(jid bridge.JID) bool { return jid.IsPerson() || jid.IsGroup() }

// findChat looks a chat up by its JID in either form.
func (t *writeTx) findChat(jid bridge.JID) (chatRow, bool) {
	jid = t.People.Canonical(jid)
	if c, known := t.s.chats[jid]; known {
		return c, true
	}
	var c chatRow
	found := t.Find("SELECT id, ifnull(person, 0), hidden FROM chats WHERE jid = ?", []any{string(jid)}, &c.id, &c.person, &c.hidden)
	if found && !c.hidden {
		t.s.chats[jid] = c
	}
	return c, found
}

func (t *writeTx) ensureChat(jid bridge.JID) chatRow {
	c, found := t.findChat(jid)
	if found {
		if c.hidden {
			t.unhide(c)
		}
		return c
	}
	if jid.IsGroup() {
		c = t.addGroup(jid)
	} else {
		c = t.addPrivateChat(jid)
	}
	t.appendEvent(bridge.EventChatUpdated, 0, c.id)
	return c
}

func (t *writeTx) addGroup(jid bridge.JID) chatRow {
	name := jid.User()
	id := t.Insert(`
		INSERT INTO chats (jid, is_group, name, folded_name, participants) VALUES (?, 1, ?, ?, 0)`,
		string(jid), name, folding.FoldStripped(name))
	t.Run("INSERT INTO groups (chat) VALUES (?)", id)
	takeSettings(t.Conn, id, jid, "")
	return chatRow{id: id}
}

func (t *writeTx) addPrivateChat(jid bridge.JID) chatRow {
	p := t.EnsurePerson(jid)
	name := p.ChatName()
	id := t.Insert(`
		INSERT INTO chats (jid, person, is_group, name, folded_name, participants) VALUES (?, ?, 0, ?, ?, ?)`,
		string(p.JID()), p.ID, name, p.FoldedChat(), t.privateParticipants(p))
	takeSettings(t.Conn, id, p.JID(), p.LID)
	return chatRow{id: id, person: p.ID}
}

// privateParticipants returns 2, or 1 in the chat with oneself.
func (t *writeTx) privateParticipants(p people.Person) int {
	if p.ID == t.People.OwnerID() {
		return 1
	}
	return 2
}

// updatePrivateChat updates the JID and the names of the chat with p.
func (t *writeTx) updatePrivateChat(p people.Person) {
	name := p.ChatName()
	changed := t.Change(`
		UPDATE chats SET jid = ?1, name = ?2, folded_name = ?3, participants = ?4
		WHERE person = ?5 AND (jid, name, folded_name, participants) IS NOT (?1, ?2, ?3, ?4)`,
		string(p.JID()), name, p.FoldedChat(), t.privateParticipants(p), p.ID)
	if changed == 0 {
		return
	}
	clear(t.s.chats)
	var chat int64
	if t.Find("SELECT id FROM chats WHERE person = ?", []any{p.ID}, &chat) {
		takeSettings(t.Conn, chat, p.JID(), p.LID) // under a JID that became known as theirs
		t.appendEvent(bridge.EventChatUpdated, 0, chat)
	}
}

// countMessage updates the chat of a new message; unread is 1 for one that the account
// has not read, else 0.
func countMessage(c *sqlite.Conn, chat, timestamp, unread int64) {
	c.Run(`
		UPDATE chats SET message_count = message_count + 1,
			last_message_at = max(ifnull(last_message_at, 0), ?1),
			unread_since = iif(?2, iif(unread, min(unread_since, ?1), ?1), unread_since),
			unread = unread + ?2
		WHERE id = ?3`, timestamp, unread, chat)
}

// uncountMessage updates the chat of a message whose row is gone or has moved.
func uncountMessage(c *sqlite.Conn, chat int64) {
	c.Run(`
		UPDATE chats SET message_count = message_count - 1, last_message_at =
			(SELECT max(timestamp) FROM messages WHERE chat = ?1) WHERE id = ?1`, chat)
}

// saveSettings stores how the account's devices show a chat. The settings of a chat that is not stored
// wait for it.
func (t *writeTx) saveSettings(f bridge.ChatSettings) {
	if !isChat(f.Chat) {
		return
	}
	c, found := t.findChat(f.Chat)
	if !found {
		t.postponeSettings(f)
		return
	}
	t.changeChat(c.id, `
		UPDATE chats SET archived = ifnull(?1, archived), pinned = ifnull(?2, pinned), muted_until = iif(?3, ?4, muted_until)
		WHERE id = ?5 AND (archived, pinned, muted_until) IS NOT (ifnull(?1, archived), ifnull(?2, pinned), iif(?3, ?4, muted_until))`,
		f.Archived, f.Pinned, f.MutedUntil != nil, mutedColumn(f.MutedUntil), c.id)
}

// changeChat runs a statement, and logs the chat if that has changed anything.
func (t *writeTx) changeChat(id int64, query string, args ...any) (changed bool) {
	if changed = t.Change(query, args...) > 0; changed {
		t.appendEvent(bridge.EventChatUpdated, 0, id)
	}
	return changed
}

// mutedColumn returns null for a chat that is not muted.
func mutedColumn(until *bridge.Time) any {
	if until == nil || until.UnixMilli() <= 0 {
		return nil
	}
	return until.UnixMilli()
}

// postponeSettings stores the settings of a chat that is not stored yet, unless they are the defaults.
func (t *writeTx) postponeSettings(f bridge.ChatSettings) {
	jid := string(t.People.Canonical(f.Chat))
	t.Run(`
		INSERT INTO pending_settings (jid, archived, pinned, muted_until) VALUES (?1, ifnull(?2, 0), ifnull(?3, 0), ?5)
		ON CONFLICT (jid) DO UPDATE SET archived = ifnull(?2, archived), pinned = ifnull(?3, pinned),
			muted_until = iif(?4, ?5, muted_until)`,
		jid, f.Archived, f.Pinned, f.MutedUntil != nil, mutedColumn(f.MutedUntil))
	t.Run("DELETE FROM pending_settings WHERE jid = ? AND NOT archived AND NOT pinned AND muted_until IS NULL", jid)
}

// takeSettings gives a new chat its pending settings, under either form of its JID.
func takeSettings(c *sqlite.Conn, chat int64, jid, lid bridge.JID) {
	moveLabels(c, lid, jid)
	for _, name := range []bridge.JID{lid, jid} {
		var archived, pinned bool
		var muted *int64
		if c.Find("DELETE FROM pending_settings WHERE jid = ? RETURNING archived, pinned, muted_until", []any{name}, &archived, &pinned, &muted) {
			c.Run("UPDATE chats SET archived = ?, pinned = ?, muted_until = ? WHERE id = ?", archived, pinned, muted, chat)
		}
	}
}

// saveTimer stores a chat's disappearing-messages timer, unless the stored one is newer. The timer of a
// private chat belongs to the person, because it may come before the chat.
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
	p := t.EnsurePerson(f.Chat)
	var before uint32
	t.Find("SELECT timer FROM people WHERE id = ?", []any{p.ID}, &before)
	set := t.Change("UPDATE people SET timer = ?1, timer_set_at = ?2 WHERE id = ?3 AND timer_set_at <= ?2", f.Seconds, millis(f.SetAt), p.ID)
	if c, found := t.findChat(f.Chat); found && set > 0 && before != f.Seconds {
		t.appendEvent(bridge.EventChatUpdated, 0, c.id)
	}
}

// millis returns a moment in milliseconds, 0 if none.
func millis(moment bridge.Time) int64 {
	if moment.IsZero() {
		return 0
	}
	return moment.UnixMilli()
}
