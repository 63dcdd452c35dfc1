package store

import (
	"context"

	"bridged/internal/bridge"
)

// saveUpload has an HD upload replace the file of the picture that went before it.
// They are one message with two ids. Where the picture has not come, the upload
// is the message, and the picture nothing new when it comes.
func (t *writeTx) saveUpload(ctx context.Context, f bridge.Edit, m target, found bool) error {
	if found && t.isAuthor(m, f.Editor) {
		if err := t.addAlias(ctx, f.Chat, f.Upload.ID, m.seq); err != nil {
			return err
		}
		return t.replaceFile(ctx, f)
	}
	if err := t.saveMessage(ctx, bridge.Bounded(*f.Upload).(bridge.Message)); err != nil || found {
		return err
	}
	upload, stored, err := t.findMessage(ctx, f.Chat, f.Upload.ID)
	if err != nil || !stored || !t.isAuthor(upload, f.Editor) {
		return err
	}
	return t.addAlias(ctx, f.Chat, f.Target, upload.seq)
}

// replaceFile puts the file of an upload into the message. A caption that was
// edited, or that came with the first picture alone, stays.
func (t *writeTx) replaceFile(ctx context.Context, f bridge.Edit) error {
	m, found, err := t.findMessage(ctx, f.Chat, f.Target)
	if err != nil || !found || m.deleted != 0 {
		return err
	}
	if m.content != "" && (m.edited != 0 || f.New.Content == "") {
		stored, err := t.rawOf(ctx, m.seq)
		if err != nil {
			return err
		}
		if raw, ok := t.s.mergeEdit(f.New.Raw, stored.Raw); ok && f.New.Media != nil {
			media := *f.New.Media
			media.Caption = m.content
			f.New.Content, f.New.Media, f.New.Raw = m.content, &media, raw
		}
	}
	return t.applyEdit(ctx, m, f)
}

// addAlias makes an id stand for a message of the chat, and makes the changes
// that have waited for that id.
func (t *writeTx) addAlias(ctx context.Context, chat bridge.JID, id string, seq int64) error {
	added, err := t.change(ctx, "INSERT INTO aliases (id, message) VALUES (?, ?) ON CONFLICT DO NOTHING", id, seq)
	if err != nil || added == 0 {
		return err
	}
	return t.applyPending(ctx, chat, id)
}

// isStoredAs returns the number that m is stored under by another id, as the picture
// is that comes after its HD upload; 0 where it is not.
func (t *writeTx) isStoredAs(ctx context.Context, m bridge.Message, c chatRow, sender person) (seq int64, err error) {
	var author int64
	var fromMe bool
	found, err := t.find(ctx, `
		SELECT m.seq, m.sender, m.from_me FROM aliases a JOIN messages m ON m.seq = a.message WHERE a.id = ? AND m.chat = ?`,
		[]any{m.ID, c.id}, &seq, &author, &fromMe)
	if !found || fromMe != m.FromMe || !t.couldBeOne(author, sender) {
		return 0, err
	}
	return seq, err
}

// joinAlbumLate makes an upload a part of the album that the picture names which it
// came before.
func (t *writeTx) joinAlbumLate(ctx context.Context, m bridge.Message, seq int64) error {
	if m.AlbumID == nil {
		return nil
	}
	var column string
	found, err := t.find(ctx, "SELECT ifnull(details, '') FROM messages WHERE seq = ? AND deleted_at IS NULL", []any{seq}, &column)
	if err != nil || !found {
		return err
	}
	d, err := detailsIn(column)
	if err != nil || d.Parts != nil && d.Parts.AlbumID != nil {
		return err
	}
	d.keepMarks(details{Pin: d.Pin, Keep: d.Keep, Parts: &partsDetails{AlbumID: m.AlbumID}})
	if err := t.changeDetails(ctx, seq, d); err != nil {
		return err
	}
	return t.joinAlbum(ctx, seq, m.AlbumID)
}
