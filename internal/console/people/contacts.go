// Package people has the pages of contacts and groups.
package people

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

const PageOfPeople = 100

// personRow is a person of a list.
type personRow struct {
	JID    bridge.JID
	Name   string
	Line   string // under the name: username and number
	Path   string // the row's link
	Chosen bool   // in a list to choose from
	Mark   string // next to the name: "You" or "Not saved"
}

// RowOf returns the row of a person; me is the account's own.
func RowOf(c bridge.KnownContact, path string, me bridge.JID) personRow {
	row := personRow{JID: c.JID, Name: cmp.Or(view.ContactName(c), view.Phone(c.JID)), Path: path}
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
	if number := view.Phone(c.JID); number != row.Name {
		parts = append(parts, number)
	}
	row.Line = strings.Join(parts, ", ")
	return row
}

// letter is a heading of the list of people with its entries.
type letter struct {
	Letter string
	People []personRow
}

type contactsPage struct {
	Q       string
	Letters []letter
	Count   int
	More    string // the address of the next page; empty if none
	Curl    string
}

// ShowContacts shows the account's contacts by name.
func ShowContacts(req *frame.Request) error {
	query := req.URL.Query()
	q := strings.TrimSpace(query.Get("q"))
	found, err := req.API.Contacts(req.Context(), bridge.ContactQuery{Q: q, Limit: PageOfPeople, Cursor: query.Get("cursor")})
	if err != nil {
		return err
	}
	me, err := names.Me(req)
	if err != nil {
		return err
	}
	page := contactsPage{Q: q, Count: len(found.Items), Curl: req.Curl("GET", "/api/contacts?"+url.Values{"q": {q}}.Encode(), nil)}
	for _, contact := range found.Items {
		page.add(contact, me)
	}
	page.More = view.NextPage(view.Root+"/contacts", url.Values{"q": {q}}, "cursor", found.NextCursor)
	return req.Show("contacts", "Contacts", page)
}

func (p *contactsPage) add(contact bridge.KnownContact, me bridge.JID) {
	heading := letterOf(view.ContactName(contact))
	if last := len(p.Letters) - 1; last < 0 || p.Letters[last].Letter != heading {
		p.Letters = append(p.Letters, letter{Letter: heading})
	}
	last := &p.Letters[len(p.Letters)-1]
	last.People = append(last.People, RowOf(contact, view.PersonPath(contact.JID), me))
}

// letterOf returns the heading of a name: its first letter without accents, or # for anything else.
func letterOf(name string) string {
	if r, _ := utf8.DecodeRuneInString(norm.NFD.String(name)); unicode.IsLetter(r) {
		return string(unicode.ToUpper(r))
	}
	return "#"
}

type personPage struct {
	Contact bridge.KnownContact
	Name    string
	Number  string // empty if it is hidden
	Chat    bridge.JID
	Known   bool // whether their chat is stored
	You     bool
	Changes bool           // whether the visitor may save and block them
	Saved   string         // the name in the form
	Labels  []bridge.Label // of their chat
	Timer   uint32         // of disappearing messages, in seconds
	Timers  []timer
	Key     string
	Fault   fault
	Curl    string
}

// ShowPerson shows a contact.
func ShowPerson(req *frame.Request) error { return showPersonPage(req, http.StatusOK, fault{}) }

