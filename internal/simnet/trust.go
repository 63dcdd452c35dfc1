package simnet

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// issuedToken shows that an account trusts another one.
type issuedToken struct {
	token []byte
	at    time.Time
}

// codeReachout is how the server refuses a message to somebody who does not know its sender.
const codeReachout = 463

// handTokens gives contacts the tokens that show that the account trusts them.
func (n *Server) handTokens(d *Device, tokens *Node) {
	for _, token := range tokens.GetChildren() {
		at := time.Now()
		if seconds, err := strconv.ParseInt(wire.Text(&token, "t"), 10, 64); err == nil {
			at = time.Unix(seconds, 0)
		}
		n.handToken(d.account, wire.JID(&token, "jid"), at)
	}
}

// handToken gives one contact a token of an account. The caller holds mu.
func (n *Server) handToken(from *account, to types.JID, at time.Time) {
	target := n.account(to)
	if target == nil {
		return
	}
	given := issuedToken{token: wire.Random(16), at: at}
	from.issued[target] = given
	node := Node{Tag: "token", Attrs: attrs{"type": "trusted_contact", "t": strconv.FormatInt(at.Unix(), 10)}, Content: given.token}
	for _, other := range target.sorted() {
		notification := Node{Tag: "notification", Attrs: attrs{
			"from": from.jid(to.Server, 0), "type": "privacy_token", "id": n.nextID(), "t": wire.UnixNow(),
		}, Content: []Node{{Tag: "tokens", Content: []Node{node}}}}
		if !from.withheld {
			notification.Attrs["sender_lid"] = from.LID()
		}
		n.push(other, notification)
	}
}

// isTrusted reports whether a message carries what its recipient or the sender's own salt allows.
func isTrusted(d *Device, to *account, node *Node) bool {
	if token := wire.ChildBytes(node, "tctoken"); len(token) > 0 {
		return bytes.Equal(token, to.issued[d.account].token)
	}
	derived := wire.ChildBytes(node, "cstoken")
	if len(derived) == 0 || len(d.account.salt) == 0 {
		return false
	}
	mac := hmac.New(sha256.New, d.account.salt)
	mac.Write([]byte(to.LID().String()))
	return hmac.Equal(derived, mac.Sum(nil))
}
