package simnet

import (
	"context"
	"slices"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// settle waits until phones have handled everything that the server has sent them so far. whatsmeow acknowledges notifications before it
// handles them, so a marker goes through its queue: an "about" text of the server, which comes out as an event.
func (n *Network) settle(ctx context.Context, phones []*Phone) error {
	var waiting []<-chan struct{}
	n.Mu.Lock()
	for _, p := range phones {
		if p.device.Listens() {
			waiting = append(waiting, n.pushBarrier(p))
		}
	}
	n.Mu.Unlock()
	for _, passed := range waiting {
		if err := n.Await(ctx, passed); err != nil {
			return err
		}
	}
	return nil
}

// pushBarrier queues a marker. The caller holds Directory.Mu.
func (n *Network) pushBarrier(p *Phone) <-chan struct{} {
	id := n.NextID()
	passed := make(chan struct{})
	p.inbox.mu.Lock()
	p.inbox.barriers[id] = passed
	p.inbox.mu.Unlock()
	n.Push(p.device, Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "status", "id": id, "t": wire.UnixNow(),
	}, Content: []Node{{Tag: "set", Content: []byte(id)}}})
	return passed
}

func (i *inbox) passBarrier(id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if passed := i.barriers[id]; passed != nil {
		close(passed)
		delete(i.barriers, id)
	}
}

func (n *Network) allPhones() []*Phone {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return slices.Clone(n.phones)
}

// Settle waits until all phones that are connected and not frozen have handled everything sent to them so far: new devices, changes of
// groups. The methods that make such changes call it themselves.
func (n *Network) Settle(ctx context.Context) error { return n.settle(ctx, n.allPhones()) }
