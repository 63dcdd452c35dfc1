package store

import (
	"context"

	"bridged/internal/bridge"
)

// saveReaction sets or removes a person's reaction. An older one that is told
// again does not replace a newer one.
func (t *writeTx) saveReaction(ctx context.Context, f bridge.ReactionChange) error {
	m, found, err := t.findMessage(ctx, f.Chat, f.Target)
	if err == nil && !found {
		return t.postpone(ctx, f)
	}
	if err != nil || m.deleted != 0 || !f.Sender.IsPerson() {
		return err
	}
	p, err := t.ensurePerson(ctx, f.Sender)
	if err != nil {
		return err
	}
	changed, err := t.change(ctx, `
		INSERT INTO reactions (message, person, emoji, timestamp) VALUES (?, ?, ?, ?)
		ON CONFLICT (message, person) DO UPDATE SET emoji = excluded.emoji, timestamp = excluded.timestamp
		WHERE excluded.timestamp > timestamp OR excluded.timestamp = timestamp AND excluded.emoji != emoji`,
		m.seq, p.id, f.Emoji, f.Timestamp.UnixMilli())
	if err != nil || changed == 0 {
		return err
	}
	if err := t.countReactions(ctx, m.seq); err != nil {
		return err
	}
	return t.appendEvent(ctx, eventMessageUpdated, m.seq, 0)
}

// countReactions keeps on the message how many reactions it has, so that pages
// look only where there are some.
func (t *writeTx) countReactions(ctx context.Context, seq int64) error {
	return t.run(ctx, `
		UPDATE messages SET reactions = (SELECT count(*) FROM reactions WHERE message = ?1 AND emoji != '')
		WHERE seq = ?1`, seq)
}

// saveVote replaces a person's votes in a poll.
func (t *writeTx) saveVote(ctx context.Context, f bridge.PollVote) error {
	m, found, err := t.findMessage(ctx, f.Chat, f.Target)
	if err == nil && !found {
		return t.postpone(ctx, f)
	}
	if err != nil || m.deleted != 0 || !f.Voter.IsPerson() {
		return err
	}
	p, err := t.ensurePerson(ctx, f.Voter)
	if err != nil {
		return err
	}
	hashes := []byte{}
	for _, hash := range f.Hashes {
		hashes = append(hashes, hash...)
	}
	changed, err := t.change(ctx, `
		INSERT INTO votes (message, person, hashes, timestamp) VALUES (?, ?, ?, ?)
		ON CONFLICT (message, person) DO UPDATE SET hashes = excluded.hashes, timestamp = excluded.timestamp
		WHERE excluded.timestamp > timestamp OR excluded.timestamp = timestamp AND excluded.hashes != hashes`,
		m.seq, p.id, hashes, f.Timestamp.UnixMilli())
	if err != nil || changed == 0 {
		return err
	}
	return t.appendEvent(ctx, eventMessageUpdated, m.seq, 0)
}

// saveDeletion empties a message, for its author or an admin of the group. Nothing
// of what it said stays in the store.
func (t *writeTx) saveDeletion(ctx context.Context, f bridge.Deletion) error {
	m, found, err := t.findMessage(ctx, f.Chat, f.Target)
	if err == nil && !found {
		return t.postpone(ctx, f)
	}
	if err != nil || m.deleted != 0 {
		return err
	}
	if allowed, err := t.mayDelete(ctx, m, f.By); err != nil || !allowed {
		return t.postponeUnchecked(ctx, m, f, err)
	}
	if err := t.recordErasedFile(ctx, m.seq); err != nil {
		return err
	}
	if err := t.dropPendingOf(ctx, f.Chat, m.seq); err != nil {
		return err
	}
	if err := t.leaveAlbum(ctx, m.seq); err != nil {
		return err
	}
	for _, empty := range []string{
		"UPDATE message_raw SET raw = NULL, media_ref = NULL WHERE seq = ?",
		"DELETE FROM reactions WHERE message = ?",
		"DELETE FROM votes WHERE message = ?",
		"DELETE FROM event_responses WHERE message = ?",
	} {
		if err := t.run(ctx, empty, m.seq); err != nil {
			return err
		}
	}
	err = t.run(ctx, `
		UPDATE messages SET content = '', folded = NULL, details = NULL, reactions = 0, deleted_at = ?
		WHERE seq = ?`, f.Timestamp.UnixMilli(), m.seq)
	if err != nil {
		return err
	}
	if err := t.markErased(ctx); err != nil {
		return err
	}
	return t.contentChanged(ctx, m.seq)
}

// postponeUnchecked postpones a deletion that nobody has permitted, if err is nil, where
// the group's members are not known yet: it may be an admin's. So it does where
// the id is one that somebody's upload claims for a picture that has not come.
func (t *writeTx) postponeUnchecked(ctx context.Context, m target, f bridge.Deletion, err error) error {
	switch {
	case err != nil:
		return err
	case m.isAlias:
		return t.postpone(ctx, f)
	case m.isPrivate:
		return nil
	}
	var known bool
	if _, err := t.find(ctx, "SELECT known FROM groups WHERE chat = ?", []any{m.chat}, &known); err != nil || known {
		return err
	}
	return t.postpone(ctx, f)
}

// saveRemovedElsewhere keeps what another own device deleted for itself, and tells.
func (t *writeTx) saveRemovedElsewhere(ctx context.Context, f bridge.RemovedElsewhere) error {
	c, found, err := t.findChat(ctx, f.Chat)
	if err != nil || !found {
		return err
	}
	return t.appendEvent(ctx, eventChatUpdated, 0, c.id)
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

func (t *writeTx) mayDelete(ctx context.Context, m target, jid bridge.JID) (bool, error) {
	if t.isAuthor(m, jid) {
		return true, nil
	}
	p, known := t.people.find(jid)
	if m.isPrivate || !known {
		return false, nil
	}
	var isAdmin bool
	_, err := t.find(ctx, "SELECT is_admin OR is_super_admin FROM members WHERE chat = ? AND person = ?",
		[]any{m.chat, p.id}, &isAdmin)
	return isAdmin, err
}

// saveMediaMoved notes where a file lies now.
func (t *writeTx) saveMediaMoved(ctx context.Context, f bridge.MediaMoved) error {
	m, found, err := t.findMessage(ctx, f.Chat, f.ID)
	if err != nil || !found {
		return err
	}
	return t.run(ctx, "UPDATE message_raw SET media_ref = json_set(media_ref, '$.directPath', ?) WHERE seq = ?",
		f.DirectPath, m.seq)
}
