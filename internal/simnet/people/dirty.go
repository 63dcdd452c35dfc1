package people

import (
	"maps"
	"slices"

	"bridged/internal/simnet/wire"
)

// MissGroupChanges sets whether the network drops changes of groups for the device. At each login the device is notified that there were some,
// until it reports that it has read the groups.
func (d *Device) MissGroupChanges(miss bool) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.missesGroups = miss
}

// LoseGroupChange reports whether a change of a group is lost for the device. The caller holds Directory.Mu.
func (d *Device) LoseGroupChange() bool {
	if d.missesGroups {
		d.setDirty("groups")
	}
	return d.missesGroups
}

func (d *Device) setDirty(kind string) {
	if d.dirty == nil {
		d.dirty = make(map[string]string)
	}
	d.dirty[kind] = wire.UnixNow()
}

// ReportDirty notifies the device of lost changes. The caller holds Directory.Mu.
func (d *Device) ReportDirty() {
	for _, kind := range slices.Sorted(maps.Keys(d.dirty)) {
		d.Conn.Send(Node{Tag: "ib", Content: []Node{{Tag: "dirty", Attrs: attrs{"type": kind, "timestamp": d.dirty[kind]}}}})
	}
}

// AnswerDirty handles the device's report that it has read the lost changes. The caller holds Directory.Mu.
func (d *Device) AnswerDirty(node *Node) wire.Answer {
	clean, ok := wire.Child(node, "clean")
	if !ok {
		return wire.BadRequest
	}
	if kind := wire.Text(clean, "type"); d.dirty[kind] == wire.Text(clean, "timestamp") {
		delete(d.dirty, kind)
	}
	d.net.Notify()
	return wire.Result()
}

// Dirty reports whether the device still has to read changes of a kind, such as "groups".
func (d *Device) Dirty(kind string) bool {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	_, dirty := d.dirty[kind]
	return dirty
}
