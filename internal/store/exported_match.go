package store

import (
	"context"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/chatimport/match"
)

// MatchExport finds out which messages of an export are stored: those by the same sender in the
// same minute with the same file or the same text, each once.
func (s *Store) MatchExport(ctx context.Context, run *ExportRun, messages []bridge.ExportedMessage) ([]match.Result, error) {
	results := make([]match.Result, len(messages))
	for i := range results {
		results[i].TakesFile = messages[i].SHA256 != nil
	}
	if run.isNew {
		return results, nil
	}
	return readAs(ctx, s, "look exported messages up", func(r *readTx) []match.Result {
		byMinute := make(map[int64][]*match.Message)
		for i := range messages {
			minute := messages[i].Timestamp.Unix() / 60
			byMinute[minute] = append(byMinute[minute], r.exported(&messages[i], &results[i]))
		}
		chat, _ := r.chatOf(run.Chat)
		for minute, all := range byMinute {
			m := match.Minute{Stored: r.storedIn(chat, minute, run), IsCut: slices.Contains(run.cut, minute), Known: r.personRows(run.known), Now: s.o.Clock.Now()}
			if err := m.Match(ctx, all); err != nil {
				r.Fail(err)
				return nil
			}
			run.take(all)
		}
		return results
	})
}

// exported returns a message of an export with the rows of its sender.
func (r *readTx) exported(m *bridge.ExportedMessage, result *match.Result) *match.Message {
	is := &match.Message{ExportedMessage: m, Result: result, Senders: r.personRows([]bridge.JID{m.SenderJID, m.Nobody})}
	for _, row := range r.personRows(m.Formerly) {
		if !slices.Contains(is.Senders, row) {
			is.Formerly = append(is.Formerly, row)
		}
	}
	return is
}

// personRows returns the rows of people, without those who are not stored.
func (r *readTx) personRows(people []bridge.JID) (rows []int64) {
	for _, jid := range people {
		if p, known := r.s.people.find(jid); known {
			rows = append(rows, p.id)
		}
	}
	return rows
}

// chatOf returns the id of a stored chat.
func (r *readTx) chatOf(jid bridge.JID) (id int64, found bool) {
	found = r.Find("SELECT id FROM chats WHERE jid IN (?, ?, ?) ORDER BY jid = ? DESC LIMIT 1",
		[]any{r.s.Canonical(jid), jid, r.s.LIDOf(jid), r.s.Canonical(jid)}, &id)
	return id, found
}

// Limits of what a minute is compared with: the stored messages that are looked at, those that are
// read whole, and the bytes of their texts. What is beyond them is compared once the messages before
// it are found to be in the export.
const (
	maxLooked      = 20_000
	maxCompared    = 2000
	maxComparedSum = 8 << 20
)

// storedInQuery selects the messages of a minute.
const storedInQuery = `
	SELECT m.seq, m.id, m.sender, m.from_me, m.deleted_at IS NOT NULL, m.type, m.content, m.imported, m.timestamp, ifnull(m.details, ''),
		ifnull(w.view_once, 0), ifnull(w.media_ref, '')
	FROM messages m LEFT JOIN message_raw w ON w.seq = m.seq
	WHERE m.chat = ? AND m.timestamp >= ? AND m.timestamp < ? AND m.seq <= ? ORDER BY m.timestamp, m.seq LIMIT ?`

// storedIn reads the messages of a minute that are no duplicates yet, those from exports last.
func (r *readTx) storedIn(chat, minute int64, run *ExportRun) []*match.Stored {
	var stored, exported []*match.Stored
	size := 0
	for row := range r.Rows(storedInQuery, chat, minute*60_000, (minute+1)*60_000, run.floor, maxLooked) {
		var m match.Stored
		var id string
		var packed, ref []byte
		row.Scan(&m.Seq, &id, &m.Sender, &m.FromMe, &m.Deleted, &m.Kind, &m.Text, &m.Imported, &m.At, &packed, &m.ViewOnce, &ref)
		if run.taken[m.Seq] || run.earlier[m.Seq] {
			continue
		}
		m.Sender, m.Exported = r.s.people.get(m.Sender).id, m.Imported && bridge.IsExportedID(id)
		var d details
		r.Decode(packed, &d)
		r.Decode(ref, &m.Ref)
		if m.HasFile = d.Media != nil; m.HasFile {
			m.FileName = d.Media.FileName
		}
		var mentioned []string
		if d.Context != nil {
			mentioned = r.spellingsOf(d.Context.Mentioned)
		}
		if m.Prepare(mentioned...); m.Exported {
			exported = append(exported, &m)
		} else {
			stored = append(stored, &m)
		}
		if size += len(m.Text); size >= maxComparedSum || len(stored)+len(exported) == maxCompared {
			break
		}
	}
	return append(stored, exported...)
}

// spellingsOf returns what may follow the "@" where a text mentions people: numbers, LIDs and names.
func (r *readTx) spellingsOf(people []bridge.JID) (spellings []string) {
	for _, jid := range people {
		spellings = append(spellings, jid.User())
		if p, known := r.s.people.find(jid); known {
			spellings = append(spellings, p.jid().User(), r.s.LIDOf(jid).User(), p.name, p.push)
		}
	}
	return spellings
}

// take notes the stored messages that messages of the export are.
func (run *ExportRun) take(all []*match.Message) {
	for _, m := range all {
		for _, seq := range []int64{m.Result.Seq, m.Result.Twice} {
			if seq == 0 {
				continue
			}
			if len(run.taken) == maxTaken {
				run.earlier, run.taken = run.taken, make(map[int64]bool)
			}
			run.taken[seq] = true
		}
	}
}
