// Package names finds the names of people and chats for a page, and reads form fields that choose
// chats.
package names

import (
	"cmp"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

// Names has the names of people on a page: from the address book, or the person's own name, the
// business name, the username, the number, in this order.
type Names struct {
	Me    bridge.JID
	Known map[bridge.JID]string
}

// Of returns the name of a person, or else the number.
func (n Names) Of(jid bridge.JID) string {
	if jid == n.Me && jid != "" {
		return "You"
	}
	return cmp.Or(n.Known[jid], view.Phone(jid))
}

// Learn adds a name, unless one is known.
func (n Names) Learn(jid bridge.JID, name string) {
	if name = strings.TrimSpace(name); name != "" && n.Known[jid] == "" {
		n.Known[jid] = name
	}
}

// LearnChats adds the names of individual chats.
func (n Names) LearnChats(chats []bridge.Chat) {
	for _, chat := range chats {
		if !chat.IsGroup && chat.Name != chat.JID.User() {
			n.Learn(chat.JID, chat.Name)
		}
	}
}

// maxNamed limits the people whose names are looked up for a page.
const maxNamed = 500

// LookUp requests the unknown names of people in one call. A token for some chats only gets the
// people in its chats.
func (n Names) LookUp(req *frame.Request, people []bridge.JID) error {
	slices.Sort(people)
	people = slices.DeleteFunc(slices.Compact(people), func(jid bridge.JID) bool {
		return !jid.IsPerson() || jid == n.Me || n.Known[jid] != ""
	})
	people = people[:min(len(people), maxNamed)]
	if len(people) == 0 {
		return nil
	}
	page, err := req.API.Contacts(req.Context(), bridge.ContactQuery{Among: people, Limit: len(people)})
	for _, contact := range page.Items {
		name := view.ContactName(contact)
		n.Learn(contact.JID, name)
		n.Learn(contact.LID, name)
	}
	return err
}

// Of returns the names of people.
func Of(req *frame.Request, people []bridge.JID) (Names, error) {
	n := Names{Known: make(map[bridge.JID]string)}
	return n, n.LookUp(req, people)
}

// OfMessages returns the names of all people in messages.
func OfMessages(req *frame.Request, chats []bridge.Chat, messages []bridge.Message) (n Names, err error) {
	n.Known = make(map[bridge.JID]string)
	if n.Me, err = Me(req); err != nil {
		return n, err
	}
	n.LearnChats(chats)
	var people []bridge.JID
	for _, m := range messages {
		people = append(people, peopleIn(m)...)
	}
	if err := n.LookUp(req, people); err != nil {
		return n, err
	}
	for _, m := range messages {
		n.Learn(m.SenderJID, m.PushName)
		if m.ContextInfo != nil {
			for _, mentioned := range m.ContextInfo.Mentions {
				n.Learn(mentioned.JID, mentioned.Name)
			}
		}
	}
	return n, nil
}

// peopleIn returns the people whose names a message shows.
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

// Me returns the account's JID; empty if it is not known.
func Me(req *frame.Request) (bridge.JID, error) {
	status, err := req.Status()
	user := status.User
	if bridge.CodeOf(err) == bridge.CodeForbidden { // the token is for some chats
		var own client.OwnToken
		own, err = req.API.OwnToken(req.Context())
		user = own.Account
	}
	if err != nil || user == nil {
		return "", err
	}
	return user.JID, nil
}

// NameSenders adds the senders' names to the last messages of chats.
func NameSenders(req *frame.Request, chats []bridge.Chat) error {
	var senders []bridge.JID
	for _, chat := range chats {
		if chat.IsGroup && chat.LastMessage != nil && !chat.LastMessage.FromMe {
			senders = append(senders, chat.LastMessage.SenderJID)
		}
	}
	n, err := Of(req, senders)
	for _, chat := range chats {
		if m := chat.LastMessage; m != nil {
			m.PushName = cmp.Or(n.Known[m.SenderJID], m.PushName)
		}
	}
	return err
}

// NameMatches adds the senders' names to the results of a search.
func NameMatches(req *frame.Request, found []bridge.Match) error {
	senders := make([]bridge.JID, len(found))
	for i, m := range found {
		senders[i] = m.SenderJID
	}
	n, err := Of(req, senders)
	for i, m := range found {
		found[i].PushName = cmp.Or(n.Known[m.SenderJID], m.PushName)
	}
	return err
}

// SenderOf returns the name of the sender of a message.
func SenderOf(name string, jid bridge.JID, fromMe bool) string {
	if fromMe {
		return "You"
	}
	return cmp.Or(strings.TrimSpace(name), view.Phone(jid))
}

// All returns the names of people, separated by commas.
func (n Names) All(people []bridge.JID) string {
	who := make([]string, len(people))
	for i, jid := range people {
		who[i] = n.Of(jid)
	}
	return strings.Join(who, ", ")
}
