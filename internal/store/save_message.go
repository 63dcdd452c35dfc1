package store

import (
	"strconv"

	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/people"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
)

// saveMessage stores a message received or about to be sent.
func (t *writeTx) saveMessage(m bridge.Message) {
	if !isChat(m.Chat) || m.ID == "" {
		return
	}
	c := t.ensureChat(m.Chat)
	sender := t.ensureSender(m, c)
	if !m.Imported || sender.PushName == "" { // history knows old names
		t.SavePushName(sender, m.PushName)
	}
	var isAlias, isAwaited bool // mostly neither: one query asks for both
	t.Find("SELECT EXISTS (SELECT 1 FROM aliases WHERE id = ?1), EXISTS (SELECT 1 FROM pending_changes WHERE chat = ?2 AND target = ?1)",
		[]any{m.ID, pendingTx{t}.pendingChat(m.Chat)}, &isAlias, &isAwaited)
	if isAlias {
		if stored := (editTx{t}).storedAs(m, c, sender); stored != 0 {
			editTx{t}.joinAlbumLate(m, stored)
			return
		}
	}
	m = quoteTx{t}.withoutDeletedQuote(m)
	seq := t.insertMessage(m, c, sender)
	if seq == 0 {
		t.onDuplicate(m, sender)
		return
	}
	insertRaw(t.Conn, m, seq)
	recordQuote(t.Conn, m, seq)
	t.queueTranscript(seq, m)
	t.countNew(m, c, seq)
	t.appendEvent(bridge.EventMessageCreated, seq, 0)
	t.joinAlbum(seq, m.AlbumID)
	t.rejectForeignParts(m, seq)
	if isAwaited {
		pendingTx{t}.applyPending(m.Chat, m.ID)
	}
}

// countNew updates the chat of a new message. An own message that was sent means that the account has
// read the messages before it.
func (t *writeTx) countNew(m bridge.Message, c chatRow, seq int64) {
	unread := int64(0)
	if !m.FromMe && !m.Imported {
		unread = 1
	}
	countMessage(t.Conn, c.id, m.Timestamp.UnixMilli(), unread)
	if m.FromMe && !m.Imported && columns.StatusColumn(m) != int64(columns.StatusPending) {
		t.readUpTo(c.id, seq)
	}
}

// ensureSender returns the person who wrote m: without a sender, the account or the other
// side of the chat.
func (t *writeTx) ensureSender(m bridge.Message, c chatRow) people.Person {
	switch {
	case m.SenderJID.IsPerson():
		return t.EnsurePerson(m.SenderJID)
	case m.FromMe && t.People.OwnerID() != 0:
		me := t.People.Get(t.People.OwnerID())
		return me
	case c.person != 0:
		other := t.People.Get(c.person)
		return other
	}
	return t.EnsurePerson(unknownSender)
}

// unknownSender is the author if the stanza does not name one: WhatsApp's own number for its
// announcements.
const unknownSender bridge.JID = "0@" + bridge.ServerUser

// insertMessage returns the seq, or 0 if the message is stored already.
func (t *writeTx) insertMessage(m bridge.Message, c chatRow, sender people.Person) int64 {
	seq, d := t.numbers.seq+1, columns.DetailsOf(m)
	folded, bare := search.Columns(m.Content, "")
	added := t.Change(`
		INSERT INTO messages (seq, chat, id, sender, from_me, timestamp, type, push_name, content, folded, bare, details, has_link, status, imported, sent_by)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (chat, id) DO NOTHING`,
		seq, c.id, m.ID, sender.ID, m.FromMe, m.Timestamp.UnixMilli(), m.MessageType, m.PushName,
		m.Content, folded, bare, pack(t.Conn, d), d.HasLink(m.Content), columns.StatusColumn(m), m.Imported, t.callerID(m.By))
	if added == 0 {
		return 0
	}
	t.numbers.seq = seq
	return seq
}

