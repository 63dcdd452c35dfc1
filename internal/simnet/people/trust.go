package people

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// IssuedToken shows that an account trusts another one.
type IssuedToken struct {
	Token []byte
	At    time.Time
}

// CodeReachout refuses a message to a recipient who does not know its sender.
const CodeReachout = 463

// HandTokens gives contacts the account's tokens of trust.
func (n *Directory) HandTokens(d *Device, tokens *Node) {
	for _, token := range tokens.GetChildren() {
		at := time.Now()
		if seconds, err := strconv.ParseInt(wire.Text(&token, "t"), 10, 64); err == nil {
			at = time.Unix(seconds, 0)
		}
		n.HandToken(d.Account, wire.JID(&token, "jid"), at)
	}
}

// HandToken gives one contact an account's token. The caller holds Directory.Mu.
func (n *Directory) HandToken(from *Account, to types.JID, at time.Time) {
	target := n.AccountOf(to)
	if target == nil {
		return
	}
	given := IssuedToken{Token: wire.Random(16), At: at}
	from.Issued[target] = given
	node := Node{Tag: "token", Attrs: attrs{"type": "trusted_contact", "t": strconv.FormatInt(at.Unix(), 10)}, Content: given.Token}
	for _, other := range target.Sorted() {
		notification := Node{Tag: "notification", Attrs: attrs{
			"from": from.Address(to.Server, 0), "type": "privacy_token", "id": n.NextID(), "t": wire.UnixNow(),
		}, Content: []Node{{Tag: "tokens", Content: []Node{node}}}}
		if !from.Withheld {
			notification.Attrs["sender_lid"] = from.LID()
		}
		n.Push(other, notification)
	}
}

// isTrusted reports whether a message carries a token from its recipient, or one derived from the sender's salt.
func isTrusted(d *Device, to *Account, node *Node) bool {
	if token := wire.ChildBytes(node, "tctoken"); len(token) > 0 {
		return bytes.Equal(token, to.Issued[d.Account].Token)
	}
	derived := wire.ChildBytes(node, "cstoken")
	if len(derived) == 0 || len(d.Account.Salt) == 0 {
		return false
	}
	mac := hmac.New(sha256.New, d.Account.Salt)
	mac.Write([]byte(to.LID().String()))
	return hmac.Equal(derived, mac.Sum(nil))
}

// timelockNode returns the notification of a timelock. The caller holds Directory.Mu.
func (n *Directory) timelockNode(until time.Time) Node {
	lock := map[string]any{"is_active": !until.IsZero(), "enforcement_type": "DEFAULT"}
	if !until.IsZero() {
		lock["time_enforcement_ends"] = strconv.FormatInt(until.Unix(), 10)
	}
	return n.mexNode("NotificationAccountReachoutTimelockUpdate", "xwa2_notify_account_reachout_timelock", lock)
}

// MayReach reports whether a message may go to another account. The caller holds Directory.Mu.
func (n *Directory) MayReach(d *Device, to *Account, node *Node) bool {
	if to == d.Account || !to.refusing && !time.Now().Before(d.Account.lockedUntil) {
		return true
	}
	return isTrusted(d, to, node)
}
