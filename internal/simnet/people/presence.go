package people

import (
	"maps"
	"slices"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// watchers returns the devices that subscribed to an account's presence. The caller holds Directory.Mu.
func (n *Directory) watchers(a *Account) []*Device {
	var out []*Device
	for _, number := range slices.Sorted(maps.Keys(n.ByNumber)) {
		for _, d := range n.ByNumber[number].Sorted() {
			_, byNumber := d.watching[a.PN()]
			_, byLID := d.watching[a.LID()]
			if byNumber || byLID {
				out = append(out, d)
			}
		}
	}
	return out
}

// HandlePresence forwards presence to subscribers, and handles subscriptions.
func (n *Directory) HandlePresence(d *Device, node *Node) {
	switch kind := wire.Text(node, "type"); kind {
	case "subscribe":
		if d.watching == nil {
			d.watching = make(map[types.JID]struct{})
		}
		d.watching[wire.JID(node, "to").ToNonAD()] = struct{}{}
	case "available", "unavailable":
		if d.available = kind == "available"; d.available {
			d.Count.Available++
		} else {
			d.Count.Unavailable++
		}
		n.announcePresence(d.Account)
	}
}

// announcePresence sends an account's availability to its watchers.
func (n *Directory) announcePresence(a *Account) {
	available := false
	for _, d := range a.Sorted() {
		available = available || d.available
	}
	for _, watcher := range n.watchers(a) {
		form := types.DefaultUserServer
		if _, byLID := watcher.watching[a.LID()]; byLID {
			form = types.HiddenUserServer
		}
		presence := Node{Tag: "presence", Attrs: attrs{"from": a.Address(form, 0)}}
		if !available {
			presence.Attrs["type"], presence.Attrs["last"] = "unavailable", wire.UnixNow()
		}
		if watcher.Conn != nil && watcher.Active {
			watcher.Conn.Send(presence)
		}
	}
}

// goneUnavailable makes a device unavailable when its connection ends. The caller holds Directory.Mu.
func (n *Directory) goneUnavailable(d *Device) {
	if d.available {
		d.available = false
		n.announcePresence(d.Account)
	}
}
