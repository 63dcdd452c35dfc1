package people

import (
	"encoding/json"
	"maps"
	"slices"

	"bridged/internal/simnet/media"
	"bridged/internal/simnet/wire"
)

// BusinessProfile is what a business shows about itself. Hours has the opening hours of days as the network writes them: the mode, and for
// fixed hours the minutes of the day at which it opens and closes.
type BusinessProfile struct {
	Description, Address, Email string
	Websites, Categories        []string
	Timezone                    string
	Hours                       []BusinessDay
}

// BusinessDay is a part of the opening hours.
type BusinessDay struct{ Day, Mode, Opens, Closes string }

// SetBusiness sets what a business account shows about itself, and whether the network has verified it.
func (a *Account) SetBusiness(profile BusinessProfile, verified bool) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	a.Profile, a.Verified = profile, verified
}

// BusinessNode returns the profile of a business.
func (a *Account) BusinessNode(asked any) Node {
	profile := []Node{
		{Tag: "address", Content: []byte(a.Profile.Address)},
		{Tag: "email", Content: []byte(a.Profile.Email)},
		{Tag: "description", Content: []byte(a.Profile.Description)},
	}
	for _, website := range a.Profile.Websites {
		profile = append(profile, Node{Tag: "website", Content: []byte(website)})
	}
	var categories, days []Node
	for _, name := range a.Profile.Categories {
		categories = append(categories, Node{Tag: "category", Attrs: attrs{"id": "1223524174334504"}, Content: []byte(name)})
	}
	for _, day := range a.Profile.Hours {
		config := attrs{"day_of_week": day.Day, "mode": day.Mode}
		if day.Opens != "" {
			config["open_time"], config["close_time"] = day.Opens, day.Closes
		}
		days = append(days, Node{Tag: "business_hours_config", Attrs: config})
	}
	profile = append(profile, Node{Tag: "categories", Content: categories})
	if days != nil {
		profile = append(profile, Node{Tag: "business_hours", Attrs: attrs{"timezone": a.Profile.Timezone}, Content: days})
	}
	return Node{Tag: "business_profile", Attrs: attrs{"v": "244"}, Content: []Node{{Tag: "profile", Attrs: attrs{"jid": asked}, Content: profile}}}
}

// AboutMutation is the id of the mutation that sets an account's about text in WhatsApp Web, as of 2026.
const AboutMutation = "9152604461510864"

// AnswerAbout sets the account's about text and notifies everybody. The caller holds Directory.Mu.
func (n *Directory) AnswerAbout(a *Account, request []byte) wire.Answer {
	var body struct {
		Variables struct {
			Input struct {
				Text *string `json:"text"`
			} `json:"input"`
		} `json:"variables"`
	}
	if json.Unmarshal(request, &body) != nil || body.Variables.Input.Text == nil || len([]rune(*body.Variables.Input.Text)) > 139 {
		return wire.BadRequest
	}
	a.About = *body.Variables.Input.Text
	for _, d := range n.everyDevice() {
		n.Push(d, Node{Tag: "notification", Attrs: attrs{"from": a.PN(), "type": "status", "id": n.NextID(), "t": wire.UnixNow()}, Content: []Node{
			{Tag: "set", Content: []byte(a.About)},
		}})
	}
	n.Notify()
	return wire.Result(Node{Tag: "result", Content: []byte(`{"data":{"xwa2_users_update_text_status":{"result":"SUCCESS"}}}`)})
}

// ShowPicture sets the account's picture, nil if none, and notifies everybody. The caller holds Directory.Mu.
func (n *Directory) ShowPicture(a *Account, shown *media.Picture) {
	a.Picture = shown
	name := a.PN()
	if a.LidChats {
		name = a.LID()
	}
	for _, d := range n.everyDevice() {
		n.Push(d, n.PictureNode(name, name, shown))
	}
	n.Notify()
}

// everyDevice returns the devices of all accounts, by their numbers. The caller holds Directory.Mu.
func (n *Directory) everyDevice() (all []*Device) {
	for _, number := range slices.Sorted(maps.Keys(n.ByNumber)) {
		all = append(all, n.ByNumber[number].Sorted()...)
	}
	return all
}

// Shown is what an account shows about itself.
type Shown struct {
	Name, About string
	Picture     string // its id, empty if none
	Privacy     map[string]string
}

// Shown returns what the account shows about itself.
func (a *Account) Shown() Shown {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	shown := Shown{Name: a.PushName, About: a.About, Privacy: maps.Clone(a.Privacy)}
	if a.Picture != nil {
		shown.Picture = a.Picture.ID
	}
	return shown
}
