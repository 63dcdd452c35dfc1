package fleet

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

const (
	// redialPause is the time between two tries of one server, and redialJitter
	// what is left to chance, so that a fleet does not come back in one moment.
	redialPause  = 500 * time.Millisecond
	redialJitter = time.Second
	// pingPause and pingsLost bound how long a silent connection counts as one.
	pingPause = 10 * time.Second
	pingsLost = 2
	dialTime  = 5 * time.Second
)

// Server is where NATS is, and how it is reached.
type Server struct {
	URL       string // several with commas between
	CredsFile string // of a user, as nsc writes it; read at every connect
	CAFile    string // of certificates to trust, PEM; the system's where it is empty
}

// link is the state of the connection. online holds a token after it was made.
type link struct {
	connected atomic.Bool
	online    chan struct{}

	mu   sync.Mutex
	lost chan struct{} // guarded by mu; closed when the connection is lost
}

func newLink() *link {
	return &link{online: make(chan struct{}, 1), lost: make(chan struct{})}
}

// whileUp returns a context that ends with the connection: the client library
// lets whoever waits for an answer wait on for the next one.
func (l *link) whileUp(ctx context.Context) (context.Context, context.CancelFunc) {
	l.mu.Lock()
	lost := l.lost
	l.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-lost:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// lose ends what waits for an answer over the connection.
func (l *link) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.lost)
	l.lost = make(chan struct{})
}

// dial makes the connection, in the background and without end. What is
// published while it is lost fails at once: whoever publishes must know.
func (l *link) dial(s Server, name string, log zerolog.Logger) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name(name), nats.Timeout(dialTime),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(redialPause), nats.ReconnectJitter(redialJitter, redialJitter), nats.ReconnectBufSize(-1),
		nats.PingInterval(pingPause), nats.MaxPingsOutstanding(pingsLost),
		nats.ConnectHandler(l.up(log)), nats.ReconnectHandler(l.up(log)), nats.DisconnectErrHandler(l.down(log)),
		nats.ReconnectErrHandler(l.failed(log)), nats.ErrorHandler(l.refused(log)),
	}
	if s.CredsFile != "" {
		options = append(options, nats.UserCredentials(s.CredsFile))
	}
	if s.CAFile != "" {
		options = append(options, nats.RootCAs(s.CAFile))
	}
	return nats.Connect(s.URL, options...)
}

func (l *link) up(log zerolog.Logger) nats.ConnHandler {
	return func(nc *nats.Conn) {
		l.connected.Store(true)
		select {
		case l.online <- struct{}{}:
		default:
		}
		log.Info().Str("server", nc.ConnectedServerName()).Msg("connected to NATS")
	}
}

func (l *link) down(log zerolog.Logger) nats.ConnErrHandler {
	return func(nc *nats.Conn, err error) {
		l.connected.Store(false)
		l.lose()
		if !nc.IsClosed() {
			log.Warn().Err(err).Msg("connection to NATS lost; reconnecting")
		}
	}
}

func (l *link) failed(log zerolog.Logger) nats.ConnErrHandler {
	return func(_ *nats.Conn, err error) { log.Debug().Err(err).Msg("NATS cannot be reached; trying again") }
}

// refused logs what the server says of the connection, such as that a subject is
// not permitted.
func (l *link) refused(log zerolog.Logger) nats.ErrHandler {
	return func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn().Err(err).Msg("NATS refused something") }
}
