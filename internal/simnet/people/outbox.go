package people

import (
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// outbox holds a device's unacknowledged stanzas, in order. Directory.Mu guards it.
type outbox struct {
	// items begins with the oldest unacknowledged stanza; acknowledged ones after it are marked and skipped.
	items []*stanza
	// next is the index of the first item that is not on the wire.
	next int
	// onWire holds the stanzas on the wire by the key of their acknowledgement.
	onWire map[AckKey][]*stanza
	// swallow counts acks that will follow a retry receipt that has acknowledged the message already.
	swallow map[AckKey]int
	// history holds everything acknowledged so far, in the order of the acknowledgements.
	history []Acknowledged
	// past limits how much of the offline backlog is delivered.
	past offlinePast
}

// stanza is one that a device has to acknowledge, or the mark at the end of the offline backlog.
type stanza struct {
	node      Node
	key       AckKey
	chat      types.JID
	sender    types.JID
	queued    time.Time
	delivered int
	acked     bool
	endOfPast bool
	pastCount int
}

// AckKey holds the attributes that an acknowledgement repeats from its stanza.
type AckKey struct {
	Class, ID, Kind   string
	From, Participant types.JID
}

// Acknowledged is one stanza that a device has acknowledged.
type Acknowledged struct {
	// Class is "message", "receipt", "notification" or "call".
	Class string
	ID    string
	// Chat is the chat of a message, without device, in the form the device saw.
	Chat types.JID
	// Sender has the form the device saw.
	Sender types.JID
	// Type is set for receipts and notifications.
	Type string
	// Peer marks a message between the account's own devices.
	Peer bool
	// By is "ack", or the type of the receipt that acknowledged a message ("delivery" for one without a type).
	By string
	// Error is the code of a negative acknowledgement.
	Error int
	// Deliveries counts how often the stanza was put on the wire.
	Deliveries int
	// At is the time of the acknowledgement.
	At time.Time
}

func keyOf(node *Node) AckKey {
	key := AckKey{Class: node.Tag, ID: wire.Text(node, "id"), From: wire.JID(node, "from"), Participant: wire.JID(node, "participant")}
	if node.Tag != "message" {
		key.Kind = wire.Text(node, "type")
	}
	return key
}

// Push queues a stanza for a device and delivers it if the device is online. The caller holds Directory.Mu.
func (n *Directory) Push(d *Device, node Node) {
	if d.Gone || d.held.keep(node) {
		return
	}
	chat := wire.JID(&node, "recipient")
	if chat.IsEmpty() {
		chat = wire.JID(&node, "from").ToNonAD()
	}
	sender := wire.JID(&node, "participant")
	if sender.IsEmpty() {
		sender = wire.JID(&node, "from")
	}
	d.queue.items = append(d.queue.items, &stanza{node: node, key: keyOf(&node), chat: chat, sender: sender, queued: time.Now()})
	n.pump(d)
	n.Notify()
}

// pump puts stanzas on the wire up to the window. The caller holds Directory.Mu.
func (n *Directory) pump(d *Device) {
	q := &d.queue
	if d.Conn == nil || !d.Active {
		return
	}
	for q.next < len(q.items) && len(q.onWire) < n.window {
		s := q.items[q.next]
		q.next++
		if s.acked {
			continue
		}
		if !s.endOfPast && !q.past.take() {
			q.next--
			break
		}
		if s.endOfPast {
			d.Conn.Send(Node{Tag: "ib", Content: []Node{{Tag: "offline", Attrs: attrs{"count": strconv.Itoa(s.pastCount)}}}})
			s.acked = true
			continue
		}
		d.deliver(s)
	}
	q.trim()
}

func (d *Device) deliver(s *stanza) {
	s.delivered++
	d.Count.Delivered++
	if s.delivered > 1 {
		d.Count.Redelivered++
	}
	if d.queue.onWire == nil {
		d.queue.onWire = make(map[AckKey][]*stanza)
	}
	d.queue.onWire[s.key] = append(d.queue.onWire[s.key], s)
	node := d.Faults.alter(s.node)
	d.Conn.Send(node)
	if d.Faults.duplicate(s.key.Class) {
		d.Conn.Send(node)
	}
}

// trim drops acknowledged stanzas from the head of the queue.
func (q *outbox) trim() {
	head := 0
	for head < q.next && q.items[head].acked {
		q.items[head] = nil
		head++
	}
	q.items = q.items[head:]
	q.next -= head
	if len(q.items) == 0 {
		q.items = nil
	}
}

// Acknowledge takes a stanza off the wire, and reports whether there was one. The caller holds Directory.Mu.
func (n *Directory) Acknowledge(d *Device, key AckKey, by string, code int) bool {
	q := &d.queue
	if by == "ack" && q.swallow[key] > 0 {
		if q.swallow[key]--; q.swallow[key] == 0 {
			delete(q.swallow, key)
		}
		return true
	}
	waiting := q.onWire[key]
	if len(waiting) == 0 {
		return false
	}
	if d.Faults.ignoreAck(key.Class) {
		d.Count.IgnoredAcks++
		n.Notify()
		return true
	}
	s := waiting[0]
	if len(waiting) == 1 {
		delete(q.onWire, key)
	} else {
		q.onWire[key] = waiting[1:]
	}
	if by == "retry" {
		if q.swallow == nil {
			q.swallow = make(map[AckKey]int)
		}
		q.swallow[key]++
	}
	s.acked = true
	d.Count.Acknowledged++
	q.history = append(q.history, Acknowledged{
		Class: key.Class, ID: key.ID, Chat: s.chat, Sender: s.sender, Type: key.Kind, By: by, Peer: wire.Text(&s.node, "category") == "peer", Error: code,
		Deliveries: s.delivered, At: time.Now(),
	})
	n.pump(d)
	n.Notify()
	return true
}

// rewind puts the stanzas on the wire back in the queue, in order, after the connection has ended. The caller holds Directory.Mu.
func (q *outbox) rewind() {
	kept := q.items[:0]
	for _, s := range q.items {
		if !s.acked && !s.endOfPast {
			kept = append(kept, s)
		}
	}
	clear(q.items[len(kept):])
	q.items, q.next = kept, 0
	q.onWire, q.swallow, q.past = nil, nil, offlinePast{}
}

// Resume delivers the waiting stanzas to a device that has just become active, between a preview and an end mark. The caller holds
// Directory.Mu.
func (n *Directory) Resume(d *Device) {
	q := &d.queue
	preview := map[string]int{}
	for _, s := range q.items {
		preview[s.key.Class]++
		s.node = wire.With(s.node, "offline", strconv.Itoa(s.delivered))
	}
	total := len(q.items)
	d.Conn.Send(Node{Tag: "ib", Content: []Node{{Tag: "offline_preview", Attrs: attrs{
		"count":        strconv.Itoa(total),
		"appdata":      "0",
		"message":      strconv.Itoa(preview["message"]),
		"notification": strconv.Itoa(preview["notification"]),
		"receipt":      strconv.Itoa(preview["receipt"]),
		"call":         strconv.Itoa(preview["call"]),
	}}}})
	q.items = append(q.items, &stanza{endOfPast: true, pastCount: total})
	q.past.begin(d, total)
	n.pump(d)
}

// depth returns the number of unacknowledged stanzas, and how many of them are on the wire.
func (q *outbox) depth() (waiting, onWire int) {
	for i, s := range q.items {
		if s.acked || s.endOfPast {
			continue
		}
		waiting++
		if i < q.next {
			onWire++
		}
	}
	return waiting, onWire
}

// held holds messages outside a device's queue. Directory.Mu guards it.
type held struct {
	ids      map[types.MessageID]bool
	messages []Node
}

// keep holds a message if HoldBack asks for it, and reports whether it did.
func (h *held) keep(node Node) bool {
	if node.Tag != "message" || !h.ids[wire.Text(&node, "id")] {
		return false
	}
	h.messages = append(h.messages, node)
	return true
}

// HoldBack delivers the messages with these ids only after Release, later than their successors, as the real network does with parts of a
// long offline queue.
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
