package console

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// names holds the names of people on a page, which are the same on all: that of the
// address book, else the one that a person chose, a business's, the username, the number.
type names struct {
	me    bridge.JID
	known map[bridge.JID]string
}

// of returns the name of a person, or else the number.
func (n names) of(jid bridge.JID) string {
	if jid == n.me && jid != "" {
		return "You"
	}
	return cmp.Or(n.known[jid], phoneOf(jid))
}

// learn notes a name if there is none yet.
func (n names) learn(jid bridge.JID, name string) {
	if name = strings.TrimSpace(name); name != "" && n.known[jid] == "" {
		n.known[jid] = name
	}
}

// learnChats notes the people whom chats are with.
func (n names) learnChats(chats []bridge.Chat) {
	for _, chat := range chats {
		if !chat.IsGroup && chat.Name != chat.JID.User() {
			n.learn(chat.JID, chat.Name)
		}
	}
}

// contactName returns the name of a person; empty where only the number is known.
func contactName(c bridge.KnownContact) string {
	return strings.TrimSpace(cmp.Or(c.Name, c.PushName, c.BusinessName, deref(c.Username)))
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// maxNamed bounds the people whose names are looked up for a page, in one call.
const maxNamed = 500

// lookUp asks for the names of people that are not known yet, in one call. A token for
// some chats learns those in its chats.
func (n names) lookUp(ctx context.Context, v *visit, people []bridge.JID) error {
	slices.Sort(people)
	people = slices.DeleteFunc(slices.Compact(people), func(jid bridge.JID) bool {
		return !jid.IsPerson() || jid == n.me || n.known[jid] != ""
	})
	people = people[:min(len(people), maxNamed)]
	if len(people) == 0 {
		return nil
	}
	page, err := v.api.Contacts(ctx, bridge.ContactQuery{Among: people, Limit: len(people)})
	for _, contact := range page.Items {
		name := contactName(contact)
		n.learn(contact.JID, name)
		n.learn(contact.LID, name)
	}
	return err
}

// namesOf returns the names of people.
func (v *visit) namesOf(people []bridge.JID) (names, error) {
	n := names{known: make(map[bridge.JID]string)}
	return n, n.lookUp(v.r.Context(), v, people)
}

// names returns the names of all people in messages.
func (v *visit) names(chats []bridge.Chat, messages []bridge.Message) (n names, err error) {
	n.known = make(map[bridge.JID]string)
	if n.me, err = v.me(); err != nil {
		return n, err
	}
	n.learnChats(chats)
	var people []bridge.JID
	for _, m := range messages {
		people = append(people, peopleIn(m)...)
	}
	if err := n.lookUp(v.r.Context(), v, people); err != nil {
		return n, err
	}
	for _, m := range messages {
		n.learn(m.SenderJID, m.PushName)
		if m.ContextInfo != nil {
			for _, mentioned := range m.ContextInfo.Mentions {
				n.learn(mentioned.JID, mentioned.Name)
			}
		}
	}
	return n, nil
}

// peopleIn returns those whose names are shown with a message.
func peopleIn(m bridge.Message) []bridge.JID {
	people := []bridge.JID{m.SenderJID}
	if m.ContextInfo != nil {
		people = append(people, m.ContextInfo.QuotedSenderJID)
		for _, mentioned := range m.ContextInfo.Mentions {
			people = append(people, mentioned.JID)
		}
	}
	if m.Quoted != nil {
		people = append(people, m.Quoted.SenderJID)
	}
	for _, reaction := range m.Reactions {
		people = append(people, reaction.SenderJID)
	}
	if m.Poll != nil {
		for _, option := range m.Poll.Options {
			people = append(append(people, option.Voters...), option.AddedBy)
		}
	}
	if m.Event != nil && m.Event.Responses != nil {
		people = slices.Concat(people, m.Event.Responses.Going, m.Event.Responses.Maybe, m.Event.Responses.NotGoing)
	}
	return people
}

// me returns the account's JID; empty where it is not known.
func (v *visit) me() (bridge.JID, error) {
	status, err := v.status()
	user := status.User
	if bridge.CodeOf(err) == bridge.CodeForbidden { // to a token for some chats
		var own client.OwnToken
		own, err = v.api.OwnToken(v.r.Context())
		user = own.Account
	}
	if err != nil || user == nil {
		return "", err
	}
	return user.JID, nil
}

// nameSenders gives the newest messages of chats the names of their senders.
func (v *visit) nameSenders(chats []bridge.Chat) error {
	var senders []bridge.JID
	for _, chat := range chats {
		if chat.IsGroup && chat.LastMessage != nil && !chat.LastMessage.FromMe {
			senders = append(senders, chat.LastMessage.SenderJID)
		}
	}
	n, err := v.namesOf(senders)
	for _, chat := range chats {
		if m := chat.LastMessage; m != nil {
			m.PushName = cmp.Or(n.known[m.SenderJID], m.PushName)
		}
	}
	return err
}

// nameMatches gives messages that a search found the names of their senders.
func (v *visit) nameMatches(found []bridge.Match) error {
	senders := make([]bridge.JID, len(found))
	for i, m := range found {
		senders[i] = m.SenderJID
	}
	n, err := v.namesOf(senders)
	for i, m := range found {
		found[i].PushName = cmp.Or(n.known[m.SenderJID], m.PushName)
	}
	return err
}

// senderOf returns the name of the sender of a message.
func senderOf(name string, jid bridge.JID, fromMe bool) string {
	if fromMe {
		return "You"
	}
	return cmp.Or(strings.TrimSpace(name), phoneOf(jid))
}
