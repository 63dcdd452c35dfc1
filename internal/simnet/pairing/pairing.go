package pairing

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

type (
	// Node is a stanza or a part of one.
	Node  = wire.Node
	attrs = wire.Attrs
)

// ErrTooManyDevices reports that the account has the maximum of companions.
var ErrTooManyDevices = errors.New("the account has too many linked devices")

// Desk serves clients that are not linked yet. Directory.Mu guards it.
type Desk struct {
	*people.Directory
	// PairingTimeout limits how long a connection may stay unpaired, QRRefs how many QR codes it can show until then, MaxLinkedDevices an
	// account's companions. Rotations is how often the secret of a scanned code is voided.
	PairingTimeout                      time.Duration
	QRRefs, Rotations, MaxLinkedDevices int

	pairings  map[string]*Pairing // by the references in their codes
	waiting   map[*people.Client]*Pairing
	noAccount wire.Answer // the refusal of a pairing code for a number without an account
	rotateAt  CodeStep
	unpaired  int // unpaired sockets so far
	refuses   func(*waCompanionReg.DeviceProps) bool
}

// NewDesk returns a desk for the accounts of a directory.
func NewDesk(directory *people.Directory) *Desk {
	return &Desk{Directory: directory, pairings: make(map[string]*Pairing), waiting: make(map[*people.Client]*Pairing), noAccount: wire.ItemNotFound}
}

// Pairing is a client that is not linked to any account yet. Directory.Mu guards it.
type Pairing struct {
	conn     *people.Client
	refs     []string
	noise    [32]byte
	identity [32]byte
	keys     people.KeyBundle
	props    *waCompanionReg.DeviceProps
	code     *codeRequest
	passkey  *passkeyRequest
	display  string // the name sent with a pairing code, after the phone has entered that
	rotation rotation
	// finished receives the client's proof that it knows the code; answered its reply to pair-success.
	finished chan []byte
	answered chan error
	// successID is the id of the pair-success that waits for its reply.
	successID string
}

// send queues a stanza for the client.
func (p *Pairing) send(node Node) { p.conn.Send(node) }

// gone reports whether the connection has ended.
func (p *Pairing) gone() bool { return p.conn.Ended() }

// codeRequest is a client's request to be linked by a code.
type codeRequest struct {
	number  string
	ref     []byte
	wrapped []byte
	display string
	// asked numbers the requests: with several clients, the phone's code belongs to the last one.
	asked int
}

