package people

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

// shownMembers limits the members of a group that its page shows at first.
const shownMembers = 50

type groupPage struct {
	Chat     bridge.JID
	Name     string
	Group    bridge.Group
	Labels   []bridge.Label
	Picture  string       // version of the picture, for its cached address
	Form     bridge.Group // values of its forms, with refused ones
	Live     bool         // whether the group comes from the network
	Member   bool         // whether the account is in the group
	Edits    bool         // whether the visitor may change name and description
	Pictured bool         // whether it may have a picture
	Admin    bool         // whether the visitor is an admin
	Adds     bool         // whether the visitor may add members
	Links    bool         // whether the visitor may see the link
	Members  []member
	All      int // number of members
	Hidden   int // number of members that are not shown
	Q        string
	Requests []bridge.JoinRequest
	Link     *bridge.GroupLink
	QR       template.HTML
	Timers   []timer
	Fault    fault
	Key      string
	Curl     string
}

// member is a member of a group. Changes is whether the visitor may change them.
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

// ShowGroup shows a group, with forms for its admins. It redirects from individual chats to the
// contact.
func ShowGroup(req *frame.Request) error {
	if !req.Chat.IsGroup() {
		http.Redirect(req.W, req.Request, view.InfoPath(req.Chat), http.StatusSeeOther)
		return nil
	}
	return showGroupPage(req, http.StatusOK, fault{}, bridge.GroupPatch{})
}

// showGroupPage shows a group. A refused form has the typed values.
func showGroupPage(req *frame.Request, status int, f fault, typed bridge.GroupPatch) error {
	ctx, query := req.Context(), req.URL.Query()
	detail, err := req.API.Group(ctx, req.Chat)
	if err != nil {
		return err
	}
	me, err := names.Me(req)
	if err != nil {
		return err
	}
	page := groupPage{
		Chat: detail.JID, Name: detail.Stored.Name, Group: detail.Latest(), Timers: timers, Fault: f,
		Picture: pictureVersion(detail.Stored), Key: frame.NewKey(), Q: strings.TrimSpace(query.Get("q")), Curl: req.Curl("GET", "/api/groups/"+detail.JID.Escaped(), nil),
	}
	if detail.Live != nil {
		page.Live, page.Name = true, detail.Live.Name
	}
	page.Form = patched(page.Group, typed)
	page.permit(req, me)
	page.Pictured = page.Edits && isPictured(req, detail.Stored)
	page.list(me, query.Has("all"))
	if page.Labels, err = labelsOf(req, page.Chat); err != nil {
		return err
	}
	if page.Links {
		if err := page.ask(req, query.Has("invite")); err != nil {
			return err
		}
	}
	return req.ShowAs(status, "group", page.Name, page)
}

// pictureVersion identifies a group's picture, or that it has none, for the browser's cache.
func pictureVersion(group bridge.StoredGroup) string {
	if group.PictureID != nil && *group.PictureID == "" {
		return "none"
	}
	return view.Deref(group.PictureID)
}

const pictureWait = 3 * time.Second // for the request of an unknown picture

// isPictured reports whether a group has a picture. If that is unknown, it requests the picture, and
// reports true if that takes too long.
func isPictured(req *frame.Request, group bridge.StoredGroup) bool {
	if group.PictureID != nil {
		return *group.PictureID != ""
	}
	ctx, cancel := context.WithTimeout(req.Context(), pictureWait)
	defer cancel()
	answer, err := req.API.Do(ctx, http.MethodGet, client.PicturePath(group.JID, bridge.PictureFull), nil, nil)
	if err != nil {
		return bridge.CodeOf(err) != bridge.CodeNoPicture
	}
	_ = answer.Body.Close() // unread
	return true
}

// permit sets the visitor's rights.
func (p *groupPage) permit(req *frame.Request, me bridge.JID) {
	i := slices.IndexFunc(p.Group.Participants, func(m bridge.Participant) bool { return me != "" && m.JID == me })
	p.Member = i >= 0
	if !p.Member {
		return
	}
	admin := p.Group.Participants[i].IsAdmin || p.Group.Participants[i].IsSuperAdmin
	p.Admin = req.Sends() && admin
	p.Adds = req.Sends() && (admin || p.Group.MemberAddMode == bridge.AddedByEveryone)
	p.Edits = req.Sends() && (admin || !p.Group.IsLocked)
	p.Links = p.Live && admin
}

