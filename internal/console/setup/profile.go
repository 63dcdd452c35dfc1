package setup

import (
	"cmp"
	"net/http"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

const profilePath = view.Root + "/profile"

// profilePage shows what the account shows about itself, and to whom.
type profilePage struct {
	User    bridge.User
	About   string
	Privacy []privacyField
	Problem frame.Problem // why the network's settings are missing; empty if they are there
	Key     string
	Curl    string
}

// privacyField is a setting with its choices.
type privacyField struct {
	Name, Text string
	Choices    []privacyChoice
}

type privacyChoice struct {
	Value, Text string
	Chosen      bool
}

var (
	peopleChoices = []privacyChoice{{Value: "all", Text: "Everyone"}, {Value: "contacts", Text: "My contacts"}, {Value: "none", Text: "Nobody"}}
	// privacyFields has the settings in the order of the page, with the network's words for their values.
	privacyFields = []privacyField{
		{"lastSeen", "Last seen", peopleChoices},
		{"online", "Online", []privacyChoice{{Value: "all", Text: "Everyone"}, {Value: "match_last_seen", Text: "Same as last seen"}}},
		{"picture", "Profile picture", peopleChoices},
		{"about", "About", peopleChoices},
		{"readReceipts", "Read receipts", []privacyChoice{{Value: "all", Text: "On"}, {Value: "none", Text: "Off"}}},
		{"groupAdd", "Add me to groups", peopleChoices},
		{"callAdd", "Call me", []privacyChoice{{Value: "all", Text: "Everyone"}, {Value: "known", Text: "People I know"}}},
		{"messages", "Message me first", []privacyChoice{{Value: "all", Text: "Everyone"}, {Value: "contacts", Text: "My contacts"}}},
		{"stickers", "Show stickers from", []privacyChoice{{Value: "contacts", Text: "My contacts"}, {Value: "none", Text: "Nobody"}}},
		{"defense", "Block messages from unknown accounts", []privacyChoice{{Value: "on_standard", Text: "On"}, {Value: "off", Text: "Off"}}},
	}
	// onlyOnPhone names values that only the phone can set.
	onlyOnPhone = map[string]string{"contact_blacklist": "My contacts, with exceptions", "contact_allowlist": "Chosen contacts"}
)

// ShowProfile shows the account's profile and privacy settings.
func ShowProfile(req *frame.Request) error {
	status, err := req.Status()
	if err != nil {
		return err
	}
	if !req.Administers() || status.User == nil {
		return frame.ErrNotFound
	}
	page := profilePage{User: *status.User, Key: frame.NewKey(), Curl: req.Curl("GET", "/api/account/privacy", nil)}
	privacy, err := req.API.Privacy(req.Context())
	if err != nil {
		page.Problem = req.ProblemOf(err)
		return req.Show("profile", "Profile and privacy", page)
	}
	for _, field := range privacyFields {
		page.Privacy = append(page.Privacy, field.chosen(privacy))
	}
	if own, err := req.API.Profile(req.Context(), page.User.JID); err == nil { // the page is of use without it
		page.About = view.Deref(own.About)
	}
	return req.Show("profile", "Profile and privacy", page)
}

// chosen returns the field with its present value marked. A value that only the phone can set is a choice, too.
func (f privacyField) chosen(p bridge.Privacy) privacyField {
	value := ""
	for _, setting := range p.All() {
		if setting.Name == f.Name {
			value = view.Deref(*setting.Value)
		}
	}
	shown, known := privacyField{Name: f.Name, Text: f.Text}, false
	for _, choice := range f.Choices {
		choice.Chosen = choice.Value == value
		known = known || choice.Chosen
		shown.Choices = append(shown.Choices, choice)
	}
	if !known {
		shown.Choices = append([]privacyChoice{{Value: value, Text: cmp.Or(onlyOnPhone[value], value, "Unknown"), Chosen: true}}, shown.Choices...)
	}
	return shown
}

// ChangeProfile changes the account's name and about text, if they differ from the shown ones.
func ChangeProfile(req *frame.Request) error {
	form, patch := req.PostForm, bridge.AccountPatch{}
	if name := strings.TrimSpace(form.Get("name")); name != form.Get("shown-name") {
		patch.Name = &name
	}
	if about := strings.TrimSpace(form.Get("about")); about != form.Get("shown-about") {
		patch.About = &about
	}
	if len(patch.Fields()) == 0 {
		return req.Done(nil, "Nothing changed", profilePath)
	}
	return req.Done(req.API.UpdateAccount(req.Context(), patch, req.Key()), "Saved", profilePath)
}

// SetAccountPicture passes a new picture of the account to the API while it arrives.
func SetAccountPicture(req *frame.Request) error {
	fields, file, err := req.FileForm("key")
	if err != nil {
		return err
	}
	if file.FileName() == "" {
		return frame.ErrNoFile
	}
	return req.Done(req.API.SetAccountPicture(req.Context(), file, cmp.Or(fields.Get("key"), frame.NewKey())), "Picture changed", profilePath)
}

// RemoveAccountPicture removes the account's picture.
func RemoveAccountPicture(req *frame.Request) error {
	return req.Done(req.API.RemoveAccountPicture(req.Context(), req.Key()), "Picture removed", profilePath)
}

// ChangePrivacy changes the settings that differ from the shown ones.
func ChangePrivacy(req *frame.Request) error {
	var change bridge.Privacy
	for _, setting := range change.All() {
		if value := req.PostForm.Get(setting.Name); value != "" && value != req.PostForm.Get("shown-"+setting.Name) {
			*setting.Value = &value
		}
	}
	if len(change.Fields()) == 0 {
		return req.Done(nil, "Nothing changed", profilePath)
	}
	err := req.API.UpdatePrivacy(req.Context(), change, req.Key())
	if bridge.CodeOf(err) == bridge.CodeInvalid {
		return frame.Titled(http.StatusBadRequest, "This can’t be set here", "Change this setting on the phone.")
	}
	return req.Done(err, "Saved", profilePath)
}
