package read

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
)

// Messages returns a page of a chat's history, without Raw: [bridge.CodeNotFound] if the chat is not
// stored.
func (s *Reader) Messages(ctx context.Context, q bridge.MessageQuery) (bridge.Page[bridge.Message], error) {
	return As(ctx, s, "read a history", func(r *Snapshot) bridge.Page[bridge.Message] {
		r.limitTo(q.Only)
		return r.history(q)
	})
}

// MessageColumns names the columns of messages in lists.
const MessageColumns = `m.seq, m.id, m.from_me, m.sender, m.push_name, m.type, m.content, m.details,
	m.timestamp, m.reactions, m.edited_at, m.deleted_at, ifnull(m.status, -1), m.imported, m.starred > 0`

// MessagesOf reads a query of messageColumns and the chat's JID, which is not needed where
// all are of one chat, with reactions and answers: at most most, and as many as there is
// room for.
func (r *Snapshot) MessagesOf(chat bridge.JID, most int, budget *pageBudget, query string, args ...any) ([]bridge.Message, []Position) {
	expected := min(most, rowsExpected)
	messages, positions := make([]bridge.Message, 0, expected), make([]Position, 0, expected)
	var reacted []int64
	row := messageRow{chat: r.s.Canonical(chat)}
	for rows := range r.Rows(query, args...) {
		if len(messages) == cap(messages) { // once: a page is rarely half full
			messages = slices.Grow(messages, max(0, most-len(messages))+1)
		}
		messages = append(messages, bridge.Message{})
		m := &messages[len(messages)-1]
		r.scanMessage(rows, &row, m)
		if r.Err() != nil || !r.fits(budget, m, row) {
			messages = messages[:len(messages)-1]
			break
		}
		positions = append(positions, row.at)
		if row.reactions > 0 {
			reacted = append(reacted, row.at.Seq)
		}
	}
	r.addQuoted(messages, positions)
	r.addAnswersAndReactions(messages, positions, reacted)
	return messages, positions
}

// messagesAt reads the messages with certain seqs, in that order, that are stored and for
// which there is room.
func (r *Snapshot) messagesAt(seqs []int64, budget *pageBudget) ([]bridge.Message, []Position) {
	if len(seqs) == 0 {
		return []bridge.Message{}, nil
	}
	return r.MessagesOf("", len(seqs), budget, `
		SELECT `+MessageColumns+`, c.jid FROM json_each(?) wanted
		CROSS JOIN messages m ON m.seq = wanted.value CROSS JOIN chats c ON c.id = m.chat`, r.Encode(seqs))
}

// messageRow has the columns that are not fields of a message.
type messageRow struct {
	chat      bridge.JID // of all rows; "" if they may differ
	at        Position
	sender    int64
	details   sqlite.Raw
	reactions int   // how many there are; they are in a table of their own
	status    int64 // -1 for other people's messages
}

// scanMessage reads messageColumns and the chat's JID into m, which is in its list: messages
// are large. Reactions become an empty list, not nil.
func (r *Snapshot) scanMessage(rows *sqlite.Row, row *messageRow, m *bridge.Message) {
	into := [...]any{
		&row.at.Seq, &m.ID, &m.FromMe, &row.sender, &m.PushName, &m.MessageType, &m.Content, &row.details,
		&m.Timestamp, &row.reactions, &m.EditedAt, &m.DeletedAt, &row.status, &m.Imported, &m.Starred, &m.Chat,
	}
	rows.Scan(into[:]...)
	if row.chat == "" {
		m.Chat = r.s.Canonical(m.Chat)
	} else {
		m.Chat = row.chat
	}
	p := r.s.o.People.Get(row.sender)
	m.SenderJID, m.SenderLID, m.SenderUsername, m.PushName = p.JID(), p.LID, p.UsernameOrNil(), cmp.Or(m.PushName, p.AuthorName())
	row.at.Timestamp = m.Timestamp.UnixMilli()
	m.Reactions = make([]bridge.MessageReaction, 0, row.reactions)
	if row.status != -1 {
		d, err := columns.Delivery(row.status)
		r.Fail(err)
		m.Status = &d
	}
	r.Fail(r.s.unpack(row.details, m, r.find))
}

