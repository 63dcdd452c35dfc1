package console

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bridged/internal/bridge"
)

const pageOfPeople = 100

// personRow is a person of a list.
type personRow struct {
	JID    bridge.JID
	Name   string
	Line   string // below the name: username and number
	Path   string // where the row leads
	Chosen bool   // in a list to choose from
	Mark   string // beside the name: whose it is, if not one of the address book
}

// rowOf returns the row of a person; me is the account's own.
func rowOf(c bridge.KnownContact, path string, me bridge.JID) personRow {
	row := personRow{JID: c.JID, Name: cmp.Or(contactName(c), phoneOf(c.JID)), Path: path}
	switch {
	case c.JID == me:
		row.Mark = "You"
	case !c.IsSaved:
		row.Mark = "Not saved"
	}
	var parts []string
	if c.Username != nil && *c.Username != row.Name {
		parts = append(parts, "@"+*c.Username)
	}
	if number := phoneOf(c.JID); number != row.Name {
		parts = append(parts, number)
	}
	row.Line = strings.Join(parts, ", ")
	return row
}

// letter is a heading of the list of people, and those below it.
type letter struct {
	Letter string
	People []personRow
}

type contactsPage struct {
	Q       string
	Letters []letter
	Count   int
	More    string // the address of the next page; empty for none
	Curl    string
}

// showContacts answers the people whom the account knows, by name.
func (c *Console) showContacts(v *visit) error {
	query := v.r.URL.Query()
	q := strings.TrimSpace(query.Get("q"))
	found, err := v.api.Contacts(v.r.Context(), bridge.ContactQuery{Q: q, Limit: pageOfPeople, Cursor: query.Get("cursor")})
	if err != nil {
		return err
	}
	me, err := v.me()
	if err != nil {
		return err
	}
	page := contactsPage{Q: q, Count: len(found.Items), Curl: curl("GET", "/api/contacts?"+url.Values{"q": {q}}.Encode(), nil)}
	for _, contact := range found.Items {
		page.add(contact, me)
	}
	page.More = more(root+"/contacts", url.Values{"q": {q}}, "cursor", found.NextCursor)
	return v.show("contacts", "Contacts", page)
}

func (p *contactsPage) add(contact bridge.KnownContact, me bridge.JID) {
	heading := letterOf(contactName(contact))
	if last := len(p.Letters) - 1; last < 0 || p.Letters[last].Letter != heading {
		p.Letters = append(p.Letters, letter{Letter: heading})
	}
	last := &p.Letters[len(p.Letters)-1]
	last.People = append(last.People, rowOf(contact, personPath(contact.JID), me))
}

// letterOf returns the heading under which a name stands: its first letter without
// accents, or # for anything else.
func letterOf(name string) string {
	if r, _ := utf8.DecodeRuneInString(norm.NFD.String(name)); unicode.IsLetter(r) {
		return string(unicode.ToUpper(r))
	}
	return "#"
}

func personPath(jid bridge.JID) string { return root + "/people/" + jid.Escaped() }

// infoPath returns the page about a chat: that of its group, or of the person.
func infoPath(jid bridge.JID) string {
	if jid.IsGroup() {
		return chatPath(jid) + "/info"
	}
	return personPath(jid)
}

type personPage struct {
	Contact bridge.KnownContact
	Name    string
	Number  string // empty where it is hidden
	Chat    bridge.JID
	Known   bool // whether a chat with them is stored
	You     bool
	Blocks  bool // whether the visitor may block them, or take it back
	Key     string
	Fault   fault
	Curl    string
}

// showPerson answers what is known of a person.
func (c *Console) showPerson(v *visit) error { return v.showPersonPage(http.StatusOK, fault{}) }

func (v *visit) showPersonPage(status int, f fault) error {
	if v.chat.IsGroup() {
		http.Redirect(v.w, v.r, infoPath(v.chat), http.StatusSeeOther)
		return nil
	}
	contact, err := v.api.Contact(v.r.Context(), v.chat)
	if err != nil {
		return err
	}
	me, err := v.me()
	if err != nil {
		return err
	}
	page := personPage{
		Contact: contact, Name: cmp.Or(contactName(contact), phoneOf(contact.JID)), Chat: cmp.Or(contact.ChatJID, contact.JID), Known: contact.ChatJID != "",
		You: me != "" && contact.JID == me, Key: newKey(), Fault: f, Curl: curl("GET", "/api/contacts/"+contact.JID.Escaped(), nil),
	}
	if contact.Phone != nil {
		page.Number = "+" + *contact.Phone
	}
	page.Blocks = v.sends() && !page.You && contact.JID.IsPerson()
	return v.showAs(status, "person", page.Name, page)
}

// blockPerson blocks a person, or takes it back. A refusal is shown beside the form.
func (c *Console) blockPerson(v *visit) error {
	ctx, change, text := v.r.Context(), v.api.Block, "Blocked."
	if v.r.PostForm.Get("action") == "unblock" {
		change, text = v.api.Unblock, "Unblocked."
	}
	err := change(ctx, v.chat, v.key())
	if err == nil || wantsJSON(v.r) {
		return v.done(err, text, personPath(v.chat))
	}
	f, status, err := faultOf("block", err)
	if err != nil {
		return err
	}
	return v.showPersonPage(status, f)
}

// chatOf returns a chat, or an empty one with a person whom the account knows, in which
// the first message can be written.
func (v *visit) chatOf(ctx context.Context, jid bridge.JID) (chat bridge.Chat, isNew bool, err error) {
	chat, err = v.api.Chat(ctx, jid)
	if bridge.CodeOf(err) != bridge.CodeNotFound || !jid.IsPerson() {
		return chat, false, err
	}
	contact, unknown := v.api.Contact(ctx, jid)
	if bridge.CodeOf(unknown) == bridge.CodeNotFound && jid.Server() == bridge.ServerUser {
		return v.checkedChat(ctx, jid, err)
	}
	if unknown != nil {
		return chat, false, err
	}
	return bridge.Chat{JID: contact.JID, LID: contact.LID, Username: contact.Username, Name: contactName(contact), Participants: 2}, true, nil
}

// checkedChat returns an empty chat with a number that was found on the network. The
// answer is kept for a day: opening the chat again looks nothing up.
func (v *visit) checkedChat(ctx context.Context, jid bridge.JID, unknown error) (chat bridge.Chat, isNew bool, err error) {
	check, err := v.api.CheckNumber(ctx, jid.User())
	if err != nil || check.JID == "" {
		return chat, false, unknown
	}
	return bridge.Chat{JID: check.JID, Participants: 2}, true, nil
}

// people returns people to choose from: those with a text in their name, or with none the
// first ones.
func (v *visit) people(q string, path func(bridge.JID) string) (rows []personRow, err error) {
	me, err := v.me()
	if err != nil {
		return nil, err
	}
	found, err := v.api.Contacts(v.r.Context(), bridge.ContactQuery{Q: q, Limit: pageOfPeople})
	for _, contact := range found.Items {
		if contact.JID.IsPerson() {
			rows = append(rows, rowOf(contact, path(contact.JID), me))
		}
	}
	return rows, err
}

// fault is the refusal of a form, which is shown beside it.
type fault struct{ Form, Text string }

// faultOf returns the refusal of a form and the status of its page. Anything else, as the
// end of a session, is an error of the page.
func faultOf(form string, err error) (f fault, status int, _ error) {
	shown := problemOf(err)
	if shown.Status == http.StatusUnauthorized || shown.Status == http.StatusInternalServerError {
		return f, 0, err
	}
	return fault{form, sentence(shown.Text)}, shown.Status, nil
}
