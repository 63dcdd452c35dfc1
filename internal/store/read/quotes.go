package read

import (
	"cmp"

	"bridged/internal/bridge"
	"bridged/internal/store/columns"
	"bridged/internal/store/people"
)

// A message that quotes another one carries a copy of it. Lists show the stored message if
// the chat has it, else the copy. When a message is deleted for everyone, the copies of it
// are erased, too, in all chats.

// QuotedChat returns the chat of the message that is quoted in a chat; empty for one without
// a JID here.
func (s *Reader) QuotedChat(c *columns.MessageContext, chat bridge.JID) bridge.JID {
	if c.QuotedChat == nil {
		return chat
	}
	return s.Canonical(bridge.JID(*c.QuotedChat))
}

// embedded returns what m carries of the message that it quotes; nil without a quote.
func (s *Reader) embedded(c *columns.MessageContext, m *bridge.Message, find people.Finder) *bridge.Quoted {
	if c.QuotedID == nil {
		return nil
	}
	quoted := &bridge.Quoted{
		MsgID: *c.QuotedID, ChatJID: s.QuotedChat(c, m.Chat), MessageType: bridge.TypeUnknown, Origin: bridge.QuoteEmbedded,
		SenderJID: m.ContextInfo.QuotedSenderJID, FromMe: s.IsOwner(c.QuotedSender),
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

// IsOwner reports whether a JID is the account's; nil if that is unknown, as with a LID while
// the account's own is not known.
func (s *Reader) IsOwner(jid bridge.JID) *bool {
	if !jid.IsPerson() || s.o.People.OwnerID() == 0 {
		return nil
	}
	owner := s.o.People.Get(s.o.People.OwnerID())
	switch {
	case jid == owner.PN || jid == owner.LID:
		return new(true)
	case jid.IsLID() && owner.LID == "":
		return nil
	}
	p, known := s.o.People.Find(jid)
	return new(known && p.ID == owner.ID)
}

// addQuoted replaces the copies of quoted messages by the messages, if the same chat has
// them under one of their ids.
func (r *Snapshot) addQuoted(messages []bridge.Message, positions []Position) {
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
		p := r.s.o.People.Get(sender)
		quoted.MsgID, quoted.ChatJID = messages[i].Quoted.MsgID, messages[i].Chat
		quoted.SenderJID, quoted.PushName = p.JID(), cmp.Or(quoted.PushName, p.AuthorName())
		quoted.Bound()
		messages[i].Quoted = &quoted
	}
}
