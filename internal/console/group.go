package console

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// shownMembers limits the members of a group that its page shows at first.
const shownMembers = 50

type groupPage struct {
	Chat     bridge.JID
	Name     string
	Group    bridge.Group
	Picture  string       // stands in the address of the picture, which browsers keep
	Form     bridge.Group // as its forms show it: with what was refused
	Live     bool         // whether the network was asked
	Member   bool         // whether the account is in the group
	Edits    bool         // whether the visitor may change name and description
	Pictured bool         // whether there may be a picture to remove
	Admin    bool         // whether the visitor may do what admins do
	Links    bool         // whether the visitor may see the link
	Members  []member
	All      int // members that there are
	Hidden   int // members that are not shown
	Q        string
	Requests []bridge.JoinRequest
	Link     *bridge.GroupLink
	QR       template.HTML
	Timers   []timer
	Fault    fault
	Key      string
	Curl     string
}

// member is one of a group, with what the visitor may do with them.
type member struct {
	bridge.Participant
	Name    string
	You     bool
	Changes bool
}

type timer struct {
	Seconds uint32
	Text    string
}

// timers lists the times after which the apps offer to remove messages.
var timers = []timer{{0, "Off"}, {86400, "After 24 hours"}, {604800, "After 7 days"}, {7776000, "After 90 days"}}

// showGroup answers what there is to know of a group, and to its admins the forms that
// change it. Chats with people lead to theirs.
func (c *Console) showGroup(v *visit) error {
	if !v.chat.IsGroup() {
		http.Redirect(v.w, v.r, infoPath(v.chat), http.StatusSeeOther)
		return nil
	}
	return v.showGroupPage(http.StatusOK, fault{}, bridge.GroupPatch{})
}

// showGroupPage answers the page of a group, with a form that was refused as it was typed.
func (v *visit) showGroupPage(status int, f fault, typed bridge.GroupPatch) error {
	ctx, query := v.r.Context(), v.r.URL.Query()
	detail, err := v.api.Group(ctx, v.chat)
	if err != nil {
		return err
	}
	me, err := v.me()
	if err != nil {
		return err
	}
	page := groupPage{
		Chat: detail.JID, Name: detail.Stored.Name, Group: detail.Stored.Group, Timers: timers, Fault: f,
		Picture: pictureVersion(detail.Stored), Key: newKey(), Q: strings.TrimSpace(query.Get("q")), Curl: curl("GET", "/api/groups/"+detail.JID.Escaped(), nil),
	}
	if detail.Live != nil {
		page.Live, page.Name, page.Group = true, detail.Live.Name, *detail.Live
	}
	page.Form = patched(page.Group, typed)
	page.permit(v, me)
	page.Pictured = page.Edits && v.isPictured(detail.Stored)
	page.list(me, query.Has("all"))
	if page.Links {
		if err := page.ask(ctx, v, query.Has("invite")); err != nil {
			return err
		}
	}
	return v.showAs(status, "group", page.Name, page)
}

// pictureVersion tells pictures of a group apart, and from none: browsers keep that, too.
func pictureVersion(group bridge.StoredGroup) string {
	if group.PictureID != nil && *group.PictureID == "" {
		return "none"
	}
	return deref(group.PictureID)
}

const pictureWait = 3 * time.Second // of a page for whether there is a picture

// isPictured reports whether a group has a picture, or may have one where that is not known.
// The page shows the picture that is asked for here.
func (v *visit) isPictured(group bridge.StoredGroup) bool {
	if group.PictureID != nil {
		return *group.PictureID != ""
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), pictureWait)
	defer cancel()
	answer, err := v.api.Do(ctx, http.MethodGet, client.PicturePath(group.JID, bridge.PictureFull), nil, nil)
	if err != nil {
		return bridge.CodeOf(err) != bridge.CodeNoPicture
	}
	_ = answer.Body.Close() // of which nothing is read
	return true
}

// permit notes what the visitor may do.
func (p *groupPage) permit(v *visit, me bridge.JID) {
	i := slices.IndexFunc(p.Group.Participants, func(m bridge.Participant) bool { return me != "" && m.JID == me })
	p.Member = i >= 0
	if !p.Member {
		return
	}
	admin := p.Group.Participants[i].IsAdmin || p.Group.Participants[i].IsSuperAdmin
	p.Admin = v.sends() && admin
	p.Edits = v.sends() && (admin || !p.Group.IsLocked)
	p.Links = p.Live && admin
}

