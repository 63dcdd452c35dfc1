package simnet

import (
	"encoding/json"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// LockReachout keeps the account from starting new chats until a moment, as the network does with accounts that many have reported:
// its devices are told, and its messages to people who do not trust it are refused with 463. The zero time ends it.
func (p *Phone) LockReachout(until time.Time) {
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if !until.IsZero() {
		until = time.Unix(until.Unix(), 0) // what devices are told
	}
	p.account.lockedUntil = until
	for _, d := range p.account.sorted() {
		n.push(d, n.timelockNode(until))
	}
}

// timelockNode returns the notification of a timelock. The caller holds mu.
func (n *Network) timelockNode(until time.Time) Node {
	lock := map[string]any{"is_active": !until.IsZero(), "enforcement_type": "DEFAULT"}
	if !until.IsZero() {
		lock["time_enforcement_ends"] = strconv.FormatInt(until.Unix(), 10)
	}
	data, err := json.Marshal(map[string]any{"data": map[string]any{"xwa2_notify_account_reachout_timelock": lock}})
	if err != nil {
		panic(err) // plain values
	}
	return Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "mex", "id": n.nextID(), "t": wire.UnixNow(),
	}, Content: []Node{{Tag: "update", Attrs: attrs{"op_name": "NotificationAccountReachoutTimelockUpdate"}, Content: data}}}
}

// mayReach reports whether a message may go to another account. The caller holds mu.
func (n *Network) mayReach(d *Device, to *account, node *Node) bool {
	if to == d.account || !to.refusing && !time.Now().Before(d.account.lockedUntil) {
		return true
	}
	return isTrusted(d, to, node)
}