// addAnswersAndReactions reads the reactions to messages that have some, the answers to
// polls and events, and how many parts of albums are there. It takes the album from parts
// of other people's albums.
func (r *Snapshot) addAnswersAndReactions(messages []bridge.Message, positions []Position, reacted []int64) {
	bySeq := bySeq(messages, positions)
	var polls, events, albums, parts []int64
	for i := range messages {
		m, seq := &messages[i], positions[i].Seq
		if m.Poll != nil {
			polls = append(polls, seq)
		}
		if m.Event != nil {
			events = append(events, seq)
			m.Event.Responses = &bridge.EventResponses{Going: []bridge.JID{}, Maybe: []bridge.JID{}, NotGoing: []bridge.JID{}}
		}
		if m.Album != nil {
			albums = append(albums, seq)
		}
		if m.AlbumID != nil {
			parts = append(parts, seq)
		}
	}
	var reaction bridge.MessageReaction
	for m, by := range r.answersTo(reacted, bySeq, `
		SELECT r.message, r.person, r.emoji, r.timestamp
		FROM json_each(?) wanted CROSS JOIN reactions r ON r.message = wanted.value CROSS JOIN people p ON p.id = r.person
		WHERE r.emoji != '' ORDER BY r.timestamp, ifnull(p.pn, p.lid)`, &reaction.Emoji, &reaction.Timestamp) {
		reaction.SenderJID = by
		m.Reactions = append(m.Reactions, reaction)
	}
	var hashes []byte
	for m, by := range r.answersTo(polls, bySeq, `
		SELECT v.message, v.person, v.hashes
		FROM json_each(?) wanted CROSS JOIN votes v ON v.message = wanted.value`, &hashes) {
		tally(m.Poll, by, hashes)
	}
	var answer, guests, arrived int
	for m, by := range r.answersTo(events, bySeq, `
		SELECT e.message, e.person, e.answer, e.guests
		FROM json_each(?) wanted CROSS JOIN event_responses e ON e.message = wanted.value
		CROSS JOIN people p ON p.id = e.person
		ORDER BY e.timestamp, ifnull(p.pn, p.lid)`, &answer, &guests) {
		addResponse(m.Event.Responses, by, bridge.EventAnswer(answer), guests)
	}
	for m := range r.answersTo(albums, bySeq, arrivedQuery, &arrived) {
		m.Album.Arrived = arrived
	}
	for m := range r.answersTo(parts, bySeq, foreignPartsQuery) {
		m.AlbumID = nil
	}
}

func bySeq(messages []bridge.Message, positions []Position) map[int64]*bridge.Message {
	found := make(map[int64]*bridge.Message, len(messages))
	for i, p := range positions {
		found[p.Seq] = &messages[i]
	}
	return found
}

// answersTo runs a query over some messages. It returns the messages and people of its first
// two columns, and reads the others into variables.
func (r *Snapshot) answersTo(seqs []int64, messages map[int64]*bridge.Message, query string, into ...any) iter.Seq2[*bridge.Message, bridge.JID] {
	return func(yield func(*bridge.Message, bridge.JID) bool) {
		var seq, person int64
		into = append([]any{&seq, &person}, into...)
		for row := range r.rowsOf(query, seqs) {
			if !row.Scan(into...) || !yield(messages[seq], r.s.o.People.Get(person).JID()) {
				return
			}
		}
	}
}

func addResponse(to *bridge.EventResponses, by bridge.JID, answer bridge.EventAnswer, guests int) {
	switch answer {
	case bridge.EventGoing:
		to.Going = append(to.Going, by)
		to.Guests += guests
	case bridge.EventMaybe:
		to.Maybe = append(to.Maybe, by)
	case bridge.EventNotGoing:
		to.NotGoing = append(to.NotGoing, by)
	}
}

// MostParts limits the parts of an album that are counted, because any message can claim to be one.
const MostParts = 2000

// arrivedQuery counts the parts of albums that are stored and by the album's author.
var arrivedQuery = fmt.Sprintf(`
	SELECT parent.seq, parent.sender, (
		SELECT count(*) FROM (SELECT message FROM album_parts WHERE album = parent.id LIMIT %d) p
		CROSS JOIN messages m ON m.seq = p.message WHERE m.chat = parent.chat AND m.sender = parent.sender)
	FROM json_each(?) wanted CROSS JOIN messages parent ON parent.seq = wanted.value`, MostParts)

// foreignPartsQuery selects the messages that name an album of another author: anybody can
// name one.
const foreignPartsQuery = `
	SELECT part.seq, part.sender
	FROM json_each(?) wanted CROSS JOIN messages part ON part.seq = wanted.value
	CROSS JOIN album_parts p ON p.message = part.seq
	CROSS JOIN messages album ON album.chat = part.chat AND album.id = p.album
	WHERE album.type = 'albumMessage' AND album.sender != part.sender`

