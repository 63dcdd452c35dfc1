package store

import (
	"strconv"

	"bridged/internal/bridge"
)

// message stores a message received or about to be sent.
func (t *tx) message(m bridge.Message) error {
	if !isChat(m.Chat) || m.ID == "" {
		return nil
	}
	c, err := t.chat(m.Chat)
	if err != nil {
		return err
	}
	sender, err := t.sender(m, c)
	if err != nil {
		return err
	}
	if err := t.pushName(sender, m.PushName); err != nil {
		return err
	}
	arrival, err := t.insertMessage(m, c, sender)
	if err != nil {
		return err
	}
	if arrival == 0 {
		return t.again(m, c, sender)
	}
	if err := t.insertRaw(m, arrival); err != nil {
		return err
	}
	if err := t.count(c.id, m.Timestamp.UnixMilli()); err != nil {
		return err
	}
	return t.tell(eventMessageCreated, arrival, 0)
}

// sender is the person who wrote m. Where the fact does not say, it is the
// account itself or the other side of the chat.
func (t *tx) sender(m bridge.Message, c chatRow) (person, error) {
	switch {
	case m.SenderJID.IsPerson():
		return t.person(m.SenderJID)
	case m.FromMe && t.people.owner != 0:
		me, _ := t.people.get(t.people.owner)
		return me, nil
	case c.person != 0:
		other, _ := t.people.get(c.person)
		return other, nil
	}
	return t.person(unknownSender)
}

// unknownSender stands for whoever wrote a message whose stanza does not say:
// WhatsApp's own number for its announcements.
const unknownSender bridge.JID = "0@" + bridge.ServerUser

// insertMessage answers 0 where the message is stored already.
func (t *tx) insertMessage(m bridge.Message, c chatRow, sender person) (int64, error) {
	column, err := packDetails(m)
	if err != nil {
		return 0, err
	}
	arrival := t.numbers.arrival + 1
	added, err := t.change(`
		INSERT INTO messages (arrival, chat, id, sender, from_me, timestamp, type, push_name, content, folded, details, status)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (chat, id) DO NOTHING`,
		arrival, c.id, m.ID, sender.id, m.FromMe, m.Timestamp.UnixMilli(), m.MessageType, m.PushName,
		m.Content, folded(m.Content), column, statusColumn(m))
	if err != nil || added == 0 {
		return 0, err
	}
	t.numbers.arrival = arrival
	return arrival, nil
}

func (t *tx) insertRaw(m bridge.Message, arrival int64) error {
	ref, err := packRef(m)
	if err != nil {
		return err
	}
	return t.run(`
		INSERT INTO message_raw (arrival, raw, media_ref, view_once, expiration) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (arrival) DO UPDATE SET raw = excluded.raw, media_ref = excluded.media_ref,
			view_once = excluded.view_once, expiration = excluded.expiration`,
		arrival, m.Raw, ref, m.ViewOnce, m.Expiration)
}

// target is the stored message that a fact is about.
type target struct {
	arrival, chat      int64
	sender             int64
	fromMe             bool
	kind               string
	timestamp          int64
	content, details   string
	edited, deleted    int64
	status             int64 // -1 for other people's messages
	isGroup, isPrivate bool
}

func (m target) isPlaceholder() bool { return m.kind == bridge.TypeUndecryptable }

// findMessage looks a message up by its chat, in either form, and its id.
func (t *tx) findMessage(chat bridge.JID, id string) (target, bool, error) {
	var m target
	found, err := t.find(`
		SELECT m.arrival, m.chat, m.sender, m.from_me, m.type, m.timestamp, m.content, ifnull(m.details, ''),
			ifnull(m.edited_at, 0), ifnull(m.deleted_at, 0), ifnull(m.status, -1), c.is_group
		FROM chats c JOIN messages m ON m.chat = c.id
		WHERE c.jid = ? AND m.id = ?`, []any{string(t.people.canonical(chat)), id},
		&m.arrival, &m.chat, &m.sender, &m.fromMe, &m.kind, &m.timestamp, &m.content, &m.details,
		&m.edited, &m.deleted, &m.status, &m.isGroup)
	m.isPrivate = !m.isGroup
	return m, found, err
}

// again is a message that is stored already: usually told twice, sometimes the
// real one for a placeholder, or an own message that got further.
func (t *tx) again(m bridge.Message, c chatRow, sender person) error {
	stored, found, err := t.findMessage(m.Chat, m.ID)
	if err != nil || !found {
		return err
	}
	waits, err := t.waits(stored)
	if err != nil {
		return err
	}
	if waits && m.MessageType != bridge.TypeUndecryptable {
		return t.fill(m, stored, sender)
	}
	if m.FromMe && stored.fromMe && m.Status != nil {
		return t.advance(stored.arrival, *m.Status)
	}
	return nil
}

// fill puts a real message in the place of its placeholder. It keeps the
// placeholder's place in the order and is told as message.updated: that there
// is a message was told before. A deletion that came meanwhile stays, and so
// does an edit.
func (t *tx) fill(m bridge.Message, stored target, sender person) error {
	if stored.deleted != 0 || stored.fromMe != m.FromMe || !t.couldBeOne(stored.sender, sender) {
		return nil
	}
	column, err := packDetails(m)
	if err != nil {
		return err
	}
	err = t.run(`
		UPDATE messages SET sender = ?, type = ?, push_name = ?, content = ?, folded = ?, details = ?, status = ?, edited_at = NULL
		WHERE arrival = ?`,
		sender.id, m.MessageType, m.PushName, m.Content, folded(m.Content), column, statusColumn(m), stored.arrival)
	if err != nil {
		return err
	}
	if err := t.insertRaw(m, stored.arrival); err != nil {
		return err
	}
	if err := t.rewritten(stored.arrival); err != nil {
		return err
	}
	return t.unpark(m.Chat, m.ID, stored.arrival)
}

// couldBeOne is false only where two people are known to be different: a
// sender may be named by number once and by LID the next time.
func (t *tx) couldBeOne(stored int64, p person) bool {
	other, ok := t.people.get(stored)
	if !ok || other.id == p.id {
		return true
	}
	return (other.pn == "" || p.pn == "") && (other.lid == "" || p.lid == "")
}

// rewritten tells that a message reads differently now.
func (t *tx) rewritten(arrival int64) error {
	if err := t.touch(arrival); err != nil {
		return err
	}
	return t.tell(eventMessageUpdated, arrival, 0)
}

// remove takes a message out altogether.
func (t *tx) remove(arrival int64) error {
	if err := t.noteFile(arrival); err != nil {
		return err
	}
	if err := t.erases(); err != nil {
		return err
	}
	var chat, timestamp int64
	found, err := t.find("DELETE FROM messages WHERE arrival = ? RETURNING chat, timestamp",
		[]any{arrival}, &chat, &timestamp)
	if err != nil || !found {
		return err
	}
	if arrival == t.numbers.arrival {
		if err := t.setSetting(settingArrival, strconv.FormatInt(arrival, 10)); err != nil {
			return err
		}
	}
	return t.uncount(chat, timestamp)
}
