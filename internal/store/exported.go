package store

import (
	"context"
	"crypto/rand"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatimport/match"
	"bridged/internal/search"
)

// ExportRun is the import of one exported chat. One goroutine uses it.
type ExportRun struct {
	Chat bridge.JID
	// Import is the number of the import: see [Store.AddImport].
	Import int64
	// floor is the last message that was stored before the run: the chat's own messages are no
	// duplicates of each other.
	floor int64
	isNew bool // there is nothing to compare with
	known []bridge.JID
	// Family is the token tree that imports, and Used the bytes that its imports have stored. It is
	// not counted for BRIDGE_TOKEN, whose tree is 0.
	Family, Used int64
	// cut lists minutes of which the export may have a part only.
	cut []int64
	// Stored messages that were found to be in the export, the latest of them: each is one
	// duplicate. Those in earlier are forgotten next, as they are far behind in the export.
	taken, earlier map[int64]bool
}

// maxTaken bounds how many duplicates a run remembers, twice.
const maxTaken = 1 << 17

// BeginExport begins to import an exported chat, which need not be stored, with messages of some
// time. family is the token tree that imports it, and known lists the people who are its senders under
// their names.
func (s *Store) BeginExport(ctx context.Context, chat bridge.JID, family int64, known []bridge.JID, first, last time.Time) (*ExportRun, error) {
	run := &ExportRun{Chat: chat, Family: family, known: known, taken: make(map[int64]bool)}
	err := s.read(ctx, func(r *readTx) {
		r.Find("SELECT ifnull(max(seq), 0) FROM messages", nil, &run.floor)
		r.Find(importedBytesQuery, []any{family}, &run.Used)
		id, found := r.chatOf(chat)
		run.isNew = !found || !r.Find("SELECT 1 FROM messages WHERE chat = ? LIMIT 1", []any{id}, new(int))
		from, to := first.Unix()/60, last.Unix()/60
		if r.Find("SELECT 1 FROM messages WHERE chat = ? AND timestamp < ? LIMIT 1", []any{id, from * 60_000}, new(int)) {
			run.cut = append(run.cut, from)
		}
		if r.Find("SELECT 1 FROM messages WHERE chat = ? AND timestamp >= ? LIMIT 1", []any{id, (to + 1) * 60_000}, new(int)) {
			run.cut = append(run.cut, to)
		}
	})
	return run, err
}

// SaveExported stores the messages of an export that are not stored, and gives those that are
// the files that they lack. It makes no events, and nothing unread.
func (s *Store) SaveExported(ctx context.Context, run *ExportRun, messages []bridge.ExportedMessage, results []match.Result) error {
	used := run.Used
	err := s.write(ctx, func(t *writeTx) {
		t.silently(func() {
			for i, result := range results {
				m := bridge.Bounded(messages[i].Message).(bridge.Message)
				switch {
				case result.Seq == 0:
					result.Seq = t.addExported(m, messages[i].SHA256)
					t.account(run, messages[i], result.Seq, nil)
					used += t.countBytes(run.Family, result.Seq, ExportedBytes(messages[i]))
				case result.TakesFile:
					if before := t.addFile(result.Seq, m, messages[i].SHA256); before != nil {
						t.account(run, messages[i], result.Seq, before)
					}
					used += t.countBytes(run.Family, result.Seq, ExportedBytes(messages[i]))
				default:
					t.accountAlso(run, messages[i], result.Seq)
				}
				t.correct(results[i], m)
			}
		})
		t.countImported(run, results)
	})
	if err == nil {
		run.Used = used
	}
	return err
}

// importedBytesQuery sums the bytes that the imports of a token tree have stored.
const importedBytesQuery = "SELECT ifnull(sum(bytes), 0) FROM import_bytes WHERE family = ?"

// ExportedBytes returns about how many bytes a new message of an export takes of the disk: its row, its text in
// the forms in which it is stored and searched, and its file.
func ExportedBytes(m bridge.ExportedMessage) int64 {
	size := int64(256 + 4*len(m.Content))
	if m.Media != nil {
		size += m.Media.Size
	}
	return size
}

// countBytes notes what a message of an import takes of the disk, and returns it; 0 for BRIDGE_TOKEN.
func (t *writeTx) countBytes(family, seq, size int64) int64 {
	if family == 0 {
		return 0
	}
	t.Run("INSERT INTO import_bytes (message, family, bytes) VALUES (?1, ?2, ?3) ON CONFLICT (message) DO UPDATE SET bytes = bytes + ?3", seq, family, size)
	return size
}

// addExported stores a message under an id of its own, and returns its row.
func (t *writeTx) addExported(m bridge.Message, sum []byte) (seq int64) {
	m.ID, m.Imported = bridge.ExportedID(rand.Text()), true
	c := t.ensureChat(m.Chat)
	seq = t.insertMessage(m, c, t.senderOf(m))
	t.insertRaw(m, seq)
	if m.EditedAt != nil || m.DeletedAt != nil {
		t.Run("UPDATE messages SET edited_at = ?, deleted_at = ? WHERE seq = ?", millisOrNull(m.EditedAt), millisOrNull(m.DeletedAt), seq)
	}
	t.countNew(m, c, seq)
	t.keepFile(seq, sum)
	return seq
}

