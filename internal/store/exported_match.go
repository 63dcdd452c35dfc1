package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
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
	// misnamed reports whether the stored one stands under somebody for whom its sender was
	// taken, and twice is another one that does.
	misnamed bool
	twice    int64
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
		byMinute := make(map[int64][]*matched)
		for i := range messages {
			minute := messages[i].Timestamp.Unix() / 60
			byMinute[minute] = append(byMinute[minute], r.matched(&messages[i], &fates[i]))
		}
		chat, _ := r.chatOf(run.Chat)
		for minute, all := range byMinute {
			m := matching{run: run, stored: r.storedIn(chat, minute, run), isCut: slices.Contains(run.cut, minute), now: s.o.Clock.Now()}
			m.match(all)
		}
		return fates
	})
}

// matched is a message of an export whose stored one is looked for.
type matched struct {
	*bridge.ExportedMessage
	fate     *Fate
	senders  []int64 // people who are its sender
	formerly []int64 // people for whom its sender was taken
	found    *storedMessage
}

func (r *readTx) matched(m *bridge.ExportedMessage, fate *Fate) *matched {
	is := &matched{ExportedMessage: m, fate: fate}
	for _, jid := range []bridge.JID{m.SenderJID, m.Nobody} {
		if p, known := r.s.people.find(jid); known {
			is.senders = append(is.senders, p.id)
		}
	}
	for _, jid := range m.Formerly {
		if p, known := r.s.people.find(jid); known && !slices.Contains(is.senders, p.id) {
			is.formerly = append(is.formerly, p.id)
		}
	}
	return is
}

// isBy reports whether a stored message is by the sender of an exported one.
func (m *matched) isBy(stored *storedMessage) bool {
	return m.FromMe && stored.fromMe || slices.Contains(m.senders, stored.sender)
}

// wasBy reports whether a stored message is from an export, and under somebody for whom the
// sender was taken.
func (m *matched) wasBy(stored *storedMessage) bool {
	return stored.exported && slices.Contains(m.formerly, stored.sender)
}

// matching gives messages of a minute the stored ones that they are.
type matching struct {
	run    *ExportRun
	stored []*storedMessage // which are no duplicates yet
	isCut  bool             // the export may have others of them left out
	now    time.Time
}

// match looks for those that are surely the same first, and among these for those by the sender
// first. Whoever was taken for another leaves the messages to those who were not.
func (g *matching) match(all []*matched) {
	slices.SortStableFunc(all, func(a, b *matched) int { return cmp.Compare(len(a.formerly), len(b.formerly)) })
	misnamed := slices.DeleteFunc(slices.Clone(all), func(m *matched) bool { return len(m.formerly) == 0 })
	for _, same := range sameness {
		g.matchBy(all, same, (*matched).isBy)
		g.matchBy(misnamed, same, (*matched).wasBy)
	}
	for _, same := range sure {
		for _, m := range misnamed {
			if m.found == nil {
				g.exchange(m, all, same)
			}
		}
	}
	if g.isCut {
		return
	}
	g.matchBy(all, deletedLater, (*matched).isBy)
	// What came over the connection may have been stored once more under a wrong name.
	for _, same := range sure {
		for _, m := range misnamed {
			if m.found == nil || m.found.exported || m.fate.twice != 0 {
				continue
			}
			if found := g.take(m, same, (*matched).wasBy); found != nil {
				m.fate.twice = found.seq
			}
		}
	}
}

func (g *matching) matchBy(all []*matched, same rule, by func(*matched, *storedMessage) bool) {
	for _, m := range all {
		if m.found != nil {
			continue
		}
		if found := g.take(m, same, by); found != nil {
			m.is(found, g.now)
		}
	}
}

// exchange gives a message the stored one that another was given, if that finds one under a wrong
// name instead.
func (g *matching) exchange(m *matched, all []*matched, same rule) {
	isSame := same(m.ExportedMessage)
	for _, other := range all {
		if isSame == nil || other.found == nil || !m.isBy(other.found) && !m.wasBy(other.found) || !isSame(other.found) {
			continue
		}
		if found := g.take(other, same, (*matched).wasBy); found != nil {
			m.is(other.found, g.now)
			other.is(found, g.now)
			return
		}
	}
}

