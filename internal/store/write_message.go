package store

import (
	"context"
	"strconv"

	"bridged/internal/bridge"
)

// saveMessage stores a message received or about to be sent.
func (t *writeTx) saveMessage(ctx context.Context, m bridge.Message) error {
	if !isChat(m.Chat) || m.ID == "" {
		return nil
	}
	c, err := t.ensureChat(ctx, m.Chat)
	if err != nil {
		return err
	}
	sender, err := t.ensureSender(ctx, m, c)
	if err != nil {
		return err
	}
	if !m.Imported || sender.push == "" { // history knows old names
		if err := t.savePushName(ctx, sender, m.PushName); err != nil {
			return err
		}
	}
	isAlias, isAwaited, err := t.isNamed(ctx, m.Chat, m.ID)
	if err != nil {
		return err
	}
	if isAlias {
		stored, err := t.isStoredAs(ctx, m, c, sender)
		if err != nil {
			return err
		}
		if stored != 0 {
			return t.joinAlbumLate(ctx, m, stored)
		}
	}
	seq, err := t.insertMessage(ctx, m, c, sender)
	if err != nil {
		return err
	}
	if seq == 0 {
		return t.onDuplicate(ctx, m, c, sender)
	}
	if err := t.insertRaw(ctx, m, seq); err != nil {
		return err
	}
	if err := t.countNew(ctx, m, c, seq); err != nil {
		return err
	}
	if err := t.appendEvent(ctx, eventMessageCreated, seq, 0); err != nil {
		return err
	}
	if err := t.joinAlbum(ctx, seq, m.AlbumID); err != nil || !isAwaited {
		return err
	}
	return t.applyPending(ctx, m.Chat, m.ID)
}

// isNamed reports whether an id is a further one of some message, and whether
// changes wait for it. Few are either, and every message is asked about.
func (t *writeTx) isNamed(ctx context.Context, chat bridge.JID, id string) (isAlias, isAwaited bool, err error) {
	_, err = t.find(ctx, "SELECT EXISTS (SELECT 1 FROM aliases WHERE id = ?1), EXISTS (SELECT 1 FROM pending_changes WHERE chat = ?2 AND target = ?1)",
		[]any{id, t.pendingChat(chat)}, &isAlias, &isAwaited)
	return isAlias, isAwaited, err
}

// countNew enters a new message into its chat. Whoever writes in a chat has read
// what came before; a message that is still to be sent is not written yet, and
// what was taken over from the phone is not new.
func (t *writeTx) countNew(ctx context.Context, m bridge.Message, c chatRow, seq int64) error {
	unread := int64(0)
	if !m.FromMe && !m.Imported {
		unread = 1
	}
	err := t.countMessage(ctx, c.id, m.Timestamp.UnixMilli(), unread)
	if err != nil || !m.FromMe || m.Imported || statusColumn(m) == int64(statusPending) {
		return err
	}
	_, err = t.readUpTo(ctx, c.id, seq)
	return err
}

// ensureSender returns the person who wrote m. Where the fact does not say, it is the
// account itself or the other side of the chat.
func (t *writeTx) ensureSender(ctx context.Context, m bridge.Message, c chatRow) (person, error) {
	switch {
	case m.SenderJID.IsPerson():
		return t.ensurePerson(ctx, m.SenderJID)
	case m.FromMe && t.people.owner != 0:
		me, _ := t.people.get(t.people.owner)
		return me, nil
	case c.person != 0:
		other, _ := t.people.get(c.person)
		return other, nil
	}
	return t.ensurePerson(ctx, unknownSender)
}

// unknownSender stands for whoever wrote a message whose stanza does not say:
// WhatsApp's own number for its announcements.
const unknownSender bridge.JID = "0@" + bridge.ServerUser

// insertMessage returns 0 where the message is stored already.
func (t *writeTx) insertMessage(ctx context.Context, m bridge.Message, c chatRow, sender person) (int64, error) {
	column, err := packDetails(m)
	if err != nil {
		return 0, err
	}
	seq := t.numbers.seq + 1
	added, err := t.change(ctx, `
		INSERT INTO messages (seq, chat, id, sender, from_me, timestamp, type, push_name, content, folded, details, status, imported)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (chat, id) DO NOTHING`,
		seq, c.id, m.ID, sender.id, m.FromMe, m.Timestamp.UnixMilli(), m.MessageType, m.PushName,
		m.Content, folded(m.Content), column, statusColumn(m), m.Imported)
	if err != nil || added == 0 {
		return 0, err
	}
	t.numbers.seq = seq
	return seq, nil
}

func (t *writeTx) insertRaw(ctx context.Context, m bridge.Message, seq int64) error {
	ref, err := packRef(m)
	if err != nil {
		return err
	}
	return t.run(ctx, `
		INSERT INTO message_raw (seq, raw, media_ref, wire_id, view_once, expiration) VALUES (?, ?, ?, nullif(?, x''), ?, ?)
		ON CONFLICT (seq) DO UPDATE SET raw = excluded.raw, media_ref = excluded.media_ref,
			wire_id = ifnull(excluded.wire_id, wire_id), view_once = excluded.view_once, expiration = excluded.expiration`,
		seq, m.Raw, ref, []byte(m.WireID), m.ViewOnce, m.Expiration)
}

// target is the stored message that a fact is about.
type target struct {
	seq, chat          int64
	sender             int64
	fromMe             bool
	kind               string
	timestamp          int64
	content, details   string
	edited, deleted    int64
	status             int64 // -1 for other people's messages
	isGroup, isPrivate bool
	imported           bool
	isAlias            bool // found by a further id
}

