package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/store"
)

const (
	// heartbeat is shorter than the time after which proxies and phones give up.
	heartbeat = 15 * time.Second
	// writeTime limits how long it takes to read a piece of a stream. A slower reader is cut
	// off, and continues behind its last event.
	writeTime = time.Minute
	// retryTime says how long browsers wait before they come back.
	retryTime = 2 * time.Second
	// streamPage and streamBytes of JSON are what a reader that stops reading holds.
	streamPage  = 100
	streamBytes = bridge.PageBytes / 4
)

// eventStream writes the answer of a stream.
type eventStream struct {
	memory  *front.Memory // of the page that is sent
	control *http.ResponseController
	shown   int64 // the last id that was sent
}

// stream answers the log as server-sent events until one side ends it.
func (s *server) stream(w http.ResponseWriter, r *http.Request, q eventQuery) error {
	if err := front.Keep(r); err != nil {
		return err
	}
	q.Limit, q.Bytes = streamPage, streamBytes
	q.fromNow = !q.hasCursor
	if err := s.beginEvents(r.Context(), &q); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events to itself
	if r.Method == http.MethodHead {
		return nil
	}
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	q.memory = s.lists.Answer(w, q.family, writeTime)
	defer q.memory.Release()
	stream := &eventStream{memory: q.memory, control: http.NewResponseController(w)}
	if s.Typing != nil && (len(q.Types) == 0 || slices.Contains(q.Types, bridge.EventTyping)) {
		q.typing = s.Typing.open()
		defer q.typing.close()
	}
	err := s.sendEvents(r.Context(), stream, q)
	if err != nil && r.Context().Err() == nil && !errors.Is(err, errNotRead) {
		return err
	}
	hlog.FromRequest(r).Debug().AnErr("error", err).Msg("stream over")
	return nil
}

// sendEvents sends the log behind q.After, as long as the stream lives.
func (s *server) sendEvents(ctx context.Context, stream *eventStream, q eventQuery) error {
	if err := stream.begin(q.After); err != nil {
		return err
	}
	for page, err := range s.follow(ctx, q, heartbeat) {
		switch {
		case err != nil:
		case page.typing != nil:
			err = stream.sendTyping(s.typingFor(q, page.typing))
		case page.quiet:
			err = stream.beat(page.Next)
		default:
			err = stream.send(page.EventPage)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errNotRead ends a stream whose other side no longer reads.
var errNotRead = errors.New("the stream is not read")

// begin shows where the stream stands, for readers that are cut off before the first event.
func (e *eventStream) begin(after int64) error {
	e.shown = after
	return errors.Join(e.write("retry: %d\nid: %d\n\n", retryTime.Milliseconds(), after), e.flush())
}

// beat sends a comment, with the new place if other events were passed over.
func (e *eventStream) beat(next int64) error {
	text := ": heartbeat\n\n"
	if next != e.shown {
		text = fmt.Sprintf(": heartbeat\nid: %d\n\n", next)
		e.shown = next
	}
	return errors.Join(e.write("%s", text), e.flush())
}

// send sends a page of the log. A reset has the id before that of the events that follow.
func (e *eventStream) send(page store.EventPage) error {
	if page.Reset {
		before := page.Next
		if len(page.Events) > 0 {
			before = page.Events[0].ID - 1
		}
		if err := e.event(before, bridge.EventReset, []byte(`{"type":"reset"}`)); err != nil {
			return err
		}
	}
	for _, event := range page.Events {
		data, err := bridge.EncodeJSON(event)
		if err == nil {
			err = e.event(event.ID, event.Type, data)
		}
		if err != nil {
			return err
		}
	}
	if !page.Reset && len(page.Events) == 0 {
		return nil
	}
	return e.flush()
}

// sendTyping sends who types. The events have no id, so that readers keep their place in the log.
func (e *eventStream) sendTyping(events []bridge.TypingEvent) error {
	for _, event := range events {
		data, err := bridge.EncodeJSON(event)
		if err == nil {
			err = e.write("event: %s\ndata: %s\n\n", event.Type, data)
		}
		if err != nil {
			return err
		}
	}
	return e.flush()
}

// typingFor returns the events of chats that a reader may see and wants.
func (s *server) typingFor(q eventQuery, events []bridge.TypingEvent) []bridge.TypingEvent {
	return slices.DeleteFunc(events, func(event bridge.TypingEvent) bool {
		return q.Only != nil && !s.isAmong(event.ChatJID, q.Only) || len(q.Chats) > 0 && !s.isAmong(event.ChatJID, q.Chats)
	})
}

// event writes a server-sent event. JSON has no line breaks within, so it is one line.
func (e *eventStream) event(id int64, kind bridge.EventType, data []byte) error {
	e.shown = id
	return e.write("id: %d\nevent: %s\ndata: %s\n\n", id, kind, data)
}

// write writes a piece, for which the reader has its time.
func (e *eventStream) write(format string, args ...any) error {
	if _, err := fmt.Fprintf(e.memory, format, args...); err != nil {
		return errors.Join(errNotRead, err)
	}
	return nil
}

func (e *eventStream) flush() error {
	if err := e.control.Flush(); err != nil {
		return errors.Join(errNotRead, err)
	}
	return nil
}

// logPage is a page of the log, or quiet: there was nothing for a while; or who types.
type logPage struct {
	store.EventPage
	quiet  bool
	typing []bridge.TypingEvent
}

// readEvents reads a page of the log within the memory of its reader.
func (s *server) readEvents(ctx context.Context, q eventQuery) (store.EventPage, error) {
	if err := q.memory.Reserve(ctx, int64(cmp.Or(q.Bytes, bridge.PageBytes))); err != nil {
		return store.EventPage{}, err
	}
	page, err := s.Store.Events(ctx, q.EventQuery)
	q.memory.Shrink(int64(page.Size) + front.ListPiece)
	return page, err
}

// follow returns the log behind q.After, page by page as it grows, and a quiet page after each
// pause. Streams and waits share this loop, so that no event comes twice or is left out. It
// ends with an error, or without one when the service stops.
func (s *server) follow(ctx context.Context, q eventQuery, pause time.Duration) iter.Seq2[logPage, error] {
	return func(yield func(logPage, error) bool) {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		for {
			changed := s.Store.Changed() // before reading: what comes meanwhile is read next time
			for more := true; more; {
				page, err := s.readEvents(ctx, q)
				if !yield(logPage{EventPage: page}, err) || err != nil {
					return
				}
				q.After, more = page.Next, page.More
			}
			q.memory.Release()
			select {
			case <-changed:
			case <-q.typing.news():
				if !yield(logPage{EventPage: store.EventPage{Next: q.After}, typing: q.typing.take()}, nil) {
					return
				}
			case <-timer.C:
				if !yield(logPage{EventPage: store.EventPage{Next: q.After}, quiet: true}, nil) {
					return
				}
				timer.Reset(pause)
			case <-s.Streams.Done():
				return
			case <-ctx.Done():
				yield(logPage{}, ctx.Err())
				return
			}
		}
	}
}
