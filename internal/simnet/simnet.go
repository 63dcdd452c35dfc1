package simnet

import (
	"context"
	"slices"
	"sync"

	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/simnet/server"
)

// Network is one simulated WhatsApp network: a server, and the phones of its people.
type Network struct {
	*server.Server
	phoneLog waLog.Logger
	phones   []*Phone // guarded by Directory.Mu
}

// New starts a network on the loopback interface. It runs until Close, even if ctx ends before.
func New(ctx context.Context, opts server.Options) (*Network, error) {
	silenceLibsignal()
	s, err := server.New(ctx, opts)
	if err != nil {
		return nil, err
	}
	n := &Network{Server: s, phoneLog: opts.PhoneLog}
	if n.phoneLog == nil {
		n.phoneLog = waLog.Noop
	}
	return n, nil
}

// Close disconnects all phones and clients and stops the server. It may be called more than once.
func (n *Network) Close() {
	n.Server.Close(n.endPhones)
	for _, p := range n.allPhones() {
		p.running.End()
	}
}

// endPhones returns a function that disconnects all phones after the server has hung up on them. The caller holds Directory.Mu.
func (n *Network) endPhones() func() {
	phones, cut := slices.Clone(n.phones), make([]bool, len(n.phones))
	for i, p := range phones {
		cut[i] = p.expectCut()
	}
	return func() {
		var stopping sync.WaitGroup
		for i, p := range phones {
			stopping.Go(func() { p.stop(cut[i]) })
		}
		stopping.Wait()
	}
}
