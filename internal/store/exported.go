package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"regexp"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/store/db"
)

// ExportRun is the taking over of one exported chat. One goroutine uses it.
type ExportRun struct {
	Chat bridge.JID
	// floor is the last message that was stored before the run: the chat's own messages are no
	// duplicates of each other.
	floor int64
	isNew bool // there is nothing to compare with
	// Stored messages that were found to be in the export, the latest of them: each is one
	// duplicate. Those in earlier are forgotten next, as they are far behind in the export.
	taken, earlier map[int64]bool
}

// maxTaken bounds how many duplicates a run remembers, twice.
const maxTaken = 1 << 17

// BeginExport begins to take over an exported chat, which need not be stored.
func (s *Store) BeginExport(ctx context.Context, chat bridge.JID) (*ExportRun, error) {
	run := &ExportRun{Chat: chat, taken: make(map[int64]bool)}
	err := s.read(ctx, func(r *readTx) {
		r.Find("SELECT ifnull(max(seq), 0) FROM messages", nil, &run.floor)
		id, found := r.chatOf(chat)
		run.isNew = !found || !r.Find("SELECT 1 FROM messages WHERE chat = ? LIMIT 1", []any{id}, new(int))
	})
	return run, err
}

// Fate says what becomes of a message of an export.
type Fate struct {
	// Seq is the stored message that it is, 0 for none.
	Seq int64
	// TakesFile reports whether its file is to be kept: that of a new message, and that of a
	// stored one that has none.
	TakesFile bool
}

// MatchExport finds out which messages of an export are stored: those by the same sender in the
// same minute with the same file or the same text, each once.
func (s *Store) MatchExport(ctx context.Context, run *ExportRun, messages []bridge.ExportedMessage) ([]Fate, error) {
	return readAs(ctx, s, "look exported messages up", func(r *readTx) []Fate {
		fates := make([]Fate, len(messages))
		for i := range fates {
			fates[i].TakesFile = messages[i].SHA256 != nil
		}
		if run.isNew {
			return fates
		}
		chat, _ := r.chatOf(run.Chat)
		byMinute := make(map[int64][]int)
		for i := range messages {
			minute := messages[i].Timestamp.Unix() / 60
			byMinute[minute] = append(byMinute[minute], i)
		}
		for minute, of := range byMinute {
			stored := r.storedIn(chat, minute, run)
			for _, same := range sameness {
				for _, i := range of {
					if fates[i].Seq == 0 {
						r.match(run, &messages[i], stored, same, &fates[i])
					}
				}
			}
		}
		return fates
	})
}

// chatOf returns the id of a stored chat.
func (r *readTx) chatOf(jid bridge.JID) (id int64, found bool) {
	found = r.Find("SELECT id FROM chats WHERE jid IN (?, ?, ?) ORDER BY jid = ? DESC LIMIT 1",
		[]any{r.s.Canonical(jid), jid, r.s.LIDOf(jid), r.s.Canonical(jid)}, &id)
	return id, found
}

// storedMessage is what tells whether a stored message is one of an export.
type storedMessage struct {
	seq, sender       int64
	fromMe, deleted   bool
	kind, text, name  string // the name of its file
	viewOnce, hasFile bool
	imported          bool
	at                bridge.Time
	ref               bridge.MediaRef
	mentions          []bridge.JID
}

// storedInQuery selects the messages of a minute.
const storedInQuery = `
	SELECT m.seq, m.sender, m.from_me, m.deleted_at IS NOT NULL, m.type, m.content, m.imported, m.timestamp, ifnull(m.details, ''),
		ifnull(w.view_once, 0), ifnull(w.media_ref, '')
	FROM messages m LEFT JOIN message_raw w ON w.seq = m.seq
	WHERE m.chat = ? AND m.timestamp >= ? AND m.timestamp < ? AND m.seq <= ? ORDER BY m.timestamp, m.seq`

// storedIn reads the messages of a minute that are no duplicates yet.
func (r *readTx) storedIn(chat, minute int64, run *ExportRun) []*storedMessage {
	var stored []*storedMessage
	for row := range r.Rows(storedInQuery, chat, minute*60_000, (minute+1)*60_000, run.floor) {
		var m storedMessage
		var packed, ref []byte
		row.Scan(&m.seq, &m.sender, &m.fromMe, &m.deleted, &m.kind, &m.text, &m.imported, &m.at, &packed, &m.viewOnce, &ref)
		if run.taken[m.seq] || run.earlier[m.seq] {
			continue
		}
		var d details
		r.Decode(packed, &d)
		r.Decode(ref, &m.ref)
		if m.hasFile = d.Media != nil; m.hasFile {
			m.name = d.Media.FileName
		}
		if d.Context != nil {
			m.mentions = d.Context.Mentioned
		}
		m.text = sameSpelling(m.text)
		stored = append(stored, &m)
	}
	return stored
}

