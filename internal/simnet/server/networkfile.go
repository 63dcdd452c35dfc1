package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet/people"
)

// WebsocketURL returns the URL for clients to connect to instead of web.whatsapp.com.
func (n *Server) WebsocketURL() string { return "wss://" + n.Addr() + "/ws/chat" }

// CACertificate returns the PEM certificate of the network's authority.
func (n *Server) CACertificate() []byte { return n.tls.PEM }

// RootKey returns the key that signs the Noise certificates of every network of this process.
func (n *Server) RootKey() [32]byte { return n.noise.Root }

// networkFile lets another process reach the network.
type networkFile struct {
	WebsocketURL  string `json:"websocketUrl"`
	CACertificate string `json:"caCertificate"`
	NoiseRootKey  string `json:"noiseRootKey"`
}

// NetworkFile returns the network's address, certificate and root key as JSON, for use by another process.
func (n *Server) NetworkFile() []byte {
	root := n.RootKey()
	out, err := json.MarshalIndent(networkFile{
		WebsocketURL:  n.WebsocketURL(),
		CACertificate: string(n.CACertificate()),
		NoiseRootKey:  base64.StdEncoding.EncodeToString(root[:]),
	}, "", "  ")
	if err != nil {
		panic(fmt.Errorf("three strings did not marshal: %w", err))
	}
	return append(out, '\n')
}

// WriteNetworkFile writes NetworkFile to path.
func (n *Server) WriteNetworkFile(path string) error {
	if err := os.WriteFile(path, n.NetworkFile(), 0o600); err != nil {
		return fmt.Errorf("write the network file: %w", err)
	}
	return nil
}

// HTTPClient returns a client that reaches only this network: every dial goes to its address, and it trusts only its certificate.
func (n *Server) HTTPClient() *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(n.CACertificate())
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, n.Addr())
		},
		TLSClientConfig:     &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     30 * time.Second,
		MaxIdleConnsPerHost: 16,
	}}
}

// Configure makes a whatsmeow client use this network, and ask for its offline backlog, which whatsmeow does not. Call it before the client
// connects.
func (n *Server) Configure(cli *whatsmeow.Client) *http.Client {
	cli.AddEventHandler(func(event any) {
		if preview, ok := event.(*events.OfflineSyncPreview); ok {
			n.askForBacklog(cli, preview.Total)
		}
	})
	client := n.HTTPClient()
	cli.SetWebsocketHTTPClient(client)
	cli.SetPreLoginHTTPClient(client)
	cli.SetMediaHTTPClient(client)
	return client
}

// askForBacklog makes a client ask for a whole offline backlog at once.
func (n *Server) askForBacklog(cli *whatsmeow.Client, total int) {
	for ; total > 0; total -= people.LargestBatch {
		node := Node{Tag: "ib", Content: []Node{{Tag: "offline_batch", Attrs: attrs{"count": strconv.Itoa(people.LargestBatch)}}}}
		//lint:ignore SA1019 whatsmeow has no other method for it
		if err := cli.DangerousInternals().SendNode(n.Life, node); err != nil {
			n.Log.Debugf("offline backlog not asked for: %v", err)
			return
		}
	}
}
