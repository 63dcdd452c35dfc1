package store

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/settings"
)

// fileBefore describes a stored message before an import gave it a file. Text is set if the import replaced the text, too.
type fileBefore struct {
	Type  string         `json:"t"`
	Text  *string        `json:"c,omitempty"`
	Media *columns.Media `json:"m,omitempty"`
	Ref   []byte         `json:"r,omitempty"`
	Whole bool           `json:"w,omitempty"` // the import replaced all of this; else Ref alone
}

// BeginUndo marks an import that has ended as being undone.
func (s *Store) BeginUndo(ctx context.Context, seq int64) error {
	return s.writeAs(ctx, "begin to undo an import", func(t *writeTx) {
		t.Run("UPDATE imports SET state = ?, error = NULL WHERE seq = ? AND state NOT IN (?, ?)", string(bridge.ImportUndoing), seq,
			string(bridge.ImportRunning), string(bridge.ImportUndone))
	})
}

// UndoImport removes the messages, files, names and people that only this import has added. It works in batches, so that other
// writes are not delayed, and calls done after each batch of messages. If it ends early, calling it again does the rest.
func (s *Store) UndoImport(ctx context.Context, i ImportRecord, done func()) error {
	defer s.index.Wake() // to rewrite segments that have lost some of their messages
	for more := true; more; done() {
		if err := s.writeAs(ctx, "undo an import", func(t *writeTx) { more = (importTx{t}).undoRows(i.Seq) }); err != nil {
			return err
		}
	}
	for more := true; more; {
		if err := s.writeAs(ctx, "undo the names of an import", func(t *writeTx) { more = (importTx{t}).undoName(i) }); err != nil {
			return err
		}
	}
	return s.writeAs(ctx, "undo the chat of an import", func(t *writeTx) {
		importTx{t}.undoPeople(i)
		importTx{t}.undoChat(i)
		t.Run("UPDATE imports SET state = ? WHERE seq = ?", string(bridge.ImportUndone), i.Seq)
	})
}

// importRow is a message that an import has stored or given a file.
type importRow struct {
	message, name int64
	hasFile       bool
	before        []byte
	isExported    bool // the message comes from an export
	others        int  // other imports that have it
	otherHasFile  bool
}

const undoQuery = `
	SELECT r.message, r.name, r.has_file, ifnull(r.before, ''), m.imported AND m.id LIKE ?,
		(SELECT count(*) FROM import_rows o WHERE o.message = r.message AND o.import != r.import),
		EXISTS (SELECT 1 FROM import_rows o WHERE o.message = r.message AND o.import != r.import AND o.has_file)
	FROM import_rows r JOIN messages m ON m.seq = r.message
	WHERE r.import = ? ORDER BY r.message LIMIT ?`

// undoRows undoes a batch of the messages of an import, and reports whether there may be more.
func (t importTx) undoRows(seq int64) (more bool) {
	rows := sqlite.Collect(t.Conn, func(row *sqlite.Row) (r importRow) {
		row.Scan(&r.message, &r.name, &r.hasFile, &r.before, &r.isExported, &r.others, &r.otherHasFile)
		return r
	}, undoQuery, bridge.ExportedID("%"), seq, retainBatch)
	var removed []int64
	for _, r := range rows {
		if r.isExported && r.others == 0 {
			removed = append(removed, r.message)
			continue
		}
		t.undoShared(seq, r)
	}
	t.s.index.MarkRemoved(t.Conn, removed)
	for _, message := range removed {
		t.removeUnpacked(message)
	}
	t.s.index.DropEmpty(t.Conn, removed)
	t.Run("UPDATE imports SET removed = removed + ? WHERE seq = ?", len(removed), seq)
	return len(rows) == retainBatch
}

// undoShared undoes the changes of an import to a message that stays.
func (t importTx) undoShared(seq int64, r importRow) {
	t.Run("DELETE FROM import_rows WHERE message = ? AND import = ?", r.message, seq)
	switch {
	case !r.hasFile:
	case r.otherHasFile:
		t.Run(`
			UPDATE import_rows SET before = nullif(?1, '') WHERE message = ?2 AND before IS NULL
				AND import = (SELECT min(import) FROM import_rows WHERE message = ?2 AND has_file)`, string(r.before), r.message)
	default:
		t.removeFile(r.message, withoutFile(t.Conn, r))
	}
	if r.isExported { // it gets the placeholder of the other import
		t.Run(`
			UPDATE messages SET sender = (SELECT min(name) FROM import_rows WHERE message = ?1)
			WHERE seq = ?1 AND sender = ?2 AND NOT EXISTS (SELECT 1 FROM import_rows WHERE message = ?1 AND name = ?2)`, r.message, r.name)
	}
}