// sameness lists, from the surest on, what makes a message of an export a stored one by the
// same sender.
var sameness = []func(m *bridge.ExportedMessage, stored *storedMessage) bool{
	func(m *bridge.ExportedMessage, stored *storedMessage) bool {
		return m.SHA256 != nil && bytes.Equal(m.SHA256, stored.ref.FileSHA256)
	},
	func(m *bridge.ExportedMessage, stored *storedMessage) bool {
		switch {
		case (m.DeletedAt != nil) != stored.deleted:
			return false
		case m.DeletedAt != nil:
			return true
		case m.MessageType == bridge.TypeViewOnce:
			return stored.viewOnce || stored.kind == bridge.TypeViewOnce
		case m.Location != nil:
			return strings.HasSuffix(strings.ToLower(stored.kind), "locationmessage")
		}
		if isFile(m.MessageType) != stored.isFile() {
			return false
		}
		return isSameText(sameSpelling(m.Caption), stored) || m.FileName != "" && (m.FileName == stored.text || m.FileName == stored.name)
	},
	// Some exports leave the captions of files out that they leave out.
	func(m *bridge.ExportedMessage, stored *storedMessage) bool {
		return isFile(m.MessageType) && stored.isFile() &&
			(m.SHA256 == nil && m.Content == "" || !stored.hasFile && stored.text == "")
	},
	// It was deleted since it was exported: it must not come back.
	func(_ *bridge.ExportedMessage, stored *storedMessage) bool { return stored.deleted },
}

func (m *storedMessage) isFile() bool { return m.hasFile || isFile(m.kind) }

func isFile(kind string) bool {
	switch kind {
	case bridge.TypeOmitted, "imageMessage", "videoMessage", "ptvMessage", "audioMessage", "documentMessage", "stickerMessage":
		return true
	}
	return false
}

