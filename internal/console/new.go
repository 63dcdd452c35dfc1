package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

type newChatPage struct {
	Q      string
	People []personRow
	Phone  string // the number that was typed, in E.164 digits; empty for none
	Fault  string
	Groups bool // whether the visitor may make groups
	Curl   string
}

// showNewChat answers whom a chat can be begun with: people by name (q), or a number in any
// spelling (phone, or a q that was entered), which leads to its chat.
func (c *Console) showNewChat(v *visit) error {
	query := v.r.URL.Query()
	page := newChatPage{Q: strings.TrimSpace(query.Get("q")), Groups: v.makesGroups(), Curl: curl("POST", "/api/contacts/check", map[string][]string{"phones": {"+1 555 123 4567"}})}
	number := strings.TrimSpace(query.Get("phone"))
	page.Q = cmp.Or(page.Q, number)
	phone, err := bridge.ParsePhone(page.Q)
	if err == nil {
		page.Phone = phone
	} else if number != "" {
		page.Fault = sentence("the number " + err.Error())
	}
	status := http.StatusOK
	if page.Phone != "" && (number != "" || query.Has("go")) {
		chat, err := v.chatWith(page.Phone)
		if err == nil {
			http.Redirect(v.w, v.r, chatPath(chat), http.StatusSeeOther)
			return nil
		}
		var f fault
		if f, status, err = faultOf("", err); err != nil {
			return err
		}
		page.Fault = f.Text
	}
	if page.People, err = v.people(page.Q, chatPath); err != nil {
		return err
	}
	return v.showAs(status, "new", "New chat", page)
}

// chatWith returns the chat of a number, which the network is asked about unless a person
// with it is known.
func (v *visit) chatWith(phone string) (bridge.JID, error) {
	ctx := v.r.Context()
	contact, err := v.api.Contact(ctx, bridge.PhoneJID(phone))
	if err == nil {
		return cmp.Or(contact.ChatJID, contact.JID), nil
	}
	if bridge.CodeOf(err) != bridge.CodeNotFound {
		return "", err
	}
	check, err := v.api.CheckNumber(ctx, phone)
	if err == nil && check.JID == "" {
		err = problem{http.StatusOK, "", "+" + phone + " is not on WhatsApp. Check the number and its country code.", ""}
	}
	return check.JID, err
}

// makesGroups reports whether the visitor may make groups.
func (v *visit) makesGroups() bool { return v.sends() && v.session.token.Chats == nil }

type newGroupPage struct {
	Name  string
	Key   string
	Pick  picker
	Fault fault
	Curl  string
}

// picker is a list of people to choose from. Those who were chosen come first.
type picker struct {
	Q      string
	People []personRow
}

// pick returns the people whom a form shows: the chosen ones, and those with a text in
// their name. A number that was typed is one of them.
func (v *visit) pick(form url.Values, without ...bridge.JID) (p picker, err error) {
	p.Q = strings.TrimSpace(form.Get("q"))
	chosen := typed[bridge.JID](form["person"])
	if len(chosen) > 0 {
		n, err := v.namesOf(slices.Clone(chosen))
		if err != nil {
			return p, err
		}
		for _, jid := range chosen {
			row := personRow{JID: jid, Name: n.of(jid), Chosen: true}
			if number := phoneOf(jid); number != row.Name {
				row.Line = number
			}
			p.People = append(p.People, row)
		}
	}
	found, err := v.people(p.Q, personPath)
	for _, row := range found {
		if !slices.Contains(chosen, row.JID) && !slices.Contains(without, row.JID) {
			p.People = append(p.People, row)
		}
	}
	if phone, wrong := bridge.ParsePhone(p.Q); wrong == nil && len(found) == 0 && !slices.Contains(chosen, bridge.PhoneJID(phone)) {
		p.People = append(p.People, personRow{JID: bridge.PhoneJID(phone), Name: "+" + phone})
	}
	return p, err
}

func (c *Console) showNewGroup(v *visit) error {
	if !v.makesGroups() {
		return errUnknown
	}
	return v.showGroupForm(http.StatusOK, v.r.URL.Query(), fault{})
}

func (v *visit) showGroupForm(status int, form url.Values, f fault) (err error) {
	page := newGroupPage{Name: form.Get("name"), Key: cmp.Or(form.Get("key"), newKey()), Fault: f}
	page.Curl = curl("POST", "/api/groups", map[string]any{"name": "Walks", "participants": []string{"15551234567@s.whatsapp.net"}})
	me, err := v.me()
	if err != nil {
		return err
	}
	if page.Pick, err = v.pick(form, me); err != nil {
		return err
	}
	return v.showAs(status, "newgroup", "New group", page)
}

// createGroup makes a group, and leads to its chat with a word about those who could not
// be added.
func (c *Console) createGroup(v *visit) error {
	form := v.r.PostForm
	if form.Has("find") {
		return v.showGroupForm(http.StatusOK, form, fault{})
	}
	made, err := v.api.CreateGroup(v.r.Context(), strings.TrimSpace(form.Get("name")), typed[bridge.JID](form["person"]), v.key())
	if err != nil && !wantsJSON(v.r) {
		f, status, err := faultOf("group", err)
		if err != nil {
			return err
		}
		if status < http.StatusInternalServerError {
			form.Del("key") // what was wrong is sent as another form
		}
		return v.showGroupForm(status, form, f)
	}
	text, failed := v.outcome(made.Participants, "")
	if failed {
		v.session.notice.Store(&notice{Text: text, Failed: true})
		text = ""
	}
	return v.done(err, text, chatPath(made.JID))
}

// outcome puts the results of a change of people into words: done where all went well.
func (v *visit) outcome(results []bridge.ParticipantResult, done string) (text string, failed bool) {
	var people []bridge.JID
	for _, result := range results {
		if result.Error != nil {
			people = append(people, result.JID)
		}
	}
	if len(people) == 0 {
		return done, false
	}
	n, err := v.namesOf(slices.Clone(people))
	if err != nil {
		n = names{} // by their numbers, then
	}
	var parts []string
	for _, result := range results {
		if result.Error != nil {
			parts = append(parts, sentence(n.of(result.JID)+" "+*result.Error))
		}
	}
	return strings.Join(parts, " "), true
}
