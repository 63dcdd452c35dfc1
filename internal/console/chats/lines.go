package chats

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
)

// line is a call or a change of the group, between the messages of a chat.
type line struct {
	Key  string // its id in the page
	At   bridge.Time
	Icon string
	Text string
	Tone string
}

const (
	maxLines  = 100    // calls of a page
	maxEvents = 20_000 // newest events of the log; older changes of the group are not shown
)

// linesOf returns the calls and the changes of the group while the messages of a page were written, the oldest first.
func (p *chatPage) linesOf(req *frame.Request, messages []bridge.Message) (lines []line, err error) {
	if p.IsNew || p.Chat.JID.IsImport() {
		return nil, nil
	}
	var since, until *bridge.Time
	if (p.Older != "" || p.From) && len(messages) > 0 {
		since = &messages[0].Timestamp
	}
	if p.Newer != "" && len(messages) > 0 {
		until = &messages[len(messages)-1].Timestamp
	}
	if lines, err = callLines(req, p.Chat, since); err != nil {
		return nil, err
	}
	if p.Chat.IsGroup {
		changes, err := groupLines(req, p.Chat)
		if err != nil {
			return nil, err
		}
		lines = append(lines, changes...)
	}
	lines = slices.DeleteFunc(lines, func(l line) bool {
		return since != nil && l.At.Before(since.Time) || until != nil && l.At.After(until.Time)
	})
	slices.SortStableFunc(lines, func(a, b line) int { return a.At.Compare(b.At.Time) })
	return lines, nil
}

// callLines returns the calls in a chat.
func callLines(req *frame.Request, chat bridge.Chat, since *bridge.Time) (lines []line, err error) {
	page, err := req.API.Calls(req.Context(), bridge.CallQuery{Chat: chat.JID, Since: since, Limit: maxLines})
	if err != nil {
		return nil, passed(err)
	}
	callers := make([]bridge.JID, len(page.Items))
	for i, call := range page.Items {
		callers[i] = call.FromJID
	}
	n, err := names.Of(req, callers)
	for _, call := range page.Items {
		l := line{Key: "call-" + bridge.PathID(call.ID), At: call.StartedAt, Icon: "calls", Text: callText(call)}
		if call.State == bridge.CallMissed {
			l.Tone = "bad"
		}
		if chat.IsGroup {
			l.Text += " from " + n.Of(call.FromJID)
		}
		lines = append(lines, l)
	}
	return lines, err
}

// callText describes a call.
func callText(call bridge.Call) string {
	kind := "voice call"
	if call.IsVideo {
		kind = "video call"
	}
	switch call.State {
	case bridge.CallRinging:
		return "Incoming " + kind
	case bridge.CallMissed:
		return "Missed " + kind
	case bridge.CallRejected:
		return "Declined " + kind
	}
	return strings.ToUpper(kind[:1]) + kind[1:] + ", answered on another device"
}

// groupLines returns the latest changes of a group, as far as the log of events has them.
func groupLines(req *frame.Request, chat bridge.Chat) (lines []line, err error) {
	last, err := strconv.ParseInt(req.Cursor, 10, 64)
	if err != nil {
		return nil, nil // the page does not follow events
	}
	q := client.EventQuery{After: strconv.FormatInt(max(0, last-maxEvents), 10), Types: []bridge.EventType{bridge.EventGroupUpdated}, Chats: []bridge.JID{chat.JID}}
	page, err := req.API.EventPage(req.Context(), q, 1000, 0)
	if err != nil {
		return nil, passed(err)
	}
	var people []bridge.JID
	for _, event := range page.Events {
		people = append(people, peopleOf(event.Changes.Group)...)
	}
	n, err := names.OfMessages(req, []bridge.Chat{chat}, nil)
	if err == nil {
		err = n.LookUp(req, people)
	}
	for _, event := range page.Events {
		change := event.Changes.Group
		texts := changeTexts(change, n)
		if len(texts) > 0 && change.By == n.Me && event.Group.CreatedAt != nil && change.At == *event.Group.CreatedAt {
			texts = []string{"You created this group"}
		}
		for i, text := range texts {
			lines = append(lines, line{Key: fmt.Sprintf("event-%d-%d", event.ID, i), At: cmp.Or(change.At, event.At), Text: text})
		}
	}
	return lines, err
}

