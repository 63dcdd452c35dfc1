package store

import (
	"bridged/internal/bridge"
)

// saveUpload has an HD upload replace the file of the picture that went before it.
// They are one message with two ids. Where the picture has not come, the upload
// is the message, and the picture nothing new when it comes.
func (t *writeTx) saveUpload(f bridge.Edit, m target, found bool) {
	if found && t.isAuthor(m, f.Editor) {
		t.addAlias(f.Chat, f.Upload.ID, m.seq)
		t.replaceFile(f)
		return
	}
	if t.saveMessage(bridge.Bounded(*f.Upload).(bridge.Message)); found {
		return
	}
	upload, stored := t.findMessage(f.Chat, f.Upload.ID)
	if !stored || !t.isAuthor(upload, f.Editor) {
		return
	}
	t.addAlias(f.Chat, f.Target, upload.seq)
}

// replaceFile puts the file of an upload into the message. A caption that was
// edited, or that came with the first picture alone, stays.
func (t *writeTx) replaceFile(f bridge.Edit) {
	m, found := t.findMessage(f.Chat, f.Target)
	if !found || m.deleted != 0 {
		return
	}
	if m.content != "" && (m.edited != 0 || f.New.Content == "") {
		stored := t.rawOf(m.seq)
		if raw, ok := t.s.mergeEdit(f.New.Raw, stored.Raw); ok && f.New.Media != nil {
			media := *f.New.Media
			media.Caption = m.content
			f.New.Content, f.New.Media, f.New.Raw = m.content, &media, raw
		}
	}
	t.applyEdit(m, f)
}

// addAlias makes an id stand for a message of the chat, and makes the changes
// that have waited for that id.
func (t *writeTx) addAlias(chat bridge.JID, id string, seq int64) {
	added := t.Change("INSERT INTO aliases (id, message) VALUES (?, ?) ON CONFLICT DO NOTHING", id, seq)
	if added == 0 {
		return
	}
	t.applyPending(chat, id)
}

// isStoredAs returns the number that m is stored under by another id, as the picture
// is that comes after its HD upload; 0 where it is not.
func (t *writeTx) isStoredAs(m bridge.Message, c chatRow, sender person) (seq int64) {
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

// joinAlbumLate makes an upload a part of the album that the picture names which it
// came before.
func (t *writeTx) joinAlbumLate(m bridge.Message, seq int64) {
	if m.AlbumID == nil {
		return
	}
	var column string
	found := t.Find("SELECT ifnull(details, '') FROM messages WHERE seq = ? AND deleted_at IS NULL", []any{seq}, &column)
	if !found {
		return
	}
	d := t.detailsIn(column)
	if d.Parts != nil && d.Parts.AlbumID != nil {
		return
	}
	d.keepMarks(details{Pin: d.Pin, Keep: d.Keep, Parts: &partsDetails{AlbumID: m.AlbumID}})
	t.changeDetails(seq, d)
	t.joinAlbum(seq, m.AlbumID)
}
