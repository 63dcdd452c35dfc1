package store

import (
	"fmt"
	"slices"

	"bridged/internal/bridge"
)

// answered returns the message that a fact by a person is about, and the person;
// not ok where there is nothing to change. Where the message has not come yet, the
// fact waits.
func (t *writeTx) answered(f bridge.Fact, chat bridge.JID, id string, by bridge.JID) (m target, p person, ok bool) {
	m, found := t.findMessage(chat, id)
	switch {
	case !found:
		t.postpone(f)
		return m, p, false
	case m.deleted != 0 || !by.IsPerson():
		return m, p, false
	}
	return m, t.ensurePerson(by), true
}

// saveReaction sets or removes a person's reaction. An older one that comes again
// does not replace a newer one.
func (t *writeTx) saveReaction(f bridge.ReactionChange) {
	m, p, ok := t.answered(f, f.Chat, f.Target, f.Sender)
	if !ok {
		return
	}
	changed := t.Change(`
		INSERT INTO reactions (message, person, emoji, timestamp) VALUES (?, ?, ?, ?)
		ON CONFLICT (message, person) DO UPDATE SET emoji = excluded.emoji, timestamp = excluded.timestamp
		WHERE excluded.timestamp > timestamp OR excluded.timestamp = timestamp AND excluded.emoji != emoji`,
		m.seq, p.id, f.Emoji, f.Timestamp.UnixMilli())
	if changed > 0 {
		t.countReactions(m.seq)
		t.appendEvent(eventMessageUpdated, m.seq, 0)
	}
}

// countReactions keeps on the message how many reactions it has, so that pages
// look only where there are some.
func (t *writeTx) countReactions(seq int64) {
	t.Run(`
		UPDATE messages SET reactions = (SELECT count(*) FROM reactions WHERE message = ?1 AND emoji != '')
		WHERE seq = ?1`, seq)
}

// saveVote replaces a person's votes in a poll.
func (t *writeTx) saveVote(f bridge.PollVote) {
	m, p, ok := t.answered(f, f.Chat, f.Target, f.Voter)
	if !ok {
		return
	}
	hashes := notNil(slices.Concat(f.Hashes...))
	changed := t.Change(`
		INSERT INTO votes (message, person, hashes, timestamp) VALUES (?, ?, ?, ?)
		ON CONFLICT (message, person) DO UPDATE SET hashes = excluded.hashes, timestamp = excluded.timestamp
		WHERE excluded.timestamp > timestamp OR excluded.timestamp = timestamp AND excluded.hashes != hashes`,
		m.seq, p.id, hashes, f.Timestamp.UnixMilli())
	if changed > 0 {
		t.appendEvent(eventMessageUpdated, m.seq, 0)
	}
}

// saveDeletion empties a message, for its author or an admin of the group. Nothing
// of what it said stays in the store.
func (t *writeTx) saveDeletion(f bridge.Deletion) {
	m, found := t.findMessage(f.Chat, f.Target)
	if !found {
		t.postpone(f)
		return
	}
	if m.deleted != 0 {
		return
	}
	if !t.mayDelete(m, f.By) {
		t.postponeUnchecked(m, f)
		return
	}
	t.recordErasedFile(m.seq)
	t.dropPendingOf(f.Chat, m.seq)
	t.leaveAlbum(m.seq)
	for _, empty := range []string{
		"UPDATE message_raw SET raw = NULL, media_ref = NULL WHERE seq = ?",
		"DELETE FROM reactions WHERE message = ?",
		"DELETE FROM votes WHERE message = ?",
		"DELETE FROM event_responses WHERE message = ?",
	} {
		t.Run(empty, m.seq)
	}
	t.Run(`
		UPDATE messages SET content = '', folded = NULL, details = NULL, reactions = 0, deleted_at = ?
		WHERE seq = ?`, f.Timestamp.UnixMilli(), m.seq)
	t.markErased()
	t.contentChanged(m.seq)
}

