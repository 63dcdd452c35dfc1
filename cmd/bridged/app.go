package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/console"
	"bridged/internal/fleet"
	"bridged/internal/media"
	"bridged/internal/store"
	"bridged/internal/upkeep"
	"bridged/internal/wa"
	"bridged/internal/wa/convert"
	"bridged/internal/webhook"
)

// The parts of a stop, 10 s in all: requests under way may end by themselves
// first, then they are given up.
const (
	requestsMayEnd  = 5 * time.Second
	requestsMustEnd = 2 * time.Second
)

// app holds the parts of a running bridge.
type app struct {
	log      zerolog.Logger
	dir      *dataDir
	store    *store.Store
	account  *wa.Manager
	files    *media.Cache
	preparer *media.Preparer
	pictures *media.Pictures
	webhooks *webhook.Dispatcher
	server   *http.Server
	console  *console.Console // nil where it is switched off
	fleet    *fleet.Fleet     // nil without NATS
	client   *client.Client

	lifetime   context.Context // of sends that outlive their callers
	giveUp     context.CancelFunc
	streams    context.Context // of event streams, which would hold up a stop
	endStreams context.CancelFunc
	endPosting context.CancelFunc
	disconnect context.CancelFunc
	background sync.WaitGroup // housekeeping, webhooks and the fleet
	failed     chan error     // the first of the parts that failed
	running    chan struct{}  // closed when the account has ended
}

// launch brings a bridge up with the configuration in environ.
func launch(ctx context.Context, environ []string, log io.Writer) (*app, error) {
	c, err := config.Read(environ)
	if err != nil {
		return nil, err
	}
	return start(ctx, c, newLog(log, c.Level, c.LogFormat))
}

// Client returns a client of the bridge's API, over the wire.
func (a *app) Client() *client.Client { return a.client }

// start brings a bridge up: store, account, HTTP, in this order, so that
// /healthz answers before the socket is up. The caller must call Stop.
func start(ctx context.Context, c config.Config, log zerolog.Logger) (_ *app, err error) {
	a := &app{log: log, failed: make(chan error, 4), running: make(chan struct{})}
	a.lifetime, a.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	a.streams, a.endStreams = context.WithCancel(a.lifetime)
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if err = a.openStore(ctx, c); err != nil {
		return nil, err
	}
	state := func() string { return string(a.account.Status().Status) } // asked for once it runs
	if a.fleet, err = newFleet(c, a.dir, a.store, state, log); err != nil {
		return nil, err
	}
	if err = a.openAccount(ctx, c); err != nil {
		return nil, err
	}
	if a.webhooks, err = openWebhooks(ctx, c, a.store, log); err != nil {
		return nil, err
	}
	connections := front.NewConnections(c.MaxConnections)
	router := a.handler(c, connections)
	if a.fleet != nil {
		a.fleet.TakeRequests(router)
	}
	if a.console, err = a.openConsole(c, router); err != nil {
		return nil, err
	}
	listener, err := listen(c.ListenAddr)
	if err != nil {
		return nil, err
	}
	a.server = front.NewServer(a.lifetime, a.withAgents(c, router, withConsole(router, a.console)), connections, log)
	a.client = client.New("http://"+dialable(listener.Addr().String()), c.Token)
	greet(log, c, listener.Addr())
	a.run(ctx, connections.Listen(listener), c)
	return a, nil
}

// openStore takes the data directory and opens the store in it. What an
// earlier run left pending has failed.
func (a *app) openStore(ctx context.Context, c config.Config) (err error) {
	if a.dir, err = openDataDir(c.DataDir); err != nil {
		return err
	}
	if a.store, err = store.Open(ctx, store.Options{Path: a.dir.file("bridged.db"), Watch: a.dir.watch, Log: a.log, MergeEdit: convert.MergeEdit, Open: convert.OpenEncrypted}); err != nil {
		return err
	}
	return a.store.FailPending(ctx)
}

// openAccount opens the account's session and the way of its files. Nothing is
// dialled until the account runs.
func (a *app) openAccount(ctx context.Context, c config.Config) (err error) {
	cdn := newCDN(c, a.dir, a.log)
	a.account, err = wa.Open(ctx, wa.Options{
		SessionPath: a.dir.file("session.db"), DeviceName: c.DeviceName, PhoneNumber: c.PhoneNumber,
		HistoryImport: c.HistoryImport,
		NewChats:      bridge.NewChats{PerDay: c.NewChatsPerDay, MinGap: c.NewChatsMinGap},
		Network:       c.Network, Store: a.store, Log: a.log, Watch: a.dir.watch, Clock: a.store.Clock(), CDN: cdn,
		PictureChanged: a.forgetPicture, Lease: a.lease(),
	})
	if err != nil {
		return err
	}
	if a.pictures, err = openPictures(a.dir, cdn, a.account, a.store, a.log); err != nil {
		return err
	}
	a.files, a.preparer, err = openFiles(c, a.dir, cdn, a.account, a.store, a.log)
	return err
}

