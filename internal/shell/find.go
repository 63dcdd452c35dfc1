package shell

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

// directory is a list in which find looks for a name.
type directory struct {
	one, many string // "chat" and "chats"
	command   string // that prints the list
	named     func(ctx context.Context, name string) iter.Seq2[candidate, error]
}

// candidate is a chat or a person whose name contains the text.
type candidate struct {
	jid   bridge.JID
	names []string
	line  string // shows it to the caller
}

// find returns a chat by its JID, phone number, exact name or @username. It fails if several chats have the
// name.
func (s *Shell) find(ctx context.Context, who string) (bridge.JID, error) {
	return s.findIn(ctx, directory{"chat", "chats", "bridged chats", s.chatsNamed}, who)
}

// findPerson returns a person in the same way as [Shell.find] returns a chat.
func (s *Shell) findPerson(ctx context.Context, who string) (bridge.JID, error) {
	return s.findIn(ctx, directory{"person", "people", "bridged contacts", s.peopleNamed}, who)
}

// findAny returns a chat, or else a person without one, in the same way as [Shell.find].
func (s *Shell) findAny(ctx context.Context, who string) (bridge.JID, error) {
	jid, err := s.find(ctx, who)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		if person, notPerson := s.findPerson(ctx, who); notPerson == nil {
			return person, nil
		}
	}
	return jid, err
}

func (s *Shell) findIn(ctx context.Context, in directory, who string) (bridge.JID, error) {
	who = strings.TrimSpace(who)
	if who == "" {
		return "", Usage("name a %s: by JID, phone number, exact name or @username", in.one)
	}
	jid, notJID := bridge.ParseJID(who)
	if notJID == nil {
		return jid, nil
	}
	if bridge.PhoneDigits(who) != "" {
		if number, err := bridge.ParsePhone(who); err == nil {
			return bridge.PhoneJID(number), nil
		}
	}
	var named, similar []candidate
	for one, err := range in.named(ctx, who) {
		switch {
		case err != nil:
			return "", err
		case slices.Contains(one.names, who):
			named = append(named, one)
		case len(similar) < maxSimilar:
			similar = append(similar, one)
		}
	}
	switch {
	case len(named) == 1:
		return named[0].jid, nil
	case len(named) > 1:
		return "", hinted(Usage("%d %s have the name %q: give its JID instead", len(named), in.many, who), "%s", lines(named))
	case strings.HasPrefix(who, "@"):
		return "", hinted(bridge.NotFound("no %s has the username %s", in.one, who), "look for it with: %s", in.command)
	case strings.Contains(who, "@"):
		return "", Usage("%s", notJID)
	case len(similar) > 0:
		return "", hinted(bridge.NotFound("no %s has exactly the name %q", in.one, who), "%s", lines(similar))
	}
	return "", hinted(bridge.NotFound("no %s has the name %q", in.one, who), "look for it with: %s\na number needs its country code, as in +1 555 123-4567", in.command)
}

// maxSimilar limits the similar names in an error.
const maxSimilar = 5

// chatsNamed returns the chats that have a text in their name.
func (s *Shell) chatsNamed(ctx context.Context, name string) iter.Seq2[candidate, error] {
	return func(yield func(candidate, error) bool) {
		for chat, err := range s.API.AllChats(ctx, bridge.ChatQuery{Q: name, Limit: maxPage}) {
			one := candidate{chat.JID, withUsername(chat.Username, chat.Name), fmt.Sprintf("%s  %s", chat.JID, nameOf(chat))}
			if chat.LastMessageAt != nil {
				one.line += "  last message " + s.when(chat.LastMessageAt)
			}
			if !yield(one, err) {
				return
			}
		}
	}
}

// peopleNamed returns the people who have a text in one of their names.
func (s *Shell) peopleNamed(ctx context.Context, name string) iter.Seq2[candidate, error] {
	return func(yield func(candidate, error) bool) {
		for person, err := range s.API.AllContacts(ctx, bridge.ContactQuery{Q: name, Limit: maxPage}) {
			names := withUsername(person.Username, person.Name, person.PushName, person.BusinessName)
			if !yield(candidate{person.JID, names, fmt.Sprintf("%s  %s", person.JID, personName(person))}, err) {
				return
			}
		}
	}
}

// withUsername returns names with a username, as it is typed.
func withUsername(username *string, names ...string) []string {
	if username != nil {
		names = append(names, "@"+*username)
	}
	return names
}

// lines shows candidates, each on a line.
func lines(candidates []candidate) string {
	const most = 10
	var lines []string
	for _, one := range candidates[:min(len(candidates), most)] {
		lines = append(lines, one.line)
	}
	if others := len(candidates) - most; others > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", others))
	}
	return strings.Join(lines, "\n")
}
