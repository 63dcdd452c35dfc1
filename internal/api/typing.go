package api

import (
	"slices"
	"sync"
	"time"

	"bridged/internal/bridge"
)

// maxTyping bounds how many people are known to be typing.
const maxTyping = 1000

// Typing passes on to streams of events who types where. Nothing of it is stored. It is safe for
// concurrent use.
type Typing struct {
	now func() time.Time

	mu      sync.Mutex
	active  map[typist]*typed      // guarded by mu
	streams map[*typingStream]bool // guarded by mu
}

// typist is a person in a chat.
type typist struct{ chat, person bridge.JID }

// typed is what a typist does until the timer ends it: the apps do not always say so.
type typed struct {
	event bridge.TypingEvent
	ends  *time.Timer
}

// NewTyping returns a Typing in which nobody types. Its events have the time of a clock.
func NewTyping(now func() time.Time) *Typing {
	return &Typing{now: now, active: make(map[typist]*typed), streams: make(map[*typingStream]bool)}
}

// Note takes what a person does in a chat, both by their canonical JIDs. Streams hear of changes,
// and after [bridge.TypingTime] without news that the person has paused.
func (t *Typing) Note(chat, person bridge.JID, state bridge.TypingState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note(typist{chat, person}, state)
}

// note is Note of a caller that holds mu.
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
		for stream := range t.streams {
			stream.add(event)
		}
	}
	if state == bridge.TypingPaused {
		return
	}
	is := &typed{event: event}
	is.ends = time.AfterFunc(bridge.TypingTime, func() { t.expire(who, is) })
	t.active[who] = is
}

// expire ends what nothing was heard of since.
func (t *Typing) expire(who typist, was *typed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.active[who] == was {
		t.note(who, bridge.TypingPaused)
	}
}

// typingStream holds what a stream has still to send. typing.mu guards pending.
type typingStream struct {
	typing  *Typing
	wake    chan struct{}
	pending []bridge.TypingEvent
}

// open returns a stream that begins with those who type now.
func (t *Typing) open() *typingStream {
	s := &typingStream{typing: t, wake: make(chan struct{}, 1)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streams[s] = true
	for _, is := range t.active {
		s.add(is.event)
	}
	return s
}

func (s *typingStream) close() {
	s.typing.mu.Lock()
	defer s.typing.mu.Unlock()
	delete(s.typing.streams, s)
}

// add replaces what was not sent of the same person: a slow reader misses what is over. The
// caller holds mu.
func (s *typingStream) add(event bridge.TypingEvent) {
	s.pending = slices.DeleteFunc(s.pending, func(old bridge.TypingEvent) bool {
		return old.ChatJID == event.ChatJID && old.Typing.SenderJID == event.Typing.SenderJID
	})
	s.pending = append(s.pending, event)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// news returns a channel that has a token when there is something to take; nil for no stream.
func (s *typingStream) news() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.wake
}

func (s *typingStream) take() (events []bridge.TypingEvent) {
	s.typing.mu.Lock()
	defer s.typing.mu.Unlock()
	events, s.pending = s.pending, nil
	return events
}
