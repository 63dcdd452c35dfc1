package people

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/simnet/media"
)

// ErrClosed ends all waits when the network closes.
var ErrClosed = errors.New("the simulated network was closed")

// Notify wakes the callers of Wait after a change of the network's state. The caller holds Directory.Mu.
func (n *Directory) Notify() {
	if n.waiters == 0 {
		return
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// Wait waits until done returns true. It calls done under Mu, after every change.
func (n *Directory) Wait(ctx context.Context, done func() bool) error {
	n.Mu.Lock()
	n.waiters++
	defer func() {
		n.waiters--
		n.Mu.Unlock()
	}()
	for !done() {
		changed := n.changed
		n.Mu.Unlock()
		err := n.Await(ctx, changed)
		n.Mu.Lock()
		if err != nil {
			return err
		}
	}
	return nil
}

// Await waits until a channel is closed.
func (n *Directory) Await(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-n.Life.Done():
		return ErrClosed
	}
}

// AccountOf returns the account of a JID in any form, or nil. The caller holds Directory.Mu.
func (n *Directory) AccountOf(jid types.JID) *Account {
	switch jid.Server {
	case types.DefaultUserServer, types.LegacyUserServer:
		return n.ByNumber[jid.User]
	case types.HiddenUserServer:
		return n.byLID[jid.User]
	case types.InteropServer:
		if a := n.ByNumber[jid.User]; a != nil && a.Messenger == jid.Integrator {
			return a
		}
	}
	return nil
}

// DeviceOf returns the device of a JID in either form, or nil. The caller holds Directory.Mu.
func (n *Directory) DeviceOf(jid types.JID) *Device {
	if a := n.AccountOf(jid); a != nil {
		return a.Devices[jid.Device]
	}
	return nil
}

// Device returns a device by either form of its JID.
func (n *Directory) Device(jid types.JID) (*Device, bool) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	d := n.DeviceOf(jid)
	return d, d != nil
}

// NextID returns a new id for a stanza of the server. The caller holds Directory.Mu.
func (n *Directory) NextID() string {
	return fmt.Sprintf("%d.%d", time.Now().Unix(), n.NextNumber())
}

// Later calls act after a delay, if the connection still exists.
func (n *Directory) Later(c *Client, delay time.Duration, act func(*Client)) {
	n.Running.Start(func() {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
			act(c)
		case <-c.Done():
		}
	})
}

// HangUpSoon closes a connection a moment after its handshake: whatsmeow overlooks an end in the same moment, which does not occur over the
// internet.
func (n *Directory) HangUpSoon(c *Client) {
	n.Later(c, 50*time.Millisecond, func(c *Client) { c.HangUp() })
}

// Directory holds the people on the network and the stanzas that wait for them.
type Directory struct {
	Log     waLog.Logger
	Life    context.Context // ends with the network
	Running Crew
	window  int
	addr    string
	cdn     *media.CDN
	FewKeys bool // see server.Options

	// Mu guards the accounts, devices and queues, the state of other packages that name it as their lock, and everything below.
	Mu       sync.Mutex
	ByNumber map[string]*Account
	byLID    map[string]*Account
	dialled  map[string]*Account // by other spellings of their numbers
	lookUps  map[string]int      // by number
	iqFaults []*iqFault
	limits   map[string]queryLimit // by namespace
	sequence int
	Closed   bool
	changed  chan struct{}
	waiters  int
}

// NewDirectory returns an empty directory for a network that listens on addr until life ends. window limits the unacknowledged stanzas on the
// wire to one device.
func NewDirectory(life context.Context, log waLog.Logger, window int, addr string) *Directory {
	n := &Directory{
		Log: log, Life: life, window: window, addr: addr, changed: make(chan struct{}),
		ByNumber: make(map[string]*Account), byLID: make(map[string]*Account), dialled: make(map[string]*Account), lookUps: make(map[string]int),
	}
	n.cdn = media.New(n.Addr, life.Done(), func() {
		n.Mu.Lock()
		defer n.Mu.Unlock()
		n.Notify()
	})
	return n
}

// CDN returns the network's media server.
func (n *Directory) CDN() *media.CDN { return n.cdn }

// Addr returns the host and port that the network listens on.
func (n *Directory) Addr() string { return n.addr }

// NextNumber returns the next unused serial number. The caller holds Mu.
func (n *Directory) NextNumber() int {
	n.sequence++
	return n.sequence
}
