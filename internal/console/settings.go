package console

import (
	"net/http"

	"bridged/internal/bridge"
)

type settingsPage struct {
	facts
	Token       bridge.Token
	Chats       []named // that the token is limited to
	Limits      string
	NoSending   string
	Settings    []Setting // of the environment, for those who administer
	Number      string    // that was typed to unlink
	Wrong       map[string]string
	Administers bool
	Imports     bool // whether exported chats can be taken in
	Curl        string
}

func (c *Console) showSettings(v *visit) error {
	return v.showSettingsWith(http.StatusOK, settingsPage{})
}

func (v *visit) showSettingsWith(status int, page settingsPage) (err error) {
	page.Token, page.Administers, page.Limits = v.session.token, v.administers(), v.c.limits(v.session.token)
	page.Imports = v.imports()
	page.NoSending = v.c.noSending(v.session.token)
	page.Chats = v.choiceOf(page.Token.Chats...).Chosen
	if page.Administers {
		page.Settings, page.Curl = v.c.options.Settings, curl("POST", "/api/auth/reconnect", nil)
		if page.facts, err = v.facts(); err != nil {
			return err
		}
	}
	return v.showAs(status, "settings", "Settings", page)
}

func (c *Console) reconnect(v *visit) error {
	return v.done(v.api.Reconnect(v.r.Context()), "Reconnecting…", root+"/")
}

// unlink wipes the session of the account, once its number, if it has one, was typed.
func (c *Console) unlink(v *visit) error {
	status, err := v.status()
	if err != nil {
		return err
	}
	f := v.form()
	if status.HasSession && (status.User == nil || bridge.PhoneDigits(f.Get("number")) != status.User.Phone) {
		f.refuse("number", "That’s not the number of the linked account. Nothing was changed.")
		return v.showSettingsWith(http.StatusBadRequest, settingsPage{Number: f.Get("number"), Wrong: f.Wrong})
	}
	unlinked, err := v.api.Logout(v.r.Context())
	text := "The account was unlinked. Its messages are still here."
	if !unlinked {
		text = "The keys were deleted, but WhatsApp couldn’t be reached. Remove this device on the phone too."
	}
	return v.done(err, text, root+"/")
}
