package people

import "bridged/internal/simnet/wire"

// Client is a client's connection and, after the login, its device. Directory.Mu guards its fields.
type Client struct {
	*wire.Conn
	Device *Device
	Mute   bool // while an answer is lost
}

// Reply sends the answer to a client's query.
func (c *Client) Reply(query *Node, a wire.Answer) {
	if !c.Mute {
		c.Send(wire.AnswerNode(query, a))
	}
}

// Attach gives a device its connection. The caller holds Mu.
func (n *Directory) Attach(c *Client, d *Device) {
	c.Device, d.Conn, d.Active = d, c, false
	d.Count.Logins++
	c.Delay(d.Faults.delay)
	d.Faults.heldBack = max(0, d.Faults.heldBack-1)
	d.queue.rewind()
}

// Detach separates a device from its connection and puts unacknowledged stanzas back in the queue. The caller holds Directory.Mu.
func (n *Directory) Detach(c *Client) {
	d := c.Device
	if d == nil {
		return
	}
	c.Device = nil
	if d.Conn != c {
		return
	}
	d.Conn, d.Active = nil, false
	n.goneUnavailable(d)
	d.queue.rewind()
	n.Notify()
}
