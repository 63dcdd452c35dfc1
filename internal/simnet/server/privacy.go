package server

import (
	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// privacyChanged tells the account's other devices of changed privacy settings. The caller holds Directory.Mu.
func (n *Server) privacyChanged(d *people.Device, categories []Node) {
	for _, other := range d.Account.Sorted() {
		if other == d {
			continue
		}
		n.Push(other, Node{Tag: "notification", Attrs: attrs{
			"from": d.Account.PN(), "type": "account_sync", "id": n.NextID(), "t": wire.UnixNow(),
		}, Content: []Node{{Tag: "privacy", Content: categories}}})
	}
}
