package simnet_test

import (
	"testing"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types/events"
)

// TestPairing_DesktopAppsAreClosed without a code or a reason, browsers are not.
func TestPairing_DesktopAppsAreClosed(t *testing.T) {
	for platform, closed := range map[waWa6.ClientPayload_WebInfo_WebSubPlatform]bool{
		waWa6.ClientPayload_WebInfo_WIN32: true, waWa6.ClientPayload_WebInfo_DARWIN: true, waWa6.ClientPayload_WebInfo_WEB_BROWSER: false,
	} {
		c := newCompanion(t, newNetwork(t))
		c.cli.EnableAutoReconnect = false
		c.cli.GetClientPayload = func() *waWa6.ClientPayload {
			payload := c.cli.Store.GetClientPayload()
			payload.WebInfo.WebSubPlatform = platform.Enum()
			return payload
		}
		c.expectCodes(!closed)
	}
}

// expectCodes connects, and waits for QR codes, or for the end of the connection.
func (c *companion) expectCodes(want bool) {
	c.t.Helper()
	c.ended = !want
	c.connect()
	for {
		switch await[any](c, nil).(type) {
		case *events.QR:
			if !want {
				c.t.Error("got codes")
			}
			return
		case *events.Disconnected:
			if want {
				c.t.Error("the connection was closed")
			}
			return
		}
	}
}

func TestPairing_TheNetworkMayCloseRegistrations(t *testing.T) {
	n := newNetwork(t)
	n.CloseUnpaired(func(props *waCompanionReg.DeviceProps) bool { return props.GetOs() == store.DeviceProps.GetOs() })
	c := newCompanion(t, n)
	c.cli.EnableAutoReconnect = false
	c.expectCodes(false)
	n.CloseUnpaired(nil)
	newCompanion(t, n).expectCodes(true)
	if got := n.UnpairedSockets(); got != 2 {
		t.Errorf("%d unpaired sockets, want 2", got)
	}
}
