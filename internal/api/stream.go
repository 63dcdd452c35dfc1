package api

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/store"
)

const (
	// heartbeat is how often a stream shows that it is alive, more often than
	// proxies and phones give up.
	heartbeat = 15 * time.Second
	// writeTime is how long one piece of a stream may take to be read. A reader
	// that is slower is cut off, and goes on from its last event.
	writeTime = time.Minute
	// retryTime is how long browsers wait before they come back.
	retryTime = 2 * time.Second
	// streamPage is how many events are read at once, and streamBytes how many
	// bytes of JSON: what a reader that stops reading holds.
	streamPage  = 100
	streamBytes = bridge.PageBytes / 4
)

// eventStream is the answer of a stream.
type eventStream struct {
	out   http.ResponseWriter
	flush *http.ResponseController
	shown int64 // the last id that the other side was told
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
	stream := &eventStream{out: w, flush: http.NewResponseController(w)}
	err := s.sendEvents(r.Context(), stream, q.EventQuery)
	if err != nil && r.Context().Err() == nil && !errors.Is(err, errNotRead) {
		return err
	}
	hlog.FromRequest(r).Debug().AnErr("error", err).Msg("stream over")
	return nil
}

// sendEvents sends the log from a number on, as long as the stream lives.
func (s *server) sendEvents(ctx context.Context, stream *eventStream, q store.EventQuery) error {
	if err := stream.begin(q.After); err != nil {
		return err
	}
	for page, err := range s.follow(ctx, q, heartbeat) {
		if err == nil && page.quiet {
			err = stream.beat(page.Next)
		} else if err == nil {
			err = stream.send(page.EventPage)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errNotRead is the end of a stream whose other side no longer reads.
var errNotRead = errors.New("the stream is not read")

// begin tells where the stream stands, so that a reader that is cut off before
// its first event misses nothing either. There is no data in it: browsers note
// the id and show nothing.
func (e *eventStream) begin(after int64) error {
	e.shown = after
	return e.show([]byte("retry: " + strconv.FormatInt(retryTime.Milliseconds(), 10) + "\nid: " + formatCursor(after) + "\n\n"))
}

// beat sends a comment line. If events were passed over that are not asked for,
// it tells the new place too: the reader need not go through them again.
func (e *eventStream) beat(next int64) error {
	text := ": heartbeat\n"
	if next != e.shown {
		text += "id: " + formatCursor(next) + "\n"
		e.shown = next
	}
	return e.show([]byte(text + "\n"))
}

// send sends a page of the log.
func (e *eventStream) send(page store.EventPage) error {
	if page.Reset {
		if err := e.write(e.reset(page)); err != nil {
			return err
		}
	}
	for _, event := range page.Events {
		data, err := bridge.EncodeJSON(event)
		if err != nil {
			return err
		}
		if err := e.write(e.frame(event.ID, string(event.Type), data)); err != nil {
			return err
		}
	}
	if !page.Reset && len(page.Events) == 0 {
		return nil
	}
	return e.flushed()
}

// reset returns the frame that tells a reader that it has missed something for
// good. The events that are left follow, so its id is the one before them.
func (e *eventStream) reset(page store.EventPage) []byte {
	before := page.Next
	if len(page.Events) > 0 {
		before = page.Events[0].ID - 1
	}
	return e.frame(before, string(bridge.EventReset), []byte(`{"type":"reset"}`))
}

// frame returns an event in the form of server-sent events. JSON has no line
// breaks within, so that it is one line of data.
func (e *eventStream) frame(id int64, kind string, data []byte) []byte {
	e.shown = id
	var b bytes.Buffer
	b.WriteString("id: " + formatCursor(id) + "\nevent: " + kind + "\ndata: ")
	b.Write(data)
	b.WriteString("\n\n")
	return b.Bytes()
}

// write sends a piece in its time.
func (e *eventStream) write(piece []byte) error {
	front.SetDeadline(e.flush.SetWriteDeadline, writeTime)
	if _, err := e.out.Write(piece); err != nil {
		return errors.Join(errNotRead, err)
	}
	return nil
}

// show sends a piece, and keeps nothing in a buffer.
func (e *eventStream) show(piece []byte) error {
	if err := e.write(piece); err != nil {
		return err
	}
	return e.flushed()
}

// flushed sends what is in the buffer.
func (e *eventStream) flushed() error {
	if err := e.flush.Flush(); err != nil {
		return errors.Join(errNotRead, err)
	}
	return nil
}
