package store

import (
	"cmp"

	"bridged/internal/store/people"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// A message that quotes another one carries a copy of it. Lists show the stored message if
// the chat has it, else the copy. When a message is deleted for everyone, the copies of it
// are erased, too, in all chats.

// quotedCopy is what a message carries of the one that it quotes.
type quotedCopy struct {
	Type     string `json:"t"`
	Content  string `json:"c,omitempty"` // of at most [bridge.MaxPreview] characters
	FileName string `json:"f,omitempty"`
}

// setCopy stores the chat and the copy of the message that m quotes.
func (c *contextDetails) setCopy(m bridge.Message) {
	q := m.Quoted
	if !q.IsClaim() || c.QuotedID == nil || q.MsgID != *c.QuotedID {
		return
	}
	if q.ChatJID != m.Chat {
		c.QuotedChat = new(string(q.ChatJID))
	}
	if q.MessageType != bridge.TypeUnknown || q.Content != "" {
		c.QuotedCopy = &quotedCopy{q.MessageType, q.Content, q.FileName}
	}
}

// keepCopy keeps the copy of the same quoted message in an edit, which rarely has one.
func (d *details) keepCopy(before details) {
	if d.Context == nil || before.Context == nil || d.Context.QuotedID == nil || d.Context.QuotedCopy != nil {
		return
	}
	if was := before.Context; was.QuotedID != nil && *was.QuotedID == *d.Context.QuotedID {
		d.Context.QuotedChat, d.Context.QuotedCopy = was.QuotedChat, was.QuotedCopy
	}
}

// quotedChat returns the chat of the message that is quoted in a chat; empty for one without
// a JID here.
func (s *Store) quotedChat(c *contextDetails, chat bridge.JID) bridge.JID {
	if c.QuotedChat == nil {
		return chat
	}
	return s.Canonical(bridge.JID(*c.QuotedChat))
}

// embedded returns what m carries of the message that it quotes; nil without a quote.
func (s *Store) embedded(c *contextDetails, m *bridge.Message, find people.Finder) *bridge.Quoted {
	if c.QuotedID == nil {
		return nil
	}
	quoted := &bridge.Quoted{
		MsgID: *c.QuotedID, ChatJID: s.quotedChat(c, m.Chat), MessageType: bridge.TypeUnknown, Origin: bridge.QuoteEmbedded,
		SenderJID: m.ContextInfo.QuotedSenderJID, FromMe: s.isOwner(c.QuotedSender),
	}
	if quoted.ChatJID != m.Chat {
		quoted.ChatJID = find.Canonical(bridge.JID(*c.QuotedChat))
	}
	if p, known := find(c.QuotedSender); known {
		quoted.PushName = p.AuthorName()
	}
	if e := c.QuotedCopy; e != nil {
		quoted.MessageType, quoted.Content, quoted.FileName = e.Type, e.Content, e.FileName
	}
	return quoted
}

// isOwner reports whether a JID is the account's; nil if that is unknown, as with a LID while
// the account's own is not known.
func (s *Store) isOwner(jid bridge.JID) *bool {
	if !jid.IsPerson() || s.people.OwnerID() == 0 {
		return nil
	}
	owner := s.people.Get(s.people.OwnerID())
	switch {
	case jid == owner.PN || jid == owner.LID:
		return new(true)
	case jid.IsLID() && owner.LID == "":
		return nil
	}
	p, known := s.people.Find(jid)
	return new(known && p.ID == owner.ID)
}

// addQuoted replaces the copies of quoted messages by the messages, if the same chat has
// them under one of their ids.
func (r *readTx) addQuoted(messages []bridge.Message, positions []position) {
	type answer struct {
		Index int    `json:"i"`
		Seq   int64  `json:"s"`
		ID    string `json:"q"`
	}
	var answers []answer
	for i := range messages {
		if q := messages[i].Quoted; q != nil && q.ChatJID == messages[i].Chat {
			answers = append(answers, answer{i, positions[i].Seq, q.MsgID})
		}
	}
	if len(answers) == 0 {
		return
	}
	for row := range r.Rows(`
		SELECT wanted.value ->> 'i', q.from_me, q.sender, q.push_name, q.type, substr(q.content, 1, ?), ifnull(q.details ->> '$.m.fileName', ''), q.timestamp, q.deleted_at
		FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value ->> 's'
		CROSS JOIN messages q ON q.seq = ifnull(
			(SELECT seq FROM messages WHERE chat = m.chat AND id = wanted.value ->> 'q'),
			(SELECT a.message FROM aliases a JOIN messages named ON named.seq = a.message AND named.chat = m.chat WHERE a.id = wanted.value ->> 'q'))`,
		bridge.MaxPreview+1, r.Encode(answers)) {
		var i, sender int64
		quoted := bridge.Quoted{FromMe: new(bool), Timestamp: new(bridge.Time), Origin: bridge.QuoteStored}
		if !row.Scan(&i, quoted.FromMe, &sender, &quoted.PushName, &quoted.MessageType, &quoted.Content, &quoted.FileName, quoted.Timestamp, &quoted.DeletedAt) {
			break
		}
		p := r.s.people.Get(sender)
		quoted.MsgID, quoted.ChatJID = messages[i].Quoted.MsgID, messages[i].Chat
		quoted.SenderJID, quoted.PushName = p.JID(), cmp.Or(quoted.PushName, p.AuthorName())
		quoted.Bound()
		messages[i].Quoted = &quoted
	}
}

// recordQuote notes which message a stored one quotes, so that its deletion finds the copy.
func (t *writeTx) recordQuote(m bridge.Message, seq int64) {
	if c := m.ContextInfo; c != nil && c.QuotedMsgID != nil {
		t.Run("INSERT INTO quotes (target, message) VALUES (?, ?) ON CONFLICT DO NOTHING", *c.QuotedMsgID, seq)
	}
}

// withoutDeletedQuote returns m, which is about to be stored, without its copy of a message
// that was deleted for everyone before.
func (t *writeTx) withoutDeletedQuote(m bridge.Message) bridge.Message {
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
func (t *writeTx) isDeleted(q *bridge.Quoted) bool {
	if stored, found := t.findMessage(q.ChatJID, q.MsgID); found {
		return stored.deleted != 0
	}
	deleters := sqlite.List[bridge.JID](t.Conn, "SELECT sender FROM pending_changes WHERE chat = ? AND target = ? AND kind = ?",
		t.pendingChat(q.ChatJID), q.MsgID, pendingDeletion)
	for _, by := range deleters {
		if t.mayDeleteQuoted(q.ChatJID, q.SenderJID, by) {
			return true
		}
	}
	return false
}

// mayDeleteQuoted reports whether by may delete a message that is not stored, whose author
// only a quote names: its author, the other side of a private chat, or an admin of the group.
func (t *writeTx) mayDeleteQuoted(chat, author, by bridge.JID) bool {
	isOwn := t.s.isOwner(author)
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

// eraseQuotes erases the copies of a message that is deleted for everyone under one of its
// ids, as far as the author that a quote names allows it.
func (t *writeTx) eraseQuotes(chat bridge.JID, id string, allows func(author bridge.JID) bool) {
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
		d := t.detailsIn(q.details)
		if c := d.Context; c == nil || c.QuotedID == nil || *c.QuotedID != id ||
			t.s.quotedChat(c, t.People.Canonical(q.chat)) != t.People.Canonical(chat) || !allows(c.QuotedSender) {
			continue
		}
		d.Context.QuotedCopy = nil
		t.Run("UPDATE messages SET details = ? WHERE seq = ?", t.pack(d), q.seq)
		stored := t.rawOf(q.seq)
		t.Run("UPDATE message_raw SET raw = ? WHERE seq = ?", t.s.o.WithoutQuote(stored.Raw), q.seq)
		t.markErased()
	}
}

// idsOf returns the ids of a stored message.
func (t *writeTx) idsOf(seq int64) []string {
	return sqlite.List[string](t.Conn, "SELECT id FROM messages WHERE seq = ?1 UNION SELECT id FROM aliases WHERE message = ?1", seq)
}
