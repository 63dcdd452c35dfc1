package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/store"
)

const (
	// heartbeat is shorter than the timeouts of proxies and phones.
	heartbeat = 15 * time.Second
	// writeTimeout bounds the reading of a piece. A slower reader is disconnected, and continues
	// after its last event.
	writeTimeout = time.Minute
	// retryTime is how long browsers wait before they reconnect.
	retryTime = 2 * time.Second
	// streamPage and streamBytes of JSON bound the memory of a reader that stops reading.
	streamPage  = 100
	streamBytes = bridge.PageBytes / 4
)

// writer writes server-sent events.
type writer struct {
	memory  *front.Memory // of the page that is being sent
	control *http.ResponseController
	last    int64 // the id that was sent last
}

// Serve answers with the log as server-sent events until either side ends the stream.
func (l *Log) Serve(w http.ResponseWriter, r *http.Request, q Query) error {
	if err := front.CountStream(r); err != nil {
		return err
	}
	q.Limit, q.Bytes = streamPage, streamBytes
	q.FromNow = !q.HasCursor
	if err := l.begin(r.Context(), &q); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // or nginx would buffer events
	if r.Method == http.MethodHead {
		return nil
	}
	l.Open.Inc()
	defer l.Open.Dec()
	q.memory = l.Lists.Answer(w, q.Tree, writeTimeout)
	defer q.memory.Release()
	out := &writer{memory: q.memory, control: http.NewResponseController(w)}
	q.live = l.Live.open()
	defer q.live.close()
	err := l.send(r.Context(), out, q)
	if err != nil && r.Context().Err() == nil && !errors.Is(err, errNotRead) {
		return err
	}
	hlog.FromRequest(r).Debug().AnErr("error", err).Msg("stream ended")
	return nil
}

// send writes the log after q.After until the stream ends.
func (l *Log) send(ctx context.Context, out *writer, q Query) error {
	if err := out.begin(q.After); err != nil {
		return err
	}
	for update, err := range l.follow(ctx, q, heartbeat) {
		switch {
		case err != nil:
		case update.live != nil:
			err = out.live(l.liveFor(q, update.live))
		case update.quiet:
			err = out.heartbeat(update.Next)
		default:
			err = out.page(update.EventPage)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errNotRead ends a stream that the client no longer reads.
var errNotRead = errors.New("the stream is not read")

// begin writes the position in the log, for clients that are disconnected before the first event.
func (w *writer) begin(after int64) error {
	w.last = after
	return errors.Join(w.write("retry: %d\nid: %d\n\n", retryTime.Milliseconds(), after), w.flush())
}

// heartbeat writes a comment, and the new position if events were skipped.
func (w *writer) heartbeat(next int64) error {
	text := ": heartbeat\n\n"
	if next != w.last {
		text = fmt.Sprintf(": heartbeat\nid: %d\n\n", next)
		w.last = next
	}
	return errors.Join(w.write("%s", text), w.flush())
}

// page writes a page of the log. A reset has the id before the first event of the page.
func (w *writer) page(page store.EventPage) error {
	if page.Reset {
		before := page.Next
		if len(page.Events) > 0 {
			before = page.Events[0].ID - 1
		}
		if err := w.event(before, bridge.EventReset, []byte(`{"type":"reset"}`)); err != nil {
			return err
		}
	}
	for _, event := range page.Events {
		data, err := bridge.EncodeJSON(event)
		if err == nil {
			err = w.event(event.ID, event.Type, data)
		}
		if err != nil {
			return err
		}
	}
	if !page.Reset && len(page.Events) == 0 {
		return nil
	}
	return w.flush()
}

// live writes live events. They have no id, so that readers continue at the same
// position in the log.
func (w *writer) live(events []bridge.LiveEvent) error {
	for _, event := range events {
		data, err := bridge.EncodeJSON(event)
		if err == nil {
			err = w.write("event: %s\ndata: %s\n\n", event.Type, data)
		}
		if err != nil {
			return err
		}
	}
	return w.flush()
}

// event writes one server-sent event. JSON has no line breaks, so its data is one line.
func (w *writer) event(id int64, kind bridge.EventType, data []byte) error {
	w.last = id
	return w.write("id: %d\nevent: %s\ndata: %s\n\n", id, kind, data)
}

func (w *writer) write(format string, args ...any) error {
	if _, err := fmt.Fprintf(w.memory, format, args...); err != nil {
		return errors.Join(errNotRead, err)
	}
	return nil
}

func (w *writer) flush() error {
	if err := w.control.Flush(); err != nil {
		return errors.Join(errNotRead, err)
	}
	return nil
}
