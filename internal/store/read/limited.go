package read

import (
	"context"
	"maps"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/store/columns"
	"bridged/internal/store/people"
)

// A caller with limited access may only know the people of some chats: the contact of a private chat,
// members and owners of groups, and people who wrote, reacted, voted or answered an event there. Other
// people are shown with the JID in the message and without names.

// limitTo limits the caller to some chats; nil means all chats.
func (r *Snapshot) limitTo(only []bridge.JID) {
	if only != nil {
		r.limit = &limit{chats: r.chatIDs(only), known: make(map[int64]bool)}
	}
}

// limit is the access of a limited caller.
type limit struct {
	chats string         // ids, as an argument of json_each
	known map[int64]bool // results of knows by the ids of people
}

// insideQuery reports whether a person is one of some chats' people.
const insideQuery = `
	SELECT EXISTS (SELECT 1 FROM json_each(?1) o CROSS JOIN chats c ON c.id = o.value WHERE c.person = ?2)
	OR EXISTS (SELECT 1 FROM json_each(?1) o CROSS JOIN members m ON m.chat = o.value AND m.person = ?2)
	OR EXISTS (SELECT 1 FROM json_each(?1) o CROSS JOIN groups g ON g.chat = o.value WHERE g.owner = ?2)
	OR EXISTS (SELECT 1 FROM json_each(?1) o CROSS JOIN messages m INDEXED BY messages_by_sender ON m.chat = o.value AND m.sender = ?2)
	OR EXISTS (SELECT 1 FROM reactions r CROSS JOIN messages m ON m.seq = r.message
		WHERE r.person = ?2 AND m.chat IN (SELECT value FROM json_each(?1)))
	OR EXISTS (SELECT 1 FROM votes v CROSS JOIN messages m ON m.seq = v.message
		WHERE v.person = ?2 AND m.chat IN (SELECT value FROM json_each(?1)))
	OR EXISTS (SELECT 1 FROM event_responses a CROSS JOIN messages m ON m.seq = a.message
		WHERE a.person = ?2 AND m.chat IN (SELECT value FROM json_each(?1)))`

// knows reports whether the caller may know a person.
func (r *Snapshot) knows(p people.Person) bool {
	if r.limit == nil || p.ID == r.s.o.People.OwnerID() {
		return true
	}
	inside, looked := r.limit.known[p.ID]
	if !looked {
		r.Find(insideQuery, []any{r.limit.chats, p.ID}, &inside)
		r.limit.known[p.ID] = inside
	}
	return inside
}

// find returns the person with any JID, if the caller may know them.
func (r *Snapshot) find(jid bridge.JID) (people.Person, bool) {
	p, known := r.s.o.People.Find(jid)
	return p, known && r.knows(p)
}

func keysOf[V any](m map[int64]V) []int64 { return bridge.NotNil(slices.Sorted(maps.Keys(m))) }

// Outsiders returns the people of a list whom a caller with access to only some chats may not know. It
// returns nil if only is nil.
func (s *Reader) Outsiders(ctx context.Context, only, people []bridge.JID) ([]bridge.JID, error) {
	if only == nil || len(people) == 0 {
		return nil, nil
	}
	return As(ctx, s, "look for people outside", func(r *Snapshot) (outside []bridge.JID) {
		r.limitTo(only)
		for _, jid := range people {
			if _, known := r.find(jid); !known {
				outside = append(outside, jid)
			}
		}
		return outside
	})
}

// mentions returns the people that a message mentions, each once, with the word of the text
// that names them.
func mentions(find people.Finder, mentioned []bridge.JID, text string) []bridge.Mention {
	list := make([]bridge.Mention, 0, len(mentioned))
	index := make(map[bridge.JID]int, len(mentioned))
	for _, jid := range mentioned {
		m := bridge.Mention{JID: jid, LID: find.LID(jid)}
		if p, known := find(jid); known {
			m.JID, m.Name = p.JID(), p.DisplayName()
		}
		if _, seen := index[m.JID]; !seen {
			index[m.JID] = len(list)
			list = append(list, m)
		}
	}
	if len(list) > 0 {
		findTokens(find, list, index, text)
	}
	return list
}

// MaxTokens bounds how many words with an @ are looked at in one text.
const MaxTokens = 4096

// findTokens gives each of the people the first word of the text that is an @ and one of
// their numbers.
func findTokens(find people.Finder, list []bridge.Mention, index map[bridge.JID]int, text string) {
	for range MaxTokens {
		at := strings.IndexByte(text, '@')
		if at < 0 {
			return
		}
		text = text[at:]
		token := text[:len(text)-len(strings.TrimLeft(text[1:], "0123456789"))]
		text = text[len(token):]
		if len(token) == 1 {
			continue
		}
		for _, server := range []string{bridge.ServerUser, bridge.ServerLID, bridge.ServerBot, bridge.ServerGroup} {
			jid := find.Canonical(bridge.JID(token[1:] + "@" + server))
			if i, found := index[jid]; found && list[i].Token == nil {
				list[i].Token = &token
				break
			}
		}
	}
}

// contextOf returns the context of a message with a text, with people as find knows them.
func contextOf(c *columns.MessageContext, find people.Finder, text string) *bridge.ContextInfo {
	context := &bridge.ContextInfo{
		QuotedMsgID: c.QuotedID, QuotedSenderJID: find.Canonical(c.QuotedSender), MentionsAll: c.MentionsAll,
		Mentions: mentions(find, c.Mentioned, text), MentionedJID: make([]bridge.JID, 0, len(c.Mentioned)),
	}
	for _, m := range context.Mentions {
		context.MentionedJID = append(context.MentionedJID, m.JID)
	}
	return context
}
