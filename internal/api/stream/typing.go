package stream

import (
	"slices"
	"sync"
	"time"

	"bridged/internal/bridge"
)

// maxTyping bounds how many typing people are remembered.
const maxTyping = 1000

// Typing sends typing indicators to streams of events. They are not stored. It is safe for
// concurrent use.
type Typing struct {
	now func() time.Time

	mu      sync.Mutex
	active  map[typist]*typed      // guarded by mu
	readers map[*typingReader]bool // guarded by mu
}

// typist is a person in a chat.
type typist struct{ chat, person bridge.JID }

// typed is the last event of a typist. Its timer pauses the typist, since the apps do not
// always report a pause.
type typed struct {
	event bridge.TypingEvent
	ends  *time.Timer
}

// NewTyping returns a Typing without typists. now sets the time of its events.
func NewTyping(now func() time.Time) *Typing {
	return &Typing{now: now, active: make(map[typist]*typed), readers: make(map[*typingReader]bool)}
}

// Note records what a person does in a chat; both JIDs are canonical. Streams get the changes,
// and a pause if nothing follows for [bridge.TypingTime].
func (t *Typing) Note(chat, person bridge.JID, state bridge.TypingState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note(typist{chat, person}, state)
}

// note is Note for callers that hold mu.
func (t *Typing) note(who typist, state bridge.TypingState) {
	was := t.active[who]
	if was == nil && (state == bridge.TypingPaused || len(t.active) >= maxTyping) {
		return
	}
	if was != nil {
		was.ends.Stop()
		delete(t.active, who)
	}
	event := bridge.TypingEvent{Type: bridge.EventTyping, At: bridge.At(t.now()), ChatJID: who.chat, Typing: bridge.Typing{SenderJID: who.person, State: state}}
	if was == nil || was.event.Typing.State != state {
		for reader := range t.readers {
			reader.add(event)
		}
	}
	if state == bridge.TypingPaused {
		return
	}
	is := &typed{event: event}
	is.ends = time.AfterFunc(bridge.TypingTime, func() { t.expire(who, is) })
	t.active[who] = is
}

// expire pauses a typist, unless there was a newer event.
func (t *Typing) expire(who typist, was *typed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.active[who] == was {
		t.note(who, bridge.TypingPaused)
	}
}

// typingReader holds the events that a stream has yet to send. typing.mu guards pending.
type typingReader struct {
	typing  *Typing
	wake    chan struct{}
	pending []bridge.TypingEvent
}

// open returns a reader whose first events are the people who type now.
func (t *Typing) open() *typingReader {
	r := &typingReader{typing: t, wake: make(chan struct{}, 1)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readers[r] = true
	for _, is := range t.active {
		r.add(is.event)
	}
	return r
}

func (r *typingReader) close() {
	r.typing.mu.Lock()
	defer r.typing.mu.Unlock()
	delete(r.typing.readers, r)
}

// add replaces the pending event of the same person, so that a slow reader does not get
// outdated ones. The caller holds mu.
func (r *typingReader) add(event bridge.TypingEvent) {
	r.pending = slices.DeleteFunc(r.pending, func(old bridge.TypingEvent) bool {
		return old.ChatJID == event.ChatJID && old.Typing.SenderJID == event.Typing.SenderJID
	})
	r.pending = append(r.pending, event)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// news returns a channel that can be received from when there are events; nil if r is nil.
func (r *typingReader) news() <-chan struct{} {
	if r == nil {
		return nil
	}
	return r.wake
}

func (r *typingReader) take() (events []bridge.TypingEvent) {
	r.typing.mu.Lock()
	defer r.typing.mu.Unlock()
	events, r.pending = r.pending, nil
	return events
}
