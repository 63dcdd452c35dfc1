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

// EventQuery chooses events. After is a cursor, the id of an event, "0" for all
// that are kept, or empty for those that are still to come.
type EventQuery struct {
	After  string
	Types  []bridge.EventType
	Chats  []bridge.JID
	FromMe *bool // of messages
}

func (q EventQuery) parameters() query {
	return query{"after": q.After, "types": bridge.Join(q.Types, ","), "chat": bridge.Join(q.Chats, ","), "fromMe": choice(q.FromMe)}
}

// Encode returns the query as it stands in an address.
func (q EventQuery) Encode() string { return q.parameters().encode() }

// EventPage holds a part of the log. Reset reports that events before it are gone for good.
type EventPage struct {
	Events     []bridge.Event
	NextCursor string
	Reset      bool
}

// EventPage returns the next events of the log, for the first of which it may wait.
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

// Events follows the log until ctx ends. After a lost connection it resumes after the
// last event, so that none is lost and none comes twice. Events that are gone for good
// are replaced by one of type [bridge.EventReset]. An error that trying again cannot
// help is yielded last; so is one of the first connection.
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

// retryPause separates two connections, unless the bridge names another time.
const retryPause = 2 * time.Second

var errStopped = errors.New("the reader wants no more events")

var errUnreadable = errors.New("the bridge sent an event that cannot be read")

// stream keeps the place of one reader in the log, over several connections.
type stream struct {
	client *Client
	query  EventQuery
	yield  func(bridge.Event, error) bool
	lastID string        // of the last event; empty until the bridge sends one
	retry  time.Duration // before the next connection
}

// resumes reports whether trying again may help: the place is known, and the bridge
// neither refused the request nor sent an unreadable event.
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
		f, err := NextFrame(frames)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil // cut off
		}
		if err != nil {
			return err
		}
		s.retry = cmp.Or(f.Retry, s.retry)
		if f.Data != "" {
			event := bridge.Event{Type: bridge.EventType(f.Event)}
			if err := json.Unmarshal([]byte(f.Data), &event); err != nil {
				return fmt.Errorf("%w: %w", errUnreadable, err)
			}
			if !s.yield(event, nil) {
				return errStopped
			}
		}
		s.lastID = cmp.Or(f.ID, s.lastID)
	}
}

// Frame is an event of a server-sent stream.
type Frame struct {
	ID    string
	Event string
	Data  string
	Retry time.Duration
}

// NextFrame reads a frame of server-sent events (the HTML standard's
// text/event-stream): io.EOF at the end, also where a frame is cut off.
func NextFrame(stream *bufio.Reader) (f Frame, err error) {
	for some := false; ; {
		line, err := stream.ReadString('\n')
		if err != nil {
			return Frame{}, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" && some {
			return f, nil
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			f.ID = value
		case "event":
			f.Event = value
		case "data":
			f.Data = strings.TrimPrefix(f.Data+"\n"+value, "\n")
		case "retry":
			if ms, err := strconv.Atoi(value); err == nil {
				f.Retry = time.Duration(ms) * time.Millisecond
			}
		default:
			continue // a comment
		}
		some = true
	}
}
