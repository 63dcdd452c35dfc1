package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
)

const pageOfEvents = 100 // that are shown at first

type eventsPage struct {
	Types  []bridge.EventType // that were chosen
	Chat   choice
	Known  []named
	Wrong  map[string]string
	Events []eventRow
	Blank  eventRow // for the script to fill in
	Query  string   // for the stream
	Curl   string
}

// eventRow is an event in one line, with the whole of it below.
type eventRow struct {
	ID   int64
	Type bridge.EventType
	Chat bridge.JID
	Text string
	JSON string
	At   bridge.Time
}

func (c *Console) showEvents(v *visit) error {
	asked := v.r.URL.Query()
	f := &form{asked, make(map[string]string)}
	chat, err := v.chooseOne(f, "chat")
	if err != nil {
		return err
	}
	query := client.EventQuery{Chats: chat.jids()}
	for _, name := range bridge.EventTypes() {
		if slices.Contains(asked["type"], string(name)) {
			query.Types = append(query.Types, name)
		}
	}
	events, err := v.lastEvents(v.r.Context(), query)
	if err != nil {
		return err
	}
	page := eventsPage{
		Types: query.Types, Chat: chat, Wrong: f.Wrong, Query: query.Encode(),
		Curl: curl("GET", "/api/events?after=0", nil) + " -N -H 'Accept: text/event-stream'",
	}
	if page.Known, err = v.chatsLike(v.r.Context(), "", suggestions); err != nil {
		return err
	}
	n, err := v.namesOf(peopleOf(events))
	if err != nil {
		return err
	}
	for _, event := range events {
		encoded, err := bridge.EncodeJSON(event)
		if err != nil {
			return err
		}
		page.Events = append(page.Events, eventRow{event.ID, event.Type, event.ChatJID, aboutEvent(event, n), indented(encoded), event.At})
	}
	return v.show("events", "Events", page)
}

// lastEvents returns the newest events, the newest first. The log can only be read
// forwards: it begins further and further back until there are enough.
func (v *visit) lastEvents(ctx context.Context, q client.EventQuery) ([]bridge.Event, error) {
	last, err := strconv.ParseInt(v.cursor, 10, 64)
	if err != nil {
		return nil, err
	}
	for back := int64(pageOfEvents); ; back *= 8 {
		start := max(0, last-back)
		q.After = strconv.FormatInt(start, 10)
		events, err := v.readEvents(ctx, q, last)
		if err != nil {
			return nil, err
		}
		if len(events) == pageOfEvents || start == 0 || back > 50_000 {
			slices.Reverse(events)
			return events, nil
		}
	}
}

// readEvents reads up to an event of the log, and returns the last ones.
func (v *visit) readEvents(ctx context.Context, q client.EventQuery, last int64) (events []bridge.Event, err error) {
	for {
		page, err := v.api.EventPage(ctx, q, 1000, 0)
		if err != nil {
			return nil, err
		}
		events = append(events, page.Events...)
		events = events[max(0, len(events)-pageOfEvents):]
		next, err := strconv.ParseInt(page.NextCursor, 10, 64)
		if err != nil || next >= last || len(page.Events) == 0 {
			return events, err
		}
		q.After = page.NextCursor
	}
}

func aboutEvent(event bridge.Event, n names) string {
	switch {
	case event.Message != nil && event.Type == bridge.EventMessageStatus && event.Message.Status != nil:
		return string(*event.Message.Status) + " · " + summary(*event.Message)
	case event.Message != nil:
		return senderOf(cmp.Or(n.known[event.Message.SenderJID], event.Message.PushName), event.Message.SenderJID, event.Message.FromMe) + ": " + summary(*event.Message)
	case event.Chat != nil:
		return nameOf(*event.Chat)
	case event.JoinRequests != nil && len(event.JoinRequests.Created) > 0:
		return event.Group.Name + ": request to join from " + namesAsking(event.JoinRequests.Created)
	case event.Group != nil:
		return event.Group.Name
	case event.Call != nil:
		return n.of(event.Call.FromJID) + ": " + callWords[event.Call.State].Text
	case event.Status != nil:
		return describe(*event.Status).Word
	}
	return ""
}

// peopleOf returns those whom events name in their line.
func peopleOf(events []bridge.Event) (people []bridge.JID) {
	for _, event := range events {
		if event.Message != nil {
			people = append(people, event.Message.SenderJID)
		}
		if event.Call != nil {
			people = append(people, event.Call.FromJID)
		}
	}
	return people
}

// namesAsking names the first who asks to join a group, and counts the others.
func namesAsking(requests []bridge.JoinRequest) string {
	name := cmp.Or(requests[0].DisplayName, phoneOf(requests[0].JID))
	if others := len(requests) - 1; others > 0 {
		name += fmt.Sprintf(" and %d more", others)
	}
	return name
}

// streamEvents passes on the API's stream of events. It ends with the session.
func (c *Console) streamEvents(v *visit) error {
	header := http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": v.r.Header["Last-Event-Id"]}
	ctx, cancel := v.untilLoggedOut()
	defer cancel()
	stream, err := v.api.Do(ctx, http.MethodGet, "/api/events?"+v.r.URL.RawQuery, nil, header)
	if err != nil {
		return err
	}
	defer stream.Body.Close()
	v.w.Header().Set("Content-Type", "text/event-stream")
	_, err = io.Copy(prompt{v.w}, stream.Body)
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		hlog.FromRequest(v.r).Debug().Err(err).Msg("stream not read")
	}
	return nil
}

// prompt writes each piece at once. The visitor has [front.AnswerTime] for each, while the
// sender may be silent for long.
type prompt struct{ w http.ResponseWriter }

func (p prompt) Write(piece []byte) (int, error) {
	front.AnswerNow(p.w)
	n, err := p.w.Write(piece)
	if err == nil {
		err = http.NewResponseController(p.w).Flush()
	}
	return n, err
}

// untilLoggedOut returns a context that ends with the request, the session or the service.
func (v *visit) untilLoggedOut() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(v.r.Context(), v.session.ends.Sub(v.c.now()))
	loggedOut := context.AfterFunc(v.session.ctx, cancel)
	stopping := context.AfterFunc(v.c.options.Streams, cancel)
	return ctx, func() {
		loggedOut()
		stopping()
		cancel()
	}
}
