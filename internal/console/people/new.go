package people

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

type newChatPage struct {
	Q      string
	People []personRow
	Invite string // the page of the typed invite link; empty if none
	Phone  string // the typed number in E.164 digits; empty if none
	Number string // the same in groups
	Fault  fault
	Groups bool // whether the visitor may create groups
	Curl   string
}

// ShowNewChat shows people for a new chat, by name (q). It redirects from a phone number (phone, or q
// after Enter) to its chat, and from the invite link of a group to its page.
func ShowNewChat(req *frame.Request) error {
	query := req.URL.Query()
	page := newChatPage{Q: strings.TrimSpace(query.Get("q")), Groups: mayCreateGroups(req), Curl: req.Curl("POST", "/api/contacts/check", map[string][]string{"phones": {"+1 555 123 4567"}})}
	number := strings.TrimSpace(query.Get("phone"))
	page.Q = cmp.Or(page.Q, number)
	if page.Invite = view.InvitePath(page.Q); page.Invite != "" && query.Has("go") {
		http.Redirect(req.W, req.Request, page.Invite, http.StatusSeeOther)
		return nil
	}
	phone, err := bridge.ParsePhone(page.Q)
	if err == nil {
		page.Phone, page.Number = phone, view.Phone(bridge.PhoneJID(phone))
	} else if number != "" {
		page.Fault.Text = view.AskNumber
	}
	status := http.StatusOK
	if page.Phone != "" && (number != "" || query.Has("go")) {
		chat, err := chatWith(req, page.Phone)
		if err == nil {
			http.Redirect(req.W, req.Request, view.ChatPath(chat), http.StatusSeeOther)
			return nil
		}
		if page.Fault, status, err = faultOf(req, "", err); err != nil {
			return err
		}
	}
	if page.People, err = people(req, page.Q, view.ChatPath); err != nil {
		return err
	}
	return req.ShowAs(status, "new", "New chat", page)
}

// chatWith returns the chat with a number. It asks the network unless the contact is known.
func chatWith(req *frame.Request, phone string) (bridge.JID, error) {
	ctx := req.Context()
	contact, err := req.API.Contact(ctx, bridge.PhoneJID(phone))
	if err == nil {
		return cmp.Or(contact.ChatJID, contact.JID), nil
	}
	if bridge.CodeOf(err) != bridge.CodeNotFound {
		return "", err
	}
	check, err := req.API.CheckNumber(ctx, phone)
	if err == nil && check.JID == "" {
		err = frame.Titled(http.StatusOK, "", view.Phone(bridge.PhoneJID(phone))+" isn’t on WhatsApp. Check the number and its country code.")
	}
	return check.JID, err
}

// mayCreateGroups reports whether the visitor may create groups.
func mayCreateGroups(req *frame.Request) bool { return req.Sends() && req.Token.Chats == nil }

type newGroupPage struct {
	Name  string
	Key   string
	Pick  picker
	Fault fault
	Curl  string
}

// picker is a list of people to choose from, the chosen ones first.
type picker struct {
	Q      string
	People []personRow
}

// pick returns the people of a form: the chosen ones, the people whose names contain a text, and a
// typed phone number.
func pick(req *frame.Request, form url.Values, without ...bridge.JID) (p picker, err error) {
	p.Q = strings.TrimSpace(form.Get("q"))
	chosen := view.Typed[bridge.JID](form["person"])
	if len(chosen) > 0 {
		n, err := names.Of(req, slices.Clone(chosen))
		if err != nil {
			return p, err
		}
		for _, jid := range chosen {
			row := personRow{JID: jid, Name: n.Of(jid), Chosen: true}
			if number := view.Phone(jid); number != row.Name {
				row.Line = number
			}
			p.People = append(p.People, row)
		}
	}
	found, err := people(req, p.Q, view.PersonPath)
	for _, row := range found {
		if !slices.Contains(chosen, row.JID) && !slices.Contains(without, row.JID) {
			p.People = append(p.People, row)
		}
	}
	if phone, wrong := bridge.ParsePhone(p.Q); wrong == nil && len(found) == 0 && !slices.Contains(chosen, bridge.PhoneJID(phone)) {
		p.People = append(p.People, personRow{JID: bridge.PhoneJID(phone), Name: view.Phone(bridge.PhoneJID(phone))})
	}
	return p, err
}

// ShowNewGroup shows the form for a group.
func ShowNewGroup(req *frame.Request) error {
	if !mayCreateGroups(req) {
		return frame.ErrNotFound
	}
	return showGroupForm(req, http.StatusOK, req.URL.Query(), fault{})
}

func showGroupForm(req *frame.Request, status int, form url.Values, f fault) (err error) {
	page := newGroupPage{Name: form.Get("name"), Key: cmp.Or(form.Get("key"), frame.NewKey()), Fault: f}
	page.Curl = req.Curl("POST", "/api/groups", map[string]any{"name": "Walks", "participants": []string{"15551234567@s.whatsapp.net"}})
	me, err := names.Me(req)
	if err != nil {
		return err
	}
	if page.Pick, err = pick(req, form, me); err != nil {
		return err
	}
	return req.ShowAs(status, "newgroup", "New group", page)
}

// CreateGroup creates a group and redirects to its chat, with a notice about people who could not be
// added.
func CreateGroup(req *frame.Request) error {
	form := req.PostForm
	made, err := req.API.CreateGroup(req.Context(), strings.TrimSpace(form.Get("name")), view.Typed[bridge.JID](form["person"]), req.Key())
	if err != nil {
		f, status, err := faultOf(req, "group", err)
		if err != nil {
			return err
		}
		if status < http.StatusInternalServerError {
			form.Del("key") // the corrected form is another request
		}
		return showGroupForm(req, status, form, f)
	}
	text, failed := outcome(req, made.Participants, "")
	if failed {
		req.Notify(text, true)
		text = ""
	}
	return req.Done(err, text, view.ChatPath(made.JID))
}

// outcome describes the results of a change of members: done if all succeeded.
func outcome(req *frame.Request, results []bridge.ParticipantResult, done string) (text string, failed bool) {
	var people []bridge.JID
	for _, result := range results {
		if result.Error != nil {
			people = append(people, result.JID)
		}
	}
	if len(people) == 0 {
		return done, false
	}
	n, err := names.Of(req, slices.Clone(people))
	if err != nil {
		n = names.Names{} // numbers instead
	}
	var parts []string
	for _, result := range results {
		if result.Error != nil {
			parts = append(parts, view.MemberRefusal(n.Of(result.JID), result.Status))
		}
	}
	return strings.Join(parts, " "), true
}
