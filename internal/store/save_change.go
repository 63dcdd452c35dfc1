package store

import (
	"errors"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
)

// saveAnswer stores a person's answer to a message by a query that does not replace a later answer. It
// returns the message's seq, or 0 if nothing has changed. The caller logs the change.
func (t *writeTx) saveAnswer(f bridge.Fact, chat bridge.JID, id string, by bridge.JID, query string, answer ...any) (seq int64) {
	m, found := t.findMessage(chat, id)
	switch {
	case !found:
		pendingTx{t}.postpone(f)
		return 0
	case m.deleted != 0 || !by.IsPerson():
		return 0
	}
	if t.Change(query, append([]any{m.seq, t.EnsurePerson(by).ID}, answer...)...) == 0 {
		return 0
	}
	return m.seq
}

// saveReaction sets or removes a person's reaction.
func (t *writeTx) saveReaction(f bridge.ReactionChange) {
	seq := t.saveAnswer(f, f.Chat, f.Target, f.Sender, `
		INSERT INTO reactions (message, person, emoji, timestamp) VALUES (?, ?, ?, ?)
		ON CONFLICT (message, person) DO UPDATE SET emoji = excluded.emoji, timestamp = excluded.timestamp
		WHERE excluded.timestamp > timestamp OR excluded.timestamp = timestamp AND excluded.emoji != emoji`,
		f.Emoji, f.Timestamp.UnixMilli())
	if seq != 0 {
		countReactions(t.Conn, seq)
		by := t.EnsurePerson(f.Sender).ID
		t.logChange(seq, columns.MessageChange{Changes: []bridge.MessageField{bridge.ChangedReactions}, Reactions: []columns.ReactionChange{{Sender: by, Emoji: f.Emoji, Timestamp: f.Timestamp.UnixMilli()}}})
	}
}

// saveVote replaces a person's votes in a poll.
func (t *writeTx) saveVote(f bridge.PollVote) {
	seq := t.saveAnswer(f, f.Chat, f.Target, f.Voter, `
		INSERT INTO votes (message, person, hashes, timestamp) VALUES (?, ?, ?, ?)
		ON CONFLICT (message, person) DO UPDATE SET hashes = excluded.hashes, timestamp = excluded.timestamp
		WHERE excluded.timestamp > timestamp OR excluded.timestamp = timestamp AND excluded.hashes != hashes`,
		bridge.NotNil(slices.Concat(f.Hashes...)), f.Timestamp.UnixMilli())
	if seq != 0 {
		t.logChange(seq, columns.MessageChange{Changes: []bridge.MessageField{bridge.ChangedPoll}, Voters: []int64{t.EnsurePerson(f.Voter).ID}})
	}
}

// saveEventResponse replaces a person's answer to an event.
func (t *writeTx) saveEventResponse(f bridge.EventResponse) {
	seq := t.saveAnswer(f, f.Chat, f.Target, f.Sender, `
		INSERT INTO event_responses (message, person, answer, guests, timestamp) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (message, person) DO UPDATE SET answer = excluded.answer, guests = excluded.guests, timestamp = excluded.timestamp
		WHERE excluded.timestamp > timestamp
			OR excluded.timestamp = timestamp AND (excluded.answer, excluded.guests) != (answer, guests)`,
		int64(f.Answer), f.Guests, f.Timestamp.UnixMilli())
	if seq != 0 {
		t.messageChanged(seq, bridge.ChangedEvent)
	}
}

// countReactions stores a message's number of reactions, so that pages read reactions only if there are
// any.
func countReactions(c *sqlite.Conn, seq int64) {
	c.Run(`
		UPDATE messages SET reactions = (SELECT count(*) FROM reactions WHERE message = ?1 AND emoji != '')
		WHERE seq = ?1`, seq)
}

// saveDeletion empties a message, for its author or an admin of the group.
func (t *writeTx) saveDeletion(f bridge.Deletion) {
	m, found := t.findMessage(f.Chat, f.Target)
	if !found {
		pendingTx{t}.postpone(f)
		quoteTx{t}.eraseQuotes(f.Chat, f.Target, func(author bridge.JID) bool { return quoteTx{t}.mayDeleteQuoted(f.Chat, author, f.By) })
		return
	}
	if m.deleted != 0 {
		return
	}
	if !t.mayDelete(m, f.By) {
		t.postponeUnchecked(m, f)
		return
	}
	t.eraseMessage(m, f.Chat, f.Timestamp)
}

// saveDeletionForMe empties a message that the account has deleted for its own devices.
func (t *writeTx) saveDeletionForMe(f bridge.DeletionForMe) {
	if m, found := t.findMessage(f.Chat, f.Target); found && m.deleted == 0 {
		t.eraseMessage(m, f.Chat, f.Timestamp)
	}
}

