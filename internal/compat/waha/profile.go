package waha

import (
	"io"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// showOwnProfile shows the account's name and picture.
func showOwnProfile(c *compat.Call) (any, error) {
	account, err := c.Account()
	switch {
	case err != nil:
		return nil, err
	case account == nil:
		return nil, bridge.NotConnected("no account is linked: it has no profile")
	}
	uri, err := compat.Picture(c, account.JID)
	return map[string]any{"id": compat.AsChat(account.JID), "name": account.PushName, "picture": uri}, err
}

// accountBody is the body of the routes that change the account's name or about text.
type accountBody struct {
	Name   *compat.Text `json:"name"`
	Status *compat.Text `json:"status"`
}

func setOwnName(c *compat.Call, in accountBody) (any, error) {
	if in.Name == nil {
		return nil, bridge.Invalid("name is missing: the account's new name")
	}
	return success, c.API.UpdateAccount(c.Context(), bridge.AccountPatch{Name: (*string)(in.Name)}, c.Key())
}

func setOwnStatus(c *compat.Call, in accountBody) (any, error) {
	if in.Status == nil {
		return nil, bridge.Invalid("status is missing: the account's new about text; an empty one removes it")
	}
	return success, c.API.UpdateAccount(c.Context(), bridge.AccountPatch{About: (*string)(in.Status)}, c.Key())
}

func setOwnPicture(c *compat.Call, in pictureBody) (any, error) {
	return success, compat.SetPicture(c, string(in.File.URL), func(picture io.Reader) error {
		return c.API.SetAccountPicture(c.Context(), picture, c.Key())
	})
}

func removeOwnPicture(c *compat.Call) (any, error) {
	return success, c.API.RemoveAccountPicture(c.Context(), c.Key())
}

// showAbout shows a person's about text, or null if there is none or the account may not see it.
func showAbout(c *compat.Call, jid bridge.JID) (any, error) {
	profile, err := c.API.Profile(c.Context(), jid)
	return map[string]any{"about": profile.About}, err
}
