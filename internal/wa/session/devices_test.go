package session

import (
	"slices"
	"testing"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet"
)

// TestQuirk_ChangesOfDevicesAreOnlyLogged, whatever their kind and whatever
// whatsmeow has cached of the number's devices.
func TestQuirk_ChangesOfDevicesAreOnlyLogged(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx := plainContext(t)
	told := func(what string) {
		t.Helper()
		waitFor(t, "the log of "+what, func() bool {
			for _, line := range c.log.all() {
				if number, ok := changedDevices(line.format, line.args); ok && number == c.friend.PN() {
					return true
				}
			}
			return false
		})
		c.log.forget()
	}
	change := func(kind string) {
		c.device.Push(waBinary.Node{
			Tag: "notification", Attrs: waBinary.Attrs{"from": c.friend.PN(), "lid": c.friend.LID(), "type": "devices", "id": "CHANGE" + kind, "t": "1"},
			Content: []waBinary.Node{{Tag: kind, Attrs: waBinary.Attrs{"device_hash": "2:x", "device_lid_hash": "2:y"}, Content: []waBinary.Node{
				{Tag: "device", Attrs: waBinary.Attrs{"jid": c.friend.PN(), "lid": c.friend.LID()}},
			}}},
		})
	}
	for _, kind := range []string{"add", "remove", "update"} {
		change(kind)
		told("an unknown list, " + kind)
		if _, err := c.GetUserDevices(ctx, []types.JID{c.friend.PN()}); err != nil {
			t.Fatal(err)
		}
		change(kind)
		told("a known list, " + kind)
	}
}

// TestQuirk_AnUpdateOfDevicesEmptiesTheirList.
func TestQuirk_AnUpdateOfDevicesEmptiesTheirList(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx, lid := plainContext(t), []types.JID{c.friend.LID()}
	asked := func() int {
		t.Helper()
		before := c.log.count("<usync")
		if _, err := c.GetUserDevices(ctx, lid); err != nil {
			t.Fatal(err)
		}
		return c.log.count("<usync") - before
	}
	if first, second := asked(), asked(); first == 0 || second != 0 {
		t.Fatalf("the test does not see queries: %d and %d", first, second)
	}
	clientOf(c).ForgetDevices(ctx, c.friend.LID())
	if asked() == 0 {
		t.Error("the list is still there")
	}
}

// TestQuirk_OtherDevicesAreReportedBeforeTheNextSend: the warning comes while the
// message is being sent, with the network's hash.
func TestQuirk_OtherDevicesAreReportedBeforeTheNextSend(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx := plainContext(t)
	told := func() (hashes []string) {
		for _, line := range c.log.all() {
			if line.format == logOtherDevices {
				hashes = append(hashes, line.args[0].(string), line.args[1].(string))
			}
		}
		return hashes
	}
	if _, err := c.SendMessage(ctx, c.friend.PN(), text("to all")); err != nil || told() != nil {
		t.Fatalf("%v, told %v", err, told())
	}
	c.device.FailSends(simnet.SendFault{Phash: "2:other"})
	if _, err := c.SendMessage(ctx, c.friend.PN(), text("to some")); err != nil {
		t.Fatal(err)
	}
	devices, err := c.GetUserDevices(ctx, []types.JID{c.friend.LID(), c.device.LID().ToNonAD()})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := told(), []string{DevicesHash(devices), "2:other"}; !slices.Equal(got, want) {
		t.Errorf("logged %v, want %v", got, want)
	}
}
