package session

import (
	"slices"
	"testing"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// TestQuirk_UnknownNotificationsAreLoggedInTheirTurn: with their type, before they are
// acknowledged with the type that they have by then.
func TestQuirk_UnknownNotificationsAreLoggedInTheirTurn(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.device.Push(waBinary.Node{Tag: "notification", Attrs: waBinary.Attrs{"id": "N1", "type": "a new kind", "t": "1"}})
	c.log.waitDebug(t, "the unknown notification", 1, func(format string) bool { return format == logUnhandled })
	at := slices.IndexFunc(c.log.all(), func(line logLine) bool { return line.format == logUnhandled })
	if line := c.log.all()[at]; len(line.args) != 1 || line.args[0] != "a new kind" {
		t.Errorf("logged with %v", line.args)
	}
	if err := c.device.WaitQuiet(plainContext(t)); err != nil {
		t.Error(err)
	}
}

// TestNotices_AreReadInPlaceOfWhatsmeow: those that whatsmeow handles keep their type.
func TestNotices_AreReadInPlaceOfWhatsmeow(t *testing.T) {
	t.Parallel()
	mex := func(operation, data string) *waBinary.Node {
		return &waBinary.Node{Tag: "notification", Attrs: waBinary.Attrs{"type": "mex"}, Content: []waBinary.Node{
			{Tag: "update", Attrs: waBinary.Attrs{"op_name": operation}, Content: []byte(data)},
		}}
	}
	var n notices
	known := mex("NotificationUserReachoutTimelockUpdate", "{}")
	if n.mark(known); known.Attrs["type"] != "mex" {
		t.Errorf("whatsmeow does not get its own: %v", known.Attrs["type"])
	}
	for name, node := range map[string]*waBinary.Node{
		"no JSON":         mex("UsernameSetNotification", "{"),
		"another form":    mex("UsernameSetNotification", `{"data":{"xwa2_notify_username_on_change":7}}`),
		"nobody is named": mex("UsernameDeleteNotification", `{"data":{}}`),
	} {
		n.mark(node)
		mark := node.Attrs["type"].(string)
		if mark == "mex" {
			t.Errorf("%s: whatsmeow gets it", name)
		}
		taken, ok := n.take(mark)
		if !ok || taken != node || node.Attrs["type"] != "mex" {
			t.Errorf("%s: not taken back: %v, %v", name, node.Attrs["type"], ok)
		}
		if evt := readMex(node); evt != nil {
			t.Errorf("%s: read as %+v", name, evt)
		}
	}
}
