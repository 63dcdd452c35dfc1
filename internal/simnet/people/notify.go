package people

import (
	"maps"
	"slices"
	"strconv"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// devicesChanged notifies everyone that a device was linked or unlinked: the account's own devices get the list, all others the change. The
// real server notifies only contacts and members of common groups.
func (n *Directory) devicesChanged(changed *Device) {
	a := changed.Account
	for _, number := range slices.Sorted(maps.Keys(n.ByNumber)) {
		other := n.ByNumber[number]
		for _, d := range other.Sorted() {
			if d.missesDevices {
				continue
			}
			if other == a && d.Number != 0 {
				n.Push(d, n.ownDevicesNode(a))
				continue
			}
			if d.Number != 0 && !a.Withheld {
				n.Push(d, n.deviceChangeNode(changed))
				continue
			}
			// Phones run whatsmeow, which ignores the change unless it has cached the list under the number: these notifications make phones
			// drop both lists.
			n.Push(d, n.devicesUpdateNode(a, types.DefaultUserServer))
			n.Push(d, n.devicesUpdateNode(a, types.HiddenUserServer))
		}
	}
}

// MissDeviceChanges sets whether the device misses the notifications about other linked and unlinked devices.
func (d *Device) MissDeviceChanges(miss bool) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.missesDevices = miss
}

func (n *Directory) ownDevicesNode(a *Account) Node {
	devices := a.Addresses(types.DefaultUserServer)
	list := make([]Node, len(devices))
	for i, jid := range devices {
		list[i] = Node{Tag: "device", Attrs: attrs{"jid": jid}}
	}
	return Node{Tag: "notification", Attrs: attrs{
		"from": a.PN(), "type": "account_sync", "id": n.NextID(), "t": wire.UnixNow(),
	}, Content: []Node{{Tag: "devices", Attrs: attrs{"dhash": wire.ParticipantHash(devices)}, Content: list}}}
}

// deviceChangeNode returns the notification that a device was added or removed, from the account's number, with its LID.
func (n *Directory) deviceChangeNode(changed *Device) Node {
	a := changed.Account
	device := Node{Tag: "device", Attrs: attrs{"jid": changed.JID(), "lid": changed.LID()}}
	tag := "remove"
	if !changed.Gone {
		tag = "add"
		device.Attrs["key-index"] = strconv.Itoa(int(changed.KeyIndex))
	}
	return Node{Tag: "notification", Attrs: attrs{
		"from": a.PN(), "lid": a.LID(), "type": "devices", "id": n.NextID(), "t": wire.UnixNow(),
	}, Content: []Node{{Tag: tag, Attrs: attrs{
		"device_hash": wire.ParticipantHash(a.Addresses(types.DefaultUserServer)), "device_lid_hash": wire.ParticipantHash(a.Addresses(types.HiddenUserServer)),
	}, Content: []Node{device}}}}
}

func (n *Directory) devicesUpdateNode(a *Account, form string) Node {
	return Node{Tag: "notification", Attrs: attrs{
		"from": a.Address(form, 0), "type": "devices", "id": n.NextID(), "t": wire.UnixNow(),
	}, Content: []Node{{Tag: "update", Attrs: attrs{"device_hash": wire.ParticipantHash(a.Addresses(form))}}}}
}

// Admit adds a device to its account and notifies all others. The caller holds Directory.Mu.
func (n *Directory) Admit(d *Device) {
	d.Account.Devices[d.Number] = d
	n.devicesChanged(d)
	n.Notify()
}

// Forget removes a companion from its account. The caller holds Directory.Mu.
func (n *Directory) Forget(d *Device) {
	if d.Gone {
		return
	}
	d.Gone = true
	delete(d.Account.Devices, d.Number)
	if d.Conn != nil {
		n.Detach(d.Conn)
	}
	d.queue = outbox{history: d.queue.history}
	n.devicesChanged(d)
	n.Notify()
}

// Unlink removes a companion from its account and hangs up on it with the reason. The caller holds Directory.Mu.
func (n *Directory) Unlink(d *Device) {
	c := d.Conn
	n.Forget(d)
	if c != nil {
		c.SendLast(wire.StreamError("401", "device_removed"))
	}
}