// rowsOf runs a query over a list of ids, which is its one argument.
func (r *Snapshot) rowsOf(query string, ids []int64) iter.Seq[*sqlite.Row] {
	if len(ids) == 0 {
		return func(func(*sqlite.Row) bool) {}
	}
	return r.Rows(query, r.Encode(ids))
}

// Message returns one message with Raw and the location of its file: [bridge.CodeNotFound] if it is not
// stored.
func (s *Reader) Message(ctx context.Context, chat bridge.JID, id string) (bridge.Message, error) {
	return s.MessageFor(ctx, nil, chat, id)
}

// MessageFor is [Reader.Message] for a caller who may see some chats only, nil for all.
func (s *Reader) MessageFor(ctx context.Context, only []bridge.JID, chat bridge.JID, id string) (bridge.Message, error) {
	return As(ctx, s, "read a message", func(r *Snapshot) (m bridge.Message) {
		r.limitTo(only)
		messages, positions := r.MessagesOf("", 1, nil, `
			SELECT `+MessageColumns+`, c.jid FROM messages m JOIN chats c ON c.id = m.chat
			WHERE m.chat = ? AND m.id = ?`, r.FindChat(chat), id)
		if len(messages) == 0 {
			r.Fail(bridge.NotFound("there is no message %s in the chat %s in the store", id, chat))
			return m
		}
		m = messages[0]
		var ref, wire []byte
		r.Find("SELECT raw, media_ref, wire_id, view_once, expiration FROM message_raw WHERE seq = ?",
			[]any{positions[0].Seq}, &m.Raw, &ref, &wire, &m.ViewOnce, &m.Expiration)
		m.WireID = string(wire)
		if m.Media != nil {
			r.Decode(ref, &m.Media.Ref)
		}
		return m
	})
}

