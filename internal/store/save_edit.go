package store

import (
	"cmp"

	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/people"
)

// editTx saves edits.
type editTx struct{ *writeTx }

// saveEdit replaces the content of a message, if its author has edited it. An edit that is older than the
// stored one has no effect.
func (t editTx) saveEdit(f bridge.Edit) {
	m, found := t.findMessage(f.Chat, f.Target)
	switch {
	case f.Upload != nil:
		t.saveUpload(f, m, found)
		return
	case !found, m.isAlias && !t.isAuthor(m, f.Editor):
		pendingTx(t).postpone(f)
		return
	case !t.isAuthor(m, f.Editor), m.deleted != 0, f.Timestamp.UnixMilli() < m.edited:
		return
	}
	if t.awaitsOriginal(m, f.Chat, f.Target) {
		pendingTx(t).postpone(f)
	}
	if m.isPlaceholder() && !isWhole(f.New) {
		f.New = bridge.Message{MessageType: m.kind, Content: f.New.Content}
	}
	t.applyEdit(m, f)
}

// isWhole reports whether the content of an edit needs nothing of the message
// that it replaces: a caption comes without its file.
func isWhole(edited bridge.Message) bool {
	return edited.Media == nil || len(edited.Media.Ref.MediaKey) > 0
}

func (t editTx) applyEdit(m target, f bridge.Edit) {
	before := detailsIn(t.Conn, m.details)
	if before.Media != nil && (f.New.Media == nil || !isWhole(f.New)) {
		var ok bool
		if f.New, ok = t.recaption(m, before.Media, f.New); !ok {
			return
		}
	}
	f.New = quoteTx(t).withoutDeletedQuote(f.New)
	keepQuote(before.Context, &f.New)
	// An edit does not restart the timer, and a forwarded message remains forwarded.
	f.New.Expiration, f.New.IsForwarded, f.New.ViewOnce = before.Expiration, before.Forwarded || f.New.IsForwarded, before.ViewOnce || f.New.ViewOnce
	edited := f.Timestamp.UnixMilli()
	if f.Upload != nil {
		edited = m.edited
	}
	d := columns.DetailsOf(f.New)
	d.KeepMarks(before)
	d.KeepCopy(before)
	recordQuote(t.writeTx.Conn, f.New, m.seq)
	isNewFile := replacesFile(t.Conn, m.seq, before.Media, f.New.Media)
	if !isNewFile {
		d.Transcript = before.Transcript
	}
	folded, bare := search.Columns(f.New.Content, d.Transcript.GetText())
	changed := t.Change(`
		UPDATE messages SET type = ?1, content = ?2, folded = ?3, bare = ?8, details = ?4, edited_at = nullif(?5, 0), has_link = ?7
		WHERE seq = ?6 AND (type, content, details, edited_at) IS NOT (?1, ?2, ?4, nullif(?5, 0))`,
		f.New.MessageType, f.New.Content, folded, pack(t.Conn, d), edited, m.seq, d.HasLink(f.New.Content), bare)
	if changed == 0 {
		return
	}
	if isNewFile {
		t.recordReplacedFile(m.seq, before.Media)
		f.New.FromMe, f.New.Imported = m.fromMe, m.imported
		t.queueTranscript(m.seq, f.New)
	}
	if isNewFile && !f.New.Media.Ref.IsImported {
		t.Run("DELETE FROM kept_files WHERE message = ?", m.seq)
	}
	t.Run("UPDATE message_raw SET raw = ?, media_ref = ?, view_once = max(view_once, ?) WHERE seq = ?",
		f.New.Raw, packRef(t.Conn, f.New), f.New.ViewOnce, m.seq)
	t.markErased() // the old text may be confidential
	fields := []bridge.MessageField{bridge.ChangedContent}
	if f.Upload == nil {
		fields = append(fields, bridge.ChangedEdited)
	}
	if m.isPlaceholder() && f.New.MessageType != m.kind {
		fields = append(fields, bridge.ChangedType)
	}
	t.contentChanged(m.seq, fields...)
}

// recaption completes the edit of a caption, which may come without the file, with the
// file of the message. It reports false if the message cannot have a caption.
func (t editTx) recaption(m target, f *columns.Media, edited bridge.Message) (_ bridge.Message, ok bool) {
	stored := rawOf(t.Conn, m.seq)
	edited.Raw, ok = t.s.o.MergeEdit(stored.Raw, edited.Raw)
	edited.MessageType, edited.ViewOnce, edited.Media = m.kind, stored.ViewOnce, f.Shown("", "")
	edited.Media.Caption, edited.Media.Ref = edited.Content, stored.Media.Ref
	return edited, ok
}

