package shell

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Tail chooses events of the log.
type Tail struct {
	Chat  string // only events of this chat
	Types []string
	Since string // an event's number, or a time; empty for now
}

// everything is the value of a flag that sets no limit.
const everything = "all"

// query returns the query for the log, which starts at a position unless Since says another one.
func (s *Shell) query(ctx context.Context, t Tail, types []bridge.EventType, after string) (query client.EventQuery, err error) {
	query.After = after
	if query.Types, err = parseTypes(t.Types, types); err != nil {
		return query, err
	}
	if t.Chat != "" {
		chat, err := s.find(ctx, t.Chat)
		if err != nil {
			return query, err
		}
		query.Chats = []bridge.JID{chat}
	}
	if t.Since != "" {
		query.After, err = s.cursor(ctx, t.Since)
	}
	return query, err
}

// parseTypes returns types of events by their names. It returns an empty list for "all".
func parseTypes(names []string, known []bridge.EventType) ([]bridge.EventType, error) {
	types := make([]bridge.EventType, 0, len(names))
	if len(names) == 1 && names[0] == everything {
		return types, nil
	}
	for _, name := range names {
		kind := bridge.EventType(strings.TrimSpace(name))
		if !slices.Contains(known, kind) {
			return nil, Usage("%q is not a type of event: there are %s", name, bridge.Join(known, ", "))
		}
		types = append(types, kind)
	}
	return types, nil
}