// BeginPairing greets a client without an account, which may then show a QR code or ask for a pairing code.
func (n *Desk) BeginPairing(c *people.Client, reg *waWa6.ClientPayload_DevicePairingRegistrationData) bool {
	p := &Pairing{
		conn: c, noise: c.Key(), props: &waCompanionReg.DeviceProps{},
		finished: make(chan []byte, 1), answered: make(chan error, 1),
	}
	if err := p.register(reg); err != nil {
		n.Log.Warnf("registration not understood: %v", err)
		c.SendLast(wire.FailureNode(wire.ConnectFailure{Reason: 400, Message: "bad registration"}))
		return false
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.unpaired++
	if n.refuses != nil && n.refuses(p.props) {
		n.Notify()
		n.HangUpSoon(c)
		return true
	}
	n.waiting[c] = p
	var refs []Node
	for range n.QRRefs {
		refs = append(refs, Node{Tag: "ref", Content: []byte(n.newRef(p))})
	}
	c.Send(Node{Tag: "iq", Attrs: attrs{"from": types.ServerJID, "type": "set", "id": n.NextID(), "xmlns": "md"}, Content: []Node{
		{Tag: "pair-device", Content: refs},
	}})
	n.Later(c, n.PairingTimeout, func(c *people.Client) { c.HangUp() })
	n.Notify()
	return true
}

// newRef returns a reference by which a phone finds this client. It is as long as WhatsApp's, so QR codes have their size. The caller holds
// Directory.Mu.
func (n *Desk) newRef(p *Pairing) string {
	ref := "2@" + base64.StdEncoding.EncodeToString(wire.Random(74))
	p.refs = append(p.refs, ref)
	n.pairings[ref] = p
	return ref
}

// register stores the client's keys, which it sends only here.
func (p *Pairing) register(reg *waWa6.ClientPayload_DevicePairingRegistrationData) error {
	if len(reg.GetEIdent()) != 32 || len(reg.GetERegid()) != 4 || len(reg.GetESkeyID()) != 3 || len(reg.GetESkeyVal()) != 32 || len(reg.GetESkeySig()) != 64 {
		return errors.New("keys of unexpected lengths")
	}
	p.identity = [32]byte(reg.GetEIdent())
	p.keys = people.NewKeyBundle(reg.GetERegid(), reg.GetESkeyID(), reg.GetESkeyVal(), reg.GetESkeySig())
	return proto.Unmarshal(reg.GetDeviceProps(), p.props)
}

// endPairing removes a client that has left or was linked. The caller holds Directory.Mu.
func (n *Desk) endPairing(p *Pairing) {
	for _, ref := range p.refs {
		delete(n.pairings, ref)
	}
	n.Notify()
}

// Leave removes a client whose connection has ended. The caller holds Directory.Mu.
func (n *Desk) Leave(c *people.Client) {
	if p := n.waiting[c]; p != nil {
		delete(n.waiting, c)
		n.endPairing(p)
	}
}

// AnswerUnpaired handles the queries that a client may make before it is linked.
func (n *Desk) AnswerUnpaired(c *people.Client, node *Node) {
	p := n.waiting[c]
	switch {
	case wire.Text(node, "xmlns") == "w:p":
		c.Reply(node, wire.Result())
		return
	case p == nil || wire.Text(node, "xmlns") != "md":
		c.Reply(node, wire.Refuse(401, "not-authorized"))
		return
	}
	children := node.GetChildren()
	if len(children) == 0 {
		c.Reply(node, wire.BadRequest)
		return
	}
	switch request := &children[0]; request.Tag {
	case "link_code_companion_reg":
		c.Reply(node, n.answerLinkCode(p, request))
	case "ref":
		c.Reply(node, wire.Result(Node{Tag: "ref", Content: []byte(n.newRef(p))}))
	default:
		n.passkeyStep(c, p, node, request)
	}
}

// answerLinkCode handles the two steps of a client that is linked by a code.
func (n *Desk) answerLinkCode(p *Pairing, request *Node) wire.Answer {
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

func (n *Desk) helloByCode(p *Pairing, request *Node) wire.Answer {
	wrapped := wire.ChildBytes(request, "link_code_pairing_wrapped_companion_ephemeral_pub")
	display := string(wire.ChildBytes(request, "companion_platform_display"))
	number := wire.JID(request, "jid").User
	if len(wrapped) != 80 || !plausibleDisplay(display) {
		return wire.BadRequest
	}
	if n.ByNumber[number] == nil {
		return n.noAccount
	}
	// A second request on the same connection voids the first code.
	p.code = &codeRequest{number: number, ref: []byte(n.newRef(p)), wrapped: wrapped, display: display, asked: n.NextNumber()}
	n.Notify()
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

// PairingAnswered handles the client's reply to pair-success.
func (n *Desk) PairingAnswered(c *people.Client, node *Node) {
	p := n.waiting[c]
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

// RefusedError means that the client refused to be linked, with its code: its own check failed, or it wants another account.
type RefusedError struct {
	Code int
	Text string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the client refused to be linked: %d %s", e.Code, e.Text)
}

// passkeyRequest is a demand for a passkey that a client has yet to fulfil. Its channels carry the client's steps to the phone, which judges
// them.
type passkeyRequest struct {
	steps chan passkeyStep
}

// passkeyStep is a request of a client that fulfils the demand for a passkey.
type passkeyStep struct {
	tag     string
	request *Node
	reply   func(wire.Answer)
}

// passkeyStep hands a client's step to the phone, which answers after judging it.
func (n *Desk) passkeyStep(c *people.Client, p *Pairing, node, request *Node) {
	if p.passkey == nil {
		c.Reply(node, wire.BadRequest)
		return
	}
	step := passkeyStep{tag: request.Tag, request: request, reply: func(a wire.Answer) { c.Reply(node, a) }}
	select {
	case p.passkey.steps <- step:
	default:
		c.Reply(node, wire.Refuse(409, "conflict"))
	}
}

// UnpairedSockets returns how many sockets without an account there have been. Official clients open a limited number.
func (n *Desk) UnpairedSockets() int {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return n.unpaired
}

// CloseUnpaired closes the connections of those clients that want to be linked and whose properties refuses returns true for, without a code or
// a reason. nil ends it.
func (n *Desk) CloseUnpaired(refuses func(*waCompanionReg.DeviceProps) bool) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.refuses = refuses
}

// RefuseNumbers sets the refusal of a pairing code for a number without an account, 404 by default. The real server's answer is not known;
// 400 and 404 are reported.
func (n *Desk) RefuseNumbers(code int, text string) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.noAccount = wire.Refuse(code, text)
}
