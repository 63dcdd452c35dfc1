package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"bridged/internal/bridge"
)

// EventQuery is a part of the log of events: what came after a number and passes
// a filter. Only, unless it is nil, names the chats that may be told of, and
// nothing else is.
type EventQuery struct {
	bridge.EventFilter
	Only  []bridge.JID
	After int64
	Limit int // 0 is 100
	Bytes int // of JSON that a page may take, if it has more than one event; 0 is bridge.PageBytes
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

	size int // of the events, in bytes of JSON
}

// eventWindow is how many events are looked at for one page when most are not
// asked for: a read should not last long.
const eventWindow = 10_000

// Events reads the log, rendered in today's shape. What an event is about may
// be gone, or have moved on since: the event then is left out, or shows it as
// it is now. Ask for [Store.Changed] before reading. Other readers may be given
// the same events: they must not be changed.
func (s *Store) Events(ctx context.Context, q EventQuery) (EventPage, error) {
	page, err := s.eventCache.get(ctx, q, func() (page EventPage, err error) {
		err = s.read(ctx, func(r *readTx) (err error) {
			if err := r.limitTo(ctx, q.Only); err != nil {
				return err
			}
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
	entries, next, err := r.entries(ctx, q, page.Next, last)
	if err != nil {
		return EventPage{}, err
	}
	page.Next, page.More = next, next < last
	room := newPageRoom(cmp.Or(q.Bytes, r.s.tuning.page))
	events, rendered, err := r.render(ctx, entries, room)
	if room.full {
		page.Next, page.More = entries[rendered-1].id, true
	}
	page.Events, page.size = events, room.used
	return page, err
}

// entry is a row of the log.
type entry struct {
	id, message, chat int64
	kind              int
	data              string
	at                int64
}

// entries reads what q asks for of the log after a number, until the page is
// full, and up to which number that was. last is the end of the log.
func (r *readTx) entries(ctx context.Context, q EventQuery, after, last int64) ([]entry, int64, error) {
	upTo := min(after+eventWindow, last)
	query, args, err := r.entriesQuery(ctx, q, after, upTo)
	if err != nil {
		return nil, 0, err
	}
	var list []entry
	err = r.each(ctx, query, args, func(rows *resultSet) error {
		var e entry
		err := rows.Scan(&e.id, &e.kind, &e.message, &e.chat, &e.data, &e.at)
		list = append(list, e)
		return err
	})
	if n := len(list); n == limitOf(q.Limit) {
		upTo = list[n-1].id
	}
	return list, upTo, err
}

func typeOf(kind int) bridge.EventType {
	if kind <= 0 || kind >= len(eventTypes) {
		return ""
	}
	return eventTypes[kind]
}

// renderedAtOnce is of how many entries the messages are read in one query. More
// than a page has room for may be read in vain.
const renderedAtOnce = 32

// render joins entries with what they are about, as far as there is room, and
// returns how many of them it has gone through.
func (r *readTx) render(ctx context.Context, entries []entry, room *pageRoom) (events []bridge.Event, rendered int, err error) {
	events = make([]bridge.Event, 0, len(entries))
	for some := range slices.Chunk(entries, renderedAtOnce) {
		messages, err := r.eventMessages(ctx, some)
		if err != nil {
			return nil, 0, err
		}
		for _, e := range some {
			event := bridge.Event{ID: e.id, Type: typeOf(e.kind), At: bridge.Millis(e.at)}
			err := r.addContent(ctx, &event, e, messages)
			switch {
			case err == sql.ErrNoRows: // what it was about is gone
			case err != nil:
				return nil, 0, err
			case !room.takes(event.Size()):
				return events, rendered, nil
			default:
				events = append(events, event)
			}
			rendered++
		}
	}
	return events, rendered, nil
}

// eventMessages reads the messages of some entries at once.
func (r *readTx) eventMessages(ctx context.Context, entries []entry) (map[int64]*bridge.Message, error) {
	var wanted []int64
	for _, e := range entries {
		if e.message != 0 {
			wanted = append(wanted, e.message)
		}
	}
	slices.Sort(wanted)
	messages, positions, err := r.messagesAt(ctx, slices.Compact(wanted), nil)
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
			removed, err := r.removedMessage(ctx, e)
			if err != nil {
				return err
			}
			m = removed
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
		if e.data != "" {
			event.JoinRequests, err = r.joinRequests(ctx, e.data, event.At)
			return err
		}
	case eventCallCreated, eventCallUpdated:
		call, err := r.callAt(ctx, e.data)
		if err != nil {
			return err
		}
		event.Call, event.ChatJID = &call, call.ChatJID
	case eventAccountStatus:
		event.Status = new(bridge.Status)
		return json.Unmarshal([]byte(e.data), event.Status)
	default:
		return sql.ErrNoRows
	}
	return nil
}
