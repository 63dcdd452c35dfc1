package fleet

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

const (
	// redialPause and up to redialJitter pass before the next attempt, so that the bridges of a
	// fleet do not all reconnect at the same moment.
	redialPause  = 500 * time.Millisecond
	redialJitter = time.Second
	// A connection without traffic counts as lost after pingsLost unanswered pings.
	pingPause   = 10 * time.Second
	pingsLost   = 2
	dialTimeout = 5 * time.Second
)

// Server says how to reach NATS.
type Server struct {
	URL       string // one URL, or several separated by commas
	CredsFile string // a user's credentials file, as nsc writes it; read at every connect
	CAFile    string // trusted certificates, PEM; empty for the system's
}

// link is the connection of the account. All parts of a fleet share it.
type link struct {
	options Options
	log     zerolog.Logger

	// Set by Fleet.Run.
	nc      *nats.Conn
	js      jetstream.JetStream
	account string // digits of the phone number

	connected atomic.Bool
	published atomic.Uint64 // number of events
	event     atomic.Int64  // the last published event
	online    chan struct{} // has an element after the connection was made

	mu   sync.Mutex
	up   context.Context // ends when the connection is lost; guarded by mu
	lose func()          // guarded by mu
}

func newLink(o Options, log zerolog.Logger) *link {
	l := &link{options: o, log: log, online: make(chan struct{}, 1)}
	l.up, l.lose = context.WithCancel(context.Background())
	return l
}

// whileUp returns a context that also ends when the connection is lost. Without it, calls that
// wait for an answer would wait for the next connection.
func (l *link) whileUp(ctx context.Context) (context.Context, context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.up, cancel)
	return ctx, func() { stop(); cancel() }
}

// dial connects in the background and never gives up. While the connection is lost, publishing
// fails at once.
func (l *link) dial() (*nats.Conn, error) {
	s, log := l.options.Server, l.log
	made := func(nc *nats.Conn) {
		l.connected.Store(true)
		bridge.Wake(l.online)
		log.Info().Str("server", nc.ConnectedServerName()).Msg("connected to NATS")
	}
	lost := func(nc *nats.Conn, err error) {
		l.connected.Store(false)
		l.mu.Lock()
		l.lose()
		l.up, l.lose = context.WithCancel(context.Background())
		l.mu.Unlock()
		if !nc.IsClosed() {
			log.Warn().Err(err).Msg("connection to NATS lost; reconnecting")
		}
	}
	options := []nats.Option{
		nats.Name(l.options.Name), nats.Timeout(dialTimeout),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(redialPause), nats.ReconnectJitter(redialJitter, redialJitter), nats.ReconnectBufSize(-1),
		nats.PingInterval(pingPause), nats.MaxPingsOutstanding(pingsLost),
		nats.ConnectHandler(made), nats.ReconnectHandler(made), nats.DisconnectErrHandler(lost),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { log.Debug().Err(err).Msg("cannot reach NATS; trying again") }),
		// For example a subject without permission.
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn().Err(err).Msg("NATS reported an error") }),
	}
	return nats.Connect(s.URL, append(options, s.identity()...)...)
}

// minVersion is the first server version that also checks in a cluster which message was an
// account's last before it stores the next one (nats-server 7060).
var minVersion = [2]int{2, 12}

// checkVersion refuses servers that may store an event twice.
func checkVersion(version string) error {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return nil // a development build
	}
	if major > minVersion[0] || major == minVersion[0] && minor >= minVersion[1] {
		return nil
	}
	return fmt.Errorf("the NATS server has version %s, but publishing events needs %d.%d or later: update the servers of NATS_URL one by one", version, minVersion[0], minVersion[1])
}

// identity returns the options by which a server and its clients trust each other.
func (s Server) identity() (options []nats.Option) {
	if s.CredsFile != "" {
		options = append(options, nats.UserCredentials(s.CredsFile))
	}
	if s.CAFile != "" {
		options = append(options, nats.RootCAs(s.CAFile))
	}
	return options
}

// Check connects to one of the servers once, and returns its version. It takes within for each
// server at most.
func (s Server) Check(within time.Duration) (version string, err error) {
	nc, err := nats.Connect(s.URL, append(s.identity(), nats.Timeout(within), nats.NoReconnect())...)
	if err != nil {
		return "", err
	}
	defer nc.Close()
	return nc.ConnectedServerVersion(), nil
}