func (m target) isPlaceholder() bool { return m.kind == bridge.TypeUndecryptable }

// targetQuery selects what a [target] is made of.
const targetQuery = `
	SELECT m.seq, m.chat, m.sender, m.from_me, m.type, m.timestamp, m.content, ifnull(m.details, ''),
		ifnull(m.edited_at, 0), ifnull(m.deleted_at, 0), ifnull(m.status, -1), c.is_group, m.imported
	FROM chats c JOIN messages m ON m.chat = c.id WHERE c.jid = ?`

// findMessage looks a message up by its chat, in either form, and its id, or one
// of its further ids.
func (t *writeTx) findMessage(ctx context.Context, chat bridge.JID, id string) (m target, found bool, err error) {
	for i, named := range []string{" AND m.id = ?", " AND m.seq IN (SELECT message FROM aliases WHERE id = ?)"} {
		m.isAlias = i > 0
		found, err = t.find(ctx, targetQuery+named, []any{string(t.people.canonical(chat)), id},
			&m.seq, &m.chat, &m.sender, &m.fromMe, &m.kind, &m.timestamp, &m.content, &m.details,
			&m.edited, &m.deleted, &m.status, &m.isGroup, &m.imported)
		if found || err != nil {
			break
		}
	}
	m.isPrivate = !m.isGroup
	return m, found, err
}

// onDuplicate handles a message that is stored already: usually told twice, sometimes the
// real one for a placeholder, or an own message that got further.
func (t *writeTx) onDuplicate(ctx context.Context, m bridge.Message, c chatRow, sender person) error {
	stored, found, err := t.findMessage(ctx, m.Chat, m.ID)
	if err != nil || !found {
		return err
	}
	waits, err := t.awaitsOriginal(ctx, stored, m.Chat, m.ID)
	if err != nil {
		return err
	}
	if waits && m.MessageType != bridge.TypeUndecryptable {
		return t.replacePlaceholder(ctx, m, stored, sender)
	}
	if m.FromMe && stored.fromMe && m.Status != nil {
		return t.advanceMessage(ctx, stored, *m.Status)
	}
	return nil
}

// replacePlaceholder puts a real message over its placeholder. It keeps the
// placeholder's place in the order and is told as message.updated: that there
// is a message was told before. A deletion that came meanwhile stays, and so
// does an edit.
func (t *writeTx) replacePlaceholder(ctx context.Context, m bridge.Message, stored target, sender person) error {
	if stored.deleted != 0 || stored.fromMe != m.FromMe || !t.couldBeOne(stored.sender, sender) {
		return nil
	}
	before, err := detailsIn(stored.details)
	if err != nil {
		return err
	}
	d := detailsOf(m)
	d.keepMarks(before)
	column, err := d.pack()
	if err != nil {
		return err
	}
	err = t.run(ctx, `
		UPDATE messages SET sender = ?, type = ?, push_name = ?, content = ?, folded = ?, details = ?, status = ?, edited_at = NULL
		WHERE seq = ?`,
		sender.id, m.MessageType, m.PushName, m.Content, folded(m.Content), column, statusColumn(m), stored.seq)
	if err != nil {
		return err
	}
	if err := t.insertRaw(ctx, m, stored.seq); err != nil {
		return err
	}
	if err := t.joinAlbum(ctx, stored.seq, m.AlbumID); err != nil {
		return err
	}
	if err := t.contentChanged(ctx, stored.seq); err != nil {
		return err
	}
	return t.applyPending(ctx, m.Chat, m.ID)
}

// couldBeOne reports whether two people may be one: it is false only where they are known to be different: a
// sender may be named by number once and by LID the next time.
func (t *writeTx) couldBeOne(stored int64, p person) bool {
	other, ok := t.people.get(stored)
	if !ok || other.id == p.id {
		return true
	}
	return (other.pn == "" || p.pn == "") && (other.lid == "" || p.lid == "")
}

// contentChanged tells that a message reads differently now.
func (t *writeTx) contentChanged(ctx context.Context, seq int64) error {
	if err := t.markStale(ctx, seq); err != nil {
		return err
	}
	return t.appendEvent(ctx, eventMessageUpdated, seq, 0)
}

// removeMessage takes a message out altogether.
func (t *writeTx) removeMessage(ctx context.Context, seq int64) error {
	if err := t.markStale(ctx, seq); err != nil {
		return err
	}
	return t.removeUnpacked(ctx, seq)
}

// removeUnpacked removes a message that is in no pack of the search index any more.
func (t *writeTx) removeUnpacked(ctx context.Context, seq int64) error {
	if err := t.recordErasedFile(ctx, seq); err != nil {
		return err
	}
	if err := t.markErased(ctx); err != nil {
		return err
	}
	var chat int64
	var counted bool // as unread, if it was not read since
	found, err := t.find(ctx, "DELETE FROM messages WHERE seq = ? RETURNING chat, NOT (from_me OR imported)",
		[]any{seq}, &chat, &counted)
	if err != nil || !found {
		return err
	}
	if counted {
		if err := t.uncountUnread(ctx, chat, seq); err != nil {
			return err
		}
	}
	if seq == t.numbers.seq {
		if err := t.setSetting(ctx, settingLastSeq, strconv.FormatInt(seq, 10)); err != nil {
			return err
		}
	}
	return t.uncountMessage(ctx, chat)
}
