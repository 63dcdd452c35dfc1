package server

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

// Pairing is a client that is not linked to any account yet. Server.mu guards it.
type Pairing struct {
	conn     *conn
	refs     []string
	Noise    [32]byte
	Identity [32]byte
	keys     keyBundle
	props    *waCompanionReg.DeviceProps
	Code     *CodeRequest
	Passkey  *PasskeyRequest
	rotation rotation
	// Finished receives the client's proof that it knows the code; answered what it says to pair-success.
	Finished chan []byte
	Answered chan error
	// successID is the id of the pair-success that waits for its answer.
	successID string
}

// Send queues a stanza for the client.
func (p *Pairing) Send(node Node) { p.conn.Send(node) }

// Done is closed when the client has hung up.
func (p *Pairing) Done() <-chan struct{} { return p.conn.Done() }

// Gone reports whether the connection has ended.
func (p *Pairing) Gone() bool { return p.conn.Ended() }

// CodeRequest is what a client asked for that wants to be linked by a code.
type CodeRequest struct {
	Number  string
	Ref     []byte
	Wrapped []byte
	Display string
	// Asked numbers the requests: of several clients, the phone's code is for the one that asked last.
	Asked int
}

// beginPairing greets a client that has no account: it may show a QR code, or ask for a pairing code.
func (n *Server) beginPairing(c *conn, reg *waWa6.ClientPayload_DevicePairingRegistrationData) bool {
	p := &Pairing{
		conn: c, Noise: c.Key(), props: &waCompanionReg.DeviceProps{},
		Finished: make(chan []byte, 1), Answered: make(chan error, 1),
	}
	if err := p.register(reg); err != nil {
		n.Log.Warnf("registration not understood: %v", err)
		c.SendLast(wire.FailureNode(wire.ConnectFailure{Reason: 400, Message: "bad registration"}))
		return false
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	c.pairing = p
	n.unpaired++
	var refs []Node
	for range n.opts.QRRefs {
		refs = append(refs, Node{Tag: "ref", Content: []byte(n.newRef(p))})
	}
	c.Send(Node{Tag: "iq", Attrs: attrs{"from": types.ServerJID, "type": "set", "id": n.NextID(), "xmlns": "md"}, Content: []Node{
		{Tag: "pair-device", Content: refs},
	}})
	n.later(c, n.opts.PairingTimeout, func(c *conn) { c.HangUp() })
	n.Notify()
	return true
}

// newRef makes a reference by which a phone finds this client. It is as long as WhatsApp's, and so is the QR code. The caller holds mu.
func (n *Server) newRef(p *Pairing) string {
	ref := "2@" + base64.StdEncoding.EncodeToString(wire.Random(74))
	p.refs = append(p.refs, ref)
	n.Pairings[ref] = p
	return ref
}

// register keeps the keys of the client: they come nowhere else.
func (p *Pairing) register(reg *waWa6.ClientPayload_DevicePairingRegistrationData) error {
	if len(reg.GetEIdent()) != 32 || len(reg.GetERegid()) != 4 || len(reg.GetESkeyID()) != 3 || len(reg.GetESkeyVal()) != 32 || len(reg.GetESkeySig()) != 64 {
		return errors.New("keys of unexpected lengths")
	}
	p.Identity = [32]byte(reg.GetEIdent())
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
func (n *Server) endPairing(p *Pairing) {
	for _, ref := range p.refs {
		delete(n.Pairings, ref)
	}
	n.Notify()
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
func (n *Server) answerLinkCode(p *Pairing, request *Node) wire.Answer {
	switch wire.Text(request, "stage") {
	case "companion_hello":
		return n.helloByCode(p, request)
	case "companion_finish":
		bundle, ok := wire.Child(request, "link_code_pairing_wrapped_key_bundle")
		ref := wire.ChildBytes(request, "link_code_pairing_ref")
		if !ok || p.Code == nil || string(ref) != string(p.Code.Ref) {
			return wire.BadRequest
		}
		select {
		case p.Finished <- wire.Bytes(*bundle):
		default:
			return wire.Refuse(409, "conflict")
		}
		return wire.Result()
	}
	return wire.BadRequest
}

func (n *Server) helloByCode(p *Pairing, request *Node) wire.Answer {
	wrapped := wire.ChildBytes(request, "link_code_pairing_wrapped_companion_ephemeral_pub")
	display := string(wire.ChildBytes(request, "companion_platform_display"))
	number := wire.JID(request, "jid").User
	if len(wrapped) != 80 || !plausibleDisplay(display) {
		return wire.BadRequest
	}
	if n.ByNumber[number] == nil {
		return n.noAccount
	}
	// A second request on the same connection makes the first code worthless.
	n.sequence++
	p.Code = &CodeRequest{Number: number, Ref: []byte(n.newRef(p)), Wrapped: wrapped, Display: display, Asked: n.sequence}
	n.Notify()
	return wire.Result(Node{Tag: "link_code_companion_reg", Attrs: attrs{"stage": "companion_hello"}, Content: []Node{
		{Tag: "link_code_pairing_ref", Content: p.Code.Ref},
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
		p.Answered <- nil
		return
	}
	fault, _ := wire.Child(node, "error")
	code, _ := strconv.Atoi(wire.Text(fault, "code"))
	p.Answered <- &RefusedError{Code: code, Text: wire.Text(fault, "text")}
}

// RefusedError means that the client refused to be linked, with the code it gave: its own check failed, or it wants another account.
type RefusedError struct {
	Code int
	Text string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the client refused to be linked: %d %s", e.Code, e.Text)
}

// SendPairSuccess gives a client its signed identity.
func (n *Server) SendPairSuccess(waiting *Pairing, d *Device, identity []byte) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	waiting.successID = n.NextID()
	content := []Node{
		{Tag: "device-identity", Content: identity},
		{Tag: "device", Attrs: attrs{"jid": d.JID(), "lid": d.LID()}},
		{Tag: "platform", Attrs: attrs{"name": "android"}},
	}
	if d.Account.Business {
		content = append(content, Node{Tag: "biz", Attrs: attrs{"name": d.Account.PushName}})
	}
	waiting.Send(Node{Tag: "iq", Attrs: attrs{
		"from": types.ServerJID, "type": "set", "id": waiting.successID, "t": wire.UnixNow(), "xmlns": "md",
	}, Content: []Node{{Tag: "pair-success", Content: content}}})
}

// PasskeyRequest is a demand for a passkey that a client has not fulfilled yet. Its channels carry the client's steps, which the
// phone judges.
type PasskeyRequest struct {
	Steps chan PasskeyStep
}

// PasskeyStep is a request of a client that fulfils the demand for a passkey.
type PasskeyStep struct {
	Tag     string
	Request *Node
	Reply   func(wire.Answer)
}

// passkeyStep passes a client's step on to the phone, which answers when it has judged it.
func (n *Server) passkeyStep(c *conn, node, request *Node) {
	if c.pairing.Passkey == nil {
		c.reply(node, wire.BadRequest)
		return
	}
	step := PasskeyStep{Tag: request.Tag, Request: request, Reply: func(a wire.Answer) { c.reply(node, a) }}
	select {
	case c.pairing.Passkey.Steps <- step:
	default:
		c.reply(node, wire.Refuse(409, "conflict"))
	}
}

// Reserve gives a client that is being linked a device number of the account.
func (a *Account) Reserve(waiting *Pairing, display string) (*Device, error) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	if len(a.Devices) > a.net.opts.MaxLinkedDevices {
		return nil, ErrTooManyDevices
	}
	a.keyIndex++
	return &Device{
		net: a.net, Account: a, Number: a.freeDevice(), Props: waiting.props, display: display,
		noise: waiting.Noise, Identity: waiting.Identity, keys: waiting.keys, KeyIndex: a.keyIndex,
	}, nil
}

// Adopt adds the device to its account and makes the client log in.
func (n *Server) Adopt(waiting *Pairing, d *Device) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	d.Account.Devices[d.Number] = d
	n.endPairing(waiting)
	n.devicesChanged(d)
	n.Notify()
	waiting.Send(wire.StreamError("515", ""))
	// whatsmeow hangs up by itself. The server does for a client that does not.
	n.later(waiting.conn, time.Second, func(c *conn) { c.HangUp() })
}
