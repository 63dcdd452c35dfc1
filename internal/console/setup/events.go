package setup

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

const (
	pageOfEvents = 100 // events of the page
	mostFollowed = 500 // events of a part for the script, which has been paused; as many as it shows
)

type eventsPage struct {
	Types  []bridge.EventType // the chosen ones
	Chat   names.Choice
	Wrong  map[string]string
	Events []eventRow
	One    bool   // whether the page is about one event
	Query  string // of the stream
	Self   string // the address of the rows for the script
	Curl   string
}

// eventRow is an event: one line, and its JSON.
type eventRow struct {
	ID   int64
	Type bridge.EventType
	Chat bridge.JID
	Text string
	JSON string
	At   bridge.Time
}

// ShowEvents shows the newest events of the log, or for the script (part) the rows of those after an event, or one event.
func ShowEvents(req *frame.Request) error {
	asked := req.URL.Query()
	if asked.Has("event") {
		return showEvent(req, asked.Get("event"))
	}
	f := frame.NewForm(asked)
	chat, err := names.ChooseOne(req, f, "chat")
	if err != nil {
		return err
	}
	query := client.EventQuery{Chats: chat.Jids()}
	for _, name := range bridge.EventTypes() {
		if slices.Contains(asked["type"], string(name)) {
			query.Types = append(query.Types, name)
		}
	}
	after, most := int64(0), pageOfEvents
	if asked.Has("part") {
		after, _ = strconv.ParseInt(asked.Get("after"), 10, 64) // otherwise from the beginning
		most = mostFollowed
	}
	events, err := lastEvents(req, query, after, most)
	if err != nil {
		return err
	}
	self := url.Values{"chat": asked["chat"], "type": asked["type"]}
	page := eventsPage{
		Types: query.Types, Chat: chat, Wrong: f.Wrong, Query: query.Encode(), Self: view.Root + "/events?part&" + self.Encode(),
		Curl: req.Curl("GET", "/api/events?after=0", nil, "-N", "-H 'Accept: text/event-stream'"),
	}
	if page.Events, err = eventRows(req, events); err != nil {
		return err
	}
	if asked.Has("part") {
		return req.PartOf("events", "event-rows", map[string]any{"Events": page.Events, "Clock": req.Clock()})
	}
	return req.Show("events", "Events", page)
}

// showEvent shows an event of the log. The oldest ones are removed from it.
func showEvent(req *frame.Request, id string) error {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil || number <= 0 {
		return frame.ErrNotFound
	}
	found, err := req.API.EventPage(req.Context(), client.EventQuery{After: strconv.FormatInt(number-1, 10)}, 1, 0)
	if err != nil {
		return err
	}
	if len(found.Events) == 0 || found.Events[0].ID != number {
		return frame.Titled(http.StatusNotFound, "This event is no longer stored", "The log keeps the newest events only.")
	}
	rows, err := eventRows(req, found.Events)
	if err != nil {
		return err
	}
	return req.Show("events", "Event "+id, eventsPage{Events: rows, One: true, Curl: req.Curl("GET", fmt.Sprintf("/api/events?after=%d&limit=1", number-1), nil)})
}

// eventRows returns events as the page shows them.
func eventRows(req *frame.Request, events []bridge.Event) (rows []eventRow, err error) {
	n, err := names.Of(req, peopleOf(events))
	if err != nil {
		return nil, err
	}
	for _, event := range events {
		encoded, err := bridge.EncodeJSON(event)
		if err != nil {
			return nil, err
		}
		rows = append(rows, eventRow{event.ID, event.Type, event.ChatJID, aboutEvent(event, n), view.Indented(encoded), event.At})
	}
	return rows, nil
}

// lastEvents returns the newest events after one, the newest first. The log is only read forwards, so it
// starts further back until there are enough.
func lastEvents(req *frame.Request, q client.EventQuery, after int64, most int) ([]bridge.Event, error) {
	last, err := strconv.ParseInt(req.Cursor, 10, 64)
	if err != nil {
		return nil, err
	}
	for back := int64(most); ; back *= 8 {
		start := max(after, last-back)
		q.After = strconv.FormatInt(start, 10)
		events, err := readEvents(req, q, last, most)
		if err != nil {
			return nil, err
		}
		if len(events) == most || start == after || back > 50_000 {
			slices.Reverse(events)
			return events, nil
		}
	}
}

// readEvents reads up to an event of the log and returns at most the given number of them, the last ones.
func readEvents(req *frame.Request, q client.EventQuery, last int64, most int) (events []bridge.Event, err error) {
	for {
		page, err := req.API.EventPage(req.Context(), q, 1000, 0)
		if err != nil {
			return nil, err
		}
		events = append(events, page.Events...)
		events = events[max(0, len(events)-most):]
		next, err := strconv.ParseInt(page.NextCursor, 10, 64)
		if err != nil || next >= last || len(page.Events) == 0 {
			return events, err
		}
		q.After = page.NextCursor
	}
}

func aboutEvent(event bridge.Event, n names.Names) string {
	switch {
	case event.Message != nil && event.Type == bridge.EventMessageStatus && event.Message.Status != nil:
		return string(*event.Message.Status) + " · " + view.Summary(*event.Message)
	case event.Message != nil:
		return names.SenderOf(cmp.Or(n.Known[event.Message.SenderJID], event.Message.PushName), event.Message.SenderJID, event.Message.FromMe) + ": " + view.Summary(*event.Message)
	case event.Chat != nil:
		return view.ChatName(*event.Chat)
	case event.JoinRequests != nil && len(event.JoinRequests.Created) > 0:
		return event.Group.Name + ": request to join from " + namesAsking(event.JoinRequests.Created)
	case event.Group != nil:
		return event.Group.Name
	case event.Label != nil:
		return view.LabelName(event.Label.Label)
	case event.Scheduled != nil:
		return view.ScheduledWords[event.Scheduled.Status].Text + " · " + cmp.Or(event.Scheduled.Content, view.ScheduledKind(*event.Scheduled))
	case event.Call != nil:
		return n.Of(event.Call.FromJID) + ": " + view.CallWords[event.Call.State].Text
	case event.Status != nil:
		return view.StateOf(*event.Status).Word
	case event.Backup != nil:
		return event.Backup.Error
	}
	return ""
}

// peopleOf returns the people whose names the lines of events show.
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

// namesAsking names the first person who asks to join and counts the others.
func namesAsking(requests []bridge.JoinRequest) string {
	name := cmp.Or(requests[0].DisplayName, view.Phone(requests[0].JID))
	if others := len(requests) - 1; others > 0 {
		name += fmt.Sprintf(" and %d more", others)
	}
	return name
}

// StreamEvents forwards the API's event stream until the session ends.
func StreamEvents(req *frame.Request) error {
	header := http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": req.Header["Last-Event-Id"]}
	ctx, cancel := req.UntilLoggedOut()
	defer cancel()
	stream, err := req.API.Do(ctx, http.MethodGet, "/api/events?"+req.URL.RawQuery, nil, header)
	if err != nil {
		return err
	}
	defer stream.Body.Close()
	req.W.Header().Set("Content-Type", "text/event-stream")
	err = req.Copy(stream.Body)
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		hlog.FromRequest(req.Request).Debug().Err(err).Msg("the browser stopped reading the events")
	}
	return nil
}
