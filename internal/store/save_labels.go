package store

import (
	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/read"
)

// labelTx stores the labels of a business account.
type labelTx struct{ *writeTx }

// signed returns the time of a change, negative if it removes something.
func signed(at bridge.Time, removes bool) int64 {
	if removes {
		return -at.UnixMilli()
	}
	return at.UnixMilli()
}

// saveLabel stores a label, or removes it from all chats and messages.
func (t labelTx) saveLabel(f bridge.LabelChange) {
	at := signed(f.Timestamp, f.Deleted)
	var before bridge.Label
	var beforeAt int64
	t.Find("SELECT id, name, color, at FROM labels WHERE id = ?", []any{f.ID}, &before.ID, &before.Name, &before.Color, &beforeAt)
	if f.ID == "" || !columns.Later(beforeAt, at) {
		return
	}
	if f.Deleted { // the entry of a deleted label may have no name
		f.Name, f.Color = before.Name, before.Color
	}
	if f.Color < 0 || f.Color >= bridge.LabelColors {
		f.Color = 0
	}
	t.Run(`
		INSERT INTO labels (id, name, color, predefined, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, color = excluded.color, predefined = excluded.predefined, at = excluded.at`,
		f.ID, f.Name, f.Color, f.Predefined, at)
	if f.Label == before && at > 0 == (beforeAt > 0) || f.Deleted && beforeAt <= 0 {
		return
	}
	if f.Deleted || beforeAt < 0 { // its chats lose it, or have it again
		t.logChats(f.ID)
	}
	if f.Deleted {
		t.removeFromMessages(f.ID, f.Timestamp.UnixMilli())
	}
	t.appendEntry(read.EntryKey{Event: bridge.EventLabelUpdated, Data: t.Encode(bridge.LabelUpdate{Label: f.Label, Deleted: f.Deleted})})
}

// logChats logs the stored chats that have a label.
func (t labelTx) logChats(label string) {
	for _, chat := range sqlite.List[int64](t.Conn, "SELECT c.id FROM chat_labels l CROSS JOIN chats c ON c.jid = l.chat WHERE l.label = ? AND l.at > 0", label) {
		t.appendEvent(bridge.EventChatUpdated, 0, chat)
	}
}

// removeFromMessages removes a deleted label from all messages.
func (t labelTx) removeFromMessages(label string, at int64) {
	type labelled struct {
		seq     int64
		details string
	}
	scan := func(row *sqlite.Row) (m labelled) {
		row.Scan(&m.seq, &m.details)
		return m
	}
	for _, m := range sqlite.Collect(t.Conn, scan, "SELECT seq, details FROM messages WHERE labelled = 1 AND json_valid(details)") {
		if detailsIn(t.Conn, m.details).LabelAt(label) > 0 {
			t.setLabel(m.seq, m.details, label, -at)
		}
	}
}

// setLabel changes a label of a message, whose details are given.
func (t labelTx) setLabel(seq int64, details, label string, at int64) {
	d := detailsIn(t.Conn, details)
	before := d.LabelAt(label)
	if !columns.Later(before, at) {
		return
	}
	d.SetLabel(label, at)
	t.Run("UPDATE messages SET details = ?, labelled = 1 WHERE seq = ?", pack(t.Conn, d), seq)
	if before > 0 != (at > 0) {
		t.messageChanged(seq, bridge.ChangedLabels)
	}
}

// saveChatLabel stores whether a chat has a label. The chat may be stored later.
func (t labelTx) saveChatLabel(f bridge.ChatLabel) {
	if !isChat(f.Chat) || f.Label == "" {
		return
	}
	jid, at := string(t.People.Canonical(f.Chat)), signed(f.Timestamp, !f.Labelled)
	var before int64
	t.Find("SELECT at FROM chat_labels WHERE chat = ? AND label = ?", []any{jid, f.Label}, &before)
	if !columns.Later(before, at) {
		return
	}
	t.Run("INSERT INTO chat_labels (chat, label, at) VALUES (?1, ?2, ?3) ON CONFLICT (chat, label) DO UPDATE SET at = ?3", jid, f.Label, at)
	if c, found := t.findChat(f.Chat); found && (before > 0) != f.Labelled && read.HasLabel(t.Conn, f.Label) {
		t.appendEvent(bridge.EventChatUpdated, 0, c.id)
	}
}

// saveMessageLabel stores whether a message has a label. A label that was deleted later is ignored.
func (t labelTx) saveMessageLabel(f bridge.MessageLabel) {
	m, found := t.findMessage(f.Chat, f.Target)
	if !found {
		pendingTx(t).postpone(f)
		return
	}
	var deleted int64
	t.Find("SELECT -at FROM labels WHERE id = ? AND at < 0", []any{f.Label}, &deleted)
	if m.deleted != 0 || f.Label == "" || f.Timestamp.UnixMilli() <= deleted {
		return
	}
	t.setLabel(m.seq, m.details, f.Label, signed(f.Timestamp, !f.Labelled))
}

// moveLabels gives a chat the labels that are stored under another JID of it. The later change of
// one label counts.
func moveLabels(c *sqlite.Conn, from, to bridge.JID) {
	if from == "" || from == to {
		return
	}
	c.Run(`
		INSERT INTO chat_labels (chat, label, at) SELECT ?2, label, at FROM chat_labels WHERE chat = ?1
		ON CONFLICT (chat, label) DO UPDATE SET at = iif(abs(excluded.at) > abs(at), excluded.at, at)`, string(from), string(to))
	c.Run("DELETE FROM chat_labels WHERE chat = ?", string(from))
}
