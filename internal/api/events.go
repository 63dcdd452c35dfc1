package api

import (
	"strconv"
	"strings"
	"time"

	"bridged/internal/api/content"
	"bridged/internal/api/front"
	"bridged/internal/api/stream"
	"bridged/internal/bridge"
	"bridged/internal/store"
)

const (
	maxEvents = 1000             // the largest page of the log
	longWait  = 60 * time.Second // how long a caller may wait for the next event
)

// listEvents answers with the log, as a stream if the caller accepts one, else in pages.
func listEvents(in *input) (any, error) {
	if stream.Accepts(in.r) {
		from := in.events(in.r.Header.Get("Last-Event-ID"), bridge.StreamTypes())
		in.known = append(in.known, "limit", "wait") // of pages
		if in.onlyKnown(); in.err != nil {
			return nil, in.err
		}
		return nil, in.log.Serve(in.w, in.r, from)
	}
	from := in.events("", bridge.EventTypes())
	from.Limit = in.limit(maxEvents)
	wait := in.wait()
	if in.onlyKnown(); wait > 0 && in.err == nil {
		in.err = front.CountStream(in.r)
	}
	if in.err != nil {
		return nil, in.err
	}
	in.memory = in.lists.Answer(in.w, from.Tree, front.AnswerTimeout)
	page, err := in.log.Poll(in.ctx(), from, in.memory, wait)
	if err != nil {
		return nil, err
	}
	return answerList(in, list[bridge.Event]{
		countHead{len(page.Events)},
		"events", page.Events,
		eventTail{formatCursor(page.Next), page.More, page.Reset},
	})
}

// eventTail ends a page of the log, which can always be continued.
type eventTail struct {
	NextCursor string `json:"nextCursor"`
	HasMore    bool   `json:"hasMore"`
	Reset      bool   `json:"reset"`
}

// events reads the parameters of streams and pages. A Last-Event-ID takes precedence, since an
// EventSource does not change its URL when it reconnects.
func (q *input) events(lastEventID string, types []bridge.EventType) stream.Query {
	after, given := q.one("after")
	cursor, alsoGiven := q.one("cursor") // its name on other lists
	switch {
	case given && alsoGiven && lastEventID == "":
		q.refuse("after and cursor mean the same; give one of them")
	case alsoGiven:
		after, given = cursor, true
	}
	name := "after"
	if lastEventID != "" {
		name, after, given = "Last-Event-ID", lastEventID, true
	}
	events := stream.Query{EventQuery: store.EventQuery{EventFilter: bridge.EventFilter{Types: q.eventTypes("types", types)}}}
	events.Only, events.Tree = q.caller().Chats, q.caller().Tree
	events.Chats, events.FromMe = q.queryChats("chat"), q.choice("fromMe")
	switch {
	case !given || after == "":
	case after == "now":
		events.FromNow = true
	default:
		events.HasCursor = true
		events.After = q.eventCursor(name, after)
	}
	return events
}

func (q *input) eventCursor(name, value string) int64 {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		q.refuse("%s must be a nextCursor, the id of an event, 0 or now", name)
	}
	return n
}

func formatCursor(n int64) string { return strconv.FormatInt(n, 10) }

// eventTypes returns a comma-separated list; nil, which is all types, if it is blank.
func (q *input) eventTypes(name string, all []bridge.EventType) []bridge.EventType {
	value := q.text(name)
	if value == "" {
		return nil
	}
	types, err := content.ParseEventTypes(name, strings.Split(value, ","), all)
	return keep(q, types, err)
}

// queryChat returns the chat that a parameter names; empty if it is blank.
func (q *input) queryChat(name string) bridge.JID {
	value := q.text(name)
	if value == "" {
		return ""
	}
	jid, err := content.ParseStored(name, value)
	return keep(q, jid, err)
}

// queryChats returns the chats of a comma-separated list; nil, which is all chats, if it is blank.
func (q *input) queryChats(name string) (chats []bridge.JID) {
	value := q.text(name)
	if value == "" {
		return nil
	}
	values := strings.Split(value, ",")
	if len(values) > maxTokenChats {
		q.refuse("%s may name at most %d chats", name, maxTokenChats)
		return nil
	}
	for _, one := range values {
		jid, err := content.ParseChat(name, strings.TrimSpace(one))
		chats = append(chats, keep(q, jid, err))
	}
	return chats
}

// wait returns how long to wait for the first event. The parameter is a duration or seconds.
func (q *input) wait() time.Duration {
	value := q.text("wait")
	if value == "" {
		return 0
	}
	wait, err := time.ParseDuration(value)
	if seconds, plain := strconv.Atoi(value); plain == nil {
		wait, err = time.Duration(min(max(seconds, -1), 3600))*time.Second, nil
	}
	if err != nil || wait < 0 || wait > longWait {
		q.refuse("wait must be between 0s and %.0fs, as in 30s", longWait.Seconds())
	}
	return wait
}
