package simnet

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strconv"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/wire"
)

// pairing is a client that is not linked to any account yet. Network.mu guards it.
type pairing struct {
	conn     *conn
	refs     []string
	noise    [32]byte
	identity [32]byte
	keys     keyBundle
	props    *waCompanionReg.DeviceProps
	code     *codeRequest
	passkey  *passkeyRequest
	rotation rotation
	// finished receives the client's proof that it knows the code; answered what it says to pair-success.
	finished chan []byte
	answered chan error
	// successID is the id of the pair-success that waits for its answer.
	successID string
}

// gone reports whether the connection has ended.
func (p *pairing) gone() bool { return p.conn.Ended() }

// codeRequest is what a client asked for that wants to be linked by a code.
type codeRequest struct {
	number  string
	ref     []byte
	wrapped []byte
	display string
	// asked numbers the requests: of several clients, the phone's code is for the one that asked last.
	asked int
}

// beginPairing greets a client that has no account: it may show a QR code, or ask for a pairing code.
func (n *Network) beginPairing(c *conn, reg *waWa6.ClientPayload_DevicePairingRegistrationData) bool {
	p := &pairing{
		conn: c, noise: c.Key(), props: &waCompanionReg.DeviceProps{},
		finished: make(chan []byte, 1), answered: make(chan error, 1),
	}
	if err := p.register(reg); err != nil {
		n.log.Warnf("registration not understood: %v", err)
		c.SendLast(wire.FailureNode(wire.ConnectFailure{Reason: 400, Message: "bad registration"}))
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c.pairing = p
	n.unpaired++
	var refs []Node
	for range n.opts.QRRefs {
		refs = append(refs, Node{Tag: "ref", Content: []byte(n.newRef(p))})
	}
	c.Send(Node{Tag: "iq", Attrs: attrs{"from": types.ServerJID, "type": "set", "id": n.nextID(), "xmlns": "md"}, Content: []Node{
		{Tag: "pair-device", Content: refs},
	}})
	n.later(c, n.opts.PairingTimeout, func(c *conn) { c.HangUp() })
	n.notify()
	return true
}

// newRef makes a reference by which a phone finds this client. It is as long as WhatsApp's, and so is the QR code. The caller holds mu.
func (n *Network) newRef(p *pairing) string {
	ref := "2@" + base64.StdEncoding.EncodeToString(wire.Random(74))
	p.refs = append(p.refs, ref)
	n.pairings[ref] = p
	return ref
}

// register keeps the keys of the client: they come nowhere else.
func (p *pairing) register(reg *waWa6.ClientPayload_DevicePairingRegistrationData) error {
	if len(reg.GetEIdent()) != 32 || len(reg.GetERegid()) != 4 || len(reg.GetESkeyID()) != 3 || len(reg.GetESkeyVal()) != 32 || len(reg.GetESkeySig()) != 64 {
		return errors.New("keys of unexpected lengths")
	}
	p.identity = [32]byte(reg.GetEIdent())
	p.keys.registration = reg.GetERegid()
	p.keys.signed = signedKeyNode(reg.GetESkeyID(), reg.GetESkeyVal(), reg.GetESkeySig())
	return proto.Unmarshal(reg.GetDeviceProps(), p.props)
}

func signedKeyNode(id, value, signature []byte) Node {
	return Node{Tag: "skey", Content: []Node{
		{Tag: "id", Content: id}, {Tag: "value", Content: value}, {Tag: "signature", Content: signature},
	}}
}

// keyID encodes a key's number in three bytes, as on the wire.
func keyID(id uint32) []byte {
	var four [4]byte
	binary.BigEndian.PutUint32(four[:], id)
	return four[1:]
}

// endPairing forgets a client that went away. The caller holds mu.
func (n *Network) endPairing(p *pairing) {
	for _, ref := range p.refs {
		delete(n.pairings, ref)
	}
	n.notify()
}

// answerUnpaired handles the queries that a client may make before it is linked.
func (n *Network) answerUnpaired(c *conn, node *Node) {
	p := c.pairing
	switch {
	case wire.Text(node, "xmlns") == "w:p":
		c.reply(node, wire.Result())
		return
	case p == nil || wire.Text(node, "xmlns") != "md":
		c.reply(node, wire.Refuse(401, "not-authorized"))
		return
	}
	children := node.GetChildren()
	if len(children) == 0 {
		c.reply(node, wire.BadRequest)
		return
	}
	switch request := &children[0]; request.Tag {
	case "link_code_companion_reg":
		c.reply(node, n.answerLinkCode(p, request))
	case "ref":
		c.reply(node, wire.Result(Node{Tag: "ref", Content: []byte(n.newRef(p))}))
	default:
		n.passkeyStep(c, node, request)
	}
}

// answerLinkCode takes the two steps of a client that is linked by a code.
func (n *Network) answerLinkCode(p *pairing, request *Node) wire.Answer {
	switch wire.Text(request, "stage") {
	case "companion_hello":
		return n.helloByCode(p, request)
	case "companion_finish":
		bundle, ok := wire.Child(request, "link_code_pairing_wrapped_key_bundle")
		ref := wire.ChildBytes(request, "link_code_pairing_ref")
		if !ok || p.code == nil || string(ref) != string(p.code.ref) {
			return wire.BadRequest
		}
		select {
		case p.finished <- wire.Bytes(*bundle):
		default:
			return wire.Refuse(409, "conflict")
		}
		return wire.Result()
	}
	return wire.BadRequest
}

func (n *Network) helloByCode(p *pairing, request *Node) wire.Answer {
	wrapped := wire.ChildBytes(request, "link_code_pairing_wrapped_companion_ephemeral_pub")
	display := string(wire.ChildBytes(request, "companion_platform_display"))
	number := wire.JID(request, "jid").User
	if len(wrapped) != 80 || !plausibleDisplay(display) {
		return wire.BadRequest
	}
	if n.byNumber[number] == nil {
		return n.noAccount
	}
	// A second request on the same connection makes the first code worthless.
	n.sequence++
	p.code = &codeRequest{number: number, ref: []byte(n.newRef(p)), wrapped: wrapped, display: display, asked: n.sequence}
	n.notify()
	return wire.Result(Node{Tag: "link_code_companion_reg", Attrs: attrs{"stage": "companion_hello"}, Content: []Node{
		{Tag: "link_code_pairing_ref", Content: p.code.ref},
	}})
}

// plausibleDisplay reports whether a display name has the form that the real server demands, "Browser (OS)".
func plausibleDisplay(name string) bool {
	open := -1
	for i, r := range name {
		if r == '(' {
			open = i
		}
	}
	return open > 1 && name[open-1] == ' ' && name[len(name)-1] == ')' && len(name)-open > 2
}

// pairingAnswered takes the client's answer to pair-success.
func (n *Network) pairingAnswered(c *conn, node *Node) {
	p := c.pairing
	if p == nil || p.successID == "" || wire.Text(node, "id") != p.successID {
		return
	}
	p.successID = ""
	if wire.Text(node, "type") == "result" {
		p.answered <- nil
		return
	}
	fault, _ := wire.Child(node, "error")
	code, _ := strconv.Atoi(wire.Text(fault, "code"))
	p.answered <- &RefusedError{Code: code, Text: wire.Text(fault, "text")}
}
