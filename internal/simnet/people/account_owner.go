package people

import (
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/media"
	"bridged/internal/simnet/wire"
)

// WithholdMapping hides which LID belongs to the account's number, or shows it again: while hidden, messages, groups and queries show only
// one of the two. Clients that know it already still know it.
func (a *Account) WithholdMapping(withheld bool) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	a.Withheld = withheld
}

// AllowAdding sets who may add the account to groups: "all", "contacts" or "none".
func (a *Account) AllowAdding(who string) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	a.Privacy["groupadd"] = who
}

// LinkedDevices returns the account's companions, as the phone lists them.
func (a *Account) LinkedDevices() []*Device {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	var out []*Device
	for _, d := range a.Sorted() {
		if d.Number != 0 {
			out = append(out, d)
		}
	}
	return out
}

// Unlink removes a companion from the account. The companion is notified now, or when it connects next.
func (a *Account) Unlink(d *Device) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	if d.Account == a && d.Number != 0 {
		a.net.Unlink(d)
	}
}

// SetSalt sets the secret from which companions derive tokens for people without one.
func (a *Account) SetSalt(salt []byte) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	a.Salt = salt
}

// Number returns the phone number, digits only.
func (a *Account) Number() string { return a.PhoneNumber }

// Name returns the push name.
func (a *Account) Name() string {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	return a.PushName
}

// Blocks reports whether the account blocks a person.
func (a *Account) Blocks(person *Account) bool {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	_, blocked := a.Blocked[person.LID()]
	return blocked
}

// HideBlocks makes notifications say only that the list of blocked people has changed, as the network does now and then.
func (a *Account) HideBlocks() {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	a.BlocksHidden = true
}

// HidePicture hides the account's picture from all others, or shows it again.
func (a *Account) HidePicture(hidden bool) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	a.Privacy["profile"] = "all"
	if hidden {
		a.Privacy["profile"] = "none"
	}
}

// RefuseStrangers makes the server answer 463 to messages for this account without a token of it or one derived from the sender's salt, as it
// does for senders that may not start new chats.
func (a *Account) RefuseStrangers(refuse bool) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	a.refusing = refuse
}

// SetUsername gives the account a username and takes it away from the account that had it; "" gives the name up. Others see the change with
// the account's next stanza, when they ask, or by AnnounceUsername.
func (a *Account) SetUsername(name string) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	for _, other := range a.net.ByNumber {
		if name != "" && other.Username == name {
			other.Username, other.GaveUp = "", true
		}
	}
	a.Username, a.GaveUp = name, name == "" && a.Username != ""
}

// SetPicture sets the account's picture in both sizes and notifies all devices. Empty bytes remove it.
func (a *Account) SetPicture(full, preview []byte) {
	shown := a.net.cdn.Picture(full, preview)
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	a.net.ShowPicture(a, shown)
}

// SpoilAppState gives companions a wrong hash with the next changes of a collection, times of them, or all if it is negative.
func (a *Account) SpoilAppState(name appstate.WAPatchName, times int) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	if a.spoiled == nil {
		a.spoiled = make(map[string]*spoiledPatch)
	}
	a.spoiled[string(name)] = &spoiledPatch{version: len(a.AppState[string(name)]) + 1, left: times}
}

// LockReachout keeps the account from starting new chats until a time, as the network does with accounts that many people have reported: its
// devices are notified, and its messages to people who do not trust it are refused with 463. The zero time ends the lock.
func (a *Account) LockReachout(until time.Time) {
	n := a.net
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if !until.IsZero() {
		until = time.Unix(until.Unix(), 0) // the notification has whole seconds
	}
	a.lockedUntil = until
	for _, d := range a.Sorted() {
		n.Push(d, n.timelockNode(until))
	}
}

// PictureNode returns the notification of a changed picture.
func (n *Directory) PictureNode(of, author types.JID, shown *media.Picture) Node {
	change := Node{Tag: "delete", Attrs: attrs{"jid": of, "author": author}}
	if shown != nil {
		change.Tag, change.Attrs["id"] = "set", shown.ID
	}
	return Node{Tag: "notification", Attrs: attrs{"from": of, "type": "picture", "id": n.NextID(), "t": wire.UnixNow()}, Content: []Node{change}}
}
