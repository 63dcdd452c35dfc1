package store

import (
	"cmp"
	"context"
	"fmt"

	"bridged/internal/store/people"

	"bridged/internal/bridge"
	"bridged/internal/folding"
	"bridged/internal/search"
	"bridged/internal/sqlite"
)

// Chats lists chats, the latest message first; chats without messages come
// last, by JID.
func (s *Store) Chats(ctx context.Context, q bridge.ChatQuery) (bridge.Page[bridge.Chat], error) {
	return readAs(ctx, s, "list chats", func(r *readTx) bridge.Page[bridge.Chat] {
		query, args := r.chatsQuery(q)
		var ids []int64
		page := sqlite.Page(r.Conn, listChats, sqlite.LimitOf(q.Limit), query, args, func(row *sqlite.Row) (bridge.Chat, []any) {
			chat, id, recency := r.scanChat(row)
			ids = append(ids, id)
			return chat, []any{recency, chat.JID}
		})
		r.addLastMessages(page.Items, ids)
		return page
	})
}

// selectChats reads chats for lists. One that is marked as unread has at least one unread
// message.
const selectChats = `SELECT c.id, c.jid, ifnull(c.person, 0), c.is_group, c.name, c.last_message_at, c.participants,
	max(c.unread, c.marked_unread), c.archived, c.pinned, c.muted_until, c.recency FROM chats c WHERE `

func (r *readTx) chatsQuery(q bridge.ChatQuery) (string, []any) {
	var f sqlite.Filter
	if q.Type == bridge.ChatsGroup || q.Type == bridge.ChatsIndividual {
		f.Add("c.is_group = ?", q.Type == bridge.ChatsGroup)
	}
	r.addKind(&f, q.Kind)
	if q.Only != nil {
		f.Add("c.id IN (SELECT value FROM json_each(?))", r.chatIDs(q.Only))
	}
	if q.Unread != nil {
		f.Add("max(c.unread, c.marked_unread) > 0 = ?", *q.Unread)
	}
	if q.Unanswered != nil {
		f.Add("ifnull((SELECT from_me FROM messages WHERE chat = c.id ORDER BY timestamp DESC, seq DESC LIMIT 1), 1) <> ?", *q.Unanswered)
	}
	if q.Archived != nil {
		f.Add("c.archived = ?", *q.Archived)
	}
	if q.Pinned != nil {
		f.Add("c.pinned = ?", *q.Pinned)
	}
	var recency int64
	var jid string
	if r.After(listChats, q.Cursor, &recency, &jid) {
		f.Add("(c.recency, c.jid) > (?, ?)", recency, jid)
	}
	if !search.IsBlank(q.Q) {
		needle := folding.FoldStripped(q.Q)
		f.Add("(instr(c.folded_name, ?) > 0 OR instr(c.jid, ?) > 0)", needle, needle)
	}
	return selectChats + f.Where() + " ORDER BY c.recency, c.jid" + sqlite.Limited + " OFFSET ?", append(f.Args, sqlite.LimitOf(q.Limit)+1, max(q.Offset, 0))
}

// addKind adds the condition on chats of a kind, of which each chat has one.
func (r *readTx) addKind(f *sqlite.Filter, kind bridge.ChatKind) {
	const isCommunity = "(SELECT is_community FROM groups g WHERE g.chat = c.id)"
	switch kind {
	case bridge.KindGroup:
		f.Add("c.is_group AND NOT " + isCommunity)
	case bridge.KindCommunity:
		f.Add("c.is_group AND " + isCommunity)
	case bridge.KindIndividual:
		f.Add("NOT c.is_group AND c.person != ?", r.s.people.OwnerID())
	case bridge.KindSelf:
		f.Add("NOT c.is_group AND c.person = ?", r.s.people.OwnerID())
	case bridge.KindImported:
		f.Add("NOT c.is_group AND +c.person IS NULL") // its index has all groups, too
	}
}

// scanChat reads a row of selectChats. The last message is read separately.
func (r *readTx) scanChat(row *sqlite.Row) (chat bridge.Chat, id, recency int64) {
	var person int64
	row.Scan(&id, &chat.JID, &person, &chat.IsGroup, &chat.Name, &chat.LastMessageAt, &chat.Participants,
		&chat.UnreadCount, &chat.Archived, &chat.Pinned, &chat.MutedUntil, &recency)
	if person != 0 {
		p := r.s.people.Get(person)
		chat.LID, chat.Username = p.LID, p.UsernameOrNil()
	}
	if chat.MutedUntil != nil && chat.MutedUntil.UnixMilli() <= r.s.now() {
		chat.MutedUntil = nil
	}
	return chat, id, recency
}

