package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

// Messages is a page of a chat's history: [bridge.CodeNotFound] when the chat
// is not stored. Raw is not read.
func (s *Store) Messages(ctx context.Context, q bridge.MessageQuery) (bridge.Page[bridge.Message], error) {
	var page bridge.Page[bridge.Message]
	err := s.read(ctx, func(r *snapshot) (err error) {
		page, err = r.history(q)
		return err
	})
	if err != nil {
		return bridge.Page[bridge.Message]{}, fmt.Errorf("read a history: %w", err)
	}
	return page, nil
}

func (r *snapshot) history(q bridge.MessageQuery) (bridge.Page[bridge.Message], error) {
	chat, err := r.findChat(q.Chat)
	if err != nil {
		return bridge.Page[bridge.Message]{}, err
	}
	h, err := r.newHistory(chat, q)
	if err != nil {
		return bridge.Page[bridge.Message]{}, err
	}
	messages, places, err := r.historyPage(h)
	if err != nil {
		return bridge.Page[bridge.Message]{}, err
	}
	return r.page(messages, places, h.limit)
}

// page drops the message that only says that there are more, and adds what
// lies in other tables.
func (r *snapshot) page(messages []bridge.Message, places []place, limit int) (bridge.Page[bridge.Message], error) {
	var page bridge.Page[bridge.Message]
	if len(messages) > limit {
		cursor := places[limit-1].cursor()
		page.NextCursor = &cursor
		messages, places = messages[:limit], places[:limit]
	}
	page.Items = messages
	return page, r.addVotesAndReactions(messages, places)
}

// history is a query of one chat, looked up and checked.
type history struct {
	chat          int64
	sender        int64 // 0 is everybody
	since, until  *int64
	after         *place
	needle        string
	desc          bool
	limit, offset int
}

func (r *snapshot) newHistory(chat int64, q bridge.MessageQuery) (history, error) {
	h := history{chat: chat, desc: q.Order != bridge.OrderAsc, limit: limitOf(q.Limit), offset: max(q.Offset, 0)}
	if q.Since != nil {
		h.since = ceilMillis(*q.Since)
	}
	if q.Until != nil {
		until := q.Until.UnixMilli()
		h.until = &until
	}
	if q.Cursor != "" {
		after, err := parsePlace(q.Cursor)
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

// nobody is no person's id.
const nobody = -1

// ceilMillis is the first whole millisecond that is not before t.
func ceilMillis(t bridge.Time) *int64 {
	ms := t.UnixMilli()
	if bridge.Millis(ms).Before(t.Time) {
		ms++
	}
	return &ms
}

// conditions are the WHERE of h without its text.
func (h history) conditions() (where []string, args []any) {
	where, args = []string{"m.chat = ?"}, []any{h.chat}
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
		where = append(where, "(m.timestamp, m.arrival) "+h.beyond()+" (?, ?)")
		args = append(args, h.after.timestamp, h.after.arrival)
	}
	return where, args
}

// beyond is the comparison that is true of what comes after in h's order.
func (h history) beyond() string {
	if h.desc {
		return "<"
	}
	return ">"
}

func (h history) direction() string {
	if h.desc {
		return "DESC"
	}
	return "ASC"
}

// containsText is true of messages whose text contains the folded argument.
const containsText = "instr(ifnull(m.folded, m.content), ?) > 0"

func (h history) query() (string, []any) {
	where, args := h.conditions()
	if h.needle != "" {
		where, args = append(where, containsText), append(args, h.needle)
	}
	return "SELECT " + messageColumns + " FROM messages m WHERE " + strings.Join(where, " AND ") +
		" ORDER BY m.timestamp " + h.direction() + ", m.arrival " + h.direction() +
		" LIMIT ? OFFSET ?", append(args, h.limit+1, h.offset)
}

func (r *snapshot) historyPage(h history) ([]bridge.Message, []place, error) {
	var jid bridge.JID
	if err := r.scan(r.ctx, "SELECT jid FROM chats WHERE id = ?", []any{h.chat}, &jid); err != nil {
		return nil, nil, err
	}
	query, args := h.query()
	messages, places := []bridge.Message{}, []place{}
	err := r.each(r.ctx, query, args, func(rows *sql.Rows) error {
		m, at, err := r.scanMessage(rows, jid)
		messages, places = append(messages, m), append(places, at)
		return err
	})
	return messages, places, err
}

// messageColumns are what a list shows of a message.
const messageColumns = `m.arrival, m.id, m.from_me, m.sender, m.push_name, m.type, m.content, ifnull(m.details, ''),
	m.timestamp, m.reactions, m.edited_at, m.deleted_at, m.status`

// scanMessage reads messageColumns. Reactions is an empty list, not nil, where
// there are none; where there are some, it has room for them.
func (r *snapshot) scanMessage(rows *sql.Rows, chat bridge.JID) (bridge.Message, place, error) {
	m := bridge.Message{Chat: r.s.Canonical(chat)}
	var at place
	var sender int64
	var column string
	var reactions int
	var edited, deleted, status sql.NullInt64
	err := rows.Scan(&at.arrival, &m.ID, &m.FromMe, &sender, &m.PushName, &m.MessageType, &m.Content, &column,
		&at.timestamp, &reactions, &edited, &deleted, &status)
	if err != nil {
		return m, at, err
	}
	p := r.s.people.get(sender)
	m.SenderJID, m.SenderLID, m.PushName = p.jid(), p.lid, first(m.PushName, p.pushName())
	m.Timestamp = bridge.Millis(at.timestamp)
	m.Reactions = make([]bridge.Reaction, 0, reactions)
	m.EditedAt, m.DeletedAt = timeOf(edited), timeOf(deleted)
	if status.Valid {
		d := delivery(status.Int64)
		m.Status = &d
	}
	return m, at, r.s.unpack(column, &m)
}

// addVotesAndReactions looks for them only where there are some.
func (r *snapshot) addVotesAndReactions(messages []bridge.Message, places []place) error {
	byArrival := make(map[int64]*bridge.Message)
	var reacted, polls []int64
	for i := range messages {
		m, arrival := &messages[i], places[i].arrival
		byArrival[arrival] = m
		if cap(m.Reactions) > 0 {
			reacted = append(reacted, arrival)
		}
		if m.Poll != nil {
			polls = append(polls, arrival)
		}
	}
	if err := r.addReactions(reacted, byArrival); err != nil {
		return err
	}
	for _, arrival := range reacted {
		sortReactions(byArrival[arrival].Reactions)
	}
	return r.addVotes(polls, byArrival)
}

func (r *snapshot) addReactions(arrivals []int64, messages map[int64]*bridge.Message) error {
	return r.eachOf(`
		SELECT r.message, r.person, r.emoji, r.timestamp
		FROM json_each(?) wanted CROSS JOIN reactions r ON r.message = wanted.value
		WHERE r.emoji != ''`, arrivals, func(rows *sql.Rows) error {
		var arrival, person, timestamp int64
		var reaction bridge.Reaction
		if err := rows.Scan(&arrival, &person, &reaction.Emoji, &timestamp); err != nil {
			return err
		}
		reaction.SenderJID = r.s.people.get(person).jid()
		reaction.Timestamp = bridge.Millis(timestamp)
		m := messages[arrival]
		m.Reactions = append(m.Reactions, reaction)
		return nil
	})
}

// sortReactions puts the oldest first.
func sortReactions(reactions []bridge.Reaction) {
	slices.SortFunc(reactions, func(a, b bridge.Reaction) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp.Time), cmp.Compare(a.SenderJID, b.SenderJID))
	})
}

