package people

import (
	"maps"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// SendFault makes one message that a device sends fail.
type SendFault struct {
	// Code refuses the message with this error code; no recipient gets it.
	Code int
	// LoseAck delivers the message and never acknowledges it: an ambiguous time-out.
	LoseAck bool
	// AckDelay delivers the message and acknowledges it after this time.
	AckDelay time.Duration
	// Phash is the hash of devices in the acknowledgement, whichever devices the message went to.
	Phash string
	// RefreshLID marks the acknowledgement as if the recipient's number had another LID.
	RefreshLID bool
	// Skip lets this many messages pass before the fault.
	Skip int
}

// IQFault makes queries fail. Zero conditions match every query.
type IQFault struct {
	// Namespace is the query's xmlns, such as "w:g2" for groups or "usync" for users.
	Namespace string
	// Tag is the query's first child, such as "query".
	Tag string
	// Within is a tag that the query has at any depth, such as "patch" for a change of the state that devices share,
	// which is read in the same namespace.
	Within string
	// Code and Text are the error in the answer, such as 429 and "rate-overlimit".
	Code int
	Text string
	// Silent leaves the query unanswered.
	Silent bool
	// LoseAnswer executes the query and loses the answer.
	LoseAnswer bool
	// HangUp cuts the connection instead of answering.
	HangUp bool
	// Skip lets this many queries pass before the fault.
	Skip int
	// Times limits how often the fault applies; 0 means always, or for a device until ClearFaults.
	Times int
}

type iqFault struct {
	IQFault
	device *Device
	left   int
}

// deviceFaults holds a device's coming faults. Directory.Mu guards them.
type deviceFaults struct {
	delay         time.Duration
	corruptBodies int
	stateless     int
	duplicates    int
	ignoredAcks   int
	SilentCalls   bool // stanzas about calls are not acknowledged
	sends         []SendFault
	login         wire.ConnectFailure
	logins        int
	streamError   string // ends logins as soon as they succeed
	streamErrors  int
	heldBack      int // logins whose requests for the offline backlog are ignored
}

// NextSend removes and returns the fault for the next message.
func (f *deviceFaults) NextSend() SendFault {
	if len(f.sends) == 0 {
		return SendFault{}
	}
	if f.sends[0].Skip > 0 {
		f.sends[0].Skip--
		return SendFault{}
	}
	next := f.sends[0]
	f.sends = f.sends[1:]
	return next
}

func (f *deviceFaults) LoginFailure() (wire.ConnectFailure, bool) {
	if f.logins == 0 {
		return wire.ConnectFailure{}, false
	}
	if f.logins > 0 {
		f.logins--
	}
	return f.login, true
}

// StreamFailure returns the code of the stream error that ends this login.
func (f *deviceFaults) StreamFailure() (code string, failing bool) {
	if f.streamErrors == 0 {
		return "", false
	}
	f.streamErrors--
	return f.streamError, true
}

func (f *deviceFaults) duplicate(class string) bool {
	if class != "message" || f.duplicates == 0 {
		return false
	}
	f.duplicates--
	return true
}

func (f *deviceFaults) ignoreAck(class string) bool {
	if class != "message" || f.ignoredAcks == 0 {
		return false
	}
	f.ignoredAcks--
	return true
}

// alter changes a message as CorruptMessages and StatelessKeys demand.
func (f *deviceFaults) alter(node Node) Node {
	switch {
	case node.Tag != "message":
		return node
	case f.stateless > 0:
		f.stateless--
		return withoutState(node)
	case f.corruptBodies == 0:
		return node
	}
	f.corruptBodies--
	parts := slices.Clone(node.GetChildren())
	for i, part := range parts {
		if body := wire.Bytes(part); part.Tag == "enc" && len(body) > 0 {
			damaged := slices.Clone(body)
			damaged[len(damaged)-1] ^= 0xff
			parts[i].Content = damaged
		}
	}
	node.Content = parts
	return node
}

// FaultFor returns the fault that applies to a query, or nil. The caller holds Directory.Mu.
func (n *Directory) FaultFor(d *Device, node *Node) *IQFault {
	for i, fault := range n.iqFaults {
		if fault.device != nil && fault.device != d || !fault.matches(node) {
			continue
		}
		if fault.Skip > 0 {
			fault.Skip--
			continue
		}
		if fault.Times > 0 {
			if fault.left--; fault.left == 0 {
				n.iqFaults = slices.Delete(n.iqFaults, i, i+1)
			}
		}
		return &fault.IQFault
	}
	return nil
}

func (f *IQFault) matches(node *Node) bool {
	if f.Namespace != "" && f.Namespace != wire.Text(node, "xmlns") {
		return false
	}
	children := node.GetChildren()
	return (f.Tag == "" || len(children) > 0 && children[0].Tag == f.Tag) && (f.Within == "" || has(children, f.Within))
}

// has reports whether nodes have a tag, or their children do.
func has(nodes []Node, tag string) bool {
	return slices.ContainsFunc(nodes, func(node Node) bool { return node.Tag == tag || has(node.GetChildren(), tag) })
}

// FailQueries makes queries of all devices fail.
func (n *Directory) FailQueries(fault IQFault) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.iqFaults = append(n.iqFaults, &iqFault{IQFault: fault, left: fault.Times})
}

