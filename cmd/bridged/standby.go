package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/config"
	"bridged/internal/fleet"
	"bridged/internal/intake"
)

// standbyPause is the time between two looks whether the directory is free.
const standbyPause = time.Second

// standby is a process of a fleet whose data directory, on a network volume, another
// machine uses. It opens nothing there, and answers why until the directory is free.
type standby struct {
	token [sha256.Size]byte
	since bridge.Time
	open  func() (*dataDir, error)
	inUse func(ctx context.Context, dir *dataDir) error
	pause time.Duration
	log   zerolog.Logger

	mu  sync.Mutex
	why string // guarded by mu
}

// takeDataDir takes the data directory. Within a fleet, one on a network volume is
// waited for; everywhere else one that is in use is an error.
func takeDataDir(ctx context.Context, c config.Config, log zerolog.Logger) (*dataDir, error) {
	if c.NATSURL == "" {
		return openDataDir(c.DataDir)
	}
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return openDataDir(c.DataDir) // whose error says what to do
	}
	if shared, err := isShared(c.DataDir); err != nil || !shared {
		return openDataDir(c.DataDir)
	}
	s := newStandby(c, log)
	dir, err := s.try(ctx)
	if err == nil || !isInUse(err) {
		return dir, err
	}
	listener, err := listen(c.ListenAddr)
	if err != nil {
		return nil, err
	}
	stop := s.serve(ctx, listener, c.MaxConnections)
	dir, err = s.wait(ctx)
	return dir, errors.Join(err, stop())
}

// serve answers behind the same door as the bridge, with its limits on heads,
// connections and times, until stop.
func (s *standby) serve(ctx context.Context, listener net.Listener, maxConnections int) (stop func() error) {
	connections := front.NewConnections(maxConnections)
	connections.Identify(func(r *http.Request) (family int64, known bool) { return intake.Operator, s.isOperator(r) })
	server := front.NewServer(ctx, s, connections, s.log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(connections.Listen(listener)) }()
	return func() error {
		closed := server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return errors.Join(err, closed)
		}
		return closed
	}
}

func newStandby(c config.Config, log zerolog.Logger) *standby {
	return &standby{
		token: sha256.Sum256([]byte(c.Token)), since: bridge.At(time.Now()), pause: standbyPause, log: log,
		open: func() (*dataDir, error) { return lockDataDir(c.DataDir) },
		inUse: func(ctx context.Context, dir *dataDir) error {
			place, err := dir.place()
			if err != nil {
				return err
			}
			return fleet.InUse(ctx, fleetOptions(c), place)
		},
	}
}

// isInUse reports whether an error says that somebody has the directory, or that this
// could not be asked, and not that it cannot be used at all.
func isInUse(err error) bool {
	return errors.Is(err, errDirInUse) || bridge.CodeOf(err) == bridge.CodeNotConnected
}

// try takes the directory, if nobody has it: neither its lock, which may bind nobody on
// another machine, nor the account's key.
func (s *standby) try(ctx context.Context) (*dataDir, error) {
	dir, err := s.open()
	if err != nil {
		return nil, err
	}
	if err := s.inUse(ctx, dir); err != nil {
		return nil, errors.Join(err, dir.close())
	}
	if err := dir.makeRooms(); err != nil {
		return nil, errors.Join(notWritable(err), dir.close())
	}
	return dir, nil
}

// wait takes the directory as soon as nobody has it.
func (s *standby) wait(ctx context.Context) (*dataDir, error) {
	for {
		dir, err := s.try(ctx)
		if err == nil || !isInUse(err) {
			return dir, err
		}
		s.tell(err)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(s.pause):
		}
	}
}

// tell keeps why the directory cannot be used, and logs it once.
func (s *standby) tell(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why := err.Error(); why != s.why {
		s.why = why
		s.log.Warn().Str("reason", why).Msg("standing by: the data directory is not free")
	}
}

// ServeHTTP answers the state, and that nothing else works.
func (s *standby) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	why := s.why
	s.mu.Unlock()
	if r.ContentLength != 0 { // no route of these reads a body
		w.Header().Set("Connection", "close")
		front.RefuseBody(w, r)
	}
	switch {
	case r.URL.Path == "/healthz":
		s.answer(w, http.StatusOK, map[string]any{"ok": true, "ts": bridge.At(time.Now())})
	case !s.isOperator(r):
		s.answer(w, http.StatusUnauthorized, map[string]any{"error": "while this process stands by, only BRIDGE_TOKEN is known", "code": bridge.CodeUnauthorized})
	case r.URL.Path == "/api/auth/status":
		s.answer(w, http.StatusOK, bridge.Status{Status: bridge.StateClosed, Since: s.since, LastError: &why})
	default:
		s.answer(w, http.StatusServiceUnavailable, map[string]any{"error": why, "code": bridge.CodeNotConnected})
	}
}

// isOperator reports whether a request carries BRIDGE_TOKEN.
func (s *standby) isOperator(r *http.Request) bool {
	sum := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}

func (s *standby) answer(w http.ResponseWriter, status int, v any) {
	body, err := bridge.EncodeJSON(v)
	if err != nil {
		panic("standby: an answer cannot be encoded: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := w.Write(append(body, '\n')); err != nil {
		s.log.Debug().Err(err).Msg("answer not read")
	}
}