// list shows the members with a text in their name or number, admins first.
func (p *groupPage) list(me bridge.JID, all bool) {
	p.All = len(p.Group.Participants)
	for _, one := range p.Group.Participants {
		m := member{Participant: one, Name: cmp.Or(strings.TrimSpace(one.DisplayName), phoneOf(one.JID)), You: me != "" && one.JID == me}
		m.Changes = p.Admin && p.Live && !m.You
		if m.matches(p.Q) {
			p.Members = append(p.Members, m)
		}
	}
	slices.SortStableFunc(p.Members, func(a, b member) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), strings.Compare(a.Name, b.Name)) })
	if !all && p.Q == "" && len(p.Members) > shownMembers {
		p.Hidden = len(p.Members) - shownMembers
		p.Members = p.Members[:shownMembers]
	}
}

func (m member) matches(q string) bool {
	q = strings.ToLower(strings.TrimPrefix(q, "@"))
	number := bridge.PhoneDigits(q)
	return strings.Contains(strings.ToLower(m.Name+"\n"+m.DisplayName+"\n"+deref(m.Username)+"\n"+m.Label), q) || number != "" && strings.Contains(m.JID.User(), number)
}

// rank orders the account itself before admins, and those before the others.
func (m member) rank() int {
	switch {
	case m.You:
		return 0
	case m.IsSuperAdmin:
		return 1
	case m.IsAdmin:
		return 2
	}
	return 3
}

// ask asks the network for what only admins are answered: requests to join, and the link
// where it is wanted.
func (p *groupPage) ask(ctx context.Context, v *visit, link bool) (err error) {
	p.Requests, err = v.api.JoinRequests(ctx, p.Chat)
	if err == nil && link {
		var found bridge.GroupLink
		if found, err = v.api.GroupLink(ctx, p.Chat); err == nil {
			p.Link = &found
			p.QR, err = qrSVG(found.Link)
		}
	}
	if err == nil {
		return nil
	}
	f, _, err := faultOf("link", err)
	if p.Fault.Text == "" {
		p.Fault = f
	}
	return err
}

