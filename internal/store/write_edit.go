package store

import (
	"context"
	"encoding/json"

	"bridged/internal/bridge"
)

// saveEdit replaces the content of a message, for its author alone. An older edit
// that is told after a newer one does not win.
func (t *writeTx) saveEdit(ctx context.Context, f bridge.Edit) error {
	m, found, err := t.findMessage(ctx, f.Chat, f.Target)
	switch {
	case err != nil:
		return err
	case f.Upload != nil:
		return t.saveUpload(ctx, f, m, found)
	case !found, m.isAlias && !t.isAuthor(m, f.Editor):
		return t.postpone(ctx, f)
	case !t.isAuthor(m, f.Editor), m.deleted != 0, f.Timestamp.UnixMilli() < m.edited:
		return nil
	}
	waits, err := t.awaitsOriginal(ctx, m, f.Chat, f.Target)
	if err != nil {
		return err
	}
	if waits {
		if err := t.postpone(ctx, f); err != nil {
			return err
		}
	}
	if m.isPlaceholder() && !isWhole(f.New) {
		f.New = bridge.Message{MessageType: m.kind, Content: f.New.Content}
	}
	return t.applyEdit(ctx, m, f)
}

// isWhole reports whether the content of an edit needs nothing of the message
// that it replaces: a caption comes without its file.
func isWhole(edited bridge.Message) bool {
	return edited.Media == nil || len(edited.Media.Ref.MediaKey) > 0
}

func (t *writeTx) applyEdit(ctx context.Context, m target, f bridge.Edit) error {
	before, err := detailsIn(m.details)
	if err != nil {
		return err
	}
	if before.Media != nil && (f.New.Media == nil || !isWhole(f.New)) {
		merged, err := t.recaption(ctx, m, before.Media, f.New)
		if err != nil || !merged.ok {
			return err
		}
		f.New = merged.message
	}
	keepQuote(before.Context, &f.New)
	// An edit starts no new time, and what was forwarded stays so.
	f.New.Expiration, f.New.IsForwarded = before.Expiration, before.Forwarded || f.New.IsForwarded
	edited := f.Timestamp.UnixMilli()
	if f.Upload != nil {
		edited = m.edited
	}
	d := detailsOf(f.New)
	d.keepMarks(before)
	column, err := d.pack()
	if err != nil {
		return err
	}
	changed, err := t.change(ctx, `
		UPDATE messages SET type = ?1, content = ?2, folded = ?3, details = ?4, edited_at = nullif(?5, 0)
		WHERE seq = ?6 AND (type, content, details, edited_at) IS NOT (?1, ?2, ?4, nullif(?5, 0))`,
		f.New.MessageType, f.New.Content, folded(f.New.Content), column, edited, m.seq)
	if err != nil || changed == 0 {
		return err
	}
	if err := t.recordReplacedFile(ctx, m.seq, before.Media, f.New.Media); err != nil {
		return err
	}
	if err := t.editRaw(ctx, f.New, m.seq); err != nil {
		return err
	}
	// What was edited away may have been a secret.
	if err := t.markErased(ctx); err != nil {
		return err
	}
	return t.contentChanged(ctx, m.seq)
}

// merged is a message with a new caption; not ok where it takes none.
type merged struct {
	message bridge.Message
	ok      bool
}

// recaption applies the edit of a caption, which may come without the file: the
// message then keeps its file, and its protobuf gets the caption.
func (t *writeTx) recaption(ctx context.Context, m target, f *mediaDetails, edited bridge.Message) (merged, error) {
	stored, err := t.rawOf(ctx, m.seq)
	if err != nil {
		return merged{}, err
	}
	raw, ok := t.s.mergeEdit(stored.Raw, edited.Raw)
	if !ok {
		return merged{}, nil
	}
	edited.MessageType, edited.Raw, edited.ViewOnce = m.kind, raw, stored.ViewOnce
	edited.Media = &bridge.Media{
		Type: f.Type, MimeType: f.MimeType, Size: f.Size, FileName: f.FileName, Caption: edited.Content,
		DurationSec: f.Seconds, PTT: f.PTT, Width: f.Width, Height: f.Height, Pages: f.Pages, IsAnimated: f.IsAnimated,
		Ref: stored.Media.Ref,
	}
	return merged{message: edited, ok: true}, nil
}

// rawOf reads what the store has of a message's protobuf and file.
func (t *writeTx) rawOf(ctx context.Context, seq int64) (bridge.Message, error) {
	m := bridge.Message{Media: new(bridge.Media)}
	var ref string
	_, err := t.find(ctx, "SELECT raw, ifnull(media_ref, ''), view_once FROM message_raw WHERE seq = ?", []any{seq}, &m.Raw, &ref, &m.ViewOnce)
	if err != nil || ref == "" {
		return m, err
	}
	return m, json.Unmarshal([]byte(ref), &m.Media.Ref)
}

// keepQuote lets an edit that says nothing of a quote keep the message's: what
// an answer answers cannot be edited.
func keepQuote(before *contextDetails, edited *bridge.Message) {
	if before == nil || before.QuotedID == nil || edited.ContextInfo != nil && edited.ContextInfo.QuotedMsgID != nil {
		return
	}
	context := bridge.ContextInfo{}
	if edited.ContextInfo != nil {
		context = *edited.ContextInfo
	}
	context.QuotedMsgID, context.QuotedSenderJID = before.QuotedID, before.QuotedSender
	edited.ContextInfo = &context
}

func (t *writeTx) editRaw(ctx context.Context, edited bridge.Message, seq int64) error {
	ref, err := packRef(edited)
	if err != nil {
		return err
	}
	return t.run(ctx, "UPDATE message_raw SET raw = ?, media_ref = ?, view_once = max(view_once, ?) WHERE seq = ?",
		edited.Raw, ref, edited.ViewOnce, seq)
}

// awaitsOriginal reports whether the real message of m, which chat and id name,
// may still come: m is a placeholder, or was one when it was edited.
func (t *writeTx) awaitsOriginal(ctx context.Context, m target, chat bridge.JID, id string) (bool, error) {
	if m.isPlaceholder() || m.edited == 0 {
		return m.isPlaceholder(), nil
	}
	return t.hasPendingEdit(ctx, chat, id)
}