// eraseMessage empties a message and the copies of it.
func (t *writeTx) eraseMessage(m target, chat bridge.JID, at bridge.Time) {
	t.recordErasedFile(m.seq)
	pendingTx{t}.dropPendingOf(chat, m.seq)
	t.albumChanged(m.seq)
	for _, id := range idsOf(t.Conn, m.seq) {
		quoteTx{t}.eraseQuotes(chat, id, func(bridge.JID) bool { return true })
	}
	for _, empty := range []string{
		"UPDATE message_raw SET raw = NULL, media_ref = NULL WHERE seq = ?",
		"DELETE FROM kept_files WHERE message = ?",
		"DELETE FROM import_bytes WHERE message = ?",
		"UPDATE import_rows SET has_file = 0, before = NULL WHERE message = ?",
		"DELETE FROM reactions WHERE message = ?",
		"DELETE FROM votes WHERE message = ?",
		"DELETE FROM event_responses WHERE message = ?",
		"DELETE FROM album_parts WHERE message = ?",
		"DELETE FROM quotes WHERE message = ?",
		"DELETE FROM transcriptions WHERE message = ?",
	} {
		t.Run(empty, m.seq)
	}
	t.Run(`
		UPDATE messages SET content = '', folded = NULL, bare = NULL, details = NULL, has_link = 0, reactions = 0, starred = 0, deleted_at = ?
		WHERE seq = ?`, at.UnixMilli(), m.seq)
	t.markErased()
	t.contentChanged(m.seq, bridge.ChangedContent, bridge.ChangedDeleted)
}

// postponeUnchecked postpones a deletion that may be permitted later: if the members of the group are not
// known yet, or if the message was found by an id that only its HD upload has named.
func (t *writeTx) postponeUnchecked(m target, f bridge.Deletion) {
	known := m.isPrivate
	if !known {
		t.Find("SELECT known FROM groups WHERE chat = ?", []any{m.chat}, &known)
	}
	if m.isAlias || !known {
		pendingTx{t}.postpone(f)
	}
}

// saveRemovedElsewhere logs that another own device deleted something for itself. The store does not
// delete it.
func (t *writeTx) saveRemovedElsewhere(f bridge.RemovedElsewhere) {
	if m, found := t.findMessage(f.Chat, f.Target); found && m.deleted != 0 {
		return
	}
	if c, found := t.findChat(f.Chat); found && (f.Target != "" || hasMessages(t.Conn, c.id)) {
		t.appendEvent(bridge.EventChatUpdated, 0, c.id)
	}
}

func hasMessages(c *sqlite.Conn, chat int64) (has bool) {
	c.Find("SELECT message_count > 0 FROM chats WHERE id = ?", []any{chat}, &has)
	return has
}

// isAuthor reports whether jid wrote m. Private chats have two sides, so the side is enough.
func (t *writeTx) isAuthor(m target, jid bridge.JID) bool {
	p, known := t.People.Find(jid)
	if m.isPrivate {
		isMe := known && p.ID == t.People.OwnerID()
		return m.fromMe == isMe || known && p.ID == m.sender
	}
	return known && (p.ID == m.sender || m.fromMe && p.ID == t.People.OwnerID())
}

func (t *writeTx) mayDelete(m target, jid bridge.JID) bool {
	if t.isAuthor(m, jid) {
		return true
	}
	p, known := t.People.Find(jid)
	if m.isPrivate || !known {
		return false
	}
	var isAdmin bool
	t.Find("SELECT is_admin OR is_super_admin FROM members WHERE chat = ? AND person = ?",
		[]any{m.chat, p.ID}, &isAdmin)
	return isAdmin
}

// saveMediaMoved stores the new location of a file.
func (t *writeTx) saveMediaMoved(f bridge.MediaMoved) {
	if m, found := t.findMessage(f.Chat, f.ID); found {
		t.Run("UPDATE message_raw SET media_ref = json_set(media_ref, '$.directPath', ?) WHERE seq = ?", f.DirectPath, m.seq)
	}
}

// saveEncrypted decrypts a change with the secret of its message and saves it. If the message is not
// stored yet, the change becomes pending.
func (t *writeTx) saveEncrypted(f bridge.Encrypted) {
	m, found := t.findMessage(f.Chat, f.Target)
	if !found || m.isPlaceholder() && m.deleted == 0 {
		pendingTx{t}.postpone(f)
		return
	}
	original := rawOf(t.Conn, m.seq)
	if len(original.Raw) == 0 {
		return
	}
	author := t.People.Get(m.sender)
	original.Chat, original.ID, original.FromMe, original.SenderJID = f.Chat, f.Target, m.fromMe, author.JID()
	for _, fact := range t.s.o.Open(f, original, t.People.FormsOf(f.Sender), author.Forms()) {
		if _, again := fact.(bridge.Encrypted); again {
			t.Fail(errors.New("an encrypted change contains another one"))
			return
		}
		t.save(bridge.Bounded(fact))
	}
}
