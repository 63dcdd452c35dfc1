package store

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/store/settings"
)

// queueTranscript queues a message with a new file, if messages of its kind are transcribed. An
// earlier file of the message leaves the queue.
func (t *writeTx) queueTranscript(seq int64, m bridge.Message) {
	if m.Media == nil {
		return
	}
	settings.RemoveTranscript(t.Conn, seq)
	if t.s.o.Transcribe.Wants(m) {
		settings.QueueTranscript(t.Conn, seq)
		t.queued = true
	}
}

// AskTranscript has a message transcribed next, unless it has a transcript. Earlier tries no
// longer count. whole exempts it from the month's limit of its chat. It fails with
// [bridge.CodeNotFound] if the message is not stored.
func (s *Store) AskTranscript(ctx context.Context, chat bridge.JID, id string, whole bool) error {
	return s.writeAs(ctx, "ask for a transcript", func(t *writeTx) {
		m, found := t.findMessage(chat, id)
		switch {
		case !found || m.deleted != 0:
			t.Fail(bridge.NotFound("there is no message %s in the chat %s in the store", id, chat))
		case detailsIn(t.Conn, m.details).Transcript == nil:
			settings.AskTranscript(t.Conn, m.seq, whole)
			t.queued = true
		}
	})
}

// TranscriptsQueued returns a channel that receives when there are more messages to transcribe. It
// is for a single listener.
func (s *Store) TranscriptsQueued() <-chan struct{} { return s.queued }

// SaveTranscript stores a transcript. It reports false if the message was deleted or got another
// file in the meantime.
func (s *Store) SaveTranscript(ctx context.Context, of settings.Transcription, made bridge.Transcript) (saved bool, err error) {
	err = s.writeAs(ctx, "save a transcript", func(t *writeTx) {
		var content, column string
		seq, found := settings.EndTranscription(t.Conn, of)
		if !found || !t.Find("SELECT content, ifnull(details, '') FROM messages WHERE seq = ? AND deleted_at IS NULL", []any{seq}, &content, &column) {
			return
		}
		d := detailsIn(t.Conn, column)
		d.Transcript, saved = &made, true
		folded, bare := search.Columns(content, made.Text)
		t.Run("UPDATE messages SET folded = ?, bare = ?, details = ? WHERE seq = ?", folded, bare, pack(t.Conn, d), seq)
		t.contentChanged(seq, bridge.ChangedTranscript)
	})
	return saved, err
}