func insertRaw(c *sqlite.Conn, m bridge.Message, seq int64) {
	c.Run(`
		INSERT INTO message_raw (seq, raw, media_ref, wire_id, view_once, expiration) VALUES (?, ?, ?, nullif(?, x''), ?, ?)
		ON CONFLICT (seq) DO UPDATE SET raw = excluded.raw, media_ref = excluded.media_ref,
			wire_id = ifnull(excluded.wire_id, wire_id), view_once = excluded.view_once, expiration = excluded.expiration`,
		seq, m.Raw, packRef(c, m), []byte(m.WireID), m.ViewOnce, m.Expiration)
}

// target is the stored message that a fact is about.
type target struct {
	seq, chat        int64
	sender           int64
	fromMe           bool
	kind             string
	timestamp        int64
	content, details string
	edited, deleted  int64
	status           int64 // -1 for other people's messages
	isPrivate        bool  // of a chat between two
	imported         bool
	isAlias          bool // found by a further id
}

func (m target) isPlaceholder() bool { return m.kind == bridge.TypeUndecryptable }

const targetQuery = `
	SELECT m.seq, m.chat, m.sender, m.from_me, m.type, m.timestamp, m.content, ifnull(m.details, ''),
		ifnull(m.edited_at, 0), ifnull(m.deleted_at, 0), ifnull(m.status, -1), NOT c.is_group, m.imported
	FROM chats c JOIN messages m ON m.chat = c.id WHERE c.jid = ?`

// findMessage looks a message up by its chat, in either form, and its id, or one
// of its further ids.
func (t *writeTx) findMessage(chat bridge.JID, id string) (m target, found bool) {
	for i, named := range []string{" AND m.id = ?", " AND m.seq IN (SELECT message FROM aliases WHERE id = ?)"} {
		m.isAlias = i > 0
		found = t.Find(targetQuery+named, []any{string(t.People.Canonical(chat)), id},
			&m.seq, &m.chat, &m.sender, &m.fromMe, &m.kind, &m.timestamp, &m.content, &m.details,
			&m.edited, &m.deleted, &m.status, &m.isPrivate, &m.imported)
		if found {
			break
		}
	}
	return m, found
}

// onDuplicate handles a message that is stored already: the real message of a placeholder, an own message
// with a later status, or a message that was received twice.
func (t *writeTx) onDuplicate(m bridge.Message, sender people.Person) {
	stored, found := t.findMessage(m.Chat, m.ID)
	if !found {
		return
	}
	if t.awaitsOriginal(stored, m.Chat, m.ID) && m.MessageType != bridge.TypeUndecryptable {
		t.replacePlaceholder(m, stored, sender)
		return
	}
	if m.FromMe && stored.fromMe && m.Status != nil {
		t.advanceMessage(stored, *m.Status)
	}
}

// replacePlaceholder replaces a placeholder by its real message under the same seq. A deletion or an edit
// that was received in the meantime is retained.
func (t *writeTx) replacePlaceholder(m bridge.Message, stored target, sender people.Person) {
	if stored.deleted != 0 || stored.fromMe != m.FromMe || !t.couldBeOne(stored.sender, sender) {
		return
	}
	d := columns.DetailsOf(m)
	d.KeepMarks(detailsIn(t.Conn, stored.details))
	folded, bare := search.Columns(m.Content, "")
	t.Run(`
		UPDATE messages SET sender = ?, type = ?, push_name = ?, content = ?, folded = ?, bare = ?, details = ?, has_link = ?, status = ?, edited_at = NULL
		WHERE seq = ?`,
		sender.ID, m.MessageType, m.PushName, m.Content, folded, bare, pack(t.Conn, d), d.HasLink(m.Content), columns.StatusColumn(m), stored.seq)
	insertRaw(t.Conn, m, stored.seq)
	recordQuote(t.Conn, m, stored.seq)
	t.queueTranscript(stored.seq, m)
	t.joinAlbum(stored.seq, m.AlbumID)
	t.rejectForeignParts(m, stored.seq)
	fields := []bridge.MessageField{bridge.ChangedContent}
	if stored.isPlaceholder() { // and no edit has replaced it
		fields = append(fields, bridge.ChangedType)
	}
	t.contentChanged(stored.seq, fields...)
	pendingTx{t}.applyPending(m.Chat, m.ID)
}

