package store

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
)

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
