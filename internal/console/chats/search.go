package chats

import (
	"net/http"
	"net/url"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/markup"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
	"bridged/internal/folding"
)

const (
	pageOfHits = 50
	// Results while a search is typed, and results above the messages.
	hitsAsTyped = 5
	chatsFound  = 5
	peopleFound = 5
	// maxEmptyPages limits the empty pages that are read until one has messages.
	maxEmptyPages = 20
)

type searchPage struct {
	terms
	Asked   bool
	Kinds   []kind
	InName  string // in the form
	Sender  string
	Chips   []chip
	Unclear []unclear
	Wants   string // a sentence that asks for more terms; empty if they suffice

	Chats  []foundChat
	People []foundChat
	Hits   []hit
	More   string
	All    string // the address of all results, while a search is typed
	Curl   string
}

// chip is a filter of a search. Without is the search without it.
type chip struct{ Label, Text, Without string }

// unclear is a name that matches several chats or people, or none.
type unclear struct {
	Noun, Name string
	Choices    []chip // Without is the search with this choice
}

// foundChat is a chat or a person whose name matches.
type foundChat struct {
	names.Entry
	Parts []folding.Part
	Path  string
}

// hit is a message with an excerpt around the words.
type hit struct {
	Chat   bridge.JID
	Name   string
	Group  bool
	Sender string
	Kind   string // empty for a text
	At     bridge.Time
	Parts  []folding.Part
	Path   string
}

// ShowSearch shows a search with its results.
func ShowSearch(req *frame.Request) error {
	page := searchPage{terms: termsOf(req.URL.Query())}
	if err := page.find(req, pageOfHits, req.URL.Query().Get("cursor")); err != nil {
		return err
	}
	return req.Show("search", "Search", page)
}

// FindAsTyped answers the script with the first results while a search is typed.
func FindAsTyped(req *frame.Request) error {
	page := searchPage{terms: termsOf(req.URL.Query())}
	if err := page.find(req, hitsAsTyped, ""); err != nil {
		return err
	}
	page.All = page.terms.path()
	return req.PartOf("search", "found", map[string]any{"Page": page, "Clock": req.Clock()})
}

// find fills the page with results.
func (p *searchPage) find(req *frame.Request, limit int, cursor string) error {
	p.Kinds, p.Asked = searchKinds, p.terms != terms{}
	q := bridge.SearchQuery{Q: p.Words, Fold: p.fold(), Limit: limit, Cursor: cursor}
	if err := p.narrow(req, &q); err != nil || !p.Asked {
		return err
	}
	if !p.isNarrowed() && cursor == "" {
		if err := p.findNames(req); err != nil {
			return err
		}
	}
	switch {
	case len(p.Unclear) > 0:
		return nil
	case !q.IsNarrow():
		p.Wants = "Add a word, a chat, a person or a kind of message to search in these days."
		return nil
	}
	return p.findMessages(req, q)
}

// narrow reads the filters into a query and adds a chip for each.
func (p *searchPage) narrow(req *frame.Request, q *bridge.SearchQuery) error {
	if p.In != "" {
		if err := p.narrowChat(req, q); err != nil {
			return err
		}
	}
	if p.From != "" {
		if err := p.narrowSender(req, q); err != nil {
			return err
		}
	}
	if p.Kind != "" {
		if chosen, known := kindCalled(p.Kind); known {
			p.Kind, q.Type = chosen.Name, chosen.Type
			switch chosen.Name {
			case starred:
				q.Starred = new(true)
			case pinnedKind:
				q.Pinned = new(true)
			}
			p.chip("Kind", chosen.Text, func(t *terms) { t.Kind = "" })
		} else {
			p.Unclear = append(p.Unclear, unclear{Noun: "kind of message", Name: p.Kind})
		}
	}
	if p.Accents != "" {
		if strings.EqualFold(p.Accents, asTyped) {
			p.Accents = asTyped
			p.chip("Accents", "as typed", func(t *terms) { t.Accents = "" })
		} else {
			p.Unclear = append(p.Unclear, unclear{Noun: "way to treat accents", Name: p.Accents})
		}
	}
	q.Since = p.day(req, "Since", p.Since, false, func(t *terms) { t.Since = "" })
	q.Until = p.day(req, "Until", p.Until, true, func(t *terms) { t.Until = "" })
	return nil
}

