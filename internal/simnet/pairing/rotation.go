package pairing

import (
	"context"
	"fmt"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// rotation is what the network has voided of what a client shows. Directory.Mu guards it.
type rotation struct {
	void    map[string]bool // secrets of QR codes, as they are written in them
	waiting map[string]bool // ids of the notifications that the client has not acknowledged
	sent    int
}

// voids reports whether the secret of a scanned QR code is void. The network voids it now, and has the client make another, where it has
// not done so often enough.
func (n *Desk) voids(p *Pairing, secret string) bool {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if p.rotation.void[secret] {
		return true
	}
	if len(p.rotation.void) >= n.Rotations {
		return false
	}
	if p.rotation.void == nil {
		p.rotation.void = make(map[string]bool)
	}
	p.rotation.void[secret] = true
	n.rotate(p)
	return true
}

// rotate sends an unpaired client the order to make a new secret for its QR codes, in the two forms by turns. The caller holds Directory.Mu.
func (n *Desk) rotate(p *Pairing) {
	form := []string{"companion_reg_refresh", "pair-device-rotate-qr"}[p.rotation.sent%2]
	p.rotation.sent++
	id := n.NextID()
	if p.rotation.waiting == nil {
		p.rotation.waiting = make(map[string]bool)
	}
	p.rotation.waiting[id] = true
	p.conn.Send(Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "companion_reg_refresh", "id": id, "t": wire.UnixNow(),
	}, Content: []Node{{Tag: form}}})
}

// NoteRotated handles what an unpaired client sends besides queries. The caller holds Directory.Mu.
func (n *Desk) NoteRotated(c *people.Client, node *Node) {
	if p := n.waiting[c]; p != nil && node.Tag == "ack" && wire.Text(node, "class") == "notification" {
		delete(p.rotation.waiting, wire.Text(node, "id"))
		n.Notify()
	}
}

// awaitRotated waits until the client has acknowledged all rotations: before that it is not linked.
func (n *Desk) awaitRotated(ctx context.Context, p *Pairing) error {
	err := n.Wait(ctx, func() bool { return len(p.rotation.waiting) == 0 || p.gone() })
	if err != nil {
		return fmt.Errorf("wait until the client acknowledges the rotation of its secret: %w", err)
	}
	return nil
}

// RotateSecrets has every unpaired client make a new secret for its QR codes.
func (n *Desk) RotateSecrets() {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for _, p := range n.waiting {
		n.rotate(p)
	}
}

// WaitRotated waits until all unpaired clients have acknowledged the rotations of their secrets.
func (n *Desk) WaitRotated(ctx context.Context) error {
	return n.Wait(ctx, func() bool {
		for _, p := range n.waiting {
			if len(p.rotation.waiting) > 0 {
				return false
			}
		}
		return true
	})
}

// CodeStep is a step of linking a client by a pairing code.
type CodeStep int

const (
	// BeforeHello is before the client gets what it derives its secret from.
	BeforeHello CodeStep = iota + 1
	// BeforeSuccess is after the client has derived its secret, and before it is linked.
	BeforeSuccess
)

// RotateByCode has clients that are linked by a code make a new secret for their QR codes at a step of that.
func (n *Desk) RotateByCode(at CodeStep) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.rotateAt = at
}

// rotateIf voids the client's secret if RotateByCode wants that at a step.
func (n *Desk) rotateIf(p *Pairing, at CodeStep) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.rotateAt == at {
		n.rotate(p)
	}
}
