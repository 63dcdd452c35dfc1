package frame

import (
	"net/http"
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/console/view"
)

// Account is a bridge that the switch of accounts leads to.
type Account struct {
	Name string
	// Address is the bridge's path at the address of this console, "" for the root, or a URL.
	Address string
	IsOwn   bool // whether it is this bridge
}

// Console returns the address of the account's console. Browsers resolve it against the address of
// this console, without the base path.
func (a Account) Console() string { return a.Address + view.Root + "/" }

// Hue returns the number of the account's colour; see [view.Hue].
func (a Account) Hue() int { return view.Hue(bridge.JID(a.Name)) }

// Host returns the name of the account's host; empty if it is the host of this console.
func (a Account) Host() string {
	at, err := url.Parse(a.Address)
	if err != nil {
		return ""
	}
	return at.Host
}

// accountState is the state of this account, for the switches of other consoles at the same
// address. Without a session it has only what anyone can see: that bridged runs.
type accountState struct {
	LoggedIn bool   `json:"loggedIn"`
	Tone     string `json:"tone,omitempty"` // see [view.State]
	Word     string `json:"word,omitempty"`
}

// ShowAccountState answers with the account's state, if the browser has a session here whose token may
// see it. The browser asks, and not the other bridge, because only the browser has the session, and
// sends it to no other path.
func (site *Site) ShowAccountState(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	var state accountState
	if s := site.sessionOf(r); s != nil {
		status, err := s.api.Status(r.Context())
		state.LoggedIn = bridge.CodeOf(err) != bridge.CodeUnauthorized
		if err == nil {
			shown := view.StateOf(status)
			state.Tone, state.Word = shown.Tone, shown.Word
		}
	}
	WriteJSON(w, http.StatusOK, state)
}

// accounts returns the accounts for the switch. Visitors with limited tokens do not see them, because
// they must not learn about other accounts.
func (req *Request) accounts() []Account {
	if !req.Administers() {
		return nil
	}
	return req.Options.Accounts
}