// postponeUnchecked postpones a deletion that is not permitted where the group's
// members are not known yet: it may be an admin's. So it does where the id is one
// that an upload claims for a picture that has not come.
func (t *writeTx) postponeUnchecked(m target, f bridge.Deletion) {
	known := m.isPrivate
	if !m.isPrivate {
		t.Find("SELECT known FROM groups WHERE chat = ?", []any{m.chat}, &known)
	}
	if m.isAlias || !known {
		t.postpone(f)
	}
}

// saveRemovedElsewhere keeps what another own device deleted for itself, and logs
// an event.
func (t *writeTx) saveRemovedElsewhere(f bridge.RemovedElsewhere) {
	if c, found := t.findChat(f.Chat); found {
		t.appendEvent(eventChatUpdated, 0, c.id)
	}
}

// isAuthor reports whether jid wrote m. A private chat has two sides, so there it
// is enough to know which side jid is on.
func (t *writeTx) isAuthor(m target, jid bridge.JID) bool {
	p, known := t.people.find(jid)
	if m.isPrivate {
		isMe := known && p.id == t.people.owner
		return m.fromMe == isMe || known && p.id == m.sender
	}
	return known && (p.id == m.sender || m.fromMe && p.id == t.people.owner)
}

func (t *writeTx) mayDelete(m target, jid bridge.JID) bool {
	if t.isAuthor(m, jid) {
		return true
	}
	p, known := t.people.find(jid)
	if m.isPrivate || !known {
		return false
	}
	var isAdmin bool
	t.Find("SELECT is_admin OR is_super_admin FROM members WHERE chat = ? AND person = ?",
		[]any{m.chat, p.id}, &isAdmin)
	return isAdmin
}

// saveMediaMoved notes where a file lies now.
func (t *writeTx) saveMediaMoved(f bridge.MediaMoved) {
	m, found := t.findMessage(f.Chat, f.ID)
	if !found {
		return
	}
	t.Run("UPDATE message_raw SET media_ref = json_set(media_ref, '$.directPath', ?) WHERE seq = ?",
		f.DirectPath, m.seq)
}

// saveEventResponse replaces a person's answer to an event. An older one that is
// comes again does not replace a newer one.
func (t *writeTx) saveEventResponse(f bridge.EventResponse) {
	m, p, ok := t.answered(f, f.Chat, f.Target, f.Sender)
	if !ok {
		return
	}
	changed := t.Change(`
		INSERT INTO event_responses (message, person, answer, guests, timestamp) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (message, person) DO UPDATE SET answer = excluded.answer, guests = excluded.guests, timestamp = excluded.timestamp
		WHERE excluded.timestamp > timestamp
			OR excluded.timestamp = timestamp AND (excluded.answer, excluded.guests) != (answer, guests)`,
		m.seq, p.id, int64(f.Answer), f.Guests, f.Timestamp.UnixMilli())
	if changed > 0 {
		t.appendEvent(eventMessageUpdated, m.seq, 0)
	}
}

// saveEncrypted opens what is encrypted with the secret of a message and saves what
// it says. Until the message comes, it waits.
func (t *writeTx) saveEncrypted(f bridge.Encrypted) {
	m, found := t.findMessage(f.Chat, f.Target)
	if !found || m.isPlaceholder() && m.deleted == 0 {
		t.postpone(f)
		return
	}
	original := t.rawOf(m.seq)
	if len(original.Raw) == 0 {
		return
	}
	author, _ := t.people.get(m.sender)
	original.Chat, original.ID, original.FromMe, original.SenderJID = f.Chat, f.Target, m.fromMe, author.jid()
	for _, fact := range t.s.decrypt(f, original, t.formsOf(f.Sender), author.forms()) {
		if _, again := fact.(bridge.Encrypted); again {
			t.Fail(fmt.Errorf("what was decrypted is encrypted again"))
			return
		}
		t.save(bridge.Bounded(fact))
	}
}

// formsOf returns the forms in which a person is known.
func (t *writeTx) formsOf(jid bridge.JID) []bridge.JID {
	if p, known := t.people.find(jid); known {
		return p.forms()
	}
	return []bridge.JID{jid}
}

// forms returns the number and the LID of a person, as far as they are known.
func (p person) forms() (forms []bridge.JID) {
	for _, form := range []bridge.JID{p.pn, p.lid} {
		if form != "" {
			forms = append(forms, form)
		}
	}
	return forms
}
