package people

import (
	"encoding/json"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// mexNode returns the notification of a GraphQL operation, whose data is one field. The caller holds Directory.Mu.
func (n *Directory) mexNode(operation, field string, value any) Node {
	data, err := json.Marshal(map[string]any{"data": map[string]any{field: value}})
	if err != nil {
		panic(err) // plain values cannot fail
	}
	return Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "mex", "id": n.NextID(), "t": wire.UnixNow(),
	}, Content: []Node{{Tag: "update", Attrs: attrs{"op_name": operation}, Content: data}}}
}

// Mex pushes the notification of a GraphQL operation to the device. Its data is one field.
func (d *Device) Mex(operation, field string, value any) {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	d.net.Push(d, d.net.mexNode(operation, field, value))
}

// AnnounceUsername notifies everybody of the account's username: others that it was set or given up, the account's companions of the new
// state; with bare, companions only that it has changed.
func (a *Account) AnnounceUsername(bare bool) {
	n := a.net
	n.Mu.Lock()
	defer n.Mu.Unlock()
	lid := a.LID().String()
	others := n.mexNode("UsernameSetNotification", "xwa2_notify_username_on_change", map[string]any{"lid": lid, "username": a.Username})
	own := map[string]any{"lid_jid": lid, "username_info": nil}
	if !bare {
		own["username_info"] = map[string]any{"username": a.Username, "state": "OWNED", "pin": nil}
	}
	if a.Username == "" {
		others = n.mexNode("UsernameDeleteNotification", "xwa2_notify_username_delete", map[string]any{"lid": lid, "display_name": a.PushName})
		if !bare {
			own["username_info"] = map[string]any{"username": nil, "state": "NOT_SET", "pin": nil}
		}
	}
	for _, other := range n.byLID {
		for _, d := range other.Sorted() {
			if other != a {
				n.Push(d, others)
			} else if d.Number != 0 {
				n.Push(d, n.mexNode("AccountSyncUsernameNotification", "xwa2_notify_wa_user", own))
			}
		}
	}
}
