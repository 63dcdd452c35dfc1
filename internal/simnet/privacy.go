package simnet

import (
	"bridged/internal/simnet/wire"
)

// privacyChanged tells the account's other devices of changed privacy settings. The caller holds mu.
func (n *Server) privacyChanged(d *Device, categories []Node) {
	for _, other := range d.account.sorted() {
		if other == d {
			continue
		}
		n.push(other, Node{Tag: "notification", Attrs: attrs{
			"from": d.account.PN(), "type": "account_sync", "id": n.nextID(), "t": wire.UnixNow(),
		}, Content: []Node{{Tag: "privacy", Content: categories}}})
	}
}
