package simnet

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/wire"
)

// ErrTooManyDevices is returned when the account has as many companions as it may have.
var ErrTooManyDevices = errors.New("the account has too many linked devices")

// pairing is a client that is not linked to any account yet. Server.mu guards it.
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

// send queues a stanza for the client.
func (p *pairing) send(node Node) { p.conn.Send(node) }

// done is closed when the client has hung up.
func (p *pairing) done() <-chan struct{} { return p.conn.Done() }

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
func (n *Server) beginPairing(c *conn, reg *waWa6.ClientPayload_DevicePairingRegistrationData) bool {
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
func (n *Server) newRef(p *pairing) string {
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
func (n *Server) endPairing(p *pairing) {
	for _, ref := range p.refs {
		delete(n.pairings, ref)
	}
	n.notify()
}

// answerUnpaired handles the queries that a client may make before it is linked.
func (n *Server) answerUnpaired(c *conn, node *Node) {
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
func (n *Server) answerLinkCode(p *pairing, request *Node) wire.Answer {
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

func (n *Server) helloByCode(p *pairing, request *Node) wire.Answer {
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
func (n *Server) pairingAnswered(c *conn, node *Node) {
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

// RefusedError means that the client refused to be linked, with the code it gave: its own check failed, or it wants another account.
type RefusedError struct {
	Code int
	Text string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the client refused to be linked: %d %s", e.Code, e.Text)
}

func (n *Server) sendPairSuccess(waiting *pairing, d *Device, identity []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	waiting.successID = n.nextID()
	content := []Node{
		{Tag: "device-identity", Content: identity},
		{Tag: "device", Attrs: attrs{"jid": d.JID(), "lid": d.LID()}},
		{Tag: "platform", Attrs: attrs{"name": "android"}},
	}
	if d.account.business {
		content = append(content, Node{Tag: "biz", Attrs: attrs{"name": d.account.name}})
	}
	waiting.send(Node{Tag: "iq", Attrs: attrs{
		"from": types.ServerJID, "type": "set", "id": waiting.successID, "t": wire.UnixNow(), "xmlns": "md",
	}, Content: []Node{{Tag: "pair-success", Content: content}}})
}

// passkeyRequest is a demand for a passkey that a client has not fulfilled yet. Its channels carry the client's steps, which the
// phone judges.
type passkeyRequest struct {
	steps chan passkeyStep
}

type passkeyStep struct {
	tag     string
	request *Node
	reply   func(wire.Answer)
}

// passkeyStep passes a client's step on to the phone, which answers when it has judged it.
func (n *Server) passkeyStep(c *conn, node, request *Node) {
	if c.pairing.passkey == nil {
		c.reply(node, wire.BadRequest)
		return
	}
	step := passkeyStep{tag: request.Tag, request: request, reply: func(a wire.Answer) { c.reply(node, a) }}
	select {
	case c.pairing.passkey.steps <- step:
	default:
		c.reply(node, wire.Refuse(409, "conflict"))
	}
}

// reserve gives a client that is being linked a device number of the account.
func (a *account) reserve(waiting *pairing, display string) (*Device, error) {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	if len(a.devices) > a.net.opts.MaxLinkedDevices {
		return nil, ErrTooManyDevices
	}
	a.keyIndex++
	return &Device{
		net: a.net, account: a, number: a.freeDevice(), props: waiting.props, display: display,
		noise: waiting.noise, identity: waiting.identity, keys: waiting.keys, keyIndex: a.keyIndex,
	}, nil
}

// adopt adds the device to its account and makes the client log in.
func (n *Server) adopt(waiting *pairing, d *Device) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d.account.devices[d.number] = d
	n.endPairing(waiting)
	n.devicesChanged(d)
	n.notify()
	waiting.send(wire.StreamError("515", ""))
	// whatsmeow hangs up by itself. The server does for a client that does not.
	n.later(waiting.conn, time.Second, func(c *conn) { c.HangUp() })
}
