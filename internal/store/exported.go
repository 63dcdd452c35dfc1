package store

import (
	"context"
	"crypto/rand"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/folding"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/people"
	"bridged/internal/store/read"
)

// ExportedMessage is a message of an exported chat, and how it is to be stored.
type ExportedMessage struct {
	bridge.Message
	// Placeholder is the JID of the sender's name in the chat. Messages are stored under it until the person is known.
	Placeholder bridge.JID
	// SHA256 is the hash of the message's file; nil if it has none.
	SHA256 []byte

	// Seq is the stored message that this is; 0 if it is not stored.
	Seq int64
	// TakesFile reports whether the file is to be stored: the message is new, or the stored one lacks the file.
	TakesFile bool
	// ReplacesText reports whether the stored text only names the file.
	ReplacesText bool
	// Reattributes reports whether the stored message is attributed to another person and is to be given to the sender.
	Reattributes bool
	// Duplicate is a second stored message that this is, to be removed; 0 if none.
	Duplicate int64
}

// ExportRun is the import of one exported chat. One goroutine uses it.
type ExportRun struct {
	Chat bridge.JID
	// Import is the number of the import: see [Store.AddImport].
	Import int64
	// Tree is the token tree that imports, and Used the bytes that its imports have stored. They are not counted for the tree
	// of BRIDGE_TOKEN, which is 0.
	Tree, Used int64
	// LastSeq is the last message that was stored before the run.
	LastSeq int64
	// IsNew reports whether the chat had no messages.
	IsNew bool
	// PartialMinutes lists minutes with messages that the export may lack.
	PartialMinutes []int64
}

// BeginExport begins to import an exported chat, which need not be stored. tree is the token tree that imports it; first and
// last are the times of its first and last message.
func (s *Store) BeginExport(ctx context.Context, chat bridge.JID, tree int64, first, last time.Time) (*ExportRun, error) {
	run := &ExportRun{Chat: chat, Tree: tree}
	err := s.Read(ctx, func(r *read.Snapshot) {
		r.Find("SELECT ifnull(max(seq), 0) FROM messages", nil, &run.LastSeq)
		r.Find(importedBytesQuery, []any{tree}, &run.Used)
		id := chatID(r, chat)
		run.IsNew = !r.Find("SELECT 1 FROM messages WHERE chat = ? LIMIT 1", []any{id}, new(int))
		from, to := first.Unix()/60, last.Unix()/60
		if r.Find("SELECT 1 FROM messages WHERE chat = ? AND timestamp < ? LIMIT 1", []any{id, from * 60_000}, new(int)) {
			run.PartialMinutes = append(run.PartialMinutes, from)
		}
		if r.Find("SELECT 1 FROM messages WHERE chat = ? AND timestamp >= ? LIMIT 1", []any{id, (to + 1) * 60_000}, new(int)) {
			run.PartialMinutes = append(run.PartialMinutes, to)
		}
	})
	return run, err
}

// SaveExported stores the messages of an export that are not stored, and adds the files that stored messages lack. It logs
// no events and marks nothing as unread.
func (s *Store) SaveExported(ctx context.Context, run *ExportRun, messages []*ExportedMessage) error {
	used := run.Used
	err := s.write(ctx, func(t *writeTx) {
		t.silently(func() {
			for _, m := range messages {
				used += importTx{t}.saveExported(run, m)
			}
		})
		importTx{t}.countImported(run, messages)
	})
	if err == nil {
		run.Used = used
	}
	return err
}

// saveExported stores one message of an export, and returns the bytes that count towards the quota.
func (t importTx) saveExported(run *ExportRun, m *ExportedMessage) (bytes int64) {
	size := m.Bytes()
	bounded := bridge.Bounded(m.Message).(bridge.Message)
	switch {
	case m.Seq == 0:
		seq := t.addExported(bounded, m.SHA256)
		t.account(run, m, seq, nil)
		return countBytes(t.Conn, run.Tree, seq, size)
	case m.TakesFile:
		if before := t.addFile(m, bounded); before != nil {
			t.account(run, m, m.Seq, before)
		}
		bytes = countBytes(t.Conn, run.Tree, m.Seq, size)
	default:
		t.accountAlso(run, m)
	}
	if m.Reattributes {
		t.Run("UPDATE messages SET sender = ?, from_me = ?, status = ? WHERE seq = ?", t.senderOf(bounded).ID, m.FromMe, columns.StatusColumn(bounded), m.Seq)
	}
	if m.Duplicate != 0 {
		t.removeMessage(m.Duplicate)
	}
	return bytes
}

// importedBytesQuery sums the bytes that the imports of a token tree have stored.
const importedBytesQuery = "SELECT ifnull(sum(bytes), 0) FROM import_bytes WHERE family = ?"

// Bytes estimates how many bytes a message takes on the disk: its row, all forms of its text, and its file.
func (m *ExportedMessage) Bytes() int64 {
	size := int64(256 + 4*len(m.Content))
	if m.Media != nil {
		size += m.Media.Size
	}
	return size
}

// countBytes counts the bytes of an imported message for a token tree, and returns them; 0 for BRIDGE_TOKEN.
func countBytes(c *sqlite.Conn, tree, seq, size int64) int64 {
	if tree == 0 {
		return 0
	}
	c.Run("INSERT INTO import_bytes (message, family, bytes) VALUES (?1, ?2, ?3) ON CONFLICT (message) DO UPDATE SET bytes = bytes + ?3", seq, tree, size)
	return size
}