// Album returns the message that announces an own album, and its items in the order in which they were
// stored, as [Reader.Message] does.
func (s *Reader) Album(ctx context.Context, chat bridge.JID, id string) ([]bridge.Message, error) {
	ids, err := As(ctx, s, "read an album", func(r *Snapshot) []string {
		return sqlite.List[string](r.Conn, `
			SELECT part.id FROM messages album JOIN album_parts p ON p.album = album.id
			JOIN messages part ON part.seq = p.message AND part.chat = album.chat AND part.sender = album.sender
			WHERE album.chat = ? AND album.id = ? ORDER BY part.seq LIMIT ?`, r.FindChat(chat), id, MostParts)
	})
	if err != nil {
		return nil, err
	}
	messages := make([]bridge.Message, 0, len(ids)+1)
	for _, one := range append([]string{id}, ids...) {
		m, err := s.Message(ctx, chat, one)
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// unknownPerson is an id that no person has.
const unknownPerson = -1

// HistoryQuery returns the query of a page of one chat. Its limit is one more than the
// page's, which shows whether there is another one.
func (r *Snapshot) HistoryQuery(chat int64, q bridge.MessageQuery) search.Query {
	h := search.Query{
		Chat: chat, Desc: q.Order != bridge.OrderAsc, Limit: sqlite.LimitOf(q.Limit) + 1, Sender: r.senderID(q.Sender),
		Since: firstMillis(q.Since), Until: lastMillis(q.Until), After: r.positionAt(q.Cursor),
	}
	setNeedle(&h, q.Q, q.Fold)
	return h
}

// senderID returns the id of the sender that a query asks for, 0 if it asks for none.
func (r *Snapshot) senderID(jid bridge.JID) int64 {
	if jid == "" {
		return 0
	}
	if p, known := r.s.o.People.Find(jid); known {
		return p.ID
	}
	return unknownPerson
}

// firstMillis returns the first millisecond that is not before a moment, lastMillis the last
// one that is not after it; nil for nil.
func firstMillis(moment *bridge.Time) *int64 {
	ms := lastMillis(moment)
	if ms != nil && bridge.Millis(*ms).Before(moment.Time) {
		*ms++
	}
	return ms
}

func lastMillis(moment *bridge.Time) *int64 {
	if moment == nil {
		return nil
	}
	return new(moment.UnixMilli())
}

func (r *Snapshot) history(q bridge.MessageQuery) bridge.Page[bridge.Message] {
	h, offset := r.HistoryQuery(r.FindChat(q.Chat), q), max(q.Offset, 0)
	var messages []bridge.Message
	var positions []Position
	var end *Position
	budget := &pageBudget{most: r.s.Tuning.Page}
	if h.Needle == "" && q.MessageFilter.IsZero() {
		query, args := HistoryPage(r.Conn, h, offset)
		messages, positions = r.MessagesOf(q.Chat, h.Limit, budget, query, args...)
	} else {
		wanted := h
		wanted.Limit += offset
		var found []Position
		found, end = r.filtered(wanted, q.MessageFilter)
		messages, positions = r.messagesAt(seqs(found[min(offset, len(found)):]), budget)
	}
	return cut(messages, positions, h.Limit-1, budget.full, end)
}

// HistoryPage selects the messages of a query without a text by the chat's index.
func HistoryPage(c *sqlite.Conn, h search.Query, offset int) (string, []any) {
	where, args := h.Where(c)
	return "SELECT " + MessageColumns + ", '' FROM messages m WHERE " + where + h.Order() + sqlite.Limited + " OFFSET ?", append(args, h.Limit, offset)
}

// cut drops the message beyond the limit. There is a next page if there was such a message, if the page
// is full although it is shorter than the limit, and if the search ended early.
func cut(messages []bridge.Message, positions []Position, limit int, full bool, end *Position) bridge.Page[bridge.Message] {
	page := bridge.Page[bridge.Message]{Items: messages[:min(len(messages), limit)]}
	switch {
	case len(messages) > limit || full && len(messages) > 0:
		page.NextCursor = MessageCursor(positions[len(page.Items)-1])
	case end != nil:
		page.NextCursor = MessageCursor(*end)
	}
	return page
}

// rowsExpected bounds for how many messages of a page memory is taken at once: most chats
// have fewer than are asked for.
const rowsExpected = 128

// pageBudget bounds the bytes of JSON that the elements of a page take. A nil one has no
// bound.
type pageBudget struct {
	most, used int
	full       bool // an element was left out
}

// takes reports whether the page has room for an element of a size. It always has for the
// first one.
func (p *pageBudget) takes(size int) bool {
	if p == nil {
		return true
	}
	if p.used > 0 && p.used+size > p.most {
		p.full = true
		return false
	}
	p.used += size
	return true
}

// Sizes of reactions and answers, which are added to messages later, in bytes of JSON.
const (
	reactionSize  = 200
	voteSize      = 48 // also of an answer to an event
	responsesSize = 80 // of an event without answers
)

// fits reports whether the page has room for a message and its reactions and answers, which
// are not read yet.
func (r *Snapshot) fits(budget *pageBudget, m *bridge.Message, row messageRow) bool {
	if budget == nil {
		return true
	}
	size := m.Size() + row.reactions*reactionSize
	if m.Poll != nil {
		var choices int
		r.Find("SELECT ifnull(sum(length(hashes)), 0) / 32 FROM votes WHERE message = ?", []any{row.at.Seq}, &choices)
		size += choices * voteSize
	}
	if m.Event != nil {
		var answers int
		r.Find("SELECT count(*) FROM event_responses WHERE message = ?", []any{row.at.Seq}, &answers)
		size += responsesSize + answers*voteSize
	}
	return budget.takes(size)
}

// Counts holds the numbers of messages of others and of the account.
type Counts struct {
	Received, Sent  int // since a moment
	Chats, Messages int // all that are stored
}

// CountQuery looks only at chats with messages of that time.
const CountQuery = `
	SELECT ifnull(sum(m.from_me = 0), 0), ifnull(sum(m.from_me = 1), 0)
	FROM chats c INDEXED BY chats_by_recency
	CROSS JOIN messages m INDEXED BY messages_by_time ON m.chat = c.id AND m.timestamp >= ?
	WHERE c.recency <= ?`

// Count counts the stored chats and messages, and the messages since a moment.
func (s *Reader) Count(ctx context.Context, since bridge.Time) (Counts, error) {
	return As(ctx, s, "count messages", func(r *Snapshot) (counts Counts) {
		at := since.UnixMilli()
		r.Find(CountQuery, []any{at, -at}, &counts.Received, &counts.Sent)
		r.Find("SELECT count(*), ifnull(sum(message_count), 0) FROM chats WHERE NOT hidden", nil, &counts.Chats, &counts.Messages)
		return counts
	})
}
