package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/simnet/groups"
	"bridged/internal/simnet/pairing"
	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// Options configures a network. The zero value is a healthy one.
type Options struct {
	// ListenAddr must be a loopback address. Default 127.0.0.1:0.
	ListenAddr string
	// Log receives the server's messages. Default none.
	Log waLog.Logger
	// PhoneLog receives the messages of the phones' whatsmeow clients. Default none.
	PhoneLog waLog.Logger
	// Window limits the unacknowledged stanzas on the wire to one device. whatsmeow loses their order beyond 2048. Default 256.
	Window int
	// PairingTimeout limits how long a connection may stay unpaired. Default 160 s.
	PairingTimeout time.Duration
	// QRRefs is the number of QR codes that a client can show within PairingTimeout. Default 6.
	QRRefs int
	// Rotations is how often the network voids the secret of a scanned QR code before it lets the phone link the client. Default 1, like the
	// real network since July 2026; negative means never.
	Rotations int
	// FewKeys reports one key of a new device that has none: whatsmeow then uploads 50 keys at the first login and not 812, which take as
	// long as the rest of most tests.
	FewKeys bool
	// MaxLinkedDevices limits the companions of an account. Default 4.
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

// Server is the network without its phones: its people, their groups and calls, and the clients that want to be linked.
type Server struct {
	*people.Directory
	*groups.Registry
	*pairing.Desk
	cancel   context.CancelFunc
	listener *wire.Gate
	server   *http.Server
	tls      *wire.Authority
	noise    *wire.Identity

	// Mu guards everything below.
	pictureQueries int              // clients' queries for the location of a picture
	calls          map[string]*call // calls in progress, by their ids
	conns          map[*people.Client]struct{}
	refusal        *refusal
	versions       versions
	unknown        map[string]int
	// perDevice is SlowGroups' delay of an answer for each device it concerns.
	perDevice time.Duration
}

// New starts a server on the loopback interface. It runs until Close, even if ctx ends before.
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
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	gate := wire.NewGate(listener)
	directory := people.NewDirectory(life, opts.Log, opts.Window, gate.Addr().String())
	directory.FewKeys = opts.FewKeys
	n := &Server{
		Directory: directory, Registry: groups.NewRegistry(directory), Desk: pairing.NewDesk(directory),
		cancel: cancel, listener: gate, tls: tls, noise: identity,
		calls: make(map[string]*call), conns: make(map[*people.Client]struct{}), unknown: make(map[string]int),
	}
	n.PairingTimeout, n.QRRefs, n.Rotations, n.MaxLinkedDevices = opts.PairingTimeout, opts.QRRefs, opts.Rotations, opts.MaxLinkedDevices
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

// Close hangs up on all clients and stops the server, once. It calls phones under Directory.Mu before it hangs up, and the returned end,
// which stops the phones, afterwards.
func (n *Server) Close(phones func() (end func())) {
	n.Mu.Lock()
	if n.Closed {
		n.Mu.Unlock()
		return
	}
	n.Closed = true
	end := phones()
	n.Mu.Unlock()
	// Refuse reconnects and send nothing more: a frame that arrives while whatsmeow hangs up leaves a goroutine behind.
	n.listener.Refuse()
	n.dropAll()
	end()
	n.cancel()
	n.listener.Shut()
	_ = n.server.Close()
	n.Running.End()
}