// withoutFile returns a message without the file of an import: as it was before, or as another import has it.
func withoutFile(c *sqlite.Conn, r importRow) (before fileBefore) {
	if len(r.before) == 0 && !c.Find("SELECT before FROM import_rows WHERE message = ? AND before IS NOT NULL AND NOT has_file ORDER BY import LIMIT 1", []any{r.message}, &r.before) {
		before.Whole = true
		c.Find("SELECT type FROM messages WHERE seq = ?", []any{r.message}, &before.Type)
		return before
	}
	c.Decode(r.before, &before)
	return before
}

// removeFile removes the imported file of a message. It restores the text unless it has been edited since.
func (t importTx) removeFile(seq int64, before fileBefore) {
	var content string
	var packed []byte
	var isEdited bool
	if !t.Find("SELECT content, ifnull(details, ''), edited_at IS NOT NULL FROM messages WHERE seq = ? AND deleted_at IS NULL", []any{seq}, &content, &packed, &isEdited) {
		return
	}
	t.recordErasedFile(seq)
	t.markErased()
	t.Run("DELETE FROM kept_files WHERE message = ?", seq)
	var ref any
	if len(before.Ref) > 0 {
		ref = string(before.Ref)
	}
	t.Run("UPDATE message_raw SET media_ref = ? WHERE seq = ?", ref, seq)
	d := detailsIn(t.Conn, string(packed))
	if d.Media != nil {
		t.Run("UPDATE import_bytes SET bytes = max(0, bytes - ?) WHERE message = ?", d.Media.Size, seq)
	}
	if !before.Whole {
		return
	}
	d.Media, d.Transcript = before.Media, nil
	if before.Text != nil && !isEdited {
		content = *before.Text
	}
	t.Run("DELETE FROM transcriptions WHERE message = ?", seq)
	folded, bare := search.Columns(content, "")
	t.Run("UPDATE messages SET type = ?, content = ?, folded = ?, bare = ?, details = ?, has_link = ? WHERE seq = ?",
		before.Type, content, folded, bare, pack(t.Conn, d), d.HasLink(content), seq)
	t.s.index.MarkStale(t.Conn, seq)
}

// undoName removes one name that an import has learned, unless another import says the same. It attributes the messages to the
// person of the latest other import, or to the placeholder. It reports whether there is more to do.
func (t importTx) undoName(i ImportRecord) (more bool) {
	var name, person bridge.JID
	if !t.Find("SELECT name, person FROM import_names WHERE import = ? LIMIT 1", []any{i.Seq}, &name, &person) {
		return false
	}
	forget := func() bool {
		t.Run("DELETE FROM import_names WHERE import = ? AND name = ?", i.Seq, string(name))
		return true
	}
	var others int
	t.Find("SELECT count(*) FROM import_names WHERE name = ? AND person = ? AND import != ?", []any{string(name), string(person), i.Seq}, &others)
	if owner := nameOwner(t.Conn, name); owner.Person != person || others > 0 {
		return forget()
	}
	next := name
	t.Find("SELECT person FROM import_names WHERE name = ? AND import != ? ORDER BY import DESC LIMIT 1", []any{string(name), i.Seq}, &next)
	if t.reattribute(i.ChatJID, name, person, next) {
		return true
	}
	if next == name {
		next = ""
	}
	settings.Set(t.Conn, settingNamed+name.User(), string(next))
	settings.Set(t.Conn, settingPrevious+name.User(), "") // no message is attributed to them any more
	return forget()
}

// reattribute attributes a batch of imported messages under a name to another person. It reports whether there were any.
func (t importTx) reattribute(chat, name, from, to bridge.JID) bool {
	c, found := t.findChat(chat)
	of, known := t.People.Find(name)
	was, isStored := t.People.Find(from)
	if !found || !known || !isStored {
		return false
	}
	is := t.EnsurePerson(to)
	isMe := is.ID == t.People.OwnerID()
	status := columns.StatusColumn(bridge.Message{FromMe: isMe, Status: new(bridge.DeliverySent)})
	return t.Change(`
		UPDATE messages SET sender = ?, from_me = ?, status = ? WHERE seq IN (
			SELECT m.seq FROM messages m JOIN import_rows r ON r.message = m.seq AND r.name = ?
			WHERE m.chat = ? AND m.sender = ? AND m.imported AND m.id LIKE ? LIMIT ?)`,
		is.ID, isMe, status, of.ID, c.id, was.ID, bridge.ExportedID("%"), attributeBatch) > 0 && is.ID != was.ID
}