func showPersonPage(req *frame.Request, status int, f fault) error {
	if req.Chat.IsGroup() {
		http.Redirect(req.W, req.Request, view.InfoPath(req.Chat), http.StatusSeeOther)
		return nil
	}
	contact, err := req.API.Contact(req.Context(), req.Chat)
	if err != nil {
		return err
	}
	me, err := names.Me(req)
	if err != nil {
		return err
	}
	page := personPage{
		Contact: contact, Name: cmp.Or(view.ContactName(contact), view.Phone(contact.JID)), Chat: cmp.Or(contact.ChatJID, contact.JID), Known: contact.ChatJID != "",
		You: me != "" && contact.JID == me, Key: frame.NewKey(), Fault: f, Curl: req.Curl("GET", "/api/contacts/"+contact.JID.Escaped(), nil),
	}
	if contact.Phone != nil {
		page.Number = view.Phone(bridge.PhoneJID(*contact.Phone))
	}
	if page.Saved = contact.Name; f.Form == "name" {
		page.Saved = req.PostForm.Get("name")
	}
	if page.Known {
		page.Timer, page.Timers = req.ChatFor(page.Chat).Expiration, timers
		if page.Labels, err = labelsOf(req, page.Chat); err != nil {
			return err
		}
	}
	page.Changes = req.Sends() && !page.You && contact.JID.IsPerson()
	return req.ShowAs(status, "person", page.Name, page)
}

// SetTimer sets the timer of disappearing messages in the chat with a person. The form shows a refusal.
func SetTimer(req *frame.Request) error {
	seconds, err := strconv.ParseUint(req.PostForm.Get("seconds"), 10, 32)
	if err != nil {
		return frame.Refused(http.StatusBadRequest, "Something is missing in the form. Reload the page, then try again.")
	}
	err = req.API.UpdateChat(req.Context(), req.Chat, client.ChatChange{Expiration: new(uint32(seconds))}, req.Key())
	return personDone(req, err, "timer", "Saved")
}

// BlockPerson blocks or unblocks a person. The form shows a refusal.
func BlockPerson(req *frame.Request) error {
	ctx, change, text := req.Context(), req.API.Block, "Blocked"
	if req.PostForm.Get("action") == "unblock" {
		change, text = req.API.Unblock, "Unblocked"
	}
	err := change(ctx, req.Chat, req.Key())
	return personDone(req, err, "block", text)
}

// SavePerson saves a person's name in the address book, or removes the person from it if the name is empty.
// The form shows a refusal.
func SavePerson(req *frame.Request) error {
	name, text := strings.TrimSpace(req.PostForm.Get("name")), "Saved"
	if name == "" {
		text = "Removed from your contacts"
	}
	err := req.API.SaveName(req.Context(), req.Chat, bridge.ContactName{Full: name}, req.Key())
	return personDone(req, err, "name", text)
}

// personDone ends an action on a person's page. The form shows a refusal.
func personDone(req *frame.Request, err error, form, text string) error {
	if err == nil {
		return req.Done(nil, text, view.PersonPath(req.Chat))
	}
	f, status, err := faultOf(req, form, err)
	if err != nil {
		return err
	}
	return showPersonPage(req, status, f)
}

// people returns people whose names contain a text; the first ones for an empty text.
func people(req *frame.Request, q string, path func(bridge.JID) string) (rows []personRow, err error) {
	me, err := names.Me(req)
	if err != nil {
		return nil, err
	}
	found, err := req.API.Contacts(req.Context(), bridge.ContactQuery{Q: q, Limit: PageOfPeople})
	for _, contact := range found.Items {
		if contact.JID.IsPerson() {
			rows = append(rows, RowOf(contact, path(contact.JID), me))
		}
	}
	return rows, err
}

// labelsOf returns the labels of a chat.
func labelsOf(req *frame.Request, chat bridge.JID) ([]bridge.Label, error) {
	all, err := req.Labels()
	if len(all.All) == 0 {
		return nil, err
	}
	return all.Of(req.ChatFor(chat).Labels), nil
}

// fault is the refusal of a form.
type fault struct{ Form, Text, Details string }

// faultOf returns the refusal of a form and the page's status. It returns errors that are not about
// the form, such as the end of a session.
func faultOf(req *frame.Request, form string, err error) (f fault, status int, _ error) {
	shown := req.ProblemOf(err)
	if shown.Status == http.StatusUnauthorized || shown.Status == http.StatusInternalServerError {
		return f, 0, err
	}
	return fault{form, shown.Text, shown.Details}, shown.Status, nil
}
