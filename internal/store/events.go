package store

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
	Next   int64          // to ask after next time
	More   bool
	Size   int // of the events in JSON, in bytes and about
	// Reset says that the reader has missed events: those after the number asked for were
	// removed, or the number is of another log (a backup was restored). 0 is the
	// beginning of the log, wherever that is.
	Reset bool
}

// eventWindow bounds how many events a read of one page looks at.
const eventWindow = 10_000

// Events reads the log. An event shows its message, chat, group or call as it is now, and
// is left out where that is gone. Ask for [Store.Changed] before reading. Readers share
// the events, and must not change them.
func (s *Store) Events(ctx context.Context, q EventQuery) (EventPage, error) {
	text, _ := json.Marshal(q) // numbers and texts
	key, reads := string(text), s.eventReads.Load()
	if last := reads.last.Load(); last != nil && last.key == key {
		return last.page, nil
	}
	read := func() (any, error) {
		page, err := readAs(ctx, s, "read events", func(r *readTx) EventPage {
			r.limitTo(q.Only)
			return r.events(q)
		})
		if err == nil {
			reads.last.Store(&eventRead{key, page})
		}
		return page, err
	}
	page, err, shared := reads.Do(key, read)
	if err != nil && shared { // perhaps only the other reader's caller went away
		page, err = read()
	}
	return page.(EventPage), err
}

// eventReads shares readings of the log until the next commit: streams all wake at the
// same commit, and most ask for the same part.
type eventReads struct {
	singleflight.Group
	last atomic.Pointer[eventRead]
}

type eventRead struct {
	key  string
	page EventPage
}

// LastEvent returns the number of the newest event.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	return readAs(ctx, s, "read the log", func(r *readTx) int64 {
		last, _ := settings.LastEvent(r.Conn)
		return last
	})
}

func (r *readTx) events(q EventQuery) EventPage {
	last, pruned := settings.LastEvent(r.Conn)
	page := EventPage{Events: []bridge.Event{}, Next: max(q.After, pruned), Reset: q.After > 0 && q.After < pruned}
	if q.After > last {
		page.Next, page.Reset = last, true
		return page
	}
	entries, next := r.entries(q, page.Next, last)
	page.Next, page.More = next, next < last
	room := &pageRoom{most: cmp.Or(q.Bytes, r.s.tuning.page)}
	events, rendered := r.render(entries, room)
	if room.full {
		page.Next, page.More = entries[rendered-1].id, true
	}
	page.Events, page.Size = events, room.used
	return page
}

// entry is a row of the log.
type entry struct {
	entryKey
	id, at int64
}

