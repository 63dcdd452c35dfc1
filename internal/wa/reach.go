package wa

import (
	"context"
	"net/http"

	"go.mau.fi/whatsmeow"

	"bridged/internal/wa/session"
)

// Client returns a client that reaches the network as the account does. In a
// simulated one every address is its own.
func (n *Network) Client() *http.Client { return n.socketClient() }

// ClientVersion returns the version that the account's client says it is,
// unless a newer one was looked up.
func ClientVersion() string { return session.BuiltInVersion().String() }

// LatestClientVersion asks the network for the version of its own web client.
func LatestClientVersion(ctx context.Context, network *Network) (string, error) {
	latest, err := latestVersion(ctx, network)
	if err != nil {
		return "", err
	}
	return latest.String(), nil
}

func latestVersion(ctx context.Context, network *Network) (*session.Version, error) {
	client := network.Client()
	client.Timeout = versionTimeout
	defer client.CloseIdleConnections()
	return whatsmeow.GetLatestVersion(ctx, client)
}
