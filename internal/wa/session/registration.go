package session

import (
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
)

// Registration reports that the account's number is being registered on another phone. The
// registration code is not read.
type Registration struct {
	Kind   bridge.SecurityKind
	At     time.Time // zero if the network does not say
	Device string    // the other phone's name, as it reports it; empty if it is not known
}

// readRegistration parses the notification as RegistrationNotificationHandler of the Android app
// does. The network informs the old phone and its linked devices that a code was requested or
// that another phone has registered the number.
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
