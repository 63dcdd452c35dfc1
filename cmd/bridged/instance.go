package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/client"
	"bridged/internal/media"
	"bridged/internal/store"
	"bridged/internal/wa"
	"bridged/internal/webhook"
)

// The parts of a stop, 10 s in all: requests under way may end by themselves
// first, then they are given up.
const (
	requestsMayEnd  = 5 * time.Second
	requestsMustEnd = 2 * time.Second
)

// instance is a running bridge.
type instance struct {
	log     zerolog.Logger
	dir     *dataDir
	store   *store.Store
	account *wa.Manager
	files   *media.Cache
	server  *http.Server
	address net.Addr
	client  *client.Client

	lifetime     context.Context // of sends that outlive their callers
	giveUp       context.CancelFunc
	streams      context.Context // of event streams, which would hold up a stop
	endStreams   context.CancelFunc
	webhooks     *webhook.Dispatcher
	endPosting   context.CancelFunc
	disconnect   context.CancelFunc
	housekeeping sync.WaitGroup // ends with lifetime
	failed       chan error     // the first of the parts that failed
	running      chan struct{}
}

// launch brings a bridge up with the configuration in environ.
func launch(ctx context.Context, environ []string, log io.Writer) (*instance, error) {
	c, err := readConfig(environ)
	if err != nil {
		return nil, err
	}
	return start(ctx, c, newLog(log, c.level, c.LogFormat))
}

// Client returns a client of the bridge's API, over the wire.
func (i *instance) Client() *client.Client { return i.client }

// start brings a bridge up: store, account, HTTP, in this order, so that
// /healthz answers before the socket is up. The caller must call Stop.
func start(ctx context.Context, c config, log zerolog.Logger) (_ *instance, err error) {
	i := &instance{log: log, failed: make(chan error, 3), running: make(chan struct{})}
	i.lifetime, i.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	i.streams, i.endStreams = context.WithCancel(i.lifetime)
	defer func() {
		if err != nil {
			err = errors.Join(err, i.close())
		}
	}()
	if i.dir, err = openDataDir(c.DataDir); err != nil {
		return nil, err
	}
	if i.store, err = store.Open(ctx, store.Options{Path: i.dir.file("bridged.db"), Log: log}); err != nil {
		return nil, err
	}
	if err = i.store.FailPending(ctx); err != nil {
		return nil, err
	}
	i.account, err = wa.Open(ctx, wa.Options{
		SessionPath: i.dir.file("session.db"), DeviceName: c.DeviceName, PhoneNumber: c.PhoneNumber,
		Network: c.network, Inbox: i.store, Log: log, TempDir: i.dir.file("tmp"), Seal: media.Seal,
	})
	if err != nil {
		return nil, err
	}
	files, preparer, err := openFiles(c, i.dir, i.account, i.store, log)
	if err != nil {
		return nil, err
	}
	i.files = files
	if i.webhooks, err = openWebhooks(ctx, c, i.store, log); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", c.ListenAddr)
	if err != nil {
		return nil, fmt.Errorf("LISTEN_ADDR %s cannot be used: %w (is another program listening there?)", c.ListenAddr, err)
	}
	i.address = listener.Addr()
	i.server = api.NewServer(i.lifetime, api.New(api.Options{
		Store: i.store, Account: i.account, Token: c.Token, EnableSend: c.EnableSend, PhoneNumber: c.PhoneNumber,
		Files: files, Preparer: preparer, FetchTimeout: c.FetchTimeout,
		Webhooks: i.webhooks, WithoutPages: !c.Console, Lifetime: i.lifetime, Streams: i.streams, Log: log,
	}), log)
	reached, err := dialable(i.address.String())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	i.client = client.New("http://"+reached, c.Token)
	if c.network.IsSimulated() {
		log.Warn().Msg("WA_NETWORK_FILE is set: this is a simulated network, not WhatsApp")
	}
	i.run(ctx, listener, c)
	log.Info().Stringer("address", i.address).Bool("enable_send", c.EnableSend).Msg("listening")
	return i, nil
}

// run starts the parts that run until the instance stops.
func (i *instance) run(ctx context.Context, listener net.Listener, c config) {
	connected, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	i.disconnect = disconnect
	posting, endPosting := context.WithCancel(context.WithoutCancel(ctx))
	i.endPosting = endPosting
	i.housekeeping.Go(func() { retain(i.lifetime, i.store, c.RetentionDays, i.log) })
	i.housekeeping.Go(func() { pruneLog(i.lifetime, i.store, c.EventsMaxAge, c.EventsMaxCount, i.log) })
	i.housekeeping.Go(func() {
		if err := i.webhooks.Run(posting); err != nil {
			i.failed <- err
		}
	})
	go func() {
		defer close(i.running)
		if err := i.account.Run(connected); err != nil {
			i.failed <- err
		}
	}()
	go func() {
		if err := i.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			i.failed <- err
		}
	}()
}

// Wait waits until ctx ends or a part fails.
func (i *instance) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-i.failed:
		return err
	}
}

// Stop ends the bridge in order: streams and waiting readers, no new requests,
// those under way end or are given up, the socket is closed, webhooks end, then
// the databases.
func (i *instance) Stop() error {
	i.log.Info().Msg("stopping")
	i.endStreams()
	if err := i.shutdown(requestsMayEnd); err != nil {
		i.log.Warn().Msg("requests still under way are given up")
	}
	i.giveUp()
	i.disconnect()
	if err := i.shutdown(requestsMustEnd); err != nil {
		if err := i.server.Close(); err != nil {
			i.log.Warn().Err(err).Msg("connections not closed")
		}
	}
	select {
	case <-i.running:
	case <-time.After(requestsMustEnd):
		i.log.Warn().Msg("the account did not disconnect in time")
	}
	err := i.close()
	i.log.Info().Msg("stopped")
	return err
}

func (i *instance) shutdown(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return i.server.Shutdown(ctx)
}

// close closes what was opened.
func (i *instance) close() error {
	i.giveUp()
	i.endStreams()
	if i.endPosting != nil {
		i.endPosting()
	}
	i.housekeeping.Wait()
	if i.client != nil {
		i.client.Close()
	}
	var errs []error
	if i.files != nil {
		i.files.Close()
	}
	if i.account != nil {
		errs = append(errs, i.account.Close())
	}
	if i.store != nil {
		errs = append(errs, i.store.Close())
	}
	if i.dir != nil {
		errs = append(errs, i.dir.close())
	}
	return errors.Join(errs...)
}
