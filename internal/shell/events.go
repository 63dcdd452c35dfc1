package shell

import (
	"context"
	"fmt"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Events chooses events that are in the log.
type Events struct {
	Tail  // Since is the start of the log by default
	Limit int
	Wait  time.Duration // how long to wait for the first event if there is none
}

const (
	maxEventPage = 1000             // the API's largest
	longestWait  = 60 * time.Second // of one request
)

// Events prints events of the log, the oldest first, and notes where the next ones begin if there are more.
func (s *Shell) Events(ctx context.Context, q Events) error {
	query, err := s.query(ctx, q.Tail, bridge.EventTypes(), "0")
	if err != nil {
		return err
	}
	known, printed, deadline := make(names), 0, s.Now().Add(q.Wait)
	for {
		size := maxEventPage
		if q.Limit > 0 {
			size = min(size, q.Limit-printed)
		}
		wait := time.Duration(0)
		if printed == 0 {
			wait = min(max(deadline.Sub(s.Now()), 0), longestWait)
		}
		page, err := s.API.EventPage(ctx, query, size, wait)
		if err != nil {
			return err
		}
		if err := s.printPage(ctx, known, page); err != nil {
			return err
		}
		printed, query.After = printed+len(page.Events), page.NextCursor
		switch {
		case q.Limit > 0 && printed == q.Limit:
			return s.noteNext(page)
		case len(page.Events) == 0 && wait < longestWait:
			return s.noteNone(printed)
		case len(page.Events) > 0 && len(page.Events) < size:
			return nil
		}
	}
}

func (s *Shell) printPage(ctx context.Context, known names, page client.EventPage) error {
	if page.Reset {
		if err := s.printEvent(ctx, known, bridge.Event{Type: bridge.EventReset}); err != nil {
			return err
		}
	}
	for _, event := range page.Events {
		if err := s.printEvent(ctx, known, event); err != nil {
			return err
		}
	}
	return nil
}

func (s *Shell) noteNext(page client.EventPage) error {
	if s.JSON {
		return nil
	}
	return s.note("There may be more: continue with --since %s, or print all with --limit 0.", Printable(page.NextCursor))
}

func (s *Shell) noteNone(printed int) error {
	if s.JSON || printed > 0 {
		return nil
	}
	return s.note("There are no such events.")
}

// Calls chooses calls to the account.
type Calls struct {
	Chat  string // only calls of this chat
	Since string
	Limit int // 0 is all
}

// Calls prints calls, the newest first.
func (s *Shell) Calls(ctx context.Context, q Calls) (err error) {
	query := bridge.CallQuery{Limit: pageOf(q.Limit)}
	if q.Chat != "" {
		if query.Chat, err = s.find(ctx, q.Chat); err != nil {
			return err
		}
	}
	if query.Since, err = s.moment("--since", q.Since); err != nil {
		return err
	}
	known := make(names)
	columns := []column{{title: "TIME"}, {title: "FROM", most: 28, flexible: true}, {title: "CALL"}, {title: "ID"}}
	return list(s, s.API.AllCalls(ctx, query), q.Limit, "There are no such calls.", columns, func(c bridge.Call) []string {
		return []string{s.when(&c.StartedAt), s.name(ctx, known, c.FromJID), callText(c), c.ID}
	})
}

// RejectCall rejects a ringing call.
func (s *Shell) RejectCall(ctx context.Context, id, key string) error {
	return listHint(s.makeChange(ctx, key, "Rejected the call.", func(api *client.Client, key string) error {
		return api.RejectCall(ctx, id, key)
	}), "bridged calls")
}

// listHint adds the command that lists things to an error about one that does not exist.
func listHint(err error, command string) error {
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return hinted(err, "list them with: %s", command)
	}
	return err
}

// deleteByID deletes a thing with a number, such as a webhook. did has a verb for the number, and command prints
// the list of such things.
func (s *Shell) deleteByID(ctx context.Context, id, did, command string, del func(*client.Client, context.Context, int64) error) error {
	number, err := parseID("<id>", id)
	if err != nil {
		return err
	}
	var answer client.Answer
	if err := del(s.API.Answering(&answer), ctx, number); err != nil {
		return listHint(err, command)
	}
	return s.printDone(answer, did, number)
}

// parseID parses the number of a thing such as a webhook.
func parseID(argument, text string) (id int64, err error) {
	if _, err := fmt.Sscan(text, &id); err != nil || fmt.Sprint(id) != text || id <= 0 {
		return 0, Usage("%s: expected a number but got %q", argument, text)
	}
	return id, nil
}
