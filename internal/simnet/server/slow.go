package server

import (
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// SlowGroups slows the network down where many devices are concerned, as the real one is: it delays the answer to a query for keys, and the
// acknowledgement of a message to a group, by perDevice for each device. 0 ends it.
func (n *Server) SlowGroups(perDevice time.Duration) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.perDevice = perDevice
}

// slowness returns the delay of a message's acknowledgement. The caller holds Directory.Mu.
func (n *Server) slowness(node *Node) time.Duration {
	to := wire.JID(node, "to")
	g := n.Groups[to.User]
	if n.perDevice == 0 || to.Server != types.GroupServer || g == nil {
		return 0
	}
	devices := 0
	for _, a := range g.Sorted() {
		devices += len(a.Devices)
	}
	return time.Duration(devices) * n.perDevice
}

// replyAboutKeys answers a query for keys, after SlowGroups' delay. The caller holds Directory.Mu.
func (n *Server) replyAboutKeys(c *people.Client, node *Node, a wire.Answer) {
	wanted, asked := wire.Child(node, "key")
	if n.perDevice == 0 || !asked {
		c.Reply(node, a)
		return
	}
	n.Later(c, time.Duration(len(wanted.GetChildren()))*n.perDevice, func(c *people.Client) { c.Send(wire.AnswerNode(node, a)) })
}