// entries reads the rows that q asks for after a number, until the page is full, and
// returns up to which number it has read. last is the end of the log.
func (r *readTx) entries(q EventQuery, after, last int64) ([]entry, int64) {
	upTo := min(after+eventWindow, last)
	query, args := r.entriesQuery(q, after, upTo)
	scan := func(row *sqlite.Row) (e entry) {
		var number int
		row.Scan(&e.id, &number, &e.message, &e.chat, &e.data, &e.at)
		if number > 0 && number < len(eventTypes) {
			e.event = eventTypes[number]
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

// render reads the content of entries, as far as there is room, and returns how many of
// them it has gone through.
func (r *readTx) render(entries []entry, room *pageRoom) (events []bridge.Event, rendered int) {
	events = make([]bridge.Event, 0, len(entries))
	for some := range slices.Chunk(entries, renderedAtOnce) {
		messages := r.eventMessages(some)
		for _, e := range some {
			event := bridge.Event{ID: e.id, Type: e.event, At: bridge.Millis(e.at)}
			switch {
			case !r.addContent(&event, e, messages): // what it was about is gone
			case !room.takes(event.Size()):
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
func (r *readTx) eventMessages(entries []entry) map[int64]*bridge.Message {
	var wanted []int64
	for _, e := range entries {
		if e.message != 0 {
			wanted = append(wanted, e.message)
		}
	}
	slices.Sort(wanted)
	return bySeq(r.messagesAt(slices.Compact(wanted), nil))
}

// addContent adds the message, chat, group, call or status of an event, and reports whether
// it is there.
func (r *readTx) addContent(event *bridge.Event, e entry, messages map[int64]*bridge.Message) (found bool) {
	switch e.event {
	case bridge.EventMessageCreated, bridge.EventMessageUpdated, bridge.EventMessageStatus:
		m := messages[e.message]
		if m == nil {
			m = r.removedMessage(e)
		}
		if m != nil {
			event.Message, event.ChatJID = m, m.Chat
			if e.event == bridge.EventMessageUpdated && e.data != "" {
				r.addChanges(event, e.data)
			}
		}
		return m != nil
	case bridge.EventChatUpdated:
		chat, found := r.chat(e.chat)
		event.Chat, event.ChatJID = &chat, chat.JID
		return found
	case bridge.EventGroupUpdated:
		group, found := r.group(e.chat)
		event.Group, event.ChatJID = &group, group.JID
		if e.data != "" {
			r.addGroupData(event, e.data)
		}
		return found
	case bridge.EventCallCreated, bridge.EventCallUpdated:
		call, found := r.call("k.seq = CAST(? AS INTEGER)", e.data)
		event.Call, event.ChatJID = &call, call.ChatJID
		return found
	case bridge.EventAccountStatus:
		event.Status = new(bridge.Status)
		r.Decode([]byte(e.data), event.Status)
		return true
	}
	return false
}

// entriesQuery selects the rows of the log after a number and up to another that q asks
// for, as many as its page has. A list of chats of which none is stored matches nothing.
func (r *readTx) entriesQuery(q EventQuery, after, upTo int64) (string, []any) {
	var f sqlite.Filter
	f.Add("e.id > ? AND e.id <= ?", after, upTo)
	if len(q.Types) > 0 {
		f.Add("e.type IN (" + typeNumbers(q.Types) + ")")
	}
	if q.FromMe != nil {
		f.Add("CASE WHEN e.message IS NOT NULL THEN m.from_me = ? WHEN e.type = ? THEN e.data ->> 'fromMe' = ? ELSE TRUE END", *q.FromMe, eventNumber(bridge.EventMessageUpdated), *q.FromMe)
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
		if number := eventNumber(name); number > 0 {
			numbers = append(numbers, strconv.Itoa(number))
		}
	}
	return strings.Join(numbers, ", ")
}

// eventTypes lists the types of events by their numbers in the table events. The numbers are
// stored: they never change their meaning.
var eventTypes = [...]bridge.EventType{
	1: bridge.EventMessageCreated,
	2: bridge.EventMessageUpdated,
	3: bridge.EventMessageStatus,
	4: bridge.EventChatUpdated,
	5: bridge.EventGroupUpdated,
	6: bridge.EventAccountStatus,
	7: bridge.EventCallCreated,
	8: bridge.EventCallUpdated,
}

func eventNumber(name bridge.EventType) int { return slices.Index(eventTypes[:], name) }

// messageChange is the data of the event of a message that has changed.
type messageChange struct {
	Changes   []bridge.MessageField `json:"changes"`
	Reactions []reactionChange      `json:"reactions,omitempty"`
	Voters    []int64               `json:"voters,omitempty"` // people
}

// reactionChange is a reaction that was set, or without an emoji removed.
type reactionChange struct {
	Sender    int64  `json:"sender"` // a person
	Emoji     string `json:"emoji"`
	Timestamp int64  `json:"timestamp"` // in milliseconds
}

// maxNamed bounds the reactions, and the voters, that one event names.
const maxNamed = 100

// logChange logs a change of a message. All of one transaction are one event.
func (t *writeTx) logChange(seq int64, change messageChange) {
	if t.silent {
		return
	}
	logged := t.changed[seq]
	if logged == nil {
		t.appendEntry(entryKey{event: bridge.EventMessageUpdated, message: seq, data: t.Encode(change)})
		if t.changed == nil {
			t.changed = make(map[int64]*loggedChange)
		}
		t.changed[seq] = &loggedChange{t.numbers.event, change}
		return
	}
	logged.add(change)
	t.Run("UPDATE events SET data = ? WHERE id = ?", t.Encode(logged.messageChange), logged.event)
}

// loggedChange is a change that a transaction has logged.
type loggedChange struct {
	event int64
	messageChange
}

func (m *messageChange) add(other messageChange) {
	for _, field := range other.Changes {
		if !slices.Contains(m.Changes, field) {
			m.Changes = append(m.Changes, field)
		}
	}
	m.Reactions = lastOf(append(m.Reactions, other.Reactions...))
	m.Voters = lastOf(append(m.Voters, other.Voters...))
}

func lastOf[T any](named []T) []T { return named[max(len(named)-maxNamed, 0):] }

// messageChanged logs which fields of a message have changed.
func (t *writeTx) messageChanged(seq int64, fields ...bridge.MessageField) {
	t.logChange(seq, messageChange{Changes: fields})
}

// addChanges adds what an event says of a change.
func (r *readTx) addChanges(event *bridge.Event, data string) {
	var change messageChange
	r.Decode([]byte(data), &change)
	event.Changes.Fields = change.Changes
	for _, reaction := range change.Reactions {
		by := r.s.people.Get(reaction.Sender)
		event.Reactions = append(event.Reactions, bridge.MessageReaction{SenderJID: by.JID(), Emoji: reaction.Emoji, Timestamp: bridge.Millis(reaction.Timestamp)})
	}
	for _, voter := range change.Voters {
		by := r.s.people.Get(voter)
		event.Voters = append(event.Voters, by.JID())
	}
}

// appendEvent appends an event of a message or of a chat; the other one is 0.
func (t *writeTx) appendEvent(event bridge.EventType, message, chat int64) {
	t.appendEntry(entryKey{event: event, message: message, chat: chat})
}

// appendEntry appends an event, unless the transaction has appended it already, or is
// silent. There is one writer: nothing with a lower number is ever committed later.
func (t *writeTx) appendEntry(key entryKey) {
	if t.silent || t.appended[key] {
		return
	}
	t.numbers.event++
	t.Run("INSERT INTO events (id, type, message, chat, data, at) VALUES (?, ?, nullif(?, 0), nullif(?, 0), nullif(?, ''), ?)",
		t.numbers.event, eventNumber(key.event), key.message, key.chat, key.data, t.at)
	if t.appended == nil {
		t.appended = make(map[entryKey]bool)
	}
	t.appended[key] = true
}

// saveStatus logs the account's status if it has changed, without its secrets for pairing:
// more people read the log than may pair the account.
func (t *writeTx) saveStatus(f bridge.Status) {
	f.PairingCode, f.PairingCodeExpiresAt, f.QR, f.Passkey = nil, nil, nil, nil
	data := t.Encode(f)
	if settings.Get(t.Conn, settingStatus) == data {
		return
	}
	settings.Set(t.Conn, settingStatus, data)
	t.appendEntry(entryKey{event: bridge.EventAccountStatus, data: data})
}

// noMessage is the data of the event of a placeholder whose row was removed.
type noMessage struct {
	messageChange
	ID        string `json:"id"`
	Sender    int64  `json:"sender"` // a person
	FromMe    bool   `json:"fromMe"`
	Timestamp int64  `json:"timestamp"` // in milliseconds, as below
	RemovedAt int64  `json:"removedAt"`
}

// saveNoMessage removes a placeholder that was for no message, and logs it as deleted.
func (t *writeTx) saveNoMessage(f bridge.NoMessage) {
	m, found := t.findMessage(f.Chat, f.ID)
	if !found || !m.isPlaceholder() || m.isAlias || m.fromMe != f.FromMe {
		return
	}
	sender := t.EnsurePerson(f.Sender)
	if !t.couldBeOne(m.sender, sender) {
		return
	}
	t.removeMessage(m.seq)
	data := t.Encode(noMessage{messageChange: messageChange{Changes: []bridge.MessageField{bridge.ChangedDeleted}}, ID: f.ID, Sender: m.sender, FromMe: m.fromMe, Timestamp: m.timestamp, RemovedAt: t.at})
	t.appendEntry(entryKey{event: bridge.EventMessageUpdated, chat: m.chat, data: data})
}

// removedMessage returns the message of an event that has no row any more; nil for none.
func (r *readTx) removedMessage(e entry) *bridge.Message {
	var kept noMessage
	var chat bridge.JID
	if e.data == "" || !r.Find("SELECT jid FROM chats WHERE id = ?", []any{e.chat}, &chat) {
		return nil
	}
	r.Decode([]byte(e.data), &kept)
	p, removed := r.s.people.Get(kept.Sender), bridge.Millis(kept.RemovedAt)
	return &bridge.Message{
		Chat: r.s.Canonical(chat), ID: kept.ID, FromMe: kept.FromMe, MessageType: bridge.TypeUndecryptable, Timestamp: bridge.Millis(kept.Timestamp),
		SenderJID: p.JID(), SenderLID: p.LID, SenderUsername: p.UsernameOrNil(), PushName: p.AuthorName(),
		Reactions: []bridge.MessageReaction{}, DeletedAt: &removed,
	}
}
