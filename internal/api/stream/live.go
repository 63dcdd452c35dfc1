package stream

import (
	"slices"
	"sync"
	"time"

	"bridged/internal/bridge"
)

// maxTyping bounds how many typing people are remembered.
const maxTyping = 1000

// Live sends events to streams that are not stored: typing indicators, and the progress of imports.
// It is safe for concurrent use.
type Live struct {
	now func() time.Time

	mu      sync.Mutex
	active  map[typist]*typed    // guarded by mu
	readers map[*liveReader]bool // guarded by mu
}

// typist is a person in a chat.
type typist struct{ chat, person bridge.JID }

// typed is the last event of a typist. Its timer reports a pause, because the apps do not
// always do so.
type typed struct {
	event bridge.LiveEvent
	ends  *time.Timer
}

// NewLive returns a Live without typists. now sets the time of its events.
func NewLive(now func() time.Time) *Live {
	return &Live{now: now, active: make(map[typist]*typed), readers: make(map[*liveReader]bool)}
}

// NoteImport sends the progress of an import into a chat, whose JID is canonical.
func (l *Live) NoteImport(chat bridge.JID, is bridge.ImportProgress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(l.event(bridge.EventImport, chat, nil, &is))
}

// event returns an event with the current time.
func (l *Live) event(kind bridge.EventType, chat bridge.JID, typing *bridge.Typing, progress *bridge.ImportProgress) bridge.LiveEvent {
	return bridge.LiveEvent{Type: kind, At: bridge.At(l.now()), ChatJID: chat, Typing: typing, Import: progress}
}

// send passes an event to all readers. The caller holds mu.
func (l *Live) send(event bridge.LiveEvent) {
	for reader := range l.readers {
		reader.add(event)
	}
}

// NoteTyping records what a person does in a chat; both JIDs are canonical. Streams get the changes,
// and a pause if nothing follows for [bridge.TypingTime].
func (l *Live) NoteTyping(chat, person bridge.JID, state bridge.TypingState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note(typist{chat, person}, state)
}

// note is NoteTyping for callers that hold mu.
func (l *Live) note(who typist, state bridge.TypingState) {
	was := l.active[who]
	if was == nil && (state == bridge.TypingPaused || len(l.active) >= maxTyping) {
		return
	}
	if was != nil {
		was.ends.Stop()
		delete(l.active, who)
	}
	event := l.event(bridge.EventTyping, who.chat, &bridge.Typing{SenderJID: who.person, State: state}, nil)
	if was == nil || was.event.Typing.State != state {
		l.send(event)
	}
	if state == bridge.TypingPaused {
		return
	}
	now := &typed{event: event}
	now.ends = time.AfterFunc(bridge.TypingTime, func() { l.expire(who, now) })
	l.active[who] = now
}

// expire reports that a typist has paused, unless there was a newer event.
func (l *Live) expire(who typist, was *typed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active[who] == was {
		l.note(who, bridge.TypingPaused)
	}
}

// liveReader holds the events that a stream has yet to send. live.mu guards pending.
type liveReader struct {
	live    *Live
	wake    chan struct{}
	pending []bridge.LiveEvent
}

// open returns a reader whose first events are the people who type now.
func (l *Live) open() *liveReader {
	r := &liveReader{live: l, wake: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers[r] = true
	for _, last := range l.active {
		r.add(last.event)
	}
	return r
}

func (r *liveReader) close() {
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	delete(r.live.readers, r)
}

// add replaces the pending event of the same person or import, so that a slow reader does not get
// outdated ones. The caller holds mu.
func (r *liveReader) add(event bridge.LiveEvent) {
	r.pending = slices.DeleteFunc(r.pending, func(old bridge.LiveEvent) bool {
		if old.Type != event.Type || old.ChatJID != event.ChatJID {
			return false
		}
		return event.Typing != nil && old.Typing.SenderJID == event.Typing.SenderJID || event.Import != nil && old.Import.ID == event.Import.ID
	})
	r.pending = append(r.pending, event)
	bridge.Wake(r.wake)
}

// news returns a channel that can be received from when there are events; nil if r is nil.
func (r *liveReader) news() <-chan struct{} {
	if r == nil {
		return nil
	}
	return r.wake
}

func (r *liveReader) take() (events []bridge.LiveEvent) {
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	events, r.pending = r.pending, nil
	return events
}