// unusedQuery finds a person who was added by imports only and that nothing refers to any more.
const unusedQuery = `
	SELECT 1 FROM people p WHERE p.id = ?1 AND p.name = '' AND p.business_name = '' AND p.username = '' AND p.lid IS NULL AND NOT p.blocked
		AND p.timer_set_at = 0 AND (p.push_name = '' OR p.pn LIKE ?2)
		AND NOT EXISTS (SELECT 1 FROM import_people WHERE person = ?1)
		AND NOT EXISTS (SELECT 1 FROM chats c WHERE c.person = ?1)
		AND NOT EXISTS (SELECT 1 FROM chats c CROSS JOIN messages m INDEXED BY messages_by_sender ON m.chat = c.id AND m.sender = ?1)
		AND NOT EXISTS (SELECT 1 FROM identities WHERE person = ?1)
		AND NOT EXISTS (SELECT 1 FROM members WHERE person = ?1)
		AND NOT EXISTS (SELECT 1 FROM groups WHERE owner = ?1)
		AND NOT EXISTS (SELECT 1 FROM join_requests WHERE person = ?1)
		AND NOT EXISTS (SELECT 1 FROM reactions WHERE person = ?1)
		AND NOT EXISTS (SELECT 1 FROM votes WHERE person = ?1)
		AND NOT EXISTS (SELECT 1 FROM event_responses WHERE person = ?1)
		AND NOT EXISTS (SELECT 1 FROM calls WHERE caller = ?1)`

// undoPeople removes the people that only this import has added.
func (t importTx) undoPeople(i ImportRecord) {
	people := sqlite.List[int64](t.Conn, "SELECT person FROM import_people WHERE import = ?", i.Seq)
	t.Run("DELETE FROM import_people WHERE import = ?", i.Seq)
	c, _ := t.findChat(i.ChatJID)
	for _, id := range people {
		if id == c.person && t.isUnusedChat(i, c) {
			t.Run("UPDATE chats SET person = NULL WHERE id = ?", c.id) // undoChat removes it
		}
		if t.Find(unusedQuery, []any{id, "%@" + bridge.ServerImport}, new(int)) {
			t.markErased()
			t.Run("DELETE FROM people WHERE id = ?", id)
			t.People.Forget(id)
		}
	}
}

// isUnusedChat reports whether a chat was added by imports only and is empty.
func (t importTx) isUnusedChat(i ImportRecord, c chatRow) bool {
	return t.Find(`
		SELECT 1 FROM chats c WHERE c.id = ?1 AND c.message_count = 0 AND NOT c.archived AND NOT c.pinned AND c.muted_until IS NULL AND NOT c.marked_unread
			AND (SELECT made_chat FROM imports WHERE seq = ?2)
			AND NOT EXISTS (SELECT 1 FROM imports WHERE chat = ?3 AND seq != ?2 AND state = ?4)
			AND NOT EXISTS (SELECT 1 FROM groups WHERE chat = ?1 AND (known OR withheld))
			AND NOT EXISTS (SELECT 1 FROM members WHERE chat = ?1)
			AND NOT EXISTS (SELECT 1 FROM calls WHERE chat = ?1)
			AND NOT EXISTS (SELECT 1 FROM new_chats WHERE chat = ?1)
			AND NOT EXISTS (SELECT 1 FROM events WHERE chat = ?1)`, []any{c.id, i.Seq, string(i.ChatJID), string(bridge.ImportRunning)}, new(int))
}

// undoChat removes the chat of an import if it is unused, or else corrects its number of people.
func (t importTx) undoChat(i ImportRecord) {
	c, found := t.findChat(i.ChatJID)
	switch {
	case !found:
	case t.isUnusedChat(i, c):
		t.markErased()
		t.Run("DELETE FROM groups WHERE chat = ?", c.id)
		t.Run("DELETE FROM chats WHERE id = ?", c.id)
		clear(t.s.chats)
	case i.ChatJID.IsImport():
		t.Run("UPDATE chats SET participants = (SELECT count(DISTINCT sender) FROM messages WHERE chat = ?1) WHERE id = ?1", c.id)
	}
}
