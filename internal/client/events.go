package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// EventQuery selects events. After is a cursor: the id of an event, "0" for all stored events, or
// "" for future events only.
type EventQuery struct {
	After  string
	Types  []bridge.EventType
	Chats  []bridge.JID
	FromMe *bool // only for messages
}

func (q EventQuery) parameters() query {
	return query{"after": q.After, "types": bridge.Join(q.Types, ","), "chat": bridge.Join(q.Chats, ","), "fromMe": choice(q.FromMe)}
}

// Encode returns the query as a URL's query string.
func (q EventQuery) Encode() string { return q.parameters().encode() }

// EventPage is a part of the log. Reset means that events before it were removed.
type EventPage struct {
	Events     []bridge.Event
	NextCursor string
	Reset      bool
}

// EventPage returns the next events of the log. If there are none, it waits up to wait for the
// first.
func (c *Client) EventPage(ctx context.Context, q EventQuery, limit int, wait time.Duration) (EventPage, error) {
	parameters := q.parameters()
	parameters["limit"] = number(limit)
	if wait > 0 {
		parameters["wait"] = wait.String()
	}
	return call[EventPage](ctx, c, http.MethodGet, parameters.on("/api/events"), nil)
}

// LastEvent returns the cursor after the newest event.
func (c *Client) LastEvent(ctx context.Context) (cursor string, err error) {
	page, err := c.EventPage(ctx, EventQuery{After: "now"}, 1, 0)
	return page.NextCursor, err
}

// Events follows the log until ctx ends. After a lost connection it resumes after the last event,
// so that no event is lost or repeated. Removed events are replaced by one event of type
// [bridge.EventReset]. An error that trying again cannot fix is yielded last, and so is an error
// of the first connection.
func (c *Client) Events(ctx context.Context, q EventQuery) iter.Seq2[bridge.Event, error] {
	return func(yield func(bridge.Event, error) bool) {
		s := &stream{client: c, query: q, retry: retryPause, yield: yield}
		for {
			err := s.follow(ctx)
			switch {
			case errors.Is(err, errStopped) || ctx.Err() != nil:
				return
			case err != nil && !s.resumes(err):
				yield(bridge.Event{}, err)
				return
			}
			if !bridge.Sleep(ctx, s.retry) {
				return
			}
		}
	}
}

// retryPause is the pause between two connections, unless the bridge sends another one.
const retryPause = 2 * time.Second

var errStopped = errors.New("the reader wants no more events")

var errUnreadable = errors.New("the bridge sent an event that cannot be read")

// stream is one reader's position in the log, over several connections.
type stream struct {
	client *Client
	query  EventQuery
	yield  func(bridge.Event, error) bool
	lastID string        // of the last event; empty until the bridge sends an id
	retry  time.Duration // pause before the next connection
}

// resumes reports whether trying again may help: the position is known, and the bridge neither
// refused the request nor sent an unreadable event.
func (s *stream) resumes(err error) bool {
	refused, ok := errors.AsType[*Error](err)
	isRefused := ok && refused.Status < http.StatusInternalServerError
	return s.lastID != "" && !isRefused && !errors.Is(err, errUnreadable)
}

func (s *stream) follow(ctx context.Context) error {
	header := http.Header{"Accept": {"text/event-stream"}}
	if s.lastID != "" {
		header.Set("Last-Event-ID", s.lastID)
	}
	resp, err := s.client.Do(ctx, http.MethodGet, s.query.parameters().on("/api/events"), nil, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	frames := bufio.NewReader(resp.Body)
	for {
		f, err := nextFrame(frames)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil // the stream was cut off
		}
		if err != nil {
			return err
		}
		s.retry = cmp.Or(f.retry, s.retry)
		if f.data != "" {
			event := bridge.Event{Type: bridge.EventType(f.event)}
			if err := json.Unmarshal([]byte(f.data), &event); err != nil {
				return fmt.Errorf("%w: %w", errUnreadable, err)
			}
			if !s.yield(event, nil) {
				return errStopped
			}
		}
		s.lastID = cmp.Or(f.id, s.lastID)
	}
}

// frame is an event of a stream of server-sent events.
type frame struct {
	id    string
	event string
	data  string
	retry time.Duration
}

// nextFrame reads one server-sent event (text/event-stream in the HTML standard). It returns
// io.EOF at the end and if the last event is cut off.
func nextFrame(stream *bufio.Reader) (f frame, err error) {
	for some := false; ; {
		line, err := stream.ReadString('\n')
		if err != nil {
			return frame{}, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" && some {
			return f, nil
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			f.data = strings.TrimPrefix(f.data+"\n"+value, "\n")
		case "retry":
			if ms, err := strconv.Atoi(value); err == nil {
				f.retry = time.Duration(ms) * time.Millisecond
			}
		default:
			continue // a comment
		}
		some = true
	}
}