// Tail prints events as they arrive until ctx ends. It reconnects after lost connections.
func (s *Shell) Tail(ctx context.Context, t Tail) error {
	query, err := s.query(ctx, t, bridge.StreamTypes(), "now")
	if err != nil {
		return err
	}
	known, statuses := make(names), make(statuses)
	for event, err := range s.API.Events(ctx, query) {
		if err == nil && (s.JSON || statuses.isNew(event)) {
			err = s.printEvent(ctx, known, event)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// statuses has the last printed status of each message.
type statuses map[[2]string]bridge.Delivery

// isNew reports whether an event changes the printed status of its message. An event has the message as it
// is when it is read, so two changes that are read late have the same status.
func (seen statuses) isNew(e bridge.Event) bool {
	if e.Type != bridge.EventMessageStatus || e.Message == nil || e.Message.Status == nil {
		return true
	}
	key, status := [2]string{string(e.ChatJID), e.Message.ID}, *e.Message.Status
	if seen[key] == status {
		return false
	}
	if len(seen) == maxNames {
		clear(seen)
	}
	seen[key] = status
	return true
}

// cursor returns the position in the log to start after.
func (s *Shell) cursor(ctx context.Context, since string) (string, error) {
	if n, err := strconv.ParseInt(since, 10, 64); err == nil && n >= 0 {
		return since, nil
	}
	at, err := s.moment("--since", since)
	if err != nil {
		return "", err
	}
	end, err := s.API.LastEvent(ctx)
	if err != nil {
		return "", err
	}
	last, err := strconv.Atoi(end)
	if err != nil {
		return "", fmt.Errorf("the bridge's log ends at %q, which is not a number", end)
	}
	var page client.EventPage
	from := sort.Search(last, func(after int) bool { // the log is ordered by time
		if err == nil {
			page, err = s.API.EventPage(ctx, client.EventQuery{After: strconv.Itoa(after)}, 1, 0)
		}
		return err != nil || len(page.Events) == 0 || !page.Events[0].At.Before(at.Time)
	})
	return strconv.Itoa(from), err
}

func (s *Shell) printEvent(ctx context.Context, known names, e bridge.Event) error {
	switch {
	case e.Type == bridge.EventReset && s.JSON:
		return s.printJSON(map[string]bridge.EventType{"type": e.Type})
	case e.Type == bridge.EventReset:
		return s.print("%s\n", "Some events were deleted before they could be read. From here on there are no gaps.")
	case s.JSON && (e.Typing != nil || e.Import != nil):
		return s.printJSON(bridge.LiveEvent{Type: e.Type, At: e.At, ChatJID: e.ChatJID, Typing: e.Typing, Import: e.Import})
	case s.JSON:
		shown := shownEvent{Event: e}
		if e.Message != nil {
			shown.Message = &shownMessage{e.ChatJID, *e.Message}
		}
		return s.printJSON(shown)
	}
	about, text := "", ""
	switch {
	case e.Message != nil:
		about, text = s.aboutMessage(ctx, known, e), messageText(*e.Message)
		if e.Type == bridge.EventMessageUpdated {
			text = s.change(ctx, known, e) + ": " + text
		}
		if e.Type == bridge.EventMessageStatus && e.Message.Status != nil {
			text = string(*e.Message.Status) + ": " + text
		}
	case e.Chat != nil:
		known[e.ChatJID] = nameOf(*e.Chat)
		about, text = nameOf(*e.Chat), fmt.Sprintf("the chat has changed: %d unread", e.Chat.UnreadCount)
	case e.Group != nil:
		about, text = e.Group.Name, fmt.Sprintf("the group has changed: %d people", len(e.Group.Participants))
		if r := e.JoinRequests; r != nil && len(r.Created) > 0 {
			text = fmt.Sprintf("%s asks to join", s.name(ctx, known, r.Created[0].JID))
			if others := len(r.Created) - 1; others > 0 {
				text += fmt.Sprintf(", and %d more", others)
			}
		}
	case e.Typing != nil:
		about, text = s.name(ctx, known, e.ChatJID), string(e.Typing.State)
		if e.ChatJID.IsGroup() {
			text = s.name(ctx, known, e.Typing.SenderJID) + ": " + text
		}
	case e.Import != nil:
		about, text = s.name(ctx, known, e.ChatJID), importText(*e.Import)
	case e.Call != nil:
		about, text = s.name(ctx, known, e.Call.FromJID), callText(*e.Call)
	case e.Status != nil:
		about, text = "account", string(e.Status.Status)
		if e.Status.LastError != nil {
			text += ": " + *e.Status.LastError
		}
	case e.Backup != nil:
		about, text = "backup", e.Backup.Error
	}
	at, about, text := s.when(&e.At), oneLine(about), oneLine(text)
	if s.Width > 0 {
		room := s.Width - columnsOf(at) - columnsOf(about) - 2*len(gap)
		text = anchored(cut(text, max(room, leastFlexible)))
	}
	return s.print("%s  %s  %s\n", s.styled(dimText, at), s.styled(boldText, anchored(about)), text)
}

// change describes a change of a message.
func (s *Shell) change(ctx context.Context, known names, e bridge.Event) string {
	changed := func(field bridge.MessageField) bool { return slices.Contains(e.Changes.Fields, field) }
	switch {
	case changed(bridge.ChangedDeleted):
		return "deleted"
	case changed(bridge.ChangedEdited):
		return "edited"
	case len(e.Reactions) > 0:
		r := e.Reactions[len(e.Reactions)-1]
		if r.Emoji == "" {
			return s.name(ctx, known, r.SenderJID) + " took a reaction back"
		}
		return s.name(ctx, known, r.SenderJID) + " reacted " + r.Emoji
	case len(e.Voters) > 0:
		return s.name(ctx, known, e.Voters[len(e.Voters)-1]) + " voted"
	case changed(bridge.ChangedTranscript):
		return "transcribed"
	case changed(bridge.ChangedPinned) && e.Message.PinnedUntil == nil:
		return "no longer pinned"
	case changed(bridge.ChangedPinned):
		return "pinned"
	case changed(bridge.ChangedStarred) && e.Message.Starred:
		return "starred"
	case changed(bridge.ChangedStarred):
		return "no longer starred"
	}
	return "changed"
}

func importText(is bridge.ImportProgress) string {
	if is.State == bridge.ImportUndoing || is.State == bridge.ImportUndone {
		return fmt.Sprintf("import %s: %s removed", is.State, bridge.Counted(is.Removed, "message"))
	}
	return fmt.Sprintf("import %s: %d of %d messages", is.State, is.Imported+is.Duplicates, is.Total)
}

func callText(call bridge.Call) string {
	kind := "voice call"
	if call.IsVideo {
		kind = "video call"
	}
	if call.IsGroup {
		kind += " of a group"
	}
	return kind + ": " + strings.ReplaceAll(string(call.State), "_", " ")
}

func (s *Shell) aboutMessage(ctx context.Context, known names, e bridge.Event) string {
	chat := s.name(ctx, known, e.ChatJID)
	switch {
	case e.Message.FromMe:
		return "me to " + chat
	case e.ChatJID.IsGroup():
		return from(*e.Message) + " in " + chat
	}
	return chat
}

// shownEvent is an event for JSON, whose message has its chat.
type shownEvent struct {
	bridge.Event
	Message *shownMessage `json:"message,omitempty"`
}