// rawOf reads a message's protobuf and the place of its file.
func rawOf(c *sqlite.Conn, seq int64) bridge.Message {
	m := bridge.Message{Media: new(bridge.Media)}
	var ref []byte
	c.Find("SELECT raw, media_ref, view_once FROM message_raw WHERE seq = ?", []any{seq}, &m.Raw, &ref, &m.ViewOnce)
	c.Decode(ref, &m.Media.Ref)
	return m
}

// keepQuote gives an edit without a quote the message's: quotes cannot be edited.
func keepQuote(before *columns.MessageContext, edited *bridge.Message) {
	if before == nil || before.QuotedID == nil || edited.ContextInfo != nil && edited.ContextInfo.QuotedMsgID != nil {
		return
	}
	context := *cmp.Or(edited.ContextInfo, new(bridge.ContextInfo))
	context.QuotedMsgID, context.QuotedSenderJID = before.QuotedID, before.QuotedSender
	edited.ContextInfo = &context
}

// awaitsOriginal reports whether the real message of m, which chat and id name,
// may still come: m is a placeholder, or was one when it was edited.
func (t *writeTx) awaitsOriginal(m target, chat bridge.JID, id string) (waits bool) {
	if m.isPlaceholder() || m.edited == 0 {
		return m.isPlaceholder()
	}
	t.Find("SELECT 1 FROM pending_changes WHERE chat = ? AND target = ? AND kind = ?", []any{pendingTx{t}.pendingChat(chat), id, pendingEdit}, &waits)
	return waits
}

// saveUpload has an HD upload replace the file of the picture that was sent before it.
// They are one message with two ids, whichever of them comes first.
func (t editTx) saveUpload(f bridge.Edit, m target, found bool) {
	if found && t.isAuthor(m, f.Editor) {
		t.addAlias(f.Chat, f.Upload.ID, m.seq)
		t.replaceFile(f)
		return
	}
	t.saveMessage(bridge.Bounded(*f.Upload).(bridge.Message))
	if found {
		return
	}
	if upload, stored := t.findMessage(f.Chat, f.Upload.ID); stored && t.isAuthor(upload, f.Editor) {
		t.addAlias(f.Chat, f.Target, upload.seq)
	}
}

// replaceFile puts the file of an upload into the message. A caption that was
// edited, or that was received with the first picture only, stays.
func (t editTx) replaceFile(f bridge.Edit) {
	m, found := t.findMessage(f.Chat, f.Target)
	if !found || m.deleted != 0 {
		return
	}
	if m.content != "" && (m.edited != 0 || f.New.Content == "") {
		stored := rawOf(t.Conn, m.seq)
		if raw, ok := t.s.o.MergeEdit(f.New.Raw, stored.Raw); ok && f.New.Media != nil {
			media := *f.New.Media
			media.Caption = m.content
			f.New.Content, f.New.Media, f.New.Raw = m.content, &media, raw
		}
	}
	t.applyEdit(m, f)
}

// addAlias adds an id to a message of the chat, and applies the pending changes of that id.
func (t editTx) addAlias(chat bridge.JID, id string, seq int64) {
	if t.Change("INSERT INTO aliases (id, message) VALUES (?, ?) ON CONFLICT DO NOTHING", id, seq) > 0 {
		pendingTx(t).applyPending(chat, id)
	}
}

// storedAs returns the seq of the message if m is stored under another id, as a picture that comes after
// its HD upload. Otherwise it returns 0.
func (t editTx) storedAs(m bridge.Message, c chatRow, sender people.Person) (seq int64) {
	var author int64
	var fromMe bool
	found := t.Find(`
		SELECT m.seq, m.sender, m.from_me FROM aliases a JOIN messages m ON m.seq = a.message WHERE a.id = ? AND m.chat = ?`,
		[]any{m.ID, c.id}, &seq, &author, &fromMe)
	if !found || fromMe != m.FromMe || !t.couldBeOne(author, sender) {
		return 0
	}
	return seq
}

// joinAlbumLate makes an upload that was received before its picture a part of the picture's album.
func (t editTx) joinAlbumLate(m bridge.Message, seq int64) {
	if m.AlbumID == nil {
		return
	}
	var column string
	if !t.Find("SELECT ifnull(details, '') FROM messages WHERE seq = ? AND deleted_at IS NULL", []any{seq}, &column) {
		return
	}
	d := detailsIn(t.Conn, column)
	if d.Parts != nil && d.Parts.AlbumID != nil {
		return
	}
	d.KeepMarks(columns.Details{Pin: d.Pin, Keep: d.Keep, Parts: &columns.Parts{AlbumID: m.AlbumID}})
	t.changeDetails(seq, d, bridge.ChangedAlbumID)
	t.joinAlbum(seq, m.AlbumID)
}