// patched returns a group with changes that are not made.
func patched(g bridge.Group, patch bridge.GroupPatch) bridge.Group {
	set(&g.Name, patch.Name)
	set(&g.Topic, patch.Topic)
	set(&g.IsAnnounce, patch.IsAnnounce)
	set(&g.IsLocked, patch.IsLocked)
	set(&g.JoinApproval, patch.JoinApproval)
	set(&g.Expiration, patch.Disappearing)
	return g
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// patchOf reads the changes of a form; fields that it does not have stay as they are.
func patchOf(form url.Values) (patch bridge.GroupPatch, err error) {
	text := func(name string) *string {
		if !form.Has(name) {
			return nil
		}
		return new(strings.TrimSpace(strings.ReplaceAll(form.Get(name), "\r\n", "\n")))
	}
	choice := func(name string) *bool {
		if !form.Has(name) {
			return nil
		}
		return new(form.Get(name) == "true")
	}
	patch = bridge.GroupPatch{Name: text("name"), Topic: text("topic"), IsAnnounce: choice("announce"), IsLocked: choice("locked"), JoinApproval: choice("approval")}
	if form.Has("shown") && patch.Name != nil && *patch.Name == strings.TrimSpace(form.Get("shown")) {
		patch.Name = nil // a group without a subject does not get one by saving the form
	}
	if form.Has("disappearing") {
		seconds, err := strconv.ParseUint(form.Get("disappearing"), 10, 32)
		if err != nil {
			return patch, problem{http.StatusBadRequest, titleOf(http.StatusBadRequest), "Choose when messages disappear.", ""}
		}
		patch.Disappearing = new(uint32(seconds))
	}
	return patch, nil
}

func (c *Console) changeGroup(v *visit) error {
	patch, err := patchOf(v.r.PostForm)
	if err == nil {
		_, err = v.api.ChangeGroup(v.r.Context(), v.chat, patch, v.key())
	}
	return v.groupDone(err, v.r.PostForm.Get("form"), "Changes saved.", patch)
}

// groupDone ends an action on a group's page. A refusal is shown beside its form.
func (v *visit) groupDone(err error, form, text string, typed bridge.GroupPatch) error {
	if err == nil || wantsJSON(v.r) {
		return v.done(err, text, infoPath(v.chat))
	}
	f, status, err := faultOf(form, err)
	if err != nil {
		return err
	}
	return v.showGroupPage(status, f, typed)
}

// memberWords says what was done to members.
var memberWords = map[bridge.ParticipantAction]string{
	bridge.ParticipantAdd: "Added to the group.", bridge.ParticipantRemove: "Removed from the group.", bridge.ParticipantPromote: "Made an admin.",
	bridge.ParticipantDemote: "No longer an admin.", bridge.ParticipantApprove: "Request approved.", bridge.ParticipantReject: "Request rejected.",
}

func (c *Console) changeMembers(v *visit) error {
	action := bridge.ParticipantAction(v.r.PostForm.Get("action"))
	people := typed[bridge.JID](v.r.PostForm["person"])
	change, form := v.api.ChangeParticipants, "members"
	if action.IsDecision() {
		change, form = v.api.DecideJoinRequests, "requests"
	}
	results, err := change(v.r.Context(), v.chat, action, people, v.key())
	text, failed := v.outcome(results, memberWords[action])
	if failed {
		err = problem{http.StatusConflict, titleOf(http.StatusConflict), text, ""}
	}
	return v.groupDone(err, form, text, bridge.GroupPatch{})
}

// setGroupPicture passes a group's new picture on to the API while it arrives.
func (c *Console) setGroupPicture(v *visit) error {
	if !v.sends() {
		return errUnknown
	}
	fields, file, err := v.fileForm("key")
	if err != nil {
		return err
	}
	if file.FileName() == "" {
		return errNoFile
	}
	err = v.api.SetGroupPicture(v.r.Context(), v.chat, steady{file, v.w}, cmp.Or(fields.Get("key"), newKey()))
	return v.groupDone(err, "picture", "Picture changed.", bridge.GroupPatch{})
}

func (c *Console) removeGroupPicture(v *visit) error {
	err := v.api.RemoveGroupPicture(v.r.Context(), v.chat, v.key())
	return v.groupDone(err, "picture", "Picture removed.", bridge.GroupPatch{})
}

func (c *Console) revokeLink(v *visit) error {
	_, err := v.api.RevokeGroupLink(v.r.Context(), v.chat, v.key())
	if err == nil && !wantsJSON(v.r) {
		v.session.notice.Store(&notice{Text: "The old link no longer works. This is the new one."})
		http.Redirect(v.w, v.r, infoPath(v.chat)+"?invite#link", http.StatusSeeOther)
		return nil
	}
	return v.groupDone(err, "link", "The old link no longer works.", bridge.GroupPatch{})
}

func (c *Console) leaveGroup(v *visit) error {
	err := v.api.LeaveGroup(v.r.Context(), v.chat, v.key())
	return v.groupDone(err, "leave", "You left the group. Its messages stay here.", bridge.GroupPatch{})
}

type addPage struct {
	Chat  bridge.JID
	Name  string
	Key   string
	Pick  picker
	Fault fault
}

// showAdd answers the people who can be added to a group.
func (c *Console) showAdd(v *visit) error {
	return v.showAddForm(http.StatusOK, v.r.URL.Query(), fault{})
}

func (v *visit) showAddForm(status int, form url.Values, f fault) error {
	if !v.sends() || !v.chat.IsGroup() {
		return errUnknown
	}
	detail, err := v.api.Group(v.r.Context(), v.chat)
	if err != nil {
		return err
	}
	group := detail.Stored.Group
	if detail.Live != nil {
		group = *detail.Live
	}
	members := make([]bridge.JID, len(group.Participants))
	for i, m := range group.Participants {
		members[i] = m.JID
	}
	page := addPage{Chat: detail.JID, Name: group.Name, Key: cmp.Or(form.Get("key"), newKey()), Fault: f}
	if page.Pick, err = v.pick(form, members...); err != nil {
		return err
	}
	return v.showAs(status, "add", "Add members", page)
}

// addMembers adds people. Those who could not be added are shown with the reason, and stay chosen.
func (c *Console) addMembers(v *visit) error {
	form := v.r.PostForm
	if form.Has("find") {
		return v.showAddForm(http.StatusOK, form, fault{})
	}
	results, err := v.api.ChangeParticipants(v.r.Context(), v.chat, bridge.ParticipantAdd, typed[bridge.JID](form["person"]), v.key())
	text, failed := v.outcome(results, memberWords[bridge.ParticipantAdd])
	if failed {
		err = problem{http.StatusConflict, titleOf(http.StatusConflict), text, ""}
		form["person"] = nil
		for _, result := range results {
			if result.Error != nil {
				form.Add("person", string(result.JID))
			}
		}
	}
	if err == nil || wantsJSON(v.r) {
		return v.done(err, text, infoPath(v.chat))
	}
	f, status, err := faultOf("add", err)
	if err != nil {
		return err
	}
	form.Del("key")
	return v.showAddForm(status, form, f)
}