// day reads a day and adds its chip; nil if none.
func (p *searchPage) day(req *frame.Request, label, text string, last bool, without func(*terms)) *bridge.Time {
	day, err := req.Clock().ParseDay(text, last)
	if err != nil {
		p.Unclear = append(p.Unclear, unclear{Noun: "day", Name: text})
	}
	if day != nil {
		p.chip(label, day.In(req.Zone()).Format("2 Jan 2006"), without)
	}
	return day
}

// chip adds the chip of a filter.
func (p *searchPage) chip(label, text string, without func(*terms)) {
	rest := p.terms
	without(&rest)
	p.Chips = append(p.Chips, chip{label, text, rest.path()})
}

// narrowChat finds the chat to search.
func (p *searchPage) narrowChat(req *frame.Request, q *bridge.SearchQuery) error {
	p.InName = p.In
	jid, err := bridge.ParseJID(p.In)
	if err != nil {
		meant, err := chatsCalled(req, p.In)
		if err != nil {
			return err
		}
		if len(meant) != 1 {
			p.ask("chat", p.In, meant, func(t *terms, jid bridge.JID) { t.In = string(jid) })
			return nil
		}
		jid = meant[0].JID
	}
	chat, err := req.API.Chat(req.Context(), jid)
	if err != nil {
		return err
	}
	q.Chat, p.In, p.InName = chat.JID, string(chat.JID), unambiguous(req, chat.JID, view.ChatName(chat), chatsCalled)
	p.chip("In", view.ChatName(chat), func(t *terms) { t.In = "" })
	return nil
}

// narrowSender finds the sender to search for.
func (p *searchPage) narrowSender(req *frame.Request, q *bridge.SearchQuery) error {
	p.Sender = p.From
	if p.isFromMe() {
		q.FromMe = new(true)
		p.chip("From", "me", func(t *terms) { t.From = "" })
		return nil
	}
	if _, err := bridge.ParseJID(p.From); err != nil {
		meant, err := peopleCalled(req, p.From)
		if err != nil {
			return err
		}
		if len(meant) != 1 {
			p.ask("person", p.From, meant, func(t *terms, jid bridge.JID) { t.From = string(jid) })
			return nil
		}
		p.From = string(meant[0].JID)
	}
	contact, err := req.API.Contact(req.Context(), bridge.JID(p.From))
	if err != nil {
		return err
	}
	q.Sender, p.From, p.Sender = contact.JID, string(contact.JID), unambiguous(req, contact.JID, personName(contact), peopleCalled)
	p.chip("From", personName(contact), func(t *terms) { t.From = "" })
	return nil
}

// unambiguous returns a name, or the JID if the name also matches others.
func unambiguous(req *frame.Request, jid bridge.JID, name string, called func(*frame.Request, string) ([]names.Entry, error)) string {
	if meant, err := called(req, name); err != nil || len(meant) != 1 || meant[0].JID != jid {
		return string(jid)
	}
	return name
}

// ask adds a name that is unclear, with its matches to choose from.
func (p *searchPage) ask(noun, name string, meant []names.Entry, with func(*terms, bridge.JID)) {
	asked := unclear{Noun: noun, Name: name}
	for _, one := range meant[:min(len(meant), maxMatches)] {
		rest := p.terms
		with(&rest, one.JID)
		label := one.Name
		if one.About != one.Name && !one.IsGroup {
			label += " (" + one.About + ")"
		}
		asked.Choices = append(asked.Choices, chip{Text: label, Without: rest.path()})
	}
	p.Unclear = append(p.Unclear, asked)
}

