package people

import (
	"strconv"

	"bridged/internal/simnet/wire"
)

// unaskedPast is how many stanzas of the offline backlog a companion receives before it asks: real ones received five of 711, and then nothing.
const unaskedPast = 5

// LargestBatch limits how many stanzas of the offline backlog one request of a companion is answered with.
const LargestBatch = 200

// offlinePast limits the delivery of the stanzas that were queued before the device logged in. Directory.Mu guards it.
type offlinePast struct {
	left    int // stanzas before the end mark that were not delivered on this connection
	granted int // how many of them may be delivered
}

// begin starts the backlog of a new connection. Phones get theirs at once.
func (p *offlinePast) begin(d *Device, total int) {
	p.left, p.granted = total, min(total, unaskedPast)
	if d.Number == 0 {
		p.granted = total
	}
}

// take reports whether the next stanza may be delivered now, and counts it.
func (p *offlinePast) take() bool {
	switch {
	case p.left == 0: // everything after the backlog is delivered at once
		return true
	case p.granted == 0:
		return false
	}
	p.left--
	p.granted--
	return true
}

// HandleIB handles a device's request for a part of its offline backlog. The caller holds Directory.Mu.
func (n *Directory) HandleIB(d *Device, node *Node) {
	batch, asked := wire.Child(node, "offline_batch")
	if !asked {
		return
	}
	d.Count.OfflineBatches++
	n.Notify()
	if d.Faults.heldBack > 0 {
		return
	}
	count, _ := strconv.Atoi(wire.Text(batch, "count"))
	d.queue.past.granted += min(max(count, 0), LargestBatch)
	n.pump(d)
}

// HoldBackOffline ignores the device's requests for its offline backlog during its next logins, so that it receives five stanzas, and neither
// the rest nor the end.
func (d *Device) HoldBackOffline(logins int) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.Faults.heldBack = logins
	if logins > 0 {
		d.Faults.heldBack++ // the login before counts
	}
}
