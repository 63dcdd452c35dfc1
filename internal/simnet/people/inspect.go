package people

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// Waiting is one stanza that a device has not acknowledged.
type Waiting struct {
	Class, ID, Type string
	Chat, Sender    types.JID
	// OnWire means that the stanza was sent on the current connection, Deliveries counts all sends.
	OnWire     bool
	Deliveries int
	Since      time.Time
}

// Waiting returns the stanzas that the device has not acknowledged, in order.
func (d *Device) Waiting() []Waiting {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	var out []Waiting
	for i, s := range d.queue.items {
		if s.acked || s.endOfPast {
			continue
		}
		out = append(out, Waiting{
			Class: s.key.Class, ID: s.key.ID, Type: s.key.Kind, Chat: s.chat, Sender: s.sender,
			OnWire: i < d.queue.next, Deliveries: s.delivered, Since: s.queued,
		})
	}
	return out
}

// Acknowledged returns the acknowledged stanzas in the order of their acknowledgements.
func (d *Device) Acknowledged() []Acknowledged {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	return slices.Clone(d.queue.history)
}

// AcknowledgedMessages returns only the messages among them, without those between the account's own devices.
func (d *Device) AcknowledgedMessages() []Acknowledged {
	return slices.DeleteFunc(d.Acknowledged(), func(a Acknowledged) bool {
		return a.Class != "message" || a.Peer
	})
}

// Queue returns the number of unacknowledged stanzas, and how many of them are on the wire.
func (d *Device) Queue() (waiting, onWire int) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	return d.queue.depth()
}

// WaitAcknowledged waits until the device has acknowledged messages with these ids.
func (d *Device) WaitAcknowledged(ctx context.Context, ids ...types.MessageID) error {
	missing := make(map[types.MessageID]struct{}, len(ids))
	for _, id := range ids {
		missing[id] = struct{}{}
	}
	seen := 0
	return d.wait(ctx, "acknowledge messages", func() bool {
		history := d.queue.history
		for seen = min(seen, len(history)); seen < len(history); seen++ {
			if history[seen].Class == "message" {
				delete(missing, history[seen].ID)
			}
		}
		return len(missing) == 0
	})
}

// WaitQuiet waits until the device is online and has acknowledged everything.
func (d *Device) WaitQuiet(ctx context.Context) error {
	return d.wait(ctx, "acknowledge everything", func() bool {
		waiting, _ := d.queue.depth()
		return d.Active && waiting == 0
	})
}

// WaitQuiet waits until every device that is online has acknowledged everything.
func (n *Directory) WaitQuiet(ctx context.Context) error {
	return n.Wait(ctx, func() bool {
		for _, a := range n.ByNumber {
			for _, d := range a.Devices {
				if waiting, _ := d.queue.depth(); d.Active && waiting > 0 {
					return false
				}
			}
		}
		return true
	})
}

// WaitOnline waits until the device is connected and has asked for its waiting stanzas.
func (d *Device) WaitOnline(ctx context.Context) error {
	return d.wait(ctx, "come online", func() bool { return d.Active })
}

// WaitLogins waits until the device has logged in count times.
func (d *Device) WaitLogins(ctx context.Context, count int) error {
	return d.wait(ctx, "log in", func() bool { return d.Count.Logins >= count })
}

// WaitCounters waits until wanted returns true for the device's counters.
func (d *Device) WaitCounters(ctx context.Context, wanted func(Counters) bool) error {
	return d.wait(ctx, "reach some counters", func() bool { return wanted(d.Count) })
}

// WaitOffline waits until the device has no connection.
func (d *Device) WaitOffline(ctx context.Context) error {
	return d.wait(ctx, "go offline", func() bool { return d.Conn == nil })
}

// WaitRemoved waits until the device is unlinked.
func (d *Device) WaitRemoved(ctx context.Context) error {
	return d.wait(ctx, "be unlinked", func() bool { return d.Gone })
}

// WaitSynced waits until a new companion has acknowledged its phone's welcome, key share and history, and has fetched the whole app state.
func (d *Device) WaitSynced(ctx context.Context) error {
	return d.wait(ctx, "sync", func() bool {
		return d.Active && d.Welcomed && len(d.fetched) == len(appstate.AllPatchNames) && peerMessages(&d.queue) == 0
	})
}

func peerMessages(q *outbox) (count int) {
	for _, s := range q.items {
		if !s.acked && wire.Text(&s.node, "category") == "peer" {
			count++
		}
	}
	return count
}

func (d *Device) wait(ctx context.Context, what string, done func() bool) error {
	if err := d.net.Wait(ctx, done); err != nil {
		return fmt.Errorf("wait for device %d to %s: %w", d.Number, what, err)
	}
	return nil
}

// WaitPreKeys waits until the server has at least count one-time keys of the device.
func (d *Device) WaitPreKeys(ctx context.Context, count int) error {
	return d.wait(ctx, "upload keys", func() bool { return len(d.keys.oneTime) >= count })
}

// WaitHistory waits until the device has taken over the history announced to it and has deleted it from the CDN.
func (d *Device) WaitHistory(ctx context.Context) error {
	return d.wait(ctx, "take over the history", func() bool {
		if !d.Welcomed {
			return false
		}
		for _, blob := range d.History {
			if d.net.cdn.Has(blob.Path) {
				return false
			}
		}
		return true
	})
}
