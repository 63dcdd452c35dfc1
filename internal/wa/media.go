package wa

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

// CDN is the network's media servers. Who calls it names the hosts.
type CDN interface {
	Upload(ctx context.Context, conns bridge.MediaConns, f bridge.File) (bridge.UploadedFile, error)
	// Exists reports whether a file is still there.
	Exists(ctx context.Context, conns bridge.MediaConns, file *bridge.Media) (bool, error)
	// HTTPClient reaches the media servers, for whatsmeow's own downloads.
	HTTPClient() *http.Client
}

// MediaConn returns the hosts and the right that the network names now, or, with
// refresh, names anew. It needs the socket.
func (m *Manager) MediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error) {
	l, err := m.open()
	if err != nil {
		return bridge.MediaConn{}, err
	}
	return l.cli.MediaConn(ctx, refresh)
}
