package session

import (
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
)

// Registration reports that somebody registers the account's number on another phone. The
// code of the registration is not read.
type Registration struct {
	Kind   bridge.SecurityKind
	At     time.Time // zero if the network does not say
	Device string    // the other phone's name, as it gives it; empty if it is not known
}

// readRegistration reads RegistrationNotificationHandler of the apps: the network tells
// the old phone, and its linked devices, of a code that was requested and of a phone that
// takes the number over.
func readRegistration(node *waBinary.Node) any {
	attrs := node.AttrGetter()
	e := Registration{At: attrs.OptionalUnixTime("t")}
	if _, found := node.GetOptionalChildByTag("wa_old_registration"); found {
		e.Kind = bridge.SecurityCodeRequested
		return e
	}
	logout, found := node.GetOptionalChildByTag("device_logout")
	if !found {
		return nil
	}
	e.Kind = bridge.SecurityTakenOver
	of := logout.AttrGetter()
	if at := of.OptionalUnixTime("t"); !at.IsZero() {
		e.At = at
	}
	if e.Device = of.OptionalString("device"); e.Device == "" {
		e.Device = of.OptionalString("new_device_platform")
	}
	return e
}