// take returns the first stored message that is the same by a rule, nil where there is none.
// It is no other's from then on.
func (g *matching) take(m *matched, same rule, by func(*matched, *storedMessage) bool) *storedMessage {
	isSame := same(m.ExportedMessage)
	if isSame == nil {
		return nil
	}
	i := slices.IndexFunc(g.stored, func(stored *storedMessage) bool { return by(m, stored) && isSame(stored) })
	if i < 0 {
		return nil
	}
	found := g.stored[i]
	g.stored = slices.Delete(g.stored, i, i+1)
	g.run.take(found.seq)
	return found
}

// is notes that a message is a stored one.
func (m *matched) is(found *storedMessage, now time.Time) {
	m.found, m.fate.Seq, m.fate.misnamed = found, found.seq, !m.isBy(found)
	m.fate.TakesFile = m.SHA256 != nil && !found.deleted && !found.ref.Kept && found.lacksFile(m.ExportedMessage, now)
}

// chatOf returns the id of a stored chat.
func (r *readTx) chatOf(jid bridge.JID) (id int64, found bool) {
	found = r.Find("SELECT id FROM chats WHERE jid IN (?, ?, ?) ORDER BY jid = ? DESC LIMIT 1",
		[]any{r.s.Canonical(jid), jid, r.s.LIDOf(jid), r.s.Canonical(jid)}, &id)
	return id, found
}

// storedMessage is what tells whether a stored message is one of an export.
type storedMessage struct {
	seq, sender        int64
	fromMe, deleted    bool
	kind, text, name   string // the name of its file
	viewOnce, hasFile  bool
	imported, exported bool
	at                 bridge.Time
	ref                bridge.MediaRef
	mentions           []bridge.JID
}

// storedInQuery selects the messages of a minute.
const storedInQuery = `
	SELECT m.seq, m.id, m.sender, m.from_me, m.deleted_at IS NOT NULL, m.type, m.content, m.imported, m.timestamp, ifnull(m.details, ''),
		ifnull(w.view_once, 0), ifnull(w.media_ref, '')
	FROM messages m LEFT JOIN message_raw w ON w.seq = m.seq
	WHERE m.chat = ? AND m.timestamp >= ? AND m.timestamp < ? AND m.seq <= ? ORDER BY m.timestamp, m.seq`

// storedIn reads the messages of a minute that are no duplicates yet, those from exports last.
func (r *readTx) storedIn(chat, minute int64, run *ExportRun) []*storedMessage {
	var stored, exported []*storedMessage
	for row := range r.Rows(storedInQuery, chat, minute*60_000, (minute+1)*60_000, run.floor) {
		var m storedMessage
		var id string
		var packed, ref []byte
		row.Scan(&m.seq, &id, &m.sender, &m.fromMe, &m.deleted, &m.kind, &m.text, &m.imported, &m.at, &packed, &m.viewOnce, &ref)
		if run.taken[m.seq] || run.earlier[m.seq] {
			continue
		}
		m.sender, m.exported = r.s.people.get(m.sender).id, m.imported && bridge.IsExportedID(id)
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
		if m.exported {
			exported = append(exported, &m)
		} else {
			stored = append(stored, &m)
		}
	}
	return append(stored, exported...)
}

func (run *ExportRun) take(seq int64) {
	if len(run.taken) == maxTaken {
		run.earlier, run.taken = run.taken, make(map[int64]bool)
	}
	run.taken[seq] = true
}

// networkKeeps is for how long the network keeps files, at least.
const networkKeeps = 30 * 24 * time.Hour

// lacksFile reports whether a stored message has no file that could be opened: none at all, or
// the same one at the network, for too long.
func (m *storedMessage) lacksFile(exported *bridge.ExportedMessage, now time.Time) bool {
	if !m.hasFile || len(m.ref.MediaKey) == 0 {
		return m.imported && !m.isContact()
	}
	return bytes.Equal(m.ref.FileSHA256, exported.SHA256) && now.Sub(m.at.Time) > networkKeeps
}
