package store

import (
	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// quoteTx erases the copies of deleted messages from quotes.
type quoteTx struct{ *writeTx }

// recordQuote stores which message another one quotes, so that a deletion finds the copy.
func recordQuote(c *sqlite.Conn, m bridge.Message, seq int64) {
	if of := m.ContextInfo; of != nil && of.QuotedMsgID != nil {
		c.Run("INSERT INTO quotes (target, message) VALUES (?, ?) ON CONFLICT DO NOTHING", *of.QuotedMsgID, seq)
	}
}

// withoutDeletedQuote returns m, which is about to be stored, without its copy of a message
// that was deleted for everyone before.
func (t quoteTx) withoutDeletedQuote(m bridge.Message) bridge.Message {
	q := m.Quoted
	if !q.IsClaim() || q.ChatJID == "" || m.ContextInfo == nil {
		return m
	}
	if !t.isDeleted(q) {
		return m
	}
	m.Raw = t.s.o.WithoutQuote(m.Raw)
	m.Quoted = &bridge.Quoted{MsgID: q.MsgID, ChatJID: q.ChatJID, MessageType: bridge.TypeUnknown, Origin: bridge.QuoteEmbedded}
	return m
}

// isDeleted reports whether a quoted message was deleted for everyone, whether or not it is
// stored.
func (t quoteTx) isDeleted(q *bridge.Quoted) bool {
	if stored, found := t.findMessage(q.ChatJID, q.MsgID); found {
		return stored.deleted != 0
	}
	deleters := sqlite.List[bridge.JID](t.Conn, "SELECT sender FROM pending_changes WHERE chat = ? AND target = ? AND kind = ?",
		pendingTx(t).pendingChat(q.ChatJID), q.MsgID, pendingDeletion)
	for _, by := range deleters {
		if t.mayDeleteQuoted(q.ChatJID, q.SenderJID, by) {
			return true
		}
	}
	return false
}

// mayDeleteQuoted reports whether by may delete a message that is not stored and whose author is known
// from a quote: by is the author, the contact of a private chat, or an admin of the group.
func (t quoteTx) mayDeleteQuoted(chat, author, by bridge.JID) bool {
	isOwn := t.s.IsOwner(author)
	m := target{isPrivate: chat.IsPerson(), fromMe: isOwn != nil && *isOwn}
	if p, known := t.People.Find(author); known {
		m.sender = p.ID
	} else if author == by {
		return true
	}
	if c, found := t.findChat(chat); found {
		m.chat = c.id
	}
	return t.mayDelete(m, by)
}

// eraseQuotes erases the copies of a message that is deleted for everyone under one of its ids, if allows
// returns true for the author in the quote.
func (t quoteTx) eraseQuotes(chat bridge.JID, id string, allows func(author bridge.JID) bool) {
	type quoting struct {
		seq     int64
		chat    bridge.JID
		details string
	}
	scan := func(row *sqlite.Row) (q quoting) {
		row.Scan(&q.seq, &q.chat, &q.details)
		return q
	}
	for _, q := range sqlite.Collect(t.Conn, scan, `
		SELECT m.seq, c.jid, m.details FROM quotes q JOIN messages m ON m.seq = q.message JOIN chats c ON c.id = m.chat
		WHERE q.target = ? AND m.details IS NOT NULL`, id) {
		d := detailsIn(t.Conn, q.details)
		if c := d.Context; c == nil || c.QuotedID == nil || *c.QuotedID != id ||
			t.s.QuotedChat(c, t.People.Canonical(q.chat)) != t.People.Canonical(chat) || !allows(c.QuotedSender) {
			continue
		}
		d.Context.QuotedCopy = nil
		t.Run("UPDATE messages SET details = ? WHERE seq = ?", pack(t.Conn, d), q.seq)
		stored := rawOf(t.Conn, q.seq)
		t.Run("UPDATE message_raw SET raw = ? WHERE seq = ?", t.s.o.WithoutQuote(stored.Raw), q.seq)
		t.markErased()
	}
}

// idsOf returns the ids of a stored message.
func idsOf(c *sqlite.Conn, seq int64) []string {
	return sqlite.List[string](c, "SELECT id FROM messages WHERE seq = ?1 UNION SELECT id FROM aliases WHERE message = ?1", seq)
}
