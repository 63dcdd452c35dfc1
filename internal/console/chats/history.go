package chats

import (
	"net/url"
	"slices"
	"strconv"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

// dayPart has the messages of one day under a heading.
type dayPart struct {
	Date, Name string
	Entries    []entry
}

// entry is a message, or a line between messages.
type entry struct {
	*bubble
	Line *line
}

// inDays divides bubbles and the lines between them by their days.
func inDays(bubbles []bubble, lines []line, c view.Clock) (days []dayPart) {
	add := func(at bridge.Time, e entry) {
		date := c.Date(at)
		if len(days) == 0 || days[len(days)-1].Date != date {
			days = append(days, dayPart{Date: date, Name: c.Day(at)})
		}
		last := &days[len(days)-1]
		last.Entries = append(last.Entries, e)
	}
	for i := range bubbles {
		for len(lines) > 0 && lines[0].At.Before(bubbles[i].Timestamp.Time) {
			add(lines[0].At, entry{Line: &lines[0]})
			lines = lines[1:]
		}
		add(bubbles[i].Timestamp, entry{bubble: &bubbles[i]})
	}
	for i := range lines {
		add(lines[i].At, entry{Line: &lines[i]})
	}
	return days
}

// unread has the unread messages of a chat, as a page shows them.
type unread struct {
	Count  int
	First  string // the first unread message; empty if it is not on the page
	Before int    // number of unread messages on earlier pages
}

const (
	beforeUnread = 10  // messages before the first unread one
	maxMessages  = 100 // messages of a page that starts at the first unread one
)

// unreadOf returns the number of unread messages up to the newest one of a page.
func unreadOf(chat bridge.Chat, query url.Values) int {
	switch {
	case query.Get("at") != "" || query.Get("newer") != "":
		return 0
	case query.Get("older") != "":
		count, err := strconv.Atoi(query.Get("unread"))
		if err != nil || count < 0 {
			return 0
		}
		return count
	}
	return chat.UnreadCount
}

// unreadAmong finds the first unread message, given the number of unread ones at the end. The oldest
// message is first.
func unreadAmong(messages []bridge.Message, count int) unread {
	u := unread{Before: count}
	for _, m := range slices.Backward(messages) {
		if u.Before == 0 {
			break
		}
		if !m.FromMe {
			u.Before--
			u.First = m.ID
		}
	}
	if u.Before > 0 {
		u.First = ""
	}
	return u
}

// read returns the messages of a page, the oldest first, and sets the addresses of the pages before
// and after it.
func (p *chatPage) read(req *frame.Request, query url.Values) (messages []bridge.Message, err error) {
	if since := query.Get("since"); since != "" {
		if messages, err = p.readSince(req, since); messages != nil || err != nil {
			return messages, err
		}
	}
	count := unreadOf(p.Chat, query)
	newest := pageMessages
	if query.Get("part") == partChat {
		newest = openMessages
	}
	older := bridge.MessageQuery{Chat: p.Chat.JID, Order: bridge.OrderDesc, Cursor: query.Get("older"), Limit: min(max(newest, count+beforeUnread), maxMessages)}
	newer := bridge.MessageQuery{Chat: p.Chat.JID, Order: bridge.OrderAsc, Cursor: query.Get("newer"), Limit: pageMessages}
	switch {
	case p.IsNew:
		return nil, nil
	case p.At != "":
		m, err := req.API.Message(req.Context(), p.Chat.JID, p.At)
		if err != nil {
			return nil, err
		}
		reach := messagesAround
		if query.Has("near") && m.AlbumID == nil && m.Album == nil {
			reach = nearby
		}
		older.Cursor, older.Until, older.Limit = "", &m.Timestamp, reach
		newer.Cursor, newer.Since, newer.Limit = "", &m.Timestamp, reach
	case newer.Cursor != "":
		messages, p.Newer, err = part(req, newer)
		return messages, err
	}
	if messages, p.Older, err = part(req, older); err != nil {
		return nil, err
	}
	if p.At == "" {
		p.Unread = unreadAmong(messages, count)
		p.Unread.Count = max(count, p.Chat.UnreadCount)
		if p.Older != "" && p.Unread.Before > 0 {
			p.Older += "&unread=" + strconv.Itoa(p.Unread.Before)
		}
		return messages, nil
	}
	after, next, err := part(req, newer)
	for _, m := range after {
		if !slices.ContainsFunc(messages, func(known bridge.Message) bool { return known.ID == m.ID }) {
			messages = append(messages, m)
		}
	}
	p.Newer = next
	return messages, err
}

// nearby is how many messages are read before and after a changed one: its bubble depends on the message before it, and
// several messages can have the same timestamp.
const nearby = 4

// readSince returns the messages from a stored one on, and first the message before it. It returns nil if the script needs
// the newest page instead: too many messages were received, one was deleted, or one belongs to an album that began earlier.
func (p *chatPage) readSince(req *frame.Request, id string) ([]bridge.Message, error) {
	m, err := req.API.Message(req.Context(), p.Chat.JID, id)
	if err != nil {
		return nil, passed(err)
	}
	before, _, err := part(req, bridge.MessageQuery{Chat: p.Chat.JID, Order: bridge.OrderDesc, Until: &m.Timestamp, Limit: nearby})
	if err != nil {
		return nil, err
	}
	after, next, err := part(req, bridge.MessageQuery{Chat: p.Chat.JID, Order: bridge.OrderAsc, Since: &m.Timestamp, Limit: pageMessages})
	hasID := func(one bridge.Message) bool { return one.ID == id }
	i, j := slices.IndexFunc(before, hasID), slices.IndexFunc(after, hasID) // after has all messages with the same timestamp
	if err != nil || next != "" || i < 1 || j < 0 {
		return nil, err
	}
	messages := append(before[i-1:i+1:i+1], after[j+1:]...)
	for _, one := range messages {
		if one.AlbumID != nil && !slices.ContainsFunc(messages, func(known bridge.Message) bool { return known.ID == *one.AlbumID }) {
			return nil, nil
		}
	}
	p.From = true
	return messages, nil
}

// part returns messages, the oldest first, and the address of the next page in q's order.
func part(req *frame.Request, q bridge.MessageQuery) (messages []bridge.Message, next string, err error) {
	page, err := req.API.Messages(req.Context(), q)
	if err != nil {
		return nil, "", err
	}
	parameter := "newer"
	if q.Order == bridge.OrderDesc {
		parameter = "older"
		slices.Reverse(page.Items)
	}
	return page.Items, view.NextPage(view.ChatPath(q.Chat), url.Values{}, parameter, page.NextCursor), nil
}

// gather separates the pictures and videos of albums from other messages. A picture remains a
// message of its own if its album is missing or has another sender.
func gather(messages []bridge.Message) (rest []bridge.Message, parts map[string][]bridge.Message) {
	authors := make(map[string]bridge.JID)
	for _, m := range messages {
		if m.Album != nil {
			authors[m.ID] = m.SenderJID
		}
	}
	parts = make(map[string][]bridge.Message)
	for _, m := range messages {
		if m.AlbumID != nil && m.Media != nil && authors[*m.AlbumID] == m.SenderJID {
			parts[*m.AlbumID] = append(parts[*m.AlbumID], m)
			continue
		}
		rest = append(rest, m)
	}
	return rest, parts
}
