package session

import (
	"sync"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
)

// whatsmeow acknowledges a message that it cannot decrypt, and asks for it again, before it emits
// an event: a crash in between would hide the message. So a placeholder is stored when whatsmeow
// logs the failure, before anything else. If that fails, the connection is closed.

// onUndecrypted passes on a message that whatsmeow is about to acknowledge.
func (c *Client) onUndecrypted(failure decryptionFailure) {
	node := c.pending.find(failure.id)
	if node == nil {
		return
	}
	info, err := c.dangerous().ParseMessageInfo(node)
	if err != nil {
		return // whatsmeow was able to read it
	}
	e := &events.UndecryptableMessage{Info: *info}
	for _, part := range node.GetChildren() {
		attrs := part.AttrGetter()
		switch part.Tag {
		case "unavailable":
			e.IsUnavailable, e.UnavailableType = true, events.UnavailableType(attrs.OptionalString("type"))
		case "enc":
			if mode := events.DecryptFailMode(attrs.OptionalString("decrypt-fail")); mode != events.DecryptFailShow {
				e.DecryptFailMode = mode
			}
		}
	}
	c.observer.Undecrypted(e, failure.panicked)
}

// pendingMessages holds the messages that were not handled yet, in order.
type pendingMessages struct {
	mu    sync.Mutex
	nodes []*waBinary.Node // without encrypted content; guarded by mu
}

// maxPending limits the pending messages. whatsmeow's queue is shorter.
const maxPending = 4096

// messageParts lists the parts of a message that describe it.
var messageParts = map[string]bool{"enc": true, "unavailable": true, "participants": true, "meta": true, "bot": true, "multicast": true}

// add records a stanza if it is a message.
func (p *pendingMessages) add(node *waBinary.Node) {
	if node.Tag != "message" && node.Tag != "appdata" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.nodes) == maxPending {
		p.nodes = p.nodes[1:]
	}
	p.nodes = append(p.nodes, outline(node))
}

// outline copies a message without its encrypted content.
func outline(node *waBinary.Node) *waBinary.Node {
	var parts []waBinary.Node
	for _, part := range node.GetChildren() {
		if !messageParts[part.Tag] {
			continue
		}
		if part.Tag != "participants" {
			part.Content = nil
		}
		parts = append(parts, part)
	}
	return &waBinary.Node{Tag: node.Tag, Attrs: node.Attrs, Content: parts}
}

// Reached drops the pending messages before the message of an event.
func (c *Client) Reached(evt any) {
	if e, ok := evt.(*events.Message); ok {
		c.pending.find(e.Info.ID)
	}
}

// find returns a message and drops the ones before it, which were handled.
func (p *pendingMessages) find(id types.MessageID) *waBinary.Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, node := range p.nodes {
		if node.Attrs["id"] == id {
			p.nodes = p.nodes[i:]
			return node
		}
	}
	return nil
}
