package store

import (
	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/store/db"
)

// unknownPerson is no person's id.
const unknownPerson = -1

// historyQuery returns the query of a page of one chat. Its limit is one more than the
// page's, which shows whether there is another one.
func (r *readTx) historyQuery(chat int64, q bridge.MessageQuery) search.Query {
	h := search.Query{
		Chat: chat, Desc: q.Order != bridge.OrderAsc, Limit: limitOf(q.Limit) + 1,
		Since: firstMillis(q.Since), Until: lastMillis(q.Until), After: r.positionAt(q.Cursor),
	}
	if !blank(q.Q) {
		h.Needle = fold(q.Q)
	}
	if q.Sender != "" {
		h.Sender = unknownPerson
		if p, known := r.s.people.find(q.Sender); known {
			h.Sender = p.id
		}
	}
	return h
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

func (r *readTx) history(q bridge.MessageQuery) bridge.Page[bridge.Message] {
	h, offset := r.historyQuery(r.findChat(q.Chat), q), max(q.Offset, 0)
	var messages []bridge.Message
	var positions []position
	room := newPageRoom(r.s.tuning.page)
	if h.Needle == "" {
		query, args := historyPage(r.Conn, h, offset)
		messages, positions = r.messagesOf(q.Chat, h.Limit, room, query, args...)
	} else {
		wanted := h
		wanted.Limit += offset
		found := r.search(wanted)
		messages, positions = r.messagesAt(seqs(found[min(offset, len(found)):]), room)
	}
	return cut(messages, positions, h.Limit-1, room.full)
}

// historyPage selects the messages of a query without a text by the chat's index.
func historyPage(c *db.Conn, h search.Query, offset int) (string, []any) {
	where, args := h.Where(c)
	return "SELECT " + messageColumns + " FROM messages m WHERE " + where + h.Order() + db.Limited + " OFFSET ?", append(args, h.Limit, offset)
}

// cut drops the message beyond the limit. A page that is full is not the last one, also
// where it is shorter than its limit.
func cut(messages []bridge.Message, positions []position, limit int, full bool) bridge.Page[bridge.Message] {
	page := bridge.Page[bridge.Message]{Items: messages[:min(len(messages), limit)]}
	if len(messages) > limit || full && len(messages) > 0 {
		page.NextCursor = messageCursor(positions[len(page.Items)-1])
	}
	return page
}

// rowsExpected bounds for how many messages of a page memory is taken at once: most chats
// have fewer than are asked for.
const rowsExpected = 128

// pageRoom bounds the bytes of JSON that the elements of a page take. A nil one has no
// bound.
type pageRoom struct {
	most, used int
	full       bool // an element was left out
}

func newPageRoom(most int) *pageRoom { return &pageRoom{most: most} }

// takes reports whether the page has room for an element of a size. It always has for the
// first one.
func (p *pageRoom) takes(size int) bool {
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

// Sizes of what is added to a message later, in bytes of JSON.
const (
	reactionSize  = 200
	voteSize      = 48 // and that of an answer to an event
	responsesSize = 80 // of no answers to an event
)

// fits reports whether the page has room for a message and its reactions and answers, which
// are not read yet.
func (r *readTx) fits(room *pageRoom, m *bridge.Message, row messageRow) bool {
	if room == nil {
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
	return room.takes(size)
}
