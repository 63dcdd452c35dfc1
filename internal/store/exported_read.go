package store

import (
	"context"
	"iter"

	"bridged/internal/bridge"
	"bridged/internal/store/columns"
	"bridged/internal/store/read"
)

// ChatMessage is a stored message with which messages of an export are compared.
type ChatMessage struct {
	Seq      int64
	Sender   bridge.JID
	FromMe   bool
	Deleted  bool // for everyone, and its text with it
	Kind     string
	Text     string
	At       bridge.Time
	ViewOnce bool
	Imported bool
	Exported bool // it comes from an export
	HasFile  bool
	FileName string
	Ref      bridge.MediaRef
	// Mentions lists the texts that may follow an "@" if the text mentions people: their numbers, LIDs and names.
	Mentions []string
}

// maxMessagesOfMinute limits the messages of one minute that are read.
const maxMessagesOfMinute = 20_000

const minuteQuery = `
	SELECT m.seq, m.id, m.sender, m.from_me, m.deleted_at IS NOT NULL, m.type, m.content, m.imported, m.timestamp, ifnull(m.details, ''),
		ifnull(w.view_once, 0), ifnull(w.media_ref, '')
	FROM messages m LEFT JOIN message_raw w ON w.seq = m.seq
	WHERE m.chat = ? AND m.timestamp >= ? AND m.timestamp < ? AND m.seq <= ? ORDER BY m.timestamp, m.seq LIMIT ?`

// Minutes reads the messages of a chat that were sent in some minutes, which are counted from 1970, and stored before the run.
// It calls each for every minute, with at most 20,000 messages, and ends with the first error of each.
func (s *Store) Minutes(ctx context.Context, run *ExportRun, minutes iter.Seq[int64], each func(minute int64, messages iter.Seq[*ChatMessage]) error) error {
	return s.Read(ctx, func(r *read.Snapshot) {
		chat := chatID(r, run.Chat)
		for minute := range minutes {
			err := each(minute, func(yield func(*ChatMessage) bool) {
				for row := range r.Rows(minuteQuery, chat, minute*60_000, (minute+1)*60_000, run.LastSeq, maxMessagesOfMinute) {
					var m ChatMessage
					var id string
					var sender int64
					var packed, ref []byte
					row.Scan(&m.Seq, &id, &sender, &m.FromMe, &m.Deleted, &m.Kind, &m.Text, &m.Imported, &m.At, &packed, &m.ViewOnce, &ref)
					var d columns.Details
					r.Decode(packed, &d)
					r.Decode(ref, &m.Ref)
					m.Sender, m.Exported = r.People().Get(sender).JID(), m.Imported && bridge.IsExportedID(id)
					if m.HasFile = d.Media != nil; m.HasFile {
						m.FileName = d.Media.FileName
					}
					if d.Context != nil {
						m.Mentions = spellingsOf(r, d.Context.Mentioned)
					}
					if !yield(&m) {
						return
					}
				}
			})
			if r.Fail(err); err != nil {
				return
			}
		}
	})
}

// spellingsOf returns the texts that may follow an "@" in a text that mentions people: numbers, LIDs and names.
func spellingsOf(r *read.Snapshot, people []bridge.JID) (spellings []string) {
	for _, jid := range people {
		spellings = append(spellings, jid.User())
		if p, known := r.People().Find(jid); known {
			spellings = append(spellings, p.JID().User(), r.People().LIDOf(jid).User(), p.Name, p.PushName)
		}
	}
	return spellings
}

// chatID returns the id of a chat; 0 if it is not stored.
func chatID(r *read.Snapshot, jid bridge.JID) (id int64) {
	canonical := r.People().Canonical(jid)
	r.Find("SELECT id FROM chats WHERE jid IN (?, ?, ?) ORDER BY jid = ? DESC LIMIT 1", []any{canonical, jid, r.People().LIDOf(jid), canonical}, &id)
	return id
}
