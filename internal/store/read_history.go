package store

import (
	"context"
	"strings"

	"bridged/internal/bridge"
)

// history is a query of one chat, looked up and checked.
type history struct {
	chat          int64
	jid           bridge.JID
	sender        int64 // 0 is everybody
	since, until  *int64
	after         *position
	needle        string
	desc          bool
	limit, offset int
}

// nobody is no person's id.
const nobody = -1

func (r *readTx) newHistory(chat int64, q bridge.MessageQuery) (history, error) {
	h := history{
		chat: chat, jid: q.Chat, desc: q.Order != bridge.OrderAsc,
		limit: limitOf(q.Limit), offset: max(q.Offset, 0),
	}
	if q.Since != nil {
		h.since = ceilMillis(*q.Since)
	}
	if q.Until != nil {
		until := q.Until.UnixMilli()
		h.until = &until
	}
	if q.Cursor != "" {
		after, err := parsePosition(q.Cursor)
		if err != nil {
			return h, err
		}
		h.after = &after
	}
	if !blank(q.Q) {
		h.needle = fold(q.Q)
	}
	if q.Sender != "" {
		h.sender = nobody
		if p, known := r.s.people.find(q.Sender); known {
			h.sender = p.id
		}
	}
	return h, nil
}

// ceilMillis returns the first whole millisecond that is not before t.
func ceilMillis(t bridge.Time) *int64 {
	ms := t.UnixMilli()
	if bridge.Millis(ms).Before(t.Time) {
		ms++
	}
	return &ms
}

func (r *readTx) history(ctx context.Context, q bridge.MessageQuery) (bridge.Page[bridge.Message], error) {
	chat, err := r.findChat(ctx, q.Chat)
	if err != nil {
		return bridge.Page[bridge.Message]{}, err
	}
	h, err := r.newHistory(chat, q)
	if err != nil {
		return bridge.Page[bridge.Message]{}, err
	}
	var messages []bridge.Message
	var positions []position
	room := newPageRoom(r.s.tuning.page)
	if h.needle == "" {
		messages, positions, err = r.plainPage(ctx, h, room)
	} else {
		messages, positions, err = r.filteredPage(ctx, h, room)
	}
	if err != nil {
		return bridge.Page[bridge.Message]{}, err
	}
	return cut(messages, positions, h.limit, room.full), nil
}

// cut drops the message that only says that there are more. A page that is full
// may be shorter than its limit, and is not the last one.
func cut(messages []bridge.Message, positions []position, limit int, full bool) bridge.Page[bridge.Message] {
	page := bridge.Page[bridge.Message]{Items: messages[:min(len(messages), limit)]}
	if len(messages) > limit || full {
		cursor := positions[len(page.Items)-1].cursor()
		page.NextCursor = &cursor
	}
	return page
}

// rowsExpected bounds for how many messages of a page room is made at once: a
// chat may have fewer than were asked for.
const rowsExpected = 128

// plainPage reads a page by the chat's index.
func (r *readTx) plainPage(ctx context.Context, h history, room *pageRoom) ([]bridge.Message, []position, error) {
	query, args := h.query(messageColumns, h.limit+1, h.offset)
	return r.messagesOf(ctx, h.jid, h.limit+1, room, query, args...)
}

// query selects columns of h's messages, whatever their text, in order.
func (h history) query(columns string, limit, offset int) (string, []any) {
	where, args := h.conditions()
	return "SELECT " + columns + " FROM messages m WHERE " + where +
		" ORDER BY m.timestamp " + direction(h.desc) + ", m.seq " + direction(h.desc) +
		limited + " OFFSET ?", append(args, limit, offset)
}

// conditions returns the WHERE of h without its text.
func (h history) conditions() (string, []any) {
	where, args := []string{"m.chat = ?"}, []any{h.chat}
	if h.sender != 0 {
		where, args = append(where, "m.sender = ?"), append(args, h.sender)
	}
	if h.since != nil {
		where, args = append(where, "m.timestamp >= ?"), append(args, *h.since)
	}
	if h.until != nil {
		where, args = append(where, "m.timestamp <= ?"), append(args, *h.until)
	}
	if h.after != nil {
		where = append(where, "(m.timestamp, m.seq) "+behind(h.desc)+" (?, ?)")
		args = append(args, h.after.timestamp, h.after.seq)
	}
	return strings.Join(where, " AND "), args
}

// filteredPage finds the messages that contain h's text.
func (r *readTx) filteredPage(ctx context.Context, h history, room *pageRoom) ([]bridge.Message, []position, error) {
	found, err := r.search(ctx, h.plan())
	if err != nil {
		return nil, nil, err
	}
	return r.messagesAt(ctx, seqs(found[min(h.offset, len(found)):]), room)
}

// plan looks for h's messages.
func (h history) plan() *searchPlan {
	w := &searchPlan{needle: h.needle, desc: h.desc, limit: h.offset + h.limit + 1, chat: h.chat, sender: h.sender, after: h.after}
	w.since, w.until = ends(h.since, h.until)
	return w
}