// releaseMemory gives back the pages of the databases.
func (a *app) releaseMemory(ctx context.Context) error {
	return errors.Join(a.store.ReleaseMemory(ctx), a.account.ReleaseMemory(ctx))
}

// forgetPicture drops the picture of somebody who has changed it, by both names.
func (a *app) forgetPicture(of bridge.JID) {
	a.pictures.Forget(of, a.store.Canonical(of), a.store.LIDOf(of))
}

// handler returns the router of the API.
func (a *app) handler(c config.Config, connections *front.Connections) *api.Handler {
	return api.New(api.Options{
		Connections: connections, Sessions: a.tokenOfSession,
		Store: a.store, Account: a.account, Token: c.Token, EnableSend: c.EnableSend, PhoneNumber: c.PhoneNumber,
		HistoryImport: c.HistoryImport,
		Files:         a.files, Preparer: a.preparer, Pictures: a.pictures, FetchTimeout: c.FetchTimeout,
		PublicURL: publicURL(c),
		Webhooks:  a.webhooks, WithoutPages: !c.Console, Lifetime: a.lifetime, Streams: a.streams, Log: a.log,
		Build: api.Build{Version: version, Library: libraryVersion()}, Metrics: a.metrics(),
	})
}

// run starts the parts that run until the app stops.
func (a *app) run(ctx context.Context, listener net.Listener, c config.Config) {
	connected, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	a.disconnect = disconnect
	posting, endPosting := context.WithCancel(context.WithoutCancel(ctx))
	a.endPosting = endPosting
	a.background.Go(func() {
		upkeep.Run(a.lifetime, upkeep.Options{
			RetentionDays: int(c.RetentionDays), EventsMaxAge: c.EventsMaxAge, EventsMaxCount: c.EventsMaxCount,
			Store: a.store, Files: a.files, Webhooks: a.webhooks, ReleaseMemory: a.releaseMemory, Log: a.log,
		})
	})
	a.background.Go(func() {
		if err := a.webhooks.Run(posting); err != nil {
			a.failed <- err
		}
	})
	if a.fleet != nil {
		a.background.Go(func() {
			if err := a.fleet.Run(posting); err != nil {
				a.failed <- err
			}
		})
	}
	go func() {
		defer close(a.running)
		if err := a.account.Run(connected); err != nil {
			a.failed <- err
		}
	}()
	go func() {
		if err := a.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- err
		}
	}()
}

// Wait waits until ctx ends or a part fails.
func (a *app) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-a.failed:
		return err
	}
}

// Stop ends the bridge in order: streams and waiting readers, no new requests,
// those under way end or are given up, the socket is closed, webhooks end, then
// the databases.
func (a *app) Stop() error {
	a.log.Info().Msg("stopping")
	a.endStreams()
	if err := a.shutdown(requestsMayEnd); err != nil {
		a.log.Warn().Msg("requests still under way are given up")
	}
	a.giveUp()
	a.disconnect()
	if err := a.shutdown(requestsMustEnd); err != nil {
		if err := a.server.Close(); err != nil {
			a.log.Warn().Err(err).Msg("connections not closed")
		}
	}
	select {
	case <-a.running:
	case <-time.After(requestsMustEnd):
		a.log.Warn().Msg("the account did not disconnect in time")
	}
	err := a.close()
	a.log.Info().Msg("stopped")
	return err
}

func (a *app) shutdown(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return a.server.Shutdown(ctx)
}

// close closes what was opened.
func (a *app) close() error {
	a.giveUp()
	a.endStreams()
	if a.endPosting != nil {
		a.endPosting()
	}
	a.background.Wait()
	if a.client != nil {
		a.client.Close()
	}
	var errs []error
	if a.files != nil {
		a.files.Close()
	}
	if a.account != nil {
		errs = append(errs, a.account.Close())
	}
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	if a.dir != nil {
		errs = append(errs, a.dir.close())
	}
	return errors.Join(errs...)
}