// sameSpelling returns a text without what phones and exports write differently.
func sameSpelling(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069':
			return -1
		case r == '\u00a0' || r == '\u202f':
			return ' '
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// isSameText reports whether a text is a stored one, in which people are mentioned by numbers
// where an export has their names.
func isSameText(text string, stored *storedMessage) bool {
	if text == stored.text || len(stored.mentions) == 0 || !strings.Contains(text, "@") {
		return text == stored.text
	}
	pattern := regexp.QuoteMeta(stored.text)
	for _, jid := range stored.mentions {
		pattern = strings.ReplaceAll(pattern, "@"+regexp.QuoteMeta(jid.User()), "@.{1,255}?")
	}
	matches, err := regexp.MatchString("^(?s:"+pattern+")$", text)
	return err == nil && matches
}

// match gives a message the stored one that it is, if there is one.
func (r *readTx) match(run *ExportRun, m *bridge.ExportedMessage, stored []*storedMessage, same func(*bridge.ExportedMessage, *storedMessage) bool, fate *Fate) {
	i := slices.IndexFunc(stored, func(s *storedMessage) bool {
		return !run.taken[s.seq] && r.isBy(m, s) && same(m, s)
	})
	if i < 0 {
		return
	}
	found := stored[i]
	run.take(found.seq)
	fate.Seq = found.seq
	fate.TakesFile = m.SHA256 != nil && !found.deleted && !found.ref.Kept && found.lacksFile(m, r.s.o.Clock.Now())
}

func (run *ExportRun) take(seq int64) {
	if len(run.taken) == maxTaken {
		run.earlier, run.taken = run.taken, make(map[int64]bool)
	}
	run.taken[seq] = true
}

// isBy reports whether a stored message is by the sender of an exported one.
func (r *readTx) isBy(m *bridge.ExportedMessage, stored *storedMessage) bool {
	if m.FromMe && stored.fromMe {
		return true
	}
	for _, jid := range []bridge.JID{m.SenderJID, m.Nobody} {
		if p, known := r.s.people.find(jid); known && p.id == r.s.people.get(stored.sender).id {
			return true
		}
	}
	return false
}

// networkKeeps is for how long the network keeps files, at least.
const networkKeeps = 30 * 24 * time.Hour

// lacksFile reports whether a stored message has no file that could be opened: none at all, or
// the same one at the network, for too long.
func (m *storedMessage) lacksFile(exported *bridge.ExportedMessage, now time.Time) bool {
	if !m.hasFile || len(m.ref.MediaKey) == 0 {
		return m.imported
	}
	return bytes.Equal(m.ref.FileSHA256, exported.SHA256) && now.Sub(m.at.Time) > networkKeeps
}

// SaveExported stores the messages of an export that are not stored, and gives those that are
// the files that they lack. It makes no events, and nothing unread.
func (s *Store) SaveExported(ctx context.Context, run *ExportRun, messages []bridge.ExportedMessage, fates []Fate) error {
	return s.write(ctx, func(t *writeTx) {
		t.silently(func() {
			for i, fate := range fates {
				switch m := bridge.Bounded(messages[i].Message).(bridge.Message); {
				case fate.Seq == 0:
					t.addExported(m, messages[i].SHA256)
				case fate.TakesFile:
					t.addFile(fate.Seq, m, messages[i].SHA256)
				}
			}
		})
	})
}

// addExported stores a message under an id of its own.
func (t *writeTx) addExported(m bridge.Message, sum []byte) {
	m.ID, m.Imported = bridge.ExportedID(rand.Text()), true
	c := t.ensureChat(m.Chat)
	sender := t.ensurePerson(m.SenderJID)
	if m.FromMe && t.people.ownerID() != 0 {
		sender = t.people.get(t.people.ownerID())
	}
	seq := t.insertMessage(m, c, sender)
	t.insertRaw(m, seq)
	if m.EditedAt != nil || m.DeletedAt != nil {
		t.Run("UPDATE messages SET edited_at = ?, deleted_at = ? WHERE seq = ?", millisOrNull(m.EditedAt), millisOrNull(m.DeletedAt), seq)
	}
	t.countNew(m, c, seq)
	t.keepFile(seq, sum)
}

func millisOrNull(at *bridge.Time) any {
	if at == nil {
		return nil
	}
	return at.UnixMilli()
}

// addFile gives a stored message the file of an exported one.
func (t *writeTx) addFile(seq int64, m bridge.Message, sum []byte) {
	var packed, ref []byte
	var text string
	if !t.Find(`
		SELECT m.content, ifnull(m.details, ''), ifnull(w.media_ref, '')
		FROM messages m LEFT JOIN message_raw w ON w.seq = m.seq WHERE m.seq = ? AND m.deleted_at IS NULL`, []any{seq}, &text, &packed, &ref) {
		return
	}
	d, stored := t.detailsIn(string(packed)), bridge.MediaRef{}
	t.Decode(ref, &stored)
	if d.Media == nil || len(stored.MediaKey) == 0 {
		d.Media, stored = detailsOf(m).Media, m.Media.Ref
		if text == "" || text == m.Media.FileName { // the caption was left out, too
			text = m.Content
		}
		folded, bare := search.Columns(text, d.Transcript.text())
		t.Run("UPDATE messages SET type = ?, content = ?, folded = ?, bare = ?, details = ?, has_link = ? WHERE seq = ?",
			m.MessageType, text, folded, bare, t.pack(d), d.hasLink(text), seq)
		t.s.index.MarkStale(t.Conn, seq)
	}
	stored.Kept = true
	t.Run("INSERT INTO message_raw (seq, media_ref) VALUES (?1, ?2) ON CONFLICT (seq) DO UPDATE SET media_ref = ?2", seq, t.Encode(stored))
	t.keepFile(seq, sum)
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

// NobodyNames has the names of people in an exported chat of whom nothing else is known, by
// the JIDs that these names have.
type NobodyNames map[bridge.JID]string

// SaveNobodies stores names of an exported chat.
func (s *Store) SaveNobodies(ctx context.Context, names NobodyNames) error {
	return s.writeAs(ctx, "store the names of an exported chat", func(t *writeTx) {
		for jid, name := range names {
			t.savePushName(t.ensurePerson(jid), name)
		}
	})
}

const attributeQuery = `
	UPDATE messages SET sender = ?, from_me = ?, status = ?
	WHERE seq IN (SELECT seq FROM messages WHERE chat = ? AND sender = ?` + db.Limited + ")"

// attributeBatch limits the messages that one transaction gives to somebody.
const attributeBatch = 1000

// Attribute gives the messages of a chat that stand under a name nobody knew to the person
// whose it is; isMe says that it is the account.
func (s *Store) Attribute(ctx context.Context, chat, nobody, person bridge.JID, isMe bool) error {
	_, err := s.inBatches(ctx, "attribute imported messages", attributeBatch, func(t *writeTx) int64 {
		c, found := t.findChat(chat)
		from, known := t.people.find(nobody)
		if !found || !known {
			return 0
		}
		to := t.ensurePerson(person)
		status := statusColumn(bridge.Message{FromMe: isMe, Status: new(bridge.DeliverySent)})
		return t.Change(attributeQuery, to.id, isMe, status, c.id, from.id, attributeBatch)
	})
	return err
}

// PeopleNamed returns the people whom the account's address book has under names, by name.
func (s *Store) PeopleNamed(names []string) map[string][]bridge.JID {
	wanted := make(map[string][]string, len(names))
	for _, name := range names {
		wanted[fold(name)] = append(wanted[fold(name)], name)
	}
	found := make(map[string][]bridge.JID)
	s.people.mu.RLock()
	defer s.people.mu.RUnlock()
	for _, p := range s.people.byID {
		if p.name == "" || p.jid().IsImport() {
			continue
		}
		for _, name := range wanted[fold(p.name)] {
			found[name] = append(found[name], p.jid())
		}
	}
	return found
}

// PushName returns the name that a person has chosen, empty where it is not known.
func (s *Store) PushName(jid bridge.JID) string {
	p, _ := s.people.find(jid)
	return p.push
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
