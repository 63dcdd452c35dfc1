package names

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

// Choice is a field for chats: the chosen ones, and typed text that matches no chat.
type Choice struct {
	Chosen []Entry
	Typed  string
}

// Entry is a chat to choose.
type Entry struct {
	JID     bridge.JID `json:"jid"`
	Name    string     `json:"name"`
	About   string     `json:"about"` // its number, or "Group"
	IsGroup bool       `json:"isGroup"`
}

// ChoiceOf returns a field with chats.
func ChoiceOf(req *frame.Request, chats ...bridge.JID) (c Choice) {
	for _, jid := range chats {
		if jid != "" {
			c.Chosen = append(c.Chosen, EntryFor(req, jid))
		}
	}
	return c
}

// EntryFor returns a chat, with its number if the visitor may not read it.
func EntryFor(req *frame.Request, jid bridge.JID) Entry {
	return EntryOf(req.ChatFor(jid))
}

// EntryOf returns a chat as an entry.
func EntryOf(chat bridge.Chat) Entry {
	about := view.Phone(chat.JID)
	if chat.IsGroup {
		about = "Group"
	}
	return Entry{chat.JID, view.ChatName(chat), about, chat.IsGroup}
}

// Jids returns the chosen chats.
func (c Choice) Jids() []bridge.JID {
	jids := make([]bridge.JID, len(c.Chosen))
	for i, one := range c.Chosen {
		jids[i] = one.JID
	}
	return jids
}

// Choose reads a field with chats by JID, phone number or name. Text that matches no chat is an
// error of the field.
func Choose(req *frame.Request, f *frame.Form, field string) (Choice, error) {
	var chosen Choice
	var unknown []string
	for _, text := range namesIn(f.Values[field]) {
		jid, wrong, err := chatCalled(req, text)
		if err != nil {
			return chosen, err
		}
		if wrong != "" {
			f.Refuse(field, wrong)
			unknown = append(unknown, text)
		} else if !slices.Contains(chosen.Jids(), jid) {
			chosen.Chosen = append(chosen.Chosen, EntryFor(req, jid))
		}
	}
	chosen.Typed = strings.Join(unknown, "; ")
	return chosen, nil
}

// ChooseOne reads a field with one chat. Typed text wins over an earlier choice.
func ChooseOne(req *frame.Request, f *frame.Form, field string) (Choice, error) {
	values := slices.DeleteFunc(slices.Clone(f.Values[field]), func(text string) bool { return strings.TrimSpace(text) == "" })
	if len(values) > 1 {
		values = values[len(values)-1:]
	}
	if len(values) == 0 {
		return Choice{}, nil
	}
	text := strings.TrimSpace(values[0])
	jid, wrong, err := chatCalled(req, text)
	if err != nil || wrong != "" {
		f.Refuse(field, wrong)
		return Choice{Typed: text}, err
	}
	return ChoiceOf(req, jid), nil
}

// namesIn splits typed text at line ends and semicolons, and lists of JIDs also at commas and spaces.
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

// chatCalled returns the chat that a text names, or a sentence for the form. A text
// longer than [frame.MaxChoice] is an error.
func chatCalled(req *frame.Request, text string) (_ bridge.JID, wrong string, _ error) {
	if len(text) > frame.MaxChoice {
		return "", "", frame.ErrLongChoice
	}
	if strings.Contains(text, "@") {
		if jid, err := bridge.ParseJID(text); err == nil {
			return jid, "", nil
		}
	}
	found, err := Like(req, text, 50)
	if err != nil {
		return "", "", err
	}
	found = slices.DeleteFunc(found, func(one Entry) bool { return !strings.EqualFold(one.Name, text) })
	switch {
	case len(found) == 1:
		return found[0].JID, "", nil
	case len(found) > 1:
		return "", "More than one chat is called “" + text + "”. Choose one from the list.", nil
	}
	if phone, err := bridge.ParsePhone(text); err == nil {
		return bridge.PhoneJID(phone), "", nil
	}
	return "", "There’s no chat called “" + text + "”. Choose one from the list, or enter a phone number.", nil
}

// Like returns chats whose names or numbers contain a text, then people without a chat.
func Like(req *frame.Request, text string, limit int) (found []Entry, err error) {
	chats, err := req.API.Chats(req.Context(), bridge.ChatQuery{Q: text, Limit: limit})
	if err != nil {
		return nil, err
	}
	for _, chat := range chats.Items {
		found = append(found, EntryOf(chat))
	}
	if text == "" || len(found) >= limit {
		return found, nil
	}
	people, err := req.API.Contacts(req.Context(), bridge.ContactQuery{Q: text, Limit: limit})
	for _, person := range people.Items {
		name := cmp.Or(person.Name, person.PushName, person.BusinessName, view.Phone(person.JID))
		one := Entry{person.JID, name, view.Phone(person.JID), false}
		if person.ChatJID == "" && len(found) < limit {
			found = append(found, one)
		}
	}
	return found, err
}

// SuggestChats answers the script with chats whose names contain a text.
func SuggestChats(req *frame.Request) error {
	text := strings.TrimSpace(req.URL.Query().Get("q"))
	found, err := Like(req, text, 8)
	if err != nil {
		return err
	}
	if len(found) == 0 && text != "" { // a JID or a number may name a new chat
		jid, wrong, err := chatCalled(req, text)
		if err != nil {
			return err
		}
		if wrong == "" {
			found = append(found, EntryFor(req, jid))
		}
	}
	frame.WriteJSON(req.W, http.StatusOK, map[string]any{"chats": found})
	return nil
}
