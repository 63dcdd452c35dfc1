package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"bridged/internal/bridge"
)

// EventQuery is a part of the log of events: what came after a number, of some
// types and of one chat where these are set. Only, unless it is nil, names the
// chats that may be told of, and nothing else is.
type EventQuery struct {
	Only  []bridge.JID
	After int64
	Limit int // 0 is 100
	Types []bridge.EventType
	Chat  bridge.JID
}

// EventPage is what was found. Next is the number to ask after next time; it
// moves on also over events that were not asked for, so that Events may be
// empty although More follow.
type EventPage struct {
	Events []bridge.Event
	Next   int64
	More   bool
	// Reset says that events after the number asked for are not in the log any
	// more, or that the number is of another log (a backup was restored). The
	// reader has missed something and should read the chats anew. 0 is the
	// beginning of the log, wherever that is.
	Reset bool
}

// eventWindow is how many events are looked at for one page when most are not
// asked for: a read should not last long.
const eventWindow = 5000

// Events reads the log, rendered in today's shape. What an event is about may
// be gone, or have moved on since: the event then is left out, or shows it as
// it is now. Ask for [Store.Changed] before reading. Other readers may be given
// the same events: they must not be changed.
func (s *Store) Events(ctx context.Context, q EventQuery) (EventPage, error) {
	page, err := s.eventCache.get(ctx, q, func() (page EventPage, err error) {
		err = s.read(ctx, func(r *readTx) (err error) {
			page, err = r.events(ctx, q)
			return err
		})
		return page, err
	})
	if err != nil {
		return EventPage{}, fmt.Errorf("read events: %w", err)
	}
	return page, nil
}

// LastEvent returns the number of the newest event: to ask after for what comes
// from now on.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	var last int64
	err := s.read(ctx, func(r *readTx) (err error) {
		last, _, err = r.lastEvent(ctx)
		return err
	})
	return last, err
}

// lastEvent returns the highest number ever given, also when the log is empty, and
// the highest that was removed.
func (r *readTx) lastEvent(ctx context.Context) (last, pruned int64, err error) {
	if pruned, err = readNumber(ctx, r.conn, settingPruned); err != nil {
		return 0, 0, err
	}
	err = r.scan(ctx, "SELECT ifnull(max(id), 0) FROM events", nil, &last)
	return max(last, pruned), pruned, err
}

func (r *readTx) events(ctx context.Context, q EventQuery) (EventPage, error) {
	last, pruned, err := r.lastEvent(ctx)
	if err != nil {
		return EventPage{}, err
	}
	page := EventPage{Events: []bridge.Event{}, Next: max(q.After, pruned), Reset: q.After > 0 && q.After < pruned}
	if q.After > last {
		page.Next, page.Reset = last, true
		return page, nil
	}
	entries, err := r.entries(ctx, q, page.Next)
	if err != nil {
		return EventPage{}, err
	}
	if n := len(entries); n > 0 {
		page.Next = entries[n-1].id
	}
	page.More = len(entries) > 0 && page.Next < last
	page.Events, err = r.render(ctx, entries)
	return page, err
}

// entry is a row of the log.
type entry struct {
	id, message, chat int64
	kind              int
	data              string
	at                int64
	wanted            bool
}

