package read

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/singleflight"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/settings"
)

// EventQuery asks for events after a number that pass a filter.
type EventQuery struct {
	bridge.EventFilter
	Only  []bridge.JID // the chats that the reader may see; nil for all
	After int64
	Limit int // 0 is 100
	Bytes int // of JSON that a page may take, if it has more than one event; 0 is bridge.PageBytes
}

// EventPage holds a part of the log of events.
type EventPage struct {
	Events []bridge.Event // may be empty although more follow
	Next   int64          // the After of the next page
	More   bool
	Size   int // of the events in JSON, in bytes, approximately
	// Reset means that the reader has missed events: events after After were removed, or After is
	// from another log, because a backup was restored. 0 is always the beginning of the log.
	Reset bool
}

// EventWindow bounds how many events a read of one page looks at.
const EventWindow = 10_000

// Events reads the log. An event shows the current state of its message, chat, group or call, and is
// left out if that was removed. Call store.Changed before reading. Callers share the events and must not
// change them.
func (s *Reader) Events(ctx context.Context, q EventQuery) (EventPage, error) {
	text, _ := json.Marshal(q) // numbers and texts
	key, reads := string(text), s.eventReads.Load()
	if last := reads.last.Load(); last != nil && last.key == key {
		return last.page, nil
	}
	read := func() (any, error) {
		page, err := As(ctx, s, "read events", func(r *Snapshot) EventPage {
			r.limitTo(q.Only)
			return r.events(q)
		})
		if err == nil {
			reads.last.Store(&eventRead{key, page})
		}
		return page, err
	}
	page, err, shared := reads.Do(key, read)
	if err != nil && shared { // perhaps only the other caller has cancelled
		page, err = read()
	}
	return page.(EventPage), err
}

// eventReads shares pages of the log until the next commit: all streams wake at the same commit, and
// most read the same page.
type eventReads struct {
	singleflight.Group
	last atomic.Pointer[eventRead]
}

type eventRead struct {
	key  string
	page EventPage
}

// LastEvent returns the number of the newest event.
func (s *Reader) LastEvent(ctx context.Context) (int64, error) {
	return As(ctx, s, "read the log", func(r *Snapshot) int64 {
		last, _ := settings.LastEvent(r.Conn)
		return last
	})
}

func (r *Snapshot) events(q EventQuery) EventPage {
	last, pruned := settings.LastEvent(r.Conn)
	page := EventPage{Events: []bridge.Event{}, Next: max(q.After, pruned), Reset: q.After > 0 && q.After < pruned}
	if q.After > last {
		page.Next, page.Reset = last, true
		return page
	}
	entries, next := r.entries(q, page.Next, last)
	page.Next, page.More = next, next < last
	budget := &pageBudget{most: cmp.Or(q.Bytes, r.s.Tuning.Page)}
	events, rendered := r.render(entries, budget)
	if budget.full {
		page.Next, page.More = entries[rendered-1].id, true
	}
	page.Events, page.Size = events, budget.used
	return page
}

// entry is a row of the log.
type entry struct {
	EntryKey
	id, at int64
}

// entries reads the rows that match q after a number, until the page is full. It also returns the last
// number that it has looked at. last is the end of the log.
func (r *Snapshot) entries(q EventQuery, after, last int64) ([]entry, int64) {
	upTo := min(after+EventWindow, last)
	query, args := r.EntriesQuery(q, after, upTo)
	scan := func(row *sqlite.Row) (e entry) {
		var number int
		row.Scan(&e.id, &number, &e.Message, &e.Chat, &e.Data, &e.at)
		if number > 0 && number < len(columns.EventTypes) {
			e.Event = columns.EventTypes[number]
		}
		return e
	}
	list := sqlite.Collect(r.Conn, scan, query, args...)
	if n := len(list); n == sqlite.LimitOf(q.Limit) {
		upTo = list[n-1].id
	}
	return list, upTo
}

// renderedAtOnce limits the entries whose messages one query reads.
const renderedAtOnce = 32

// render reads the content of entries until the page is full. It also returns how many entries it has
// looked at.
func (r *Snapshot) render(entries []entry, budget *pageBudget) (events []bridge.Event, rendered int) {
	events = make([]bridge.Event, 0, len(entries))
	for some := range slices.Chunk(entries, renderedAtOnce) {
		messages := r.eventMessages(some)
		for _, e := range some {
			event := bridge.Event{ID: e.id, Type: e.Event, At: bridge.Millis(e.at)}
			switch {
			case !r.addContent(&event, e, messages): // its subject was removed
			case !budget.takes(event.Size()):
				return events, rendered
			default:
				events = append(events, event)
			}
			rendered++
		}
	}
	return events, rendered
}

// eventMessages reads the messages of some entries at once.
func (r *Snapshot) eventMessages(entries []entry) map[int64]*bridge.Message {
	var wanted []int64
	for _, e := range entries {
		if e.Message != 0 {
			wanted = append(wanted, e.Message)
		}
	}
	slices.Sort(wanted)
	return bySeq(r.messagesAt(slices.Compact(wanted), nil))
}