// list lists the members whose name or number contains the text, admins first.
func (p *groupPage) list(me bridge.JID, all bool) {
	p.All = len(p.Group.Participants)
	for _, one := range p.Group.Participants {
		m := member{Participant: one, Name: cmp.Or(strings.TrimSpace(one.DisplayName), view.Phone(one.JID)), You: me != "" && one.JID == me}
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
	return strings.Contains(strings.ToLower(m.Name+"\n"+m.DisplayName+"\n"+view.Deref(m.Username)+"\n"+m.Label), q) || number != "" && strings.Contains(m.JID.User(), number)
}

// rank orders the account itself before admins, and admins before others.
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

// ask requests the data for admins: requests to join, and the link on demand.
func (p *groupPage) ask(req *frame.Request, link bool) (err error) {
	p.Requests, err = req.API.JoinRequests(req.Context(), p.Chat)
	if err == nil && link {
		var found bridge.GroupLink
		if found, err = req.API.GroupLink(req.Context(), p.Chat); err == nil {
			p.Link = &found
			p.QR, err = view.QRCode(found.Link)
		}
	}
	if err == nil {
		return nil
	}
	f, _, err := faultOf(req, "link", err)
	if p.Fault.Text == "" {
		p.Fault = f
	}
	return err
}

// patched returns a group with the values of a refused form.
func patched(g bridge.Group, patch bridge.GroupPatch) bridge.Group {
	bridge.SetIf(&g.Name, patch.Name)
	bridge.SetIf(&g.Topic, patch.Topic)
	bridge.SetIf(&g.IsAnnounce, patch.IsAnnounce)
	bridge.SetIf(&g.IsLocked, patch.IsLocked)
	bridge.SetIf(&g.JoinApproval, patch.JoinApproval)
	bridge.SetIf(&g.Expiration, patch.Disappearing)
	bridge.SetIf(&g.MemberAddMode, patch.MemberAddMode)
	return g
}

// patchOf reads the changes of a form. Missing fields change nothing.
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
		patch.Name = nil // the form shows a replacement for a missing subject
	}
	if mode := bridge.MemberAddMode(form.Get("adders")); mode != "" {
		patch.MemberAddMode = &mode
	}
	if form.Has("disappearing") {
		seconds, err := strconv.ParseUint(form.Get("disappearing"), 10, 32)
		if err != nil {
			return patch, frame.Refused(http.StatusBadRequest, "Choose when messages disappear.")
		}
		patch.Disappearing = new(uint32(seconds))
	}
	return patch, nil
}

// ChangeGroup changes the settings of a group.
func ChangeGroup(req *frame.Request) error {
	patch, err := patchOf(req.PostForm)
	if err == nil {
		_, err = req.API.ChangeGroup(req.Context(), req.Chat, patch, req.Key())
	}
	return groupDone(req, err, req.PostForm.Get("form"), "Changes saved", patch)
}

// groupDone ends an action on a group's page. The form shows a refusal.
func groupDone(req *frame.Request, err error, form, text string, typed bridge.GroupPatch) error {
	if err == nil {
		return req.Done(err, text, view.InfoPath(req.Chat))
	}
	f, status, err := faultOf(req, form, err)
	if err != nil {
		return err
	}
	return showGroupPage(req, status, f, typed)
}

// memberWords has the sentences after changes of members.
var memberWords = map[bridge.ParticipantAction]string{
	bridge.ParticipantAdd: "Added to the group", bridge.ParticipantRemove: "Removed from the group", bridge.ParticipantPromote: "Made an admin",
	bridge.ParticipantDemote: "No longer an admin", bridge.ParticipantApprove: "Request approved", bridge.ParticipantReject: "Request rejected",
}