// findNames finds chats and people by name.
func (p *searchPage) findNames(req *frame.Request) error {
	chats, err := req.API.Chats(req.Context(), bridge.ChatQuery{Q: p.Words, Limit: chatsFound})
	if err != nil {
		return err
	}
	listed := make(map[bridge.JID]bool)
	for _, chat := range chats.Items {
		listed[chat.JID] = true
		p.Chats = append(p.Chats, foundChat{names.EntryOf(chat), folding.Name(view.ChatName(chat), p.Words), view.ChatPath(chat.JID)})
	}
	people, err := req.API.Contacts(req.Context(), bridge.ContactQuery{Q: p.Words, Limit: peopleFound + chatsFound})
	for _, contact := range people.Items {
		if person := namedPerson(contact); !listed[person.JID] && len(p.People) < peopleFound {
			p.People = append(p.People, foundChat{person, folding.Name(person.Name, p.Words), view.ChatPath(person.JID)})
		}
	}
	return err
}

// findMessages finds the messages. Pages of a filtered search may be empty before it ends.
func (p *searchPage) findMessages(req *frame.Request, q bridge.SearchQuery) error {
	asked := req.URL.Query()
	asked.Del("cursor")
	for range maxEmptyPages {
		found, err := req.API.Search(req.Context(), q)
		if err == nil {
			err = names.NameMatches(req, found.Items)
		}
		if err != nil {
			return err
		}
		for _, m := range found.Items {
			p.Hits = append(p.Hits, hitOf(m, p.Words, q.Fold))
		}
		p.More = view.NextPage(view.Root+"/search", asked, "cursor", found.NextCursor)
		if len(p.Hits) > 0 || found.NextCursor == nil {
			break
		}
		q.Cursor = *found.NextCursor
	}
	p.Curl = req.Curl("GET", "/api/messages/search?"+apiQuery(q).Encode(), nil)
	return nil
}

// apiQuery returns the query of the API for a search.
func apiQuery(q bridge.SearchQuery) url.Values {
	query := url.Values{}
	set := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	set("q", q.Q)
	set("fold", string(q.Fold))
	set("chat", string(q.Chat))
	set("sender", string(q.Sender))
	set("type", q.Type)
	if q.FromMe != nil {
		set("fromMe", "true")
	}
	if q.Since != nil {
		set("since", q.Since.String())
	}
	if q.Until != nil {
		set("until", q.Until.String())
	}
	return query
}

func hitOf(m bridge.Match, words string, by bridge.Fold) hit {
	shown := hit{
		Chat: m.ChatJID, Name: view.ChatName(bridge.Chat{JID: m.ChatJID, Name: m.ChatName}), Group: m.IsGroup,
		Sender: names.SenderOf(m.PushName, m.SenderJID, m.FromMe), At: m.Timestamp, Path: withWords(jump(m.ChatJID, m.MsgID), words, by),
		Kind: view.KindOf(bridge.Message{MessageType: m.MessageType, Media: m.Media}),
	}
	if m.MessageType == bridge.TypeText || m.MessageType == bridge.TypeExtendedText {
		shown.Kind = ""
	}
	if !m.IsGroup && !m.FromMe {
		shown.Sender = "" // the chat has this name
	}
	shown.Parts = folding.Around(markup.Plain(m.Words()), words, by, wordsBefore, wordsAfter)
	return shown
}

// SuggestNames answers the script with names for the fields of a search.
func SuggestNames(req *frame.Request) error {
	query, names := req.URL.Query(), []string{}
	called := chatsCalled
	if query.Get("for") == "from" {
		called = peopleCalled
	}
	meant, err := called(req, query.Get("q"))
	for _, one := range meant[:min(len(meant), maxMatches)] {
		names = append(names, one.Name)
	}
	if err != nil {
		return err
	}
	frame.WriteJSON(req.W, http.StatusOK, map[string]any{"names": names})
	return nil
}

// jump returns the address of a message in its chat.
func jump(chat bridge.JID, id string) string {
	return view.ChatPath(chat) + "?at=" + url.QueryEscape(id)
}

const (
	wordsBefore = 60  // characters before the words that were found
	wordsAfter  = 160 // characters after them
)