// senderOf returns the person who has sent a message of an export.
func (t *writeTx) senderOf(m bridge.Message) person {
	if m.FromMe && t.people.ownerID() != 0 {
		return t.people.get(t.people.ownerID())
	}
	return t.ensurePerson(m.SenderJID)
}

func millisOrNull(at *bridge.Time) any {
	if at == nil {
		return nil
	}
	return at.UnixMilli()
}

// addFile gives a stored message the file of an exported one, and returns how the message was before; nil if it was
// deleted meanwhile.
func (t *writeTx) addFile(seq int64, m bridge.Message, sum []byte) *fileBefore {
	before := new(fileBefore)
	var packed []byte
	var text string
	if !t.Find(`
		SELECT m.type, m.content, ifnull(m.details, ''), ifnull(w.media_ref, '')
		FROM messages m LEFT JOIN message_raw w ON w.seq = m.seq WHERE m.seq = ? AND m.deleted_at IS NULL`, []any{seq}, &before.Type, &text, &packed, &before.Ref) {
		return nil
	}
	d, stored := t.detailsIn(string(packed)), bridge.MediaRef{}
	t.Decode(before.Ref, &stored)
	before.Media = d.Media
	if before.Whole = d.Media == nil || len(stored.MediaKey) == 0; before.Whole {
		d.Media, stored = detailsOf(m).Media, m.Media.Ref
		if text == "" || match.StandsFor(text, m.Media.FileName, m.Content) { // the caption was left out, too
			before.Text, text = new(text), m.Content
		}
		folded, bare := search.Columns(text, d.Transcript.GetText())
		t.Run("UPDATE messages SET type = ?, content = ?, folded = ?, bare = ?, details = ?, has_link = ? WHERE seq = ?",
			m.MessageType, text, folded, bare, t.pack(d), d.hasLink(text), seq)
		t.s.index.MarkStale(t.Conn, seq)
	}
	stored.Kept = true
	t.Run("INSERT INTO message_raw (seq, media_ref) VALUES (?1, ?2) ON CONFLICT (seq) DO UPDATE SET media_ref = ?2", seq, t.Encode(stored))
	t.keepFile(seq, sum)
	return before
}

// keepFile notes the file of a message that is kept on this machine; nil is none.
func (t *writeTx) keepFile(seq int64, sum []byte) {
	if sum != nil {
		t.Run("INSERT INTO kept_files (message, sha256) VALUES (?1, ?2) ON CONFLICT (message) DO UPDATE SET sha256 = ?2", seq, sum)
	}
}

// IsKept reports whether a message has a file that is kept on this machine.
func (s *Store) IsKept(ctx context.Context, sum []byte) (bool, error) {
	return readAs(ctx, s, "look a kept file up", func(r *readTx) (kept bool) {
		r.Find("SELECT EXISTS (SELECT 1 FROM kept_files WHERE sha256 = ?)", []any{sum}, &kept)
		return kept
	})
}

// AddImportedChat makes sure that the chat of a JID of the server import is stored, with its
// name and as many members.
func (s *Store) AddImportedChat(ctx context.Context, jid bridge.JID, name string, members int) error {
	return s.writeAs(ctx, "add an imported chat", func(t *writeTx) {
		t.Run(`
			INSERT INTO chats (jid, is_group, name, folded_name, participants) VALUES (?1, 0, ?2, ?3, ?4)
			ON CONFLICT (jid) DO UPDATE SET participants = max(participants, ?4)`, string(jid), name, foldName(name), members)
	})
}

// ChatsNamed returns the chats with a name, as lists show it.
func (s *Store) ChatsNamed(ctx context.Context, name string) ([]bridge.JID, error) {
	return s.jids(ctx, "SELECT jid FROM chats WHERE name = ?", name)
}

// OldestKnown returns the oldest message of a chat that the network knows, none of those from
// exports, and reports whether there is one.
func (s *Store) OldestKnown(ctx context.Context, chat bridge.JID) (oldest bridge.Message, found bool, err error) {
	oldest, err = readAs(ctx, s, "read the oldest message", func(r *readTx) bridge.Message {
		messages, _ := r.messagesOf("", 1, nil, `
			SELECT `+messageColumns+`, c.jid FROM messages m JOIN chats c ON c.id = m.chat
			WHERE m.chat = ? AND NOT (m.imported AND m.id LIKE ?) ORDER BY m.timestamp, m.seq LIMIT 1`, r.findChat(chat), bridge.ExportedID("%"))
		if found = len(messages) > 0; found {
			return messages[0]
		}
		return bridge.Message{}
	})
	return oldest, found, err
}