// couldBeOne reports whether two people may be the same: a sender may have a number in one stanza and a
// LID in the next.
func (t *writeTx) couldBeOne(stored int64, p people.Person) bool {
	other := t.People.Get(stored)
	if other.ID == 0 || other.ID == p.ID {
		return true
	}
	return (other.PN == "" || p.PN == "") && (other.LID == "" || p.LID == "")
}

// contentChanged logs which fields of a message have changed, with its content.
func (t *writeTx) contentChanged(seq int64, fields ...bridge.MessageField) {
	t.s.index.MarkStale(t.Conn, seq)
	t.messageChanged(seq, fields...)
}

// removeMessage removes a message.
func (t *writeTx) removeMessage(seq int64) {
	t.s.index.MarkStale(t.Conn, seq)
	t.removeUnpacked(seq)
}

// removeUnpacked removes a message whose pack is marked as stale.
func (t *writeTx) removeUnpacked(seq int64) {
	t.recordErasedFile(seq)
	t.markErased()
	var chat int64
	var counted bool // as unread, if it was not read since
	if !t.Find("DELETE FROM messages WHERE seq = ? RETURNING chat, NOT (from_me OR imported)", []any{seq}, &chat, &counted) {
		return
	}
	if counted {
		t.Run("UPDATE chats SET unread = unread - 1 WHERE id = ? AND unread > 0 AND read_seq < ?", chat, seq)
	}
	if seq == t.numbers.seq {
		settings.Set(t.Conn, settingLastSeq, strconv.FormatInt(seq, 10))
	}
	uncountMessage(t.Conn, chat)
}

// joinAlbum makes a message a part of an album, and logs the album if it is stored.
func (t *writeTx) joinAlbum(seq int64, album *string) {
	if album == nil {
		return
	}
	if t.Change("INSERT INTO album_parts (album, message) VALUES (?, ?) ON CONFLICT DO NOTHING", *album, seq) > 0 {
		t.albumChanged(seq)
	}
}

// rejectForeignParts logs that messages of other authors, which were stored before the album m, do not
// belong to it.
func (t *writeTx) rejectForeignParts(m bridge.Message, seq int64) {
	if m.Album == nil {
		return
	}
	parts := sqlite.List[int64](t.Conn, `
		SELECT part.seq FROM messages album
		CROSS JOIN (SELECT message FROM album_parts WHERE album = ? LIMIT ?) p
		CROSS JOIN messages part ON part.seq = p.message AND part.chat = album.chat AND part.sender != album.sender
		WHERE album.seq = ?`, m.ID, read.MostParts, seq)
	for _, part := range parts {
		t.messageChanged(part, bridge.ChangedAlbumID)
	}
}

// albumChanged logs that the album of a part has changed.
func (t *writeTx) albumChanged(part int64) {
	albums := sqlite.List[int64](t.Conn, `
		SELECT album.seq FROM album_parts p JOIN messages m ON m.seq = p.message
		JOIN messages album ON album.chat = m.chat AND album.id = p.album AND album.sender = m.sender
		WHERE p.message = ?`, part)
	for _, album := range albums {
		t.messageChanged(album, bridge.ChangedAlbum)
	}
}

// pack returns the column, nil for no details.
func pack(c *sqlite.Conn, d columns.Details) any {
	if d == (columns.Details{}) {
		return nil
	}
	return c.Encode(d)
}

// packRef returns the column with the location of a message's file.
func packRef(c *sqlite.Conn, m bridge.Message) any {
	if m.Media == nil {
		return nil
	}
	return c.Encode(m.Media.Ref)
}
