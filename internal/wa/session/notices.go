package session

import (
	"strconv"
	"sync"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// whatsmeow acknowledges unknown notifications without an event. The ones that bridged reads are
// given another type before whatsmeow handles them: whatsmeow logs an unknown type
// (notification.go, handleNotification) in the right order and before the acknowledgement. Then
// the type is restored, because the acknowledgement repeats it, and the notification is passed
// on.

// logUnhandled is logged with the type of a notification that whatsmeow does not know.
const logUnhandled = "Unhandled notification with type %s"

// noticeReaders parse notifications by their type. They return an event for [Observer.Notified],
// or nil if there is nothing to pass on.
var noticeReaders = map[string]func(node *waBinary.Node) (evt any){
	"mex":               readMex,
	"contacts":          readContacts,
	"disappearing_mode": readDefaultTimer,
	"registration":      readRegistration,
}

// isDropped reports whether bridged reads a notification because whatsmeow drops it.
func isDropped(node *waBinary.Node) bool {
	kind, _ := node.Attrs["type"].(string)
	if node.Tag != "notification" || noticeReaders[kind] == nil {
		return false
	}
	return kind != "mex" || mexReader(node) != nil // whatsmeow reads others
}

// notices are the notifications that wait for whatsmeow to handle them.
type notices struct {
	mu     sync.Mutex
	last   int
	marked map[string]notice // by the temporary type; guarded by mu
}

type notice struct {
	node *waBinary.Node
	kind string // the original type
}

// mark gives a notification that whatsmeow would drop a temporary type.
func (n *notices) mark(node *waBinary.Node) {
	if !isDropped(node) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.marked == nil || len(n.marked) == maxPending { // a lost connection leaves some in the map
		n.marked = make(map[string]notice)
	}
	n.last++
	mark := "notice " + strconv.Itoa(n.last)
	n.marked[mark] = notice{node, node.Attrs["type"].(string)}
	node.Attrs["type"] = mark
}

// take returns the notification with a temporary type, with its original type restored.
func (n *notices) take(mark string) (node *waBinary.Node, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found, ok := n.marked[mark]
	if !ok {
		return nil, false
	}
	delete(n.marked, mark)
	found.node.Attrs["type"] = found.kind
	return found.node, true
}

// onUnhandled passes on a notification when whatsmeow handles it.
func (c *Client) onUnhandled(args []any) {
	mark, _ := args[0].(string)
	node, ok := c.notices.take(mark)
	if !ok {
		return
	}
	kind, _ := node.Attrs["type"].(string)
	if evt := noticeReaders[kind](node); evt != nil {
		c.observer.Notified(evt)
	}
}
