package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

const (
	// heartbeat is how often a quiet stream says that it is alive: more often
	// than proxies and phones give up.
	heartbeat = 15 * time.Second
	// writeTime is how long one piece of a stream may take to be read. A reader
	// that is slower is cut off, and goes on from its last event.
	writeTime = time.Minute
	// retryTime is how long browsers wait before they come back.
	retryTime = 2 * time.Second
)

// eventReader is one stream and where it is in the log. Replay and live are
// the same loop, so nothing comes twice and nothing is left out.
type eventReader struct {
	s      *server
	out    http.ResponseWriter
	flush  *http.ResponseController
	query  eventQuery
	cursor int64
	shown  int64 // the last id that the other side was told
}

// stream serves the log as server-sent events until one side ends it.
func (s *server) stream(w http.ResponseWriter, r *http.Request, q eventQuery) error {
	q.Limit = tailPage
	if q.fromNow = !q.hasCursor; q.fromNow {
		end, err := s.tail.end(r.Context())
		if err != nil {
			return err
		}
		q.After = end
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events to itself
	reader := &eventReader{s: s, out: w, flush: http.NewResponseController(w), query: q, cursor: q.After}
	if r.Method == http.MethodHead {
		return nil
	}
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	err := reader.run(r.Context())
	if err != nil && r.Context().Err() == nil && !errors.Is(err, errNotRead) {
		return err
	}
	hlog.FromRequest(r).Debug().AnErr("error", err).Msg("stream over")
	return nil
}

// errNotRead is the end of a stream whose other side no longer reads.
var errNotRead = errors.New("the stream is not read")

func (e *eventReader) run(ctx context.Context) error {
	if err := e.begin(); err != nil {
		return err
	}
	quiet := time.NewTimer(heartbeat)
	defer quiet.Stop()
	catchUp := e.replay
	if e.query.fromNow {
		catchUp = e.follow
	}
	for {
		changed := e.s.store.Changed()
		if err := catchUp(ctx); err != nil {
			return err
		}
		catchUp = e.follow
		select {
		case <-changed:
		case <-quiet.C:
			if err := e.beat(); err != nil {
				return err
			}
			quiet.Reset(heartbeat)
		case <-ctx.Done():
			return nil
		case <-e.s.streams.Done():
			return nil
		}
	}
}

// begin says where the stream stands, so that a reader that is cut off before
// its first event misses nothing either. There is no data in it: browsers note
// the id and show nothing.
func (e *eventReader) begin() error {
	text := "retry: " + strconv.FormatInt(retryTime.Milliseconds(), 10) + "\nid: " + formatCursor(e.cursor) + "\n\n"
	e.shown = e.cursor
	return aside(func() error { return e.write([]byte(text)) })
}

// beat is a comment line. Where events were passed over that are not asked
// for, it tells the new place too: the reader need not go through them again.
func (e *eventReader) beat() error {
	text := ": heartbeat\n"
	if e.cursor != e.shown {
		text += "id: " + formatCursor(e.cursor) + "\n"
		e.shown = e.cursor
	}
	return e.write([]byte(text + "\n"))
}

// replay reads the log itself until it has caught up.
func (e *eventReader) replay(ctx context.Context) error {
	for {
		var more bool
		err := aside(func() (err error) {
			more, err = e.replayPage(ctx)
			return err
		})
		if err != nil || !more {
			return err
		}
	}
}

// replayPage sends a part of the log and says whether more follows.
func (e *eventReader) replayPage(ctx context.Context) (more bool, err error) {
	e.query.After = e.cursor
	page, err := e.s.store.Events(ctx, e.query.EventQuery)
	if err != nil {
		return false, err
	}
	return page.More, e.send(page)
}

func (e *eventReader) send(page store.EventPage) error {
	if page.Reset {
		if err := e.reset(page); err != nil {
			return err
		}
	}
	frames := make([]frame, 0, len(page.Events))
	for _, event := range page.Events {
		f, err := newFrame(event, time.Time{})
		if err != nil {
			return err
		}
		frames = append(frames, f)
	}
	return e.writeFrames(frames, page.Next, nil, "")
}

// reset tells a reader that it has missed something for good. The events that
// are still there follow it, so its id is the one before them.
func (e *eventReader) reset(page store.EventPage) error {
	e.cursor = page.Next
	if len(page.Events) > 0 {
		e.cursor = page.Events[0].ID - 1
	}
	e.shown = e.cursor
	return e.write(frameText(e.cursor, "reset", []byte(`{"type":"reset"}`)))
}

// follow sends what is new, read once for all streams.
func (e *eventReader) follow(ctx context.Context) error {
	for {
		frames, next, ok, err := e.s.tail.after(ctx, e.cursor)
		if err != nil {
			return err
		}
		if !ok {
			return e.replay(ctx) // it has fallen behind
		}
		if next == e.cursor {
			return nil
		}
		if err := e.writeFrames(frames, next, e.query.Types, e.s.canonical(e.query.Chat)); err != nil {
			return err
		}
	}
}

// writeFrames sends what is wanted of some events and moves the cursor behind
// all of them.
func (e *eventReader) writeFrames(frames []frame, next int64, types []bridge.EventType, chat bridge.JID) error {
	var wanted [][]byte
	for _, f := range frames {
		if f.wanted(types, chat) {
			wanted = append(wanted, f.text)
			e.shown = f.id
		}
	}
	e.cursor = next
	if len(wanted) == 0 {
		return nil
	}
	return e.write(wanted...)
}

// write sends pieces, each in its time, and no buffer keeps them.
func (e *eventReader) write(pieces ...[]byte) error {
	for _, piece := range pieces {
		setDeadline(e.flush.SetWriteDeadline, writeTime)
		if _, err := e.out.Write(piece); err != nil {
			return errors.Join(errNotRead, err)
		}
	}
	if err := e.flush.Flush(); err != nil {
		return errors.Join(errNotRead, err)
	}
	return nil
}

// aside runs f on a stack of its own. A goroutine keeps the largest stack that
// it ever needed, and streams are open for days: what goes deep once (the head
// of the answer, the database) would be half of what a stream costs.
func aside(f func() error) error {
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() {
			if cause := recover(); cause != nil {
				err = panicError(cause)
			}
			done <- err
		}()
		err = f()
	}()
	return <-done
}
