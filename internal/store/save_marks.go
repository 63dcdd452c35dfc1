package store

import (
	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
)

// markTx saves the marks of messages.
type markTx struct{ *writeTx }

// savePin pins a message, or unpins it. The last one counts, from any member.
func (t markTx) savePin(f bridge.Pin) {
	m, d := t.marked(f, f.Chat, f.Target, f.By)
	if m.seq == 0 {
		return
	}
	pin := columns.Pin{At: f.Timestamp.UnixMilli(), Until: millis(f.Until)}
	if d.Pin != nil && (*d.Pin == pin || d.Pin.At > pin.At) {
		return
	}
	d.Pin = &pin
	t.changeDetails(m.seq, d, bridge.ChangedPinned)
}

// saveKeep stores whether a disappearing message is retained. If its author decides against it, that is
// final.
func (t markTx) saveKeep(f bridge.Keep) {
	m, d := t.marked(f, f.Chat, f.Target, f.By)
	if m.seq == 0 {
		return
	}
	keep := columns.Keep{Kept: f.Kept, ByAuthor: t.isAuthor(m, f.By), At: f.Timestamp.UnixMilli()}
	if !keep.Replaces(d.Keep) {
		return
	}
	d.Keep = &keep
	t.changeDetails(m.seq, d, bridge.ChangedKept)
}

// saveStar stores whether the account starred a message. The last change counts.
func (t markTx) saveStar(f bridge.Star) {
	m, found := t.findMessage(f.Chat, f.Target)
	if !found {
		pendingTx(t).postpone(f)
		return
	}
	at := f.Timestamp.UnixMilli()
	if m.deleted != 0 || at <= 0 {
		return
	}
	if !f.Starred {
		at = -at
	}
	var before int64
	t.Find("SELECT starred FROM messages WHERE seq = ?", []any{m.seq}, &before)
	if !columns.Later(before, at) {
		return
	}
	t.Run("UPDATE messages SET starred = ? WHERE seq = ?", at, m.seq)
	if (before > 0) != f.Starred {
		t.messageChanged(m.seq, bridge.ChangedStarred)
	}
}

// marked returns the message that a person marks for all members, or one without a seq if the person may
// not. If the message or the group is not known yet, the change becomes pending.
func (t markTx) marked(fact bridge.Fact, chat bridge.JID, id string, by bridge.JID) (target, columns.Details) {
	m, found := t.findMessage(chat, id)
	allowed, known := false, false
	if found {
		allowed, known = t.mayMark(m, by)
	}
	_, isKeep := fact.(bridge.Keep)
	switch {
	case found && (m.deleted != 0 || !by.IsPerson()):
	case found && t.silent, // the phone's history, which the phone has checked
		known && (allowed || isKeep && t.isAuthor(m, by)):
		return m, detailsIn(t.Conn, m.details)
	case !known:
		pendingTx(t).postpone(fact)
	}
	return target{}, columns.Details{}
}

// mayMark reports whether a person may mark messages of the chat for all members. If only admins may
// change the group, only they may. This is unknown for a group without a description.
func (t markTx) mayMark(m target, by bridge.JID) (allowed, known bool) {
	if m.isPrivate {
		return true, true
	}
	var isLocked, isAdmin bool
	person := int64(0)
	if p, found := t.People.Find(by); found {
		person = p.ID
	}
	t.Find(`
		SELECT g.known, g.is_locked, ifnull(p.is_admin OR p.is_super_admin, 0)
		FROM groups g LEFT JOIN members p ON p.chat = g.chat AND p.person = ? WHERE g.chat = ?`,
		[]any{person, m.chat}, &known, &isLocked, &isAdmin)
	return !isLocked || isAdmin, known
}

// savePollOption adds an option to a poll. A placeholder may be one.
func (t *writeTx) savePollOption(f bridge.PollOptionAdded) {
	m, found := t.findMessage(f.Chat, f.Target)
	if !found || m.isPlaceholder() && m.deleted == 0 {
		pendingTx{t}.postpone(f)
		return
	}
	if m.deleted != 0 || !f.By.IsPerson() || f.Name == "" {
		return
	}
	d := detailsIn(t.Conn, m.details)
	if d.Poll == nil || !d.Poll.Extensible && !t.isAuthor(m, f.By) {
		return
	}
	t.EnsurePerson(f.By)
	if d.Poll.Add(columns.AddedOption{Name: f.Name, By: f.By, At: f.Timestamp.UnixMilli()}) {
		t.changeDetails(m.seq, d, bridge.ChangedPoll)
	}
}

// detailsIn decodes the column.
func detailsIn(c *sqlite.Conn, column string) (d columns.Details) {
	c.Decode([]byte(column), &d)
	return d
}

// changeDetails replaces the details of a message, and logs which field that changes.
func (t *writeTx) changeDetails(seq int64, d columns.Details, field bridge.MessageField) {
	t.Run("UPDATE messages SET details = ? WHERE seq = ?", pack(t.Conn, d), seq)
	t.messageChanged(seq, field)
}

// mergeStars stores the later star of two rows of one message.
func (t mergeTx) mergeStars(kept, dropped int64) {
	var star, other int64
	t.Find("SELECT a.starred, b.starred FROM messages a, messages b WHERE a.seq = ? AND b.seq = ? AND a.deleted_at IS NULL", []any{kept, dropped}, &star, &other)
	if columns.Later(star, other) {
		t.Run("UPDATE messages SET starred = ? WHERE seq = ?", other, kept)
	}
}

// mergeMarks merges the marks and the transcripts of two rows of one message.
func (t mergeTx) mergeMarks(kept, dropped int64) {
	var contents, columns [2]string
	for i, seq := range []int64{kept, dropped} {
		found := t.Find("SELECT content, ifnull(details, '') FROM messages WHERE seq = ? AND deleted_at IS NULL", []any{seq}, &contents[i], &columns[i])
		if !found || columns[i] == "" && i == 1 {
			return
		}
	}
	d, other := detailsIn(t.Conn, columns[0]), detailsIn(t.Conn, columns[1])
	if d.Pin != nil && (other.Pin == nil || other.Pin.At < d.Pin.At) {
		other.Pin = d.Pin
	}
	if d.Keep != nil && (other.Keep == nil || d.Keep.Replaces(other.Keep)) {
		other.Keep = d.Keep
	}
	d.KeepMarks(other)
	if d.Transcript == nil && d.Media != nil {
		d.Transcript = other.Transcript
	}
	folded, bare := search.Columns(contents[0], d.Transcript.GetText())
	t.Run("UPDATE messages SET folded = ?, bare = ?, details = ?, labelled = ? WHERE seq = ?", folded, bare, pack(t.Conn, d), d.Labels != nil, kept)
	t.s.index.MarkStale(t.Conn, kept)
	if d.Transcript != nil {
		t.Run("DELETE FROM transcriptions WHERE message = ?", kept)
	} else if d.Media != nil {
		t.Run("UPDATE OR IGNORE transcriptions SET message = ? WHERE message = ?", kept, dropped)
	}
}