// lastMessagesQuery looks up the newest message of each chat in the index of histories. Of a
// long text it reads what is shown, and what is needed to cut it.
var lastMessagesQuery = fmt.Sprintf(`
	SELECT m.chat, m.id, m.from_me, m.sender, m.push_name, m.type, substr(m.content, 1, %d), m.timestamp, m.deleted_at, ifnull(m.status, -1)
	FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = (
		SELECT seq FROM messages WHERE chat = wanted.value ORDER BY timestamp DESC, seq DESC LIMIT 1)`,
	bridge.MaxPreview+32)

// addLastMessages adds the last messages of chats, whose ids are in the same order.
func (r *readTx) addLastMessages(chats []bridge.Chat, ids []int64) {
	byID := make(map[int64]*bridge.Chat, len(chats))
	wanted := make([]int64, 0, len(chats))
	for i := range chats {
		if chats[i].LastMessageAt != nil {
			byID[ids[i]] = &chats[i]
			wanted = append(wanted, ids[i])
		}
	}
	for row := range r.rowsOf(lastMessagesQuery, wanted) {
		var m bridge.LastMessage
		var chat, sender, status int64
		row.Scan(&chat, &m.ID, &m.FromMe, &sender, &m.PushName, &m.MessageType, &m.Content, &m.Timestamp, &m.DeletedAt, &status)
		if status != -1 {
			d, err := delivery(status)
			r.Fail(err)
			m.Status = &d
		}
		p := r.s.people.Get(sender)
		m.SenderJID, m.PushName = p.JID(), cmp.Or(m.PushName, p.AuthorName())
		m.Bound()
		if c := byID[chat]; c != nil {
			c.LastMessage = &m
		}
	}
}

// Chat returns one chat: [bridge.CodeNotFound] when it is not stored.
func (s *Store) Chat(ctx context.Context, jid bridge.JID) (bridge.Chat, error) {
	return readAs(ctx, s, "read a chat", func(r *readTx) bridge.Chat {
		chat, found := r.chat(r.findChat(jid))
		if !found {
			r.Fail(bridge.NoChat(jid))
		}
		return chat
	})
}

// chat returns the chat with an id, and reports whether there is one.
func (r *readTx) chat(id int64) (bridge.Chat, bool) {
	for row := range r.Rows(selectChats+"c.id = ?", id) {
		chat, _, _ := r.scanChat(row)
		chats := []bridge.Chat{chat}
		r.addLastMessages(chats, []int64{id})
		return chats[0], true
	}
	return bridge.Chat{}, false
}

// findChat returns the id of the chat of a JID in either form. Memory may know newer
// identities than the snapshot, so it looks for all of a person's JIDs.
func (r *readTx) findChat(jid bridge.JID) (id int64) {
	canonical := r.s.Canonical(jid)
	if !r.Find("SELECT id FROM chats WHERE jid IN (?, ?, ?) ORDER BY jid = ? DESC LIMIT 1",
		[]any{canonical, jid, r.s.LIDOf(jid), canonical}, &id) {
		r.Fail(bridge.NoChat(jid))
	}
	return id
}

// chatSetQuery looks JIDs up in the snapshot: what memory knows of people may be a
// transaction ahead, or behind.
const chatSetQuery = `
	SELECT c.id FROM json_each(?1) named CROSS JOIN chats c ON c.jid = named.value
	UNION ALL
	SELECT c.id FROM json_each(?1) named CROSS JOIN people p ON p.pn = named.value CROSS JOIN chats c ON c.person = p.id
	UNION ALL
	SELECT c.id FROM json_each(?1) named CROSS JOIN identities i ON i.lid = named.value CROSS JOIN chats c ON c.person = i.person`

// chatSet returns the ids of those chats that are stored, by any of their JIDs; nil for nil.
func (r *readTx) chatSet(jids []bridge.JID) map[int64]bool {
	if jids == nil {
		return nil
	}
	ids := make(map[int64]bool, len(jids))
	for _, id := range sqlite.List[int64](r.Conn, chatSetQuery, r.Encode(jids)) {
		ids[id] = true
	}
	return ids
}

// chatIDs returns the same as an argument of json_each.
func (r *readTx) chatIDs(jids []bridge.JID) string { return r.Encode(keysOf(r.chatSet(jids))) }

