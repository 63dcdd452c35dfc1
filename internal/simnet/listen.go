package simnet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	stdlog "log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"
)

// authority is the network's own certificate authority and the certificate of its one server.
type authority struct {
	caPEM  []byte
	server tls.Certificate
}

func newAuthority() (*authority, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the CA key: %w", err)
	}
	ca := certificate(1, "simulated network CA")
	ca.IsCA, ca.BasicConstraintsValid = true, true
	ca.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return nil, fmt.Errorf("make the CA certificate: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the server key: %w", err)
	}
	leaf := certificate(2, "simulated network")
	leaf.KeyUsage = x509.KeyUsageDigitalSignature
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	// whatsmeow always dials web.whatsapp.com by name; a client may reach it by redirecting that dial alone.
	leaf.DNSNames = []string{"web.whatsapp.com", "localhost"}
	leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		return nil, fmt.Errorf("make the server certificate: %w", err)
	}
	return &authority{
		caPEM:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}),
		server: tls.Certificate{Certificate: [][]byte{leafDER, caDER}, PrivateKey: key},
	}, nil
}

func certificate(serial int64, name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(10 * 365 * 24 * time.Hour),
	}
}

// serve starts the HTTPS server for both the sockets and the CDN.
func (n *Network) serve() {
	mux := http.NewServeMux()
	mux.HandleFunc("/ws/chat", n.acceptSocket)
	mux.HandleFunc("/{$}", n.servePage)
	mux.Handle("/", n.cdn)
	n.server = &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          stdlog.New(io.Discard, "", 0),
		// No HTTP/2: a websocket needs a separate connection.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	secure := tls.NewListener(n.listener, &tls.Config{
		Certificates: []tls.Certificate{n.tls.server},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"http/1.1"},
	})
	n.running.start(func() { _ = n.server.Serve(secure) })
}

// gate is a listener that can hang up on everybody, as a network that is down.
type gate struct {
	net.Listener
	// mu guards down and open.
	mu   sync.Mutex
	down bool
	open map[net.Conn]struct{}
}

func newGate(l net.Listener) *gate {
	return &gate{Listener: l, open: make(map[net.Conn]struct{})}
}

// Accept waits for a connection. It hangs up on those that come while the gate is down.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if gated := g.admit(c); gated != nil {
			return gated, nil
		}
		_ = c.Close()
	}
}

func (g *gate) admit(c net.Conn) net.Conn {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.down {
		return nil
	}
	g.open[c] = struct{}{}
	return &gatedConn{Conn: c, gate: g}
}

// set takes the network down, hanging up on everybody, or brings it back.
func (g *gate) set(down bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.down = down
	if down {
		for c := range g.open {
			_ = c.Close()
		}
	}
}

// refuse turns away new connections and keeps the existing ones.
func (g *gate) refuse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.down = true
}

func (g *gate) shut() {
	g.set(true)
	_ = g.Listener.Close()
}

type gatedConn struct {
	net.Conn
	gate *gate
}

func (c *gatedConn) Close() error {
	c.gate.mu.Lock()
	delete(c.gate.open, c.Conn)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}
