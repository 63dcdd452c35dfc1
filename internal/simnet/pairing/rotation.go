package pairing

import (
	"context"
	"fmt"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// rotation records which of a client's secrets the network has voided. Directory.Mu guards it.
type rotation struct {
	void    map[string]bool // secrets as written in the QR codes
	waiting map[string]bool // ids of the notifications that the client has not acknowledged
	sent    int
}

// voids reports whether the secret of a scanned QR code is void. Until there were enough rotations, it voids the secret now and makes the
// client generate another.
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

// rotate orders an unpaired client to generate a new secret for its QR codes, in each of the two forms by turns. The caller holds
// Directory.Mu.
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

// NoteRotated handles an unpaired client's stanzas other than queries.
func (n *Desk) NoteRotated(c *people.Client, node *Node) {
	if p := n.waiting[c]; p != nil && node.Tag == "ack" && wire.Text(node, "class") == "notification" {
		delete(p.rotation.waiting, wire.Text(node, "id"))
		n.Notify()
	}
}

// awaitRotated waits until the client has acknowledged all rotations, before which it is not linked.
func (n *Desk) awaitRotated(ctx context.Context, p *Pairing) error {
	err := n.Wait(ctx, func() bool { return len(p.rotation.waiting) == 0 || p.gone() })
	if err != nil {
		return fmt.Errorf("wait until the client acknowledges the rotation of its secret: %w", err)
	}
	return nil
}

// RotateSecrets makes every unpaired client generate a new secret for its QR codes.
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
	// BeforeHello comes before the client gets the input of its secret.
	BeforeHello CodeStep = iota + 1
	// BeforeSuccess comes after the client has derived its secret and before it is linked.
	BeforeSuccess
)

// RotateByCode makes clients that are linked by a code generate a new secret for their QR codes at this step.
func (n *Desk) RotateByCode(at CodeStep) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.rotateAt = at
}

// rotateIf voids the client's secret if RotateByCode has chosen this step.
func (n *Desk) rotateIf(p *Pairing, at CodeStep) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.rotateAt == at {
		n.rotate(p)
	}
}
