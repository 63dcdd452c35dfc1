package console

import (
	"net/http"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// settingsPage is what is in force, and what can be done with the account.
type settingsPage struct {
	Settings []Setting
	Account  bridge.Status
	State    state
	Stats    client.Stats
	Curl     string
}

// showSettings answers the settings.
func (c *Console) showSettings(v *visit) (err error) {
	if !v.administers() {
		return errUnknown
	}
	page := settingsPage{Settings: c.options.Settings, Curl: curlPost("/api/auth/reconnect", nil)}
	if page.Account, err = v.api.Status(v.r.Context()); err != nil {
		return err
	}
	page.State = describe(page.Account)
	if page.Stats, err = v.api.Stats(v.r.Context(), v.midnight()); err != nil {
		return err
	}
	v.show(http.StatusOK, "settings", "Settings", page)
	return nil
}

// reconnect dials at once.
func (c *Console) reconnect(v *visit) error {
	return v.after(v.api.Reconnect(v.r.Context()), "Connecting.", root+"/")
}

// unlink wipes the session of the account, once its number was typed. Where the
// pairing is stopped there is no number yet.
func (c *Console) unlink(v *visit) error {
	status, err := v.api.Status(v.r.Context())
	if err != nil {
		return err
	}
	if status.HasSession && (status.User == nil || onlyDigits(v.r.PostForm.Get("number")) != status.User.Phone) {
		return problem{http.StatusBadRequest, "This is not the number", "Nothing was done. Type the number of the linked account, with its country code.", ""}
	}
	unlinked, err := v.api.Logout(v.r.Context())
	if err != nil {
		return err
	}
	text := "The account is unlinked. Its messages are still here."
	if !unlinked {
		text = "The keys are wiped. The network could not be told: remove the device on the phone, too."
	}
	return v.done(text, root+"/")
}

func onlyDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, text)
}