// ChatTimer returns the timer for disappearing messages of a chat, which need not be stored:
// 0 seconds when it is off or not known.
func (s *Store) ChatTimer(ctx context.Context, jid bridge.JID) (bridge.ChatTimer, error) {
	return readAs(ctx, s, "read a chat's timer", func(r *readTx) bridge.ChatTimer {
		timer := bridge.ChatTimer{Chat: jid}
		if jid.IsGroup() {
			r.Find("SELECT timer FROM chats WHERE jid = ?", []any{jid}, &timer.Seconds)
		} else if p, known := s.people.Find(jid); known {
			r.Find("SELECT timer, nullif(timer_set_at, 0) FROM people WHERE id = ?", []any{p.ID}, &timer.Seconds, &timer.SetAt)
		}
		return timer
	})
}

// chatRow identifies a chat and, unless it is a group, the person it is with.
type chatRow struct{ id, person int64 }

// isChat reports whether messages of a JID are kept: not those of status updates and
// broadcast lists.
func isChat(jid bridge.JID) bool { return jid.IsPerson() || jid.IsGroup() }

// findChat looks a chat up by its JID in either form.
func (t *writeTx) findChat(jid bridge.JID) (chatRow, bool) {
	jid = t.People.Canonical(jid)
	if c, known := t.s.chats[jid]; known {
		return c, true
	}
	var c chatRow
	found := t.Find("SELECT id, ifnull(person, 0) FROM chats WHERE jid = ?", []any{string(jid)}, &c.id, &c.person)
	if found {
		t.s.chats[jid] = c
	}
	return c, found
}

func (t *writeTx) ensureChat(jid bridge.JID) chatRow {
	c, found := t.findChat(jid)
	if found {
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
	t.takeSettings(id, jid, "")
	return chatRow{id: id}
}

func (t *writeTx) addPrivateChat(jid bridge.JID) chatRow {
	p := t.EnsurePerson(jid)
	name := p.ChatName()
	id := t.Insert(`
		INSERT INTO chats (jid, person, is_group, name, folded_name, participants) VALUES (?, ?, 0, ?, ?, ?)`,
		string(p.JID()), p.ID, name, p.FoldedChat(), t.privateParticipants(p))
	t.takeSettings(id, p.JID(), p.LID)
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
		t.takeSettings(chat, p.JID(), p.LID) // those of a JID that is only now known to be theirs
		t.appendEvent(bridge.EventChatUpdated, 0, chat)
	}
}

// countMessage updates the chat of a new message; unread is 1 for one that the account
// has not read, else 0.
func (t *writeTx) countMessage(chat, timestamp, unread int64) {
	t.Run(`
		UPDATE chats SET message_count = message_count + 1,
			last_message_at = max(ifnull(last_message_at, 0), ?1),
			unread_since = iif(?2, iif(unread, min(unread_since, ?1), ?1), unread_since),
			unread = unread + ?2
		WHERE id = ?3`, timestamp, unread, chat)
}

// uncountMessage updates the chat of a message whose row is gone or has moved.
func (t *writeTx) uncountMessage(chat int64) {
	t.Run(`
		UPDATE chats SET message_count = message_count - 1, last_message_at =
			(SELECT max(timestamp) FROM messages WHERE chat = ?1) WHERE id = ?1`, chat)
}

// saveSettings keeps how the account's devices show a chat. Those of a chat
// that is not stored wait for it.
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

// postponeSettings keeps the settings of a chat that is not stored yet, unless they are
// the defaults.
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
func (t *writeTx) takeSettings(chat int64, jid, lid bridge.JID) {
	for _, name := range []bridge.JID{lid, jid} {
		var archived, pinned bool
		var muted *int64
		if t.Find("DELETE FROM pending_settings WHERE jid = ? RETURNING archived, pinned, muted_until", []any{name}, &archived, &pinned, &muted) {
			t.Run("UPDATE chats SET archived = ?, pinned = ?, muted_until = ? WHERE id = ?", archived, pinned, muted, chat)
		}
	}
}

// saveTimer keeps a chat's timer for disappearing messages, unless it is older than the
// one that is stored. A private chat's belongs to the person: it may come before the chat.
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
	t.Run("UPDATE people SET timer = ?1, timer_set_at = ?2 WHERE id = ?3 AND timer_set_at <= ?2", f.Seconds, millis(f.SetAt), p.ID)
}

// millis returns a moment in milliseconds, 0 for none.
func millis(moment bridge.Time) int64 {
	if moment.IsZero() {
		return 0
	}
	return moment.UnixMilli()
}
