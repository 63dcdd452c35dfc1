package setup

import (
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

type settingsPage struct {
	facts
	Token       bridge.Token
	Chats       []names.Entry // that the token is limited to
	Limits      string
	NoSending   string
	Settings    []frame.Setting // of the environment, for administrators
	Number      string          // the typed number, to unlink
	Wrong       map[string]string
	Administers bool
	Imports     bool                // whether the visitor may import chats
	Sessions    []frame.OpenSession // of the console, that the visitor may end
	Curl        string
}

// ShowSettings shows the settings.
func ShowSettings(req *frame.Request) error {
	return showSettingsWith(req, http.StatusOK, settingsPage{})
}

func showSettingsWith(req *frame.Request, status int, page settingsPage) (err error) {
	page.Token, page.Administers, page.Limits = req.Token, req.Administers(), req.Limits()
	page.Imports, page.Sessions = req.Imports(), req.Sessions()
	page.NoSending = req.NoSending()
	page.Chats = names.ChoiceOf(req, page.Token.Chats...).Chosen
	if page.Administers {
		page.Settings, page.Curl = req.Options.Settings, req.Curl("POST", "/api/auth/reconnect", nil)
		if page.facts, err = factsOf(req); err != nil {
			return err
		}
	}
	return req.ShowAs(status, "settings", "Settings", page)
}

// Reconnect reconnects the account.
func Reconnect(req *frame.Request) error {
	return req.Done(req.API.Reconnect(req.Context()), "Reconnecting…", view.Root+"/")
}

// Unlink logs the account out if its number was typed correctly.
func Unlink(req *frame.Request) error {
	status, err := req.Status()
	if err != nil {
		return err
	}
	f := req.Filled()
	if status.HasSession && (status.User == nil || bridge.PhoneDigits(f.Get("number")) != status.User.Phone) {
		f.Refuse("number", "That’s not the number of the linked account. Nothing was changed.")
		return showSettingsWith(req, http.StatusBadRequest, settingsPage{Number: f.Get("number"), Wrong: f.Wrong})
	}
	unlinked, err := req.API.Logout(req.Context())
	text := "The account was unlinked. Its messages are still here."
	switch {
	case !status.HasSession:
		text = "Linking was stopped."
	case !unlinked:
		text = "The account was unlinked here, but WhatsApp couldn’t be reached. Remove this device on your phone, too."
	}
	return req.Done(err, text, view.Root+"/")
}
