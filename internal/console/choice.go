package console

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"bridged/internal/bridge"
)

// choice is a field that names chats: those that were chosen, and what was typed that
// names none.
type choice struct {
	Chosen []named
	Typed  string
}

// named is a chat with the name that it is chosen by.
type named struct {
	JID     bridge.JID `json:"jid"`
	Name    string     `json:"name"`
	About   string     `json:"about"` // its number, or that it is a group
	IsGroup bool       `json:"isGroup"`
}

// suggestions are the chats that a page offers without the script.
const suggestions = 50

// choiceOf returns a field with the names of its chats.
func (v *visit) choiceOf(chats ...bridge.JID) (c choice) {
	for _, jid := range chats {
		if jid != "" {
			c.Chosen = append(c.Chosen, v.named(jid))
		}
	}
	return c
}

// named returns a chat with its name: its number where the visitor may see no more.
func (v *visit) named(jid bridge.JID) named {
	if known, ok := v.chatNames[jid]; ok {
		return known
	}
	chat, err := v.api.Chat(v.r.Context(), jid)
	if err != nil {
		chat = bridge.Chat{JID: jid, IsGroup: jid.IsGroup()}
	}
	if v.chatNames == nil {
		v.chatNames = make(map[bridge.JID]named)
	}
	v.chatNames[jid] = namedOf(chat)
	return v.chatNames[jid]
}

func namedOf(chat bridge.Chat) named {
	about := phoneOf(chat.JID)
	if chat.IsGroup {
		about = "Group"
	}
	return named{chat.JID, nameOf(chat), about, chat.IsGroup}
}

// jids returns the chosen chats.
func (c choice) jids() []bridge.JID {
	jids := make([]bridge.JID, len(c.Chosen))
	for i, one := range c.Chosen {
		jids[i] = one.JID
	}
	return jids
}

// choose reads a field that names chats by JID, by phone number or by name. What names
// none is its fault.
func (v *visit) choose(f *form, field string) (choice, error) {
	var chosen choice
	var unknown []string
	for _, text := range namesIn(f.Values[field]) {
		jid, wrong, err := v.chatCalled(text)
		if err != nil {
			return chosen, err
		}
		if wrong != "" {
			f.refuse(field, wrong)
			unknown = append(unknown, text)
		} else if !slices.Contains(chosen.jids(), jid) {
			chosen.Chosen = append(chosen.Chosen, v.named(jid))
		}
	}
	chosen.Typed = strings.Join(unknown, "; ")
	return chosen, nil
}

// chooseOne reads a field that names one chat: what is typed goes before what was chosen
// earlier.
func (v *visit) chooseOne(f *form, field string) (choice, error) {
	values := slices.DeleteFunc(slices.Clone(f.Values[field]), func(text string) bool { return strings.TrimSpace(text) == "" })
	if len(values) > 1 {
		values = values[len(values)-1:]
	}
	if len(values) == 0 {
		return choice{}, nil
	}
	text := strings.TrimSpace(values[0])
	jid, wrong, err := v.chatCalled(text)
	if err != nil || wrong != "" {
		f.refuse(field, wrong)
		return choice{Typed: text}, err
	}
	return v.choiceOf(jid), nil
}

// namesIn splits what was typed: at the ends of lines and at semicolons, and JIDs also at
// commas and spaces, which names may have.
func namesIn(values []string) (names []string) {
	for _, value := range values {
		for line := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '\n' || r == ';' }) {
			line = strings.Trim(line, ", \t\r")
			words := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(word, "@") }) {
				names = append(names, words...)
			} else if line != "" {
				names = append(names, line)
			}
		}
	}
	return names
}

// maxChoice limits the name of a chat or a person in a form, in bytes: the page shows a wrong one again.
const maxChoice = 1 << 10

var errLongChoice = problem{http.StatusBadRequest, "That’s too long", "A name has at most 1,024 bytes. Enter the name, phone number or JID of a chat, and separate several with semicolons.", ""}

// chatCalled returns the chat that a text names, or what is wrong with it. A text longer than maxChoice is
// an error.
func (v *visit) chatCalled(text string) (_ bridge.JID, wrong string, _ error) {
	if len(text) > maxChoice {
		return "", "", errLongChoice
	}
	if strings.Contains(text, "@") {
		if jid, err := bridge.ParseJID(text); err == nil {
			return jid, "", nil
		}
	}
	found, err := v.chatsLike(v.r.Context(), text, 50)
	if err != nil {
		return "", "", err
	}
	found = slices.DeleteFunc(found, func(one named) bool { return !strings.EqualFold(one.Name, text) })
	switch {
	case len(found) == 1:
		return found[0].JID, "", nil
	case len(found) > 1:
		return "", "More than one chat is called “" + text + "”. Choose one from the list, or enter its JID.", nil
	}
	if phone, err := bridge.ParsePhone(text); err == nil {
		return bridge.PhoneJID(phone), "", nil
	}
	return "", "There’s no chat called “" + text + "”. Choose one from the list, or enter a phone number or a JID.", nil
}

// chatsLike returns chats whose names or numbers contain a text, and then people with
// whom there is no chat yet.
func (v *visit) chatsLike(ctx context.Context, text string, limit int) (found []named, err error) {
	chats, err := v.api.Chats(ctx, bridge.ChatQuery{Q: text, Limit: limit})
	if err != nil {
		return nil, err
	}
	for _, chat := range chats.Items {
		found = append(found, namedOf(chat))
	}
	if text == "" || len(found) >= limit {
		return found, nil
	}
	people, err := v.api.Contacts(ctx, bridge.ContactQuery{Q: text, Limit: limit})
	for _, person := range people.Items {
		name := cmp.Or(person.Name, person.PushName, person.BusinessName, phoneOf(person.JID))
		one := named{person.JID, name, phoneOf(person.JID), false}
		if person.ChatJID == "" && len(found) < limit {
			found = append(found, one)
		}
	}
	return found, err
}

// suggestChats answers the script's question for chats whose names contain a text.
func (c *Console) suggestChats(v *visit) error {
	text := strings.TrimSpace(v.r.URL.Query().Get("q"))
	found, err := v.chatsLike(v.r.Context(), text, 8)
	if err != nil {
		return err
	}
	if len(found) == 0 && text != "" { // a JID or a number names a chat that is not stored yet
		jid, wrong, err := v.chatCalled(text)
		if err != nil {
			return err
		}
		if wrong == "" {
			found = append(found, v.named(jid))
		}
	}
	writeJSON(v.w, http.StatusOK, map[string]any{"chats": found})
	return nil
}
