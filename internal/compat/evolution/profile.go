package evolution

import (
	"io"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// profileRecord is what a person shows about themselves, in Evolution's form. Only businesses have Email,
// Description and Website.
type profileRecord struct {
	WUID        bridge.JID `json:"wuid"`
	Name        string     `json:"name"`
	Exists      bool       `json:"numberExists"`
	Picture     *string    `json:"picture"`
	Status      *string    `json:"status"`
	IsBusiness  bool       `json:"isBusiness"`
	Email       string     `json:"email,omitempty"`
	Description string     `json:"description,omitempty"`
	Website     string     `json:"website,omitempty"`
}

// setProfile adds the profile that the network has of a person. It adds nothing for people who are not stored, and for
// groups.
func (r *profileRecord) setProfile(c *compat.Call) error {
	if !r.WUID.IsPerson() {
		return nil
	}
	profile, err := c.API.Profile(c.Context(), r.WUID)
	switch {
	case bridge.CodeOf(err) == bridge.CodeNotFound:
		return nil
	case err != nil:
		return err
	}
	r.Status = profile.About
	if b := profile.Business; b != nil {
		r.IsBusiness, r.Email, r.Description = true, b.Email, b.Description
		if len(b.Websites) > 0 {
			r.Website = b.Websites[0]
		}
	}
	return nil
}

// accountBody is the body of the routes that change the account's name or about text.
type accountBody struct {
	Name   *compat.Text `json:"name"`
	Status *compat.Text `json:"status"`
}

func updateProfileName(c *compat.Call, in accountBody) (any, error) {
	if in.Name == nil {
		return nil, bridge.Invalid(`instance requires property "name"`)
	}
	return updateDone, c.API.UpdateAccount(c.Context(), bridge.AccountPatch{Name: (*string)(in.Name)}, c.Key())
}

func updateProfileStatus(c *compat.Call, in accountBody) (any, error) {
	if in.Status == nil {
		return nil, bridge.Invalid(`instance requires property "status"`)
	}
	return updateDone, c.API.UpdateAccount(c.Context(), bridge.AccountPatch{About: (*string)(in.Status)}, c.Key())
}

// profilePicture is the body of [updateProfilePicture].
type profilePicture struct {
	Picture compat.Text `json:"picture"`
}

func updateProfilePicture(c *compat.Call, in profilePicture) (any, error) {
	return updateDone, compat.SetPicture(c, string(in.Picture), func(picture io.Reader) error {
		return c.API.SetAccountPicture(c.Context(), picture, c.Key())
	})
}

func removeProfilePicture(c *compat.Call) (any, error) {
	return updateDone, c.API.RemoveAccountPicture(c.Context(), c.Key())
}

// privacySettings has the settings of the account that Evolution names. Nil ones stay unchanged in a change.
type privacySettings struct {
	ReadReceipts *string `json:"readreceipts"`
	Profile      *string `json:"profile"`
	Status       *string `json:"status"`
	Online       *string `json:"online"`
	Last         *string `json:"last"`
	GroupAdd     *string `json:"groupadd"`
}

func fetchPrivacy(c *compat.Call) (any, error) {
	p, err := c.API.Privacy(c.Context())
	return privacySettings{p.ReadReceipts, p.Picture, p.About, p.Online, p.LastSeen, p.GroupAdd}, err
}

// updatePrivacy changes the settings that differ from the present ones. Evolution's clients send all of them,
// and so may send a setting with a list of people, which only the phone can set, as they read it.
func updatePrivacy(c *compat.Call, in privacySettings) (any, error) {
	if in == (privacySettings{}) {
		return nil, bridge.Invalid("give at least one of readreceipts, profile, status, online, last and groupadd")
	}
	present, err := c.API.Privacy(c.Context())
	if err != nil {
		return nil, err
	}
	change := bridge.Privacy{ReadReceipts: in.ReadReceipts, Picture: in.Profile, About: in.Status, Online: in.Online, LastSeen: in.Last, GroupAdd: in.GroupAdd}
	was := present.All()
	for i, setting := range change.All() {
		if given, now := *setting.Value, *was[i].Value; given != nil && now != nil && *given == *now {
			*setting.Value = nil
		}
	}
	if len(change.Fields()) > 0 {
		err = c.API.UpdatePrivacy(c.Context(), change, c.Key())
	}
	return map[string]any{"update": "success", "data": in}, err
}