// addContent adds the message, chat, group, call, status or backup of an event, and reports whether
// it is there.
func (r *Snapshot) addContent(event *bridge.Event, e entry, messages map[int64]*bridge.Message) (found bool) {
	switch e.Event {
	case bridge.EventMessageCreated, bridge.EventMessageUpdated, bridge.EventMessageStatus:
		m := messages[e.Message]
		if m == nil {
			m = r.removedMessage(e)
		}
		if m != nil {
			event.Message, event.ChatJID = m, m.Chat
			if e.Event == bridge.EventMessageUpdated && e.Data != "" {
				r.addChanges(event, e.Data)
			}
		}
		return m != nil
	case bridge.EventChatUpdated:
		chat, found := r.chat(e.Chat)
		event.Chat, event.ChatJID = &chat, chat.JID
		return found
	case bridge.EventGroupUpdated:
		group, found := r.group(e.Chat)
		event.Group, event.ChatJID = &group, group.JID
		if e.Data != "" {
			r.addGroupData(event, e.Data)
		}
		return found
	case bridge.EventCallCreated, bridge.EventCallUpdated:
		call, found := r.call("k.seq = CAST(? AS INTEGER)", e.Data)
		event.Call, event.ChatJID = &call, call.ChatJID
		return found
	case bridge.EventScheduled:
		return r.addScheduled(event, e.Data)
	case bridge.EventLabelUpdated:
		event.Label = new(bridge.LabelUpdate)
		r.Decode([]byte(e.Data), event.Label)
		return true
	case bridge.EventAccountStatus:
		event.Status = new(bridge.Status)
		r.Decode([]byte(e.Data), event.Status)
		return true
	case bridge.EventBackupFailed:
		event.Backup = new(bridge.BackupFailure)
		r.Decode([]byte(e.Data), event.Backup)
		return true
	}
	return false
}

// EntriesQuery selects the rows of the log that match q, after a number and up to another, at most a
// page. A list of chats that are not stored matches nothing.
func (r *Snapshot) EntriesQuery(q EventQuery, after, upTo int64) (string, []any) {
	var f sqlite.Filter
	f.Add("e.id > ? AND e.id <= ?", after, upTo)
	if len(q.Types) > 0 {
		f.Add("e.type IN (" + typeNumbers(q.Types) + ")")
	}
	if q.FromMe != nil {
		f.Add("CASE WHEN e.message IS NOT NULL THEN m.from_me = ? WHEN e.type = ? THEN e.data ->> 'fromMe' = ? ELSE TRUE END", *q.FromMe, columns.EventNumber(bridge.EventMessageUpdated), *q.FromMe)
	}
	const chat = "ifnull(m.chat, ifnull(e.chat, 0))"
	if q.ChatType == bridge.ChatsGroup || q.ChatType == bridge.ChatsIndividual {
		f.Add("EXISTS (SELECT 1 FROM chats c WHERE c.id = "+chat+" AND c.is_group = ?)", q.ChatType == bridge.ChatsGroup)
	}
	if q.Only != nil {
		f.Add(chat+" IN (SELECT value FROM json_each(?))", r.chatIDs(q.Only))
	}
	if len(q.Chats) > 0 {
		f.Add(chat+" IN (SELECT value FROM json_each(?))", r.chatIDs(q.Chats))
	}
	if len(q.ExcludeChats) > 0 {
		f.Add(chat+" NOT IN (SELECT value FROM json_each(?))", r.chatIDs(q.ExcludeChats))
	}
	return "SELECT e.id, e.type, ifnull(e.message, 0), " + chat + `, ifnull(e.data, ''), e.at
		FROM events e LEFT JOIN messages m ON m.seq = e.message
		WHERE ` + f.Where() + " ORDER BY e.id" + sqlite.Limited, append(f.Args, sqlite.LimitOf(q.Limit))
}

// typeNumbers returns the numbers of types, separated by commas.
func typeNumbers(types []bridge.EventType) string {
	var numbers []string
	for _, name := range types {
		if number := columns.EventNumber(name); number > 0 {
			numbers = append(numbers, strconv.Itoa(number))
		}
	}
	return strings.Join(numbers, ", ")
}

// addChanges adds the description of a change to its event.
func (r *Snapshot) addChanges(event *bridge.Event, data string) {
	var change columns.MessageChange
	r.Decode([]byte(data), &change)
	event.Changes.Fields = change.Changes
	for _, reaction := range change.Reactions {
		by := r.s.o.People.Get(reaction.Sender)
		event.Reactions = append(event.Reactions, bridge.MessageReaction{SenderJID: by.JID(), Emoji: reaction.Emoji, Timestamp: bridge.Millis(reaction.Timestamp)})
	}
	for _, voter := range change.Voters {
		by := r.s.o.People.Get(voter)
		event.Voters = append(event.Voters, by.JID())
	}
}

// removedMessage returns the message of an event whose row was removed, or nil.
func (r *Snapshot) removedMessage(e entry) *bridge.Message {
	var kept columns.NoMessage
	var chat bridge.JID
	if e.Data == "" || !r.Find("SELECT jid FROM chats WHERE id = ?", []any{e.Chat}, &chat) {
		return nil
	}
	r.Decode([]byte(e.Data), &kept)
	p, removed := r.s.o.People.Get(kept.Sender), bridge.Millis(kept.RemovedAt)
	return &bridge.Message{
		Chat: r.s.Canonical(chat), ID: kept.ID, FromMe: kept.FromMe, MessageType: bridge.TypeUndecryptable, Timestamp: bridge.Millis(kept.Timestamp),
		SenderJID: p.JID(), SenderLID: p.LID, SenderUsername: p.UsernameOrNil(), PushName: p.AuthorName(),
		Reactions: []bridge.MessageReaction{}, DeletedAt: &removed,
	}
}

// EntryKey identifies an event of a transaction. Content is read later, so that one event
// is enough.
type EntryKey struct {
	Event         bridge.EventType
	Message, Chat int64
	Data          string
}
