package people

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// held are the messages that wait outside a device's queue. Directory.Mu guards it.
type held struct {
	ids      map[types.MessageID]bool
	messages []Node
}

// keep takes a message out of the way of those behind it, if HoldBack asks for it. It reports whether it did.
func (h *held) keep(node Node) bool {
	if node.Tag != "message" || !h.ids[wire.Text(&node, "id")] {
		return false
	}
	h.messages = append(h.messages, node)
	return true
}

// HoldBack delivers the messages with these ids only after Release, behind what comes later, as the real network does with a part of a long
// offline queue.
func (d *Device) HoldBack(ids ...types.MessageID) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	if d.held.ids == nil {
		d.held.ids = make(map[types.MessageID]bool)
	}
	for _, id := range ids {
		d.held.ids[id] = true
	}
}

// Release ends HoldBack.
func (d *Device) Release() {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	messages := d.held.messages
	d.held = held{}
	for _, node := range messages {
		d.net.Push(d, node)
	}
}
