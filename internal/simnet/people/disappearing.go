package people

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// SetDefaultTimer sets the account's default timer of disappearing messages, which applies to its new chats, and notifies everybody. Zero
// means none.
func (a *Account) SetDefaultTimer(seconds uint32) {
	n := a.net
	n.Mu.Lock()
	defer n.Mu.Unlock()
	a.defaultTimer, a.timerSetAt = seconds, time.Now()
	for _, number := range slices.Sorted(maps.Keys(n.ByNumber)) {
		for _, d := range n.ByNumber[number].Sorted() {
			n.Push(d, Node{Tag: "notification", Attrs: attrs{
				"from": a.PN(), "type": "disappearing_mode", "id": n.NextID(), "t": strconv.FormatInt(a.timerSetAt.Unix(), 10),
			}, Content: []Node{a.DefaultTimerNode()}})
		}
	}
}

// DefaultTimerNode returns the account's default timer. The caller holds Directory.Mu.
func (a *Account) DefaultTimerNode() Node {
	at := int64(0)
	if !a.timerSetAt.IsZero() {
		at = a.timerSetAt.Unix()
	}
	return Node{Tag: "disappearing_mode", Attrs: attrs{
		"duration": strconv.FormatUint(uint64(a.defaultTimer), 10), "t": strconv.FormatInt(at, 10),
	}}
}
