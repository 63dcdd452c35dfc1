package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/media"
	"bridged/internal/simnet/wire"

	waLog "go.mau.fi/whatsmeow/util/log"
)

// Options configures a network. The zero value is a healthy one.
type Options struct {
	// ListenAddr is the address to listen on; it must be a loopback address. Default 127.0.0.1:0.
	ListenAddr string
	// Log receives the server's messages. Default: none.
	Log waLog.Logger
	// PhoneLog receives the messages of the phones' whatsmeow clients. Default: none.
	PhoneLog waLog.Logger
	// Window is the number of stanzas that may be on the wire to one device without being acknowledged.
	// whatsmeow loses their order beyond 2048. Default 256.
	Window int
	// PairingTimeout is how long a connection may stay unpaired before the server closes it. Default 160 s.
	PairingTimeout time.Duration
	// QRRefs is how many QR codes a client can show before PairingTimeout. Default 6.
	QRRefs int
	// Rotations is how often the network voids the secret of a QR code that a phone has scanned, before it lets the phone link the client:
	// once by default, as the real one does since July 2026; never if it is negative.
	Rotations int
	// MaxLinkedDevices is how many companions an account may have. Default 4.
	MaxLinkedDevices int
}

func (o *Options) fill() {
	if o.ListenAddr == "" {
		o.ListenAddr = "127.0.0.1:0"
	}
	if o.Log == nil {
		o.Log = waLog.Noop
	}
	if o.Window <= 0 {
		o.Window = 256
	}
	if o.PairingTimeout <= 0 {
		o.PairingTimeout = 160 * time.Second
	}
	if o.QRRefs <= 0 {
		o.QRRefs = 6
	}
	if o.Rotations == 0 {
		o.Rotations = 1
	}
	if o.MaxLinkedDevices <= 0 {
		o.MaxLinkedDevices = 4
	}
}

// Server is the network without its phones: accounts with their devices and queues, groups, calls and pairings.
type Server struct {
	opts     Options
	Log      waLog.Logger
	Life     context.Context
	cancel   context.CancelFunc
	listener *wire.Gate
	server   *http.Server
	tls      *wire.Authority
	noise    *wire.Identity
	cdn      *media.CDN
	running  Crew

	// Mu guards the accounts, devices, queues, groups and pairings, and everything below.
	Mu       sync.Mutex
	ByNumber map[string]*Account
	byLID    map[string]*Account
	dialled  map[string]*Account // by other spellings of their numbers
	lookUps  map[string]int      // by number
	// pictureQueries is how often clients asked where a picture is.
	pictureQueries int
	// noAccount is how a pairing code is refused for a number without an account.
	noAccount wire.Answer
	Groups    map[string]*Group
	calls     map[string]*call // that are not over, by their ids
	// dropsCreateKeys means that nobody is told the keys of new groups.
	dropsCreateKeys bool
	conns           map[*conn]struct{}
	Pairings        map[string]*Pairing
	refusal         *refusal
	iqFaults        []*iqFault
	limits          map[string]queryLimit // by namespace
	rotateAt        CodeStep
	versions        versions
	unknown         map[string]int
	// perDevice is how much later SlowGroups makes an answer come for each device that it concerns.
	perDevice time.Duration
	unpaired  int // sockets without an account so far
	sequence  int
	closed    bool
	changed   chan struct{}
	waiters   int
}

// New starts a server on the loopback interface. It runs until Close, also if ctx ends before.
func New(ctx context.Context, opts Options) (*Server, error) {
	opts.fill()
	if err := requireLoopback(opts.ListenAddr); err != nil {
		return nil, err
	}
	identity, err := wire.NewIdentity()
	if err != nil {
		return nil, err
	}
	tls, err := wire.NewAuthority()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", opts.ListenAddr)
	if err != nil {
		return nil, fmt.Errorf("listen for the simulated network: %w", err)
	}
	n := &Server{
		opts: opts, Log: opts.Log, listener: wire.NewGate(listener), tls: tls, noise: identity,
		ByNumber: make(map[string]*Account), byLID: make(map[string]*Account), Groups: make(map[string]*Group), calls: make(map[string]*call),
		conns: make(map[*conn]struct{}), Pairings: make(map[string]*Pairing), unknown: make(map[string]int),
		changed: make(chan struct{}), dialled: make(map[string]*Account), lookUps: make(map[string]int), noAccount: wire.ItemNotFound,
	}
	n.Life, n.cancel = context.WithCancel(context.WithoutCancel(ctx))
	n.cdn = media.New(n.Addr, n.Life.Done(), func() {
		n.Mu.Lock()
		defer n.Mu.Unlock()
		n.Notify()
	})
	n.serve()
	return n, nil
}

func requireLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listen address of the simulated network: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("the simulated network listens on loopback addresses only, not on %q", host)
	}
	return nil
}

// Close hangs up on all clients and stops the server, once. It calls phones under mu before it hangs up, and what that returns afterwards: what
// the server's owner has to end in between.
func (n *Server) Close(phones func() (end func())) {
	n.Mu.Lock()
	if n.closed {
		n.Mu.Unlock()
		return
	}
	n.closed = true
	end := phones()
	n.Mu.Unlock()
	// No client reconnects, and nothing more is sent: a frame that arrives while whatsmeow hangs up leaves a goroutine behind.
	n.listener.Refuse()
	n.dropAll()
	end()
	n.cancel()
	n.listener.Shut()
	_ = n.server.Close()
	n.running.End()
}

// CDN returns the network's media server.
func (n *Server) CDN() *media.CDN { return n.cdn }

// Addr returns the host and port that the network listens on.
func (n *Server) Addr() string { return n.listener.Addr().String() }

// errClosed is the error of everything that waits while the network closes.
var errClosed = errors.New("the simulated network was closed")

// Notify wakes everybody who waits for a change of the network's state. The caller holds mu.
func (n *Server) Notify() {
	if n.waiters == 0 {
		return
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// Wait waits until done returns true. It calls done under mu, after every change.
func (n *Server) Wait(ctx context.Context, done func() bool) error {
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
func (n *Server) Await(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-n.Life.Done():
		return errClosed
	}
}

// AccountOf returns the account that a JID of any form belongs to, or nil. The caller holds mu.
func (n *Server) AccountOf(jid types.JID) *Account {
	switch jid.Server {
	case types.DefaultUserServer, types.LegacyUserServer:
		return n.ByNumber[jid.User]
	case types.HiddenUserServer:
		return n.byLID[jid.User]
	}
	return nil
}

// DeviceOf returns the device that a JID of either form names, or nil. The caller holds mu.
func (n *Server) DeviceOf(jid types.JID) *Device {
	if a := n.AccountOf(jid); a != nil {
		return a.Devices[jid.Device]
	}
	return nil
}

// Device returns a device by either form of its JID.
func (n *Server) Device(jid types.JID) (*Device, bool) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	d := n.DeviceOf(jid)
	return d, d != nil
}

// NextID returns a new id for a stanza of the server. The caller holds mu.
func (n *Server) NextID() string {
	n.sequence++
	return fmt.Sprintf("%d.%d", time.Now().Unix(), n.sequence)
}
