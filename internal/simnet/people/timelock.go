package people

import (
	"encoding/json"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// timelockNode returns the notification of a timelock. The caller holds Directory.Mu.
func (n *Directory) timelockNode(until time.Time) Node {
	lock := map[string]any{"is_active": !until.IsZero(), "enforcement_type": "DEFAULT"}
	if !until.IsZero() {
		lock["time_enforcement_ends"] = strconv.FormatInt(until.Unix(), 10)
	}
	data, err := json.Marshal(map[string]any{"data": map[string]any{"xwa2_notify_account_reachout_timelock": lock}})
	if err != nil {
		panic(err) // plain values
	}
	return Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "mex", "id": n.NextID(), "t": wire.UnixNow(),
	}, Content: []Node{{Tag: "update", Attrs: attrs{"op_name": "NotificationAccountReachoutTimelockUpdate"}, Content: data}}}
}

// MayReach reports whether a message may go to another account. The caller holds Directory.Mu.
func (n *Directory) MayReach(d *Device, to *Account, node *Node) bool {
	if to == d.Account || !to.refusing && !time.Now().Before(d.Account.lockedUntil) {
		return true
	}
	return isTrusted(d, to, node)
}
