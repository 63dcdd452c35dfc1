package simnet

import (
	"context"
	"fmt"

	"bridged/internal/simnet/people"
)

// Move describes how a person gets a new account.
type Move = people.Move

// Move puts the person's number, or a new one, into a new phone, and returns it. The old phone is switched off for good.
func (p *Phone) Move(ctx context.Context, m Move) (*Phone, error) {
	n, opts := p.net, p.options
	p.Disconnect()
	if err := n.Wait(ctx, func() bool { return !p.device.HasConn() }); err != nil {
		return nil, err
	}
	a, err := n.Replace(p.Account, m)
	if err != nil {
		return nil, err
	}
	opts.Number, opts.Dialled = a.PhoneNumber, nil
	var keys *Phone
	if m.KeepLID {
		keys = p // the app continues, and registers its new number
	}
	moved, err := n.newPhone(ctx, a, opts, keys)
	if err != nil {
		return nil, err
	}
	n.Mu.Lock()
	groups := n.GroupsOf(p.Account)
	n.MoveMember(p.Account, a, m.Quiet)
	if !m.Quiet {
		n.AnnounceMove(p.Account, a, m)
	}
	n.Mu.Unlock()
	for _, g := range groups {
		if err := acquaint(ctx, g.Sorted()); err != nil {
			return nil, err
		}
	}
	if err := n.Settle(ctx); err != nil {
		return nil, fmt.Errorf("wait until the phones know the new account: %w", err)
	}
	return moved, nil
}

// Unregister deletes the person's account.
func (p *Phone) Unregister() {
	p.Disconnect()
	p.net.Unregister(p.Account)
}