// Drop cuts the device's connection without a stream error.
func (d *Device) Drop() {
	d.withConn(func(c *Client) { c.HangUp() })
}

// Freeze makes the connection half-open: the network neither reads nor writes, until Thaw or Drop.
func (d *Device) Freeze() {
	d.withConn(func(c *Client) { c.SetFrozen(true) })
}

// Thaw ends Freeze.
func (d *Device) Thaw() {
	d.withConn(func(c *Client) { c.SetFrozen(false) })
}

// withConn calls act with the device's connection, if it has one.
func (d *Device) withConn(act func(*Client)) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	if d.Conn != nil {
		act(d.Conn)
	}
}

// Delay delays everything written to the device, batch by batch and across reconnects; 0 ends it.
func (d *Device) Delay(delay time.Duration) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.Faults.delay = delay
	if d.Conn != nil {
		d.Conn.Delay(delay)
	}
}

// CorruptFrames damages the next frames to the device; their stanzas are delivered again on the next connection.
func (d *Device) CorruptFrames(count int) {
	d.withConn(func(c *Client) { c.CorruptFrames(count) })
}

// CorruptMessages damages the ciphertexts of the next messages for the device, which then has to request them again.
func (d *Device) CorruptMessages(count int) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.Faults.corruptBodies += count
}

// StatelessKeys makes the device's next messages that begin a session leave its session unchanged.
func (d *Device) StatelessKeys(count int) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.Faults.stateless += count
}

// withoutState marks the ciphertexts of a message that begin a session.
func withoutState(node Node) Node {
	parts := slices.Clone(node.GetChildren())
	for i, part := range parts {
		if part.Tag == "enc" && wire.Text(&part, "type") == "pkmsg" {
			parts[i].Attrs = maps.Clone(part.Attrs)
			parts[i].Attrs["state"] = "false"
		}
	}
	node.Content = parts
	return node
}

// Duplicate delivers the next messages for the device twice.
func (d *Device) Duplicate(count int) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.Faults.duplicates += count
}

// IgnoreAcks drops the device's next acknowledgements of messages, which are then delivered again on its next connection.
func (d *Device) IgnoreAcks(count int) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.Faults.ignoredAcks += count
}

// FailSends makes the next messages from the device fail, one fault each, in order.
func (d *Device) FailSends(faults ...SendFault) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.Faults.sends = append(d.Faults.sends, faults...)
}

// FailQueries makes queries of this device fail.
func (d *Device) FailQueries(fault IQFault) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.net.iqFaults = append(d.net.iqFaults, &iqFault{IQFault: fault, device: d, left: fault.Times})
}

// FailLogins refuses the device's next logins, times of them, or until ClearFaults if it is negative.
func (d *Device) FailLogins(failure wire.ConnectFailure, times int) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.Faults.login, d.Faults.logins = failure, times
}

// EndLogins lets the device's next logins succeed and ends each at once with a stream error, such as 429, times of them.
func (d *Device) EndLogins(code string, times int) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.Faults.streamError, d.Faults.streamErrors = code, times
}

// ClearFaults removes all faults of the device except a freeze.
func (d *Device) ClearFaults() {
	d.Delay(0)
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.Faults = deviceFaults{}
	d.net.iqFaults = slices.DeleteFunc(d.net.iqFaults, func(f *iqFault) bool { return f.device == d })
}

// StreamError sends a stream error with a code, such as 515 or 503, and hangs up.
func (d *Device) StreamError(code string) {
	d.withConn(func(c *Client) { c.SendLast(wire.StreamError(code, "")) })
}

// AskToReconnect sends stream error 515, the server's request to log in again, and leaves hanging up to the device.
func (d *Device) AskToReconnect() {
	d.withConn(func(c *Client) { c.Send(wire.StreamError("515", "")) })
}

// Replace ends the device's connection as if another client of its session had connected.
func (d *Device) Replace() {
	d.withConn(func(c *Client) { c.SendLast(wire.StreamError("", "replaced")) })
}

// Push puts any stanza into the device's queue, as if the server had sent it. Attributes that whatsmeow reads as JIDs must be types.JID.
func (d *Device) Push(node Node) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	if _, ok := node.Attrs["from"].(types.JID); !ok && node.Attrs != nil {
		node.Attrs["from"] = types.ServerJID
	}
	d.net.Push(d, node)
}

// IgnoreCalls sets whether the server executes the device's stanzas about calls without acknowledging them.
func (d *Device) IgnoreCalls(ignore bool) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.Faults.SilentCalls = ignore
}
