package wa

import (
	"sync"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// whatsmeow acknowledges a message that it cannot decrypt, and asks for it again,
// before it tells of it. Where the store fails just then, or the program dies, nobody
// would ever learn that there was one. So its placeholder is stored when whatsmeow
// logs the failure, which it does first of all; where that fails, the connection is
// cut, so that nothing leaves.

// notDecrypted is a message of which whatsmeow has just logged that it could not be
// decrypted. Nothing was answered yet.
type notDecrypted struct {
	*events.UndecryptableMessage
	last bool // whatsmeow does not tell of it again
}

// onUndecrypted stores the placeholder of a message that whatsmeow is about to
// acknowledge.
func (l *link) onUndecrypted(failure decryptionFailure) {
	if l.ctx.Err() != nil {
		return // whatsmeow leaves it with the network
	}
	node := l.inHand.find(failure.id)
	if node == nil {
		return
	}
	info, err := l.parseMessage(node)
	if err != nil {
		return // whatsmeow has read it
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
	if !l.handle(notDecrypted{e, failure.panicked}) {
		l.cut()
	}
}

// inHand are the messages that came and were not handled yet, in their order: whatsmeow
// handles one at a time.
type inHand struct {
	mu    sync.Mutex
	nodes []*waBinary.Node // without what is encrypted; guarded by mu
}

// maxInHand bounds how many messages are in hand; whatsmeow's queue is shorter.
const maxInHand = 4096

// messageParts are the parts of a message that say what it is.
var messageParts = map[string]bool{"enc": true, "unavailable": true, "participants": true, "meta": true, "bot": true, "multicast": true}

// add notes a stanza, if it is a message.
func (h *inHand) add(node *waBinary.Node) {
	if node.Tag != "message" && node.Tag != "appdata" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.nodes) == maxInHand {
		h.nodes = h.nodes[1:]
	}
	h.nodes = append(h.nodes, outline(node))
}

// outline copies a message without what is encrypted in it.
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

// reached drops the messages before the one that an event tells of.
func (h *inHand) reached(evt any) {
	if e, ok := evt.(*events.Message); ok {
		h.find(e.Info.ID)
	}
}

// find returns a message and drops those before it, which were handled.
func (h *inHand) find(id types.MessageID) *waBinary.Node {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, node := range h.nodes {
		if node.Attrs["id"] == id {
			h.nodes = h.nodes[i:]
			return node
		}
	}
	return nil
}
