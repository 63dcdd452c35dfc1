package simnet

import (
	"maps"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/appstate"
)

// WithholdMapping hides which LID belongs to the account's number, or shows it again: while hidden, messages, groups and queries
// then show only one of the two. Clients that know it already are not affected.
func (a *account) WithholdMapping(withheld bool) {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	a.withheld = withheld
}

// AllowAdding sets who may put the account into groups: "all", "contacts" or "none".
func (a *account) AllowAdding(who string) {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	a.privacy["groupadd"] = who
}

// LinkedDevices returns the account's companions, as the phone lists them.
func (a *account) LinkedDevices() []*Device {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	var out []*Device
	for _, d := range a.sorted() {
		if d.number != 0 {
			out = append(out, d)
		}
	}
	return out
}

// Unlink removes a companion from the account. It is told so now, or when it connects next.
func (a *account) Unlink(d *Device) {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	if d.account == a && d.number != 0 {
		a.net.unlink(d)
	}
}

// SetSalt sets the secret from which the account's companions derive tokens for people who have given it none.
func (a *account) SetSalt(salt []byte) {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	a.salt = salt
}

// Number returns the phone number, digits only.
func (a *account) Number() string { return a.number }

// Name returns the push name.
func (a *account) Name() string {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	return a.name
}

// HidePicture makes the account show its picture to nobody, or to everybody again.
func (a *account) HidePicture(hidden bool) {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	a.privacy["profile"] = "all"
	if hidden {
		a.privacy["profile"] = "none"
	}
}

// RefuseStrangers makes the server answer 463 to messages for this account that carry no token of it, nor one derived from the
// sender's salt, as it does for accounts that may not start new chats.
func (a *account) RefuseStrangers(refuse bool) {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	a.refusing = refuse
}

// SetUsername gives the account a username, which it takes from whoever had it; an empty one gives it up. Nobody is told before the account's
// next stanza, or before they ask.
func (a *account) SetUsername(name string) {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	for _, other := range a.net.byNumber {
		if name != "" && other.username == name {
			other.username, other.gaveUp = "", true
		}
	}
	a.username, a.gaveUp = name, name == "" && a.username != ""
}

// SetPicture gives the account a picture, in both sizes, and tells everybody. Without any bytes it takes the picture away.
func (a *account) SetPicture(full, preview []byte) {
	shown := a.net.cdn.Picture(full, preview)
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	a.picture = shown
	name := a.PN()
	if a.lidChats {
		name = a.LID()
	}
	for _, number := range slices.Sorted(maps.Keys(a.net.byNumber)) {
		for _, d := range a.net.byNumber[number].sorted() {
			a.net.push(d, a.net.pictureNode(name, name, shown))
		}
	}
}

// SpoilAppState has companions get the next change of a collection with a wrong hash, so many times, or always for a negative
// number.
func (a *account) SpoilAppState(name appstate.WAPatchName, times int) {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	if a.spoiled == nil {
		a.spoiled = make(map[string]*spoiledPatch)
	}
	a.spoiled[string(name)] = &spoiledPatch{version: len(a.appState[string(name)]) + 1, left: times}
}

// LockReachout keeps the account from starting new chats until a moment, as the network does with accounts that many have reported:
// its devices are told, and its messages to people who do not trust it are refused with 463. The zero time ends it.
func (a *account) LockReachout(until time.Time) {
	n := a.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if !until.IsZero() {
		until = time.Unix(until.Unix(), 0) // what devices are told
	}
	a.lockedUntil = until
	for _, d := range a.sorted() {
		n.push(d, n.timelockNode(until))
	}
}