func (r *snapshot) addVotes(arrivals []int64, messages map[int64]*bridge.Message) error {
	return r.eachOf(`
		SELECT v.message, v.person, v.hashes
		FROM json_each(?) wanted CROSS JOIN votes v ON v.message = wanted.value`, arrivals, func(rows *sql.Rows) error {
		var arrival, person int64
		var hashes []byte
		if err := rows.Scan(&arrival, &person, &hashes); err != nil {
			return err
		}
		tally(messages[arrival].Poll, r.s.people.get(person).jid(), hashes)
		return nil
	})
}

// eachOf runs a query over a list of ids, which is its one argument.
func (r *snapshot) eachOf(query string, ids []int64, f func(*sql.Rows) error) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return r.each(r.ctx, query, []any{string(list)}, f)
}

// Message is one message with all that the store has of it, Raw and the place
// of its file included: [bridge.CodeNotFound] when it is not stored.
func (s *Store) Message(ctx context.Context, chat bridge.JID, id string) (bridge.Message, error) {
	var m bridge.Message
	err := s.read(ctx, func(r *snapshot) error {
		found, err := r.findChat(chat)
		if err != nil {
			return err
		}
		m, err = r.message("m.chat = ? AND m.id = ?", found, id)
		if errors.Is(err, sql.ErrNoRows) {
			return bridge.NotFound("there is no message %s in the chat %s in the store", id, chat)
		}
		return err
	})
	if err != nil {
		return bridge.Message{}, fmt.Errorf("read a message: %w", err)
	}
	return m, nil
}

// message is the one message of a condition: [sql.ErrNoRows] without one.
func (r *snapshot) message(where string, args ...any) (bridge.Message, error) {
	var chat bridge.JID
	err := r.scan(r.ctx, "SELECT c.jid FROM messages m JOIN chats c ON c.id = m.chat WHERE "+where, args, &chat)
	if err != nil {
		return bridge.Message{}, err
	}
	var messages []bridge.Message
	var places []place
	err = r.each(r.ctx, "SELECT "+messageColumns+" FROM messages m WHERE "+where, args, func(rows *sql.Rows) error {
		m, at, err := r.scanMessage(rows, chat)
		messages, places = append(messages, m), append(places, at)
		return err
	})
	if err != nil {
		return bridge.Message{}, err
	}
	if err := r.addVotesAndReactions(messages, places); err != nil {
		return bridge.Message{}, err
	}
	return messages[0], r.addRaw(&messages[0], places[0].arrival)
}

func (r *snapshot) addRaw(m *bridge.Message, arrival int64) error {
	var ref string
	err := r.scan(r.ctx, "SELECT raw, ifnull(media_ref, ''), view_once, expiration FROM message_raw WHERE arrival = ?",
		[]any{arrival}, &m.Raw, &ref, &m.ViewOnce, &m.Expiration)
	if err != nil || ref == "" || m.Media == nil {
		return err
	}
	return json.Unmarshal([]byte(ref), &m.Media.Ref)
}