// addExported stores a message under a new id, and returns its row.
func (t importTx) addExported(m bridge.Message, sum []byte) (seq int64) {
	m.ID, m.Imported = bridge.ExportedID(rand.Text()), true
	c := t.ensureChat(m.Chat)
	seq = t.insertMessage(m, c, t.senderOf(m))
	insertRaw(t.Conn, m, seq)
	if m.EditedAt != nil || m.DeletedAt != nil {
		t.Run("UPDATE messages SET edited_at = ?, deleted_at = ? WHERE seq = ?", millisOrNull(m.EditedAt), millisOrNull(m.DeletedAt), seq)
	}
	t.countNew(m, c, seq)
	keepFile(t.Conn, seq, sum)
	return seq
}

// senderOf returns the person who has sent a message of an export.
func (t importTx) senderOf(m bridge.Message) people.Person {
	if m.FromMe && t.People.OwnerID() != 0 {
		return t.People.Get(t.People.OwnerID())
	}
	return t.EnsurePerson(m.SenderJID)
}

func millisOrNull(at *bridge.Time) any {
	if at == nil {
		return nil
	}
	return at.UnixMilli()
}

// addFile adds the file of an exported message to the stored one, and returns how the stored one was before; nil if it has
// been deleted meanwhile. m is exported within the limits of stored messages.
func (t importTx) addFile(exported *ExportedMessage, m bridge.Message) *fileBefore {
	seq := exported.Seq
	before := new(fileBefore)
	var packed []byte
	var text string
	if !t.Find(`
		SELECT m.type, m.content, ifnull(m.details, ''), ifnull(w.media_ref, '')
		FROM messages m LEFT JOIN message_raw w ON w.seq = m.seq WHERE m.seq = ? AND m.deleted_at IS NULL`, []any{seq}, &before.Type, &text, &packed, &before.Ref) {
		return nil
	}
	d, stored := detailsIn(t.Conn, string(packed)), bridge.MediaRef{}
	t.Decode(before.Ref, &stored)
	before.Media = d.Media
	if before.Whole = d.Media == nil || len(stored.MediaKey) == 0; before.Whole {
		d.Media, stored = columns.DetailsOf(m).Media, m.Media.Ref
		if text == "" || exported.ReplacesText {
			before.Text, text = new(text), m.Content
		}
		folded, bare := search.Columns(text, d.Transcript.GetText())
		t.Run("UPDATE messages SET type = ?, content = ?, folded = ?, bare = ?, details = ?, has_link = ? WHERE seq = ?",
			m.MessageType, text, folded, bare, pack(t.Conn, d), d.HasLink(text), seq)
		t.s.index.MarkStale(t.Conn, seq)
	}
	stored.IsImported = true
	t.Run("INSERT INTO message_raw (seq, media_ref) VALUES (?1, ?2) ON CONFLICT (seq) DO UPDATE SET media_ref = ?2", seq, t.Encode(stored))
	keepFile(t.Conn, seq, exported.SHA256)
	return before
}

// keepFile records the imported file of a message by its hash; nil means no file.
func keepFile(c *sqlite.Conn, seq int64, sum []byte) {
	if sum != nil {
		c.Run("INSERT INTO kept_files (message, sha256) VALUES (?1, ?2) ON CONFLICT (message) DO UPDATE SET sha256 = ?2", seq, sum)
	}
}

// NeedsImportedFile reports whether a message has the imported file with a hash.
func (s *Store) NeedsImportedFile(ctx context.Context, sum []byte) (bool, error) {
	return read.As(ctx, s.Reader, "look up an imported file", func(r *read.Snapshot) (kept bool) {
		r.Find("SELECT EXISTS (SELECT 1 FROM kept_files WHERE sha256 = ?)", []any{sum}, &kept)
		return kept
	})
}

// AddImportedChat stores a chat whose JID an import has made up from its name, unless it is stored, and sets the number of
// its members if it has fewer.
func (s *Store) AddImportedChat(ctx context.Context, jid bridge.JID, name string, members int) error {
	return s.writeAs(ctx, "add an imported chat", func(t *writeTx) {
		t.Run(`
			INSERT INTO chats (jid, is_group, name, folded_name, participants) VALUES (?1, 0, ?2, ?3, ?4)
			ON CONFLICT (jid) DO UPDATE SET participants = max(participants, ?4)`, string(jid), name, folding.FoldStripped(name), members)
	})
}

// ChatsNamed returns the chats that have a name.
func (s *Store) ChatsNamed(ctx context.Context, name string) ([]bridge.JID, error) {
	return s.JIDs(ctx, "SELECT jid FROM chats WHERE name = ?", name)
}

// OldestKnown returns the oldest message of a chat that does not come from an export, and reports whether there is one.
func (s *Store) OldestKnown(ctx context.Context, chat bridge.JID) (oldest bridge.Message, found bool, err error) {
	oldest, err = read.As(ctx, s.Reader, "read the oldest message", func(r *read.Snapshot) bridge.Message {
		messages, _ := r.MessagesOf("", 1, nil, `
			SELECT `+read.MessageColumns+`, c.jid FROM messages m JOIN chats c ON c.id = m.chat
			WHERE m.chat = ? AND NOT (m.imported AND m.id LIKE ?) ORDER BY m.timestamp, m.seq LIMIT 1`, r.FindChat(chat), bridge.ExportedID("%"))
		if found = len(messages) > 0; found {
			return messages[0]
		}
		return bridge.Message{}
	})
	return oldest, found, err
}