// ChangeMembers removes members, changes admins or decides requests to join.
func ChangeMembers(req *frame.Request) error {
	action := bridge.ParticipantAction(req.PostForm.Get("action"))
	people := view.Typed[bridge.JID](req.PostForm["person"])
	change, form := req.API.ChangeParticipants, "members"
	if action.IsDecision() {
		change, form = req.API.DecideJoinRequests, "requests"
	}
	results, err := change(req.Context(), req.Chat, action, people, req.Key())
	text, failed := outcome(req, results, memberWords[action])
	if failed {
		err = frame.Refused(http.StatusConflict, text)
	}
	return groupDone(req, err, form, text, bridge.GroupPatch{})
}

// SetGroupPicture passes a new picture to the API while it arrives.
func SetGroupPicture(req *frame.Request) error {
	if !req.Sends() {
		return frame.ErrNotFound
	}
	fields, file, err := req.FileForm("key")
	if err != nil {
		return err
	}
	if file.FileName() == "" {
		return frame.ErrNoFile
	}
	err = req.API.SetGroupPicture(req.Context(), req.Chat, file, cmp.Or(fields.Get("key"), frame.NewKey()))
	return groupDone(req, err, "picture", "Picture changed", bridge.GroupPatch{})
}

// RemoveGroupPicture removes the picture of a group.
func RemoveGroupPicture(req *frame.Request) error {
	err := req.API.RemoveGroupPicture(req.Context(), req.Chat, req.Key())
	return groupDone(req, err, "picture", "Picture removed", bridge.GroupPatch{})
}

// RevokeLink replaces the invite link of a group.
func RevokeLink(req *frame.Request) error {
	_, err := req.API.RevokeGroupLink(req.Context(), req.Chat, req.Key())
	if err == nil {
		req.Notify("The old link no longer works. This is the new one.", false)
		http.Redirect(req.W, req.Request, view.InfoPath(req.Chat)+"?invite#link", http.StatusSeeOther)
		return nil
	}
	return groupDone(req, err, "link", "", bridge.GroupPatch{})
}

// LeaveGroup leaves a group.
func LeaveGroup(req *frame.Request) error {
	err := req.API.LeaveGroup(req.Context(), req.Chat, req.Key())
	return groupDone(req, err, "leave", "You left the group. Its messages stay here.", bridge.GroupPatch{})
}

type addPage struct {
	Chat  bridge.JID
	Name  string
	Key   string
	Pick  picker
	Fault fault
}

// ShowAdd shows people to add to a group.
func ShowAdd(req *frame.Request) error {
	return showAddForm(req, http.StatusOK, req.URL.Query(), fault{})
}

func showAddForm(req *frame.Request, status int, form url.Values, f fault) error {
	if !req.Sends() || !req.Chat.IsGroup() {
		return frame.ErrNotFound
	}
	detail, err := req.API.Group(req.Context(), req.Chat)
	if err != nil {
		return err
	}
	group := detail.Latest()
	members := make([]bridge.JID, len(group.Participants))
	for i, m := range group.Participants {
		members[i] = m.JID
	}
	page := addPage{Chat: detail.JID, Name: group.Name, Key: cmp.Or(form.Get("key"), frame.NewKey()), Fault: f}
	if page.Pick, err = pick(req, form, members...); err != nil {
		return err
	}
	return req.ShowAs(status, "add", "Add members", page)
}

// AddMembers adds people. The page shows failed ones with the reason; they stay chosen.
func AddMembers(req *frame.Request) error {
	form := req.PostForm
	results, err := req.API.ChangeParticipants(req.Context(), req.Chat, bridge.ParticipantAdd, view.Typed[bridge.JID](form["person"]), req.Key())
	text, failed := outcome(req, results, memberWords[bridge.ParticipantAdd])
	if failed {
		err = frame.Refused(http.StatusConflict, text)
		form["person"] = nil
		for _, result := range results {
			if result.Error != nil {
				form.Add("person", string(result.JID))
			}
		}
	}
	if err == nil {
		return req.Done(err, text, view.InfoPath(req.Chat))
	}
	f, status, err := faultOf(req, "add", err)
	if err != nil {
		return err
	}
	form.Del("key")
	return showAddForm(req, status, form, f)
}