// entries reads the log from a number on until the page is full. The last one
// read is answered even when it is not wanted: it is where reading goes on.
func (r *readTx) entries(ctx context.Context, q EventQuery, after int64) ([]entry, error) {
	wants, err := r.filter(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, err := r.query(ctx, `
		SELECT e.id, e.type, ifnull(e.message, 0), ifnull(m.chat, ifnull(e.chat, 0)), ifnull(e.data, ''), e.at
		FROM events e LEFT JOIN messages m ON m.arrival = e.message
		WHERE e.id > ? ORDER BY e.id LIMIT ?`, after, eventWindow)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []entry
	for limit := limitOf(q.Limit); limit > 0 && rows.Next(); {
		var e entry
		if err := rows.Scan(&e.id, &e.kind, &e.message, &e.chat, &e.data, &e.at); err != nil {
			return nil, err
		}
		e.wanted = wants(e)
		if n := len(list); n > 0 && !list[n-1].wanted {
			list = list[:n-1]
		}
		list = append(list, e)
		if e.wanted {
			limit--
		}
	}
	return list, rows.Err()
}

// filter returns what tells the entries that q asks for.
func (r *readTx) filter(ctx context.Context, q EventQuery) (func(entry) bool, error) {
	chat, err := r.eventChat(ctx, q.Chat)
	if err != nil {
		return nil, err
	}
	only, err := r.chatSet(ctx, q.Only)
	if err != nil {
		return nil, err
	}
	types := make(map[bridge.EventType]bool, len(q.Types))
	for _, kind := range q.Types {
		types[kind] = true
	}
	return func(e entry) bool {
		return (len(types) == 0 || types[typeOf(e.kind)]) && (q.Chat == "" || e.chat == chat && chat != 0) &&
			(q.Only == nil || only[e.chat])
	}, nil
}

// eventChat returns the chat that is asked for, 0 when it is not stored yet.
func (r *readTx) eventChat(ctx context.Context, jid bridge.JID) (int64, error) {
	if jid == "" {
		return 0, nil
	}
	id, err := r.findChat(ctx, jid)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return 0, nil
	}
	return id, err
}

func typeOf(kind int) bridge.EventType {
	if kind <= 0 || kind >= len(eventTypes) {
		return ""
	}
	return eventTypes[kind]
}

// render joins the entries that are wanted with what they are about.
func (r *readTx) render(ctx context.Context, entries []entry) ([]bridge.Event, error) {
	entries = slices.DeleteFunc(entries, func(e entry) bool { return !e.wanted })
	messages, err := r.eventMessages(ctx, entries)
	if err != nil {
		return nil, err
	}
	events := make([]bridge.Event, 0, len(entries))
	for _, e := range entries {
		event := bridge.Event{ID: e.id, Type: typeOf(e.kind), At: bridge.Millis(e.at)}
		err := r.addContent(ctx, &event, e, messages)
		if err == sql.ErrNoRows {
			continue // what it was about is gone
		}
		if err != nil {
			return nil, err
		}
		events = append(events, event)
	}
	return events, nil
}

// eventMessages reads all messages of a page at once.
func (r *readTx) eventMessages(ctx context.Context, entries []entry) (map[int64]*bridge.Message, error) {
	var wanted []int64
	for _, e := range entries {
		if e.message != 0 {
			wanted = append(wanted, e.message)
		}
	}
	slices.Sort(wanted)
	messages, positions, err := r.messagesAt(ctx, slices.Compact(wanted))
	if err != nil {
		return nil, err
	}
	bySeq := make(map[int64]*bridge.Message, len(messages))
	for i, p := range positions {
		bySeq[p.seq] = &messages[i]
	}
	return bySeq, nil
}

func (r *readTx) addContent(ctx context.Context, event *bridge.Event, e entry, messages map[int64]*bridge.Message) error {
	switch e.kind {
	case eventMessageCreated, eventMessageUpdated, eventMessageStatus:
		m, ok := messages[e.message]
		if !ok {
			return sql.ErrNoRows
		}
		event.Message, event.ChatJID = m, m.Chat
	case eventChatUpdated:
		chat, err := r.chat(ctx, e.chat)
		if err != nil {
			return err
		}
		event.Chat, event.ChatJID = &chat, chat.JID
	case eventGroupUpdated:
		group, err := r.group(ctx, e.chat)
		if err != nil {
			return err
		}
		event.Group, event.ChatJID = &group, group.JID
	case eventAccountStatus:
		event.Status = new(bridge.Status)
		return json.Unmarshal([]byte(e.data), event.Status)
	default:
		return sql.ErrNoRows
	}
	return nil
}
