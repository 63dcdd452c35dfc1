package wa

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"go.mau.fi/whatsmeow"

	"bridged/internal/wa/session"
)

// Network says how to reach the WhatsApp network. The zero value is the real network without a
// proxy.
type Network struct {
	// Proxy is an http, https or socks5 proxy for the socket.
	Proxy *url.URL
	// simulated is set for a simulated network.
	simulated *simulatedNetwork
}

type simulatedNetwork struct {
	address string // host:port of the websocket
	roots   *x509.CertPool
}

// networkFile is the content of WA_NETWORK_FILE.
type networkFile struct {
	WebsocketURL  string `json:"websocketUrl"`
	CACertificate string `json:"caCertificate"`
	NoiseRootKey  string `json:"noiseRootKey"`
}

// IsSimulated reports whether n is not the real network.
func (n *Network) IsSimulated() bool { return n.simulated != nil }

// Authority returns the certificates that a simulated network's certificates are signed with, and
// nil for the real network.
func (n *Network) Authority() *x509.CertPool {
	if n.simulated == nil {
		return nil
	}
	return n.simulated.roots
}

// ReadNetworkFile reads the description of a simulated network. It also sets the Noise root key,
// which is a global variable of whatsmeow, so it must be called before any client exists.
func ReadNetworkFile(path string) (Network, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Network{}, err
	}
	var file networkFile
	if err := json.Unmarshal(data, &file); err != nil {
		return Network{}, fmt.Errorf("not a network description: %w", err)
	}
	address, err := url.Parse(file.WebsocketURL)
	if err != nil || address.Scheme != "wss" || address.Port() == "" {
		return Network{}, fmt.Errorf("websocketUrl must be wss://host:port/path")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(file.CACertificate)) {
		return Network{}, fmt.Errorf("caCertificate must be a PEM certificate")
	}
	key, err := base64.StdEncoding.DecodeString(file.NoiseRootKey)
	if err != nil || len(key) != len(whatsmeow.WACertPubKey) {
		return Network{}, fmt.Errorf("noiseRootKey must be 32 bytes in base64")
	}
	session.SetNoiseRoot([32]byte(key))
	return Network{simulated: &simulatedNetwork{address: address.Host, roots: roots}}, nil
}

// These are the time limits of a dial, in addition to whatsmeow's 20 s for the Noise handshake.
// The context cannot limit an attempt, because it lives as long as the socket.
const (
	dialTimeout         = 10 * time.Second
	tlsTimeout          = 10 * time.Second
	answerHeaderTimeout = 20 * time.Second
)

// Client returns an HTTP client for the network, which also dials the websocket. On a simulated
// network it connects to that network's address instead of any other. Connections belong to the
// [dial] of their context.
func (n *Network) Client() *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		TLSHandshakeTimeout:   tlsTimeout,
		ResponseHeaderTimeout: answerHeaderTimeout,
		DisableKeepAlives:     true, // the next dial could not close a connection that a refusal left open
	}
	if n.Proxy != nil {
		t.Proxy = http.ProxyURL(n.Proxy)
	}
	if n.simulated != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: n.simulated.roots}
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if n.simulated != nil {
			address = n.simulated.address
		}
		conn, err := dialer.DialContext(ctx, network, address)
		if d := dialOf(ctx); d != nil && err == nil {
			return d.track(conn)
		}
		return conn, err
	}
	return &http.Client{Transport: upgrades{t}}
}