// listed returns the names of people as a sentence has them, of many only the first ones.
func listed(n names.Names, people []bridge.JID) string {
	const most = 3
	shown := make([]string, 0, most)
	for _, jid := range people[:min(len(people), most)] {
		name := n.Of(jid)
		if jid == n.Me && len(people) == 1 {
			name = "you"
		}
		shown = append(shown, name)
	}
	if others := len(people) - most; others > 0 {
		return strings.Join(shown, ", ") + fmt.Sprintf(" and %d more", others)
	}
	if last := len(shown) - 1; last > 0 {
		return strings.Join(shown[:last], ", ") + " and " + shown[last]
	}
	return shown[0]
}

// peopleOf returns the people whose names a change of a group shows.
func peopleOf(g *bridge.GroupChanges) []bridge.JID {
	if g == nil {
		return nil
	}
	people := slices.Concat([]bridge.JID{g.By}, g.Added, g.Removed, g.Left, g.Promoted, g.Demoted)
	for _, change := range g.NumberChanged {
		people = append(people, change.To)
	}
	return people
}

// changeTexts describes a change of a group, one sentence for each part.
func changeTexts(g *bridge.GroupChanges, n names.Names) (texts []string) {
	if g.IsZero() {
		return nil
	}
	by := "An admin"
	if g.By != "" {
		by = n.Of(g.By)
	}
	say := func(people []bridge.JID, format string) {
		if len(people) > 0 {
			text := fmt.Sprintf(format, listed(n, people))
			if rest, isYou := strings.CutPrefix(text, "you "); isYou { // names stay as they are
				text = "You " + rest
			}
			texts = append(texts, text)
		}
	}
	if slices.Equal(g.Added, []bridge.JID{g.By}) || g.By == "" {
		say(g.Added, "%s joined")
	} else {
		say(g.Added, by+" added %s")
	}
	say(g.Removed, by+" removed %s")
	say(g.Left, "%s left")
	say(g.Promoted, by+" made %s admin")
	say(g.Demoted, by+" removed %s as admin")
	for _, change := range g.NumberChanged {
		say([]bridge.JID{change.To}, "%s changed their phone number")
	}
	return append(texts, settingTexts(g, by)...)
}

// settingTexts describes the settings of a group that somebody has changed.
func settingTexts(g *bridge.GroupChanges, by string) (texts []string) {
	if c := g.Subject; c != nil {
		texts = append(texts, fmt.Sprintf("%s changed the group name to “%s”", by, c.New))
	}
	if c := g.Topic; c != nil {
		texts = append(texts, by+" changed the group description")
	}
	either := func(c *bridge.Change[bool], on, off string) {
		if c != nil && c.New {
			texts = append(texts, by+" "+on)
		} else if c != nil {
			texts = append(texts, by+" "+off)
		}
	}
	either(g.IsAnnounce, "allowed only admins to send messages", "allowed all members to send messages")
	either(g.IsLocked, "allowed only admins to edit the group info", "allowed all members to edit the group info")
	either(g.JoinApproval, "turned on approval of new members", "turned off approval of new members")
	if c := g.MemberAddMode; c != nil {
		who := map[bridge.MemberAddMode]string{bridge.AddedByAdmins: "only admins", bridge.AddedByEveryone: "all members"}[c.New]
		texts = append(texts, by+" allowed "+who+" to add members")
	}
	if c := g.Expiration; c != nil && c.New == 0 {
		texts = append(texts, by+" turned off disappearing messages")
	} else if c != nil {
		days := int(time.Duration(c.New) * time.Second / (24 * time.Hour))
		after := cmp.Or(map[int]string{1: "24 hours"}[days], fmt.Sprintf("%d days", days))
		texts = append(texts, by+" turned on disappearing messages: new messages disappear after "+after)
	}
	return texts
}
