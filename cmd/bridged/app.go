package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/api/front"
	"bridged/internal/api/metrics"
	"bridged/internal/api/stream"
	"bridged/internal/backup"
	"bridged/internal/bridge"
	"bridged/internal/chatexport"
	"bridged/internal/chatimport"
	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/console"
	"bridged/internal/dbfile"
	"bridged/internal/fleet"
	"bridged/internal/maintenance"
	"bridged/internal/media"
	"bridged/internal/media/cdn"
	"bridged/internal/media/disk"
	"bridged/internal/media/files"
	"bridged/internal/oauth"
	"bridged/internal/preview"
	"bridged/internal/schedule"
	"bridged/internal/store"
	"bridged/internal/transcribe"
	"bridged/internal/urlguard"
	"bridged/internal/wa"
	"bridged/internal/wa/convert"
	"bridged/internal/webhook"
)

// The timeouts of a stop, which takes at most 10 s together with the erasing of deleted messages in the store.
const (
	requestsTimeout = 5 * time.Second         // for requests to finish
	cancelTimeout   = 1500 * time.Millisecond // for requests, and then the account, to end after they are cancelled
	filesTimeout    = 500 * time.Millisecond  // for removing the files of deleted messages
)

// Limits of the files on the disk.
const (
	maxPictureBytes   = 64 << 20 // pictures of people and groups
	maxThumbnailBytes = 128 << 20
)

type app struct {
	log      zerolog.Logger
	dir      *dataDir
	store    *store.Store
	account  *wa.Manager
	files    *files.Cache
	imported *files.Imported
	preparer *media.Preparer
	exports  *media.Preparer // receives uploads of exported chats
	importer *chatimport.Importer
	schedule *schedule.Schedule
	pictures *files.Pictures
	thumbs   *files.Thumbnails
	live     *stream.Live
	webhooks *webhook.Dispatcher
	router   *api.Handler
	server   *http.Server
	console  *console.Console        // nil if it is switched off
	oauth    *oauth.Server           // nil without MCP_OAUTH
	compat   bool                    // whether a compatibility API is served
	urlToken bool                    // whether clients of a compatibility API may have their key in the URL
	fleet    *fleet.Fleet            // nil without NATS
	voices   *transcribe.Transcriber // nil without TRANSCRIBE_URL
	backups  *backup.Schedule        // nil without BACKUP_DIR
	client   *client.Client

	lifetime   context.Context // of sends, which continue after their caller is gone
	cancel     context.CancelFunc
	streams    context.Context // of event streams, which end first
	endStreams context.CancelFunc
	posting    context.Context // of webhooks and the fleet
	endPosting context.CancelFunc
	disconnect context.CancelFunc
	background sync.WaitGroup // maintenance, webhooks and the fleet
	closers    []func() error // close the parts that were opened; the last one is called first
	failed     chan error     // why a part has failed
	ended      chan struct{}  // closed when the account has ended
}

// Client returns a client that calls the bridge's API over TCP.
func (a *app) Client() *client.Client { return a.client }

// launch starts a bridge with the configuration in environ: the store, the account, then HTTP. HTTP
// answers before the account is connected. The caller must call Stop.
func launch(ctx context.Context, environ []string, logged io.Writer) (_ *app, err error) {
	c, err := config.Read(environ)
	if err != nil {
		return nil, err
	}
	log := newLog(logged, c.Level, c.LogFormat)
	a := &app{log: log, failed: make(chan error, 4), ended: make(chan struct{})}
	a.lifetime, a.cancel = context.WithCancel(context.WithoutCancel(ctx))
	a.streams, a.endStreams = context.WithCancel(a.lifetime)
	a.posting, a.endPosting = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if err = a.openStore(ctx, c); err != nil {
		return nil, err
	}
	state := func() string { return string(a.account.Status().Status) } // called after the account is open
	if a.fleet, err = newFleet(c, a.dir, a.store, state, log); err != nil {
		return nil, err
	}
	if err = a.openAccount(ctx, c); err != nil {
		return nil, err
	}
	a.webhooks = webhook.New(webhook.Options{
		Store: a.store, Guard: urlguard.New(urlguard.Options{UserAgent: userAgent(), AllowPrefixes: c.FetchAllow}),
		AllowPrivate: c.PrivateHooks, UserAgent: userAgent(), Log: log,
		Formats: formats(c), Own: a.own, OpenFile: a.openFile,
	})
	if err = a.webhooks.Configure(ctx, c.Webhooks); err != nil {
		return nil, err
	}
	a.voices, a.backups = a.newTranscriber(c), a.newBackups(c)
	a.compat, a.urlToken = len(c.Adapters)+len(c.AdapterListeners) > 0, c.CompatURLToken
	connections, previews := front.NewConnections(c.MaxConnections), a.previews(c)
	a.schedule, err = schedule.New(ctx, schedule.Options{
		Store: a.store, Account: a.account, Dir: a.dir.file("scheduled"), Grace: c.ScheduleGrace, Preview: previews.Find, Log: log,
	})
	if err != nil {
		return nil, err
	}
	a.router = a.handler(c, connections, previews)
	router := a.router
	if a.fleet != nil {
		a.fleet.ServeRequests(router, router.Tree)
	}
	a.oauth = a.newOAuth(c, router)
	if a.console, err = a.openConsole(c, router); err != nil {
		return nil, err
	}
	serving := http.Handler(router)
	if a.console != nil {
		serving = choose(console.Serves, a.console, serving)
	}
	if serving, err = a.withAgents(c, router, serving); err != nil {
		return nil, err
	}
	serving, others, err := a.withAdapters(c, router, serving)
	if err != nil {
		return nil, err
	}
	listener, err := listen("LISTEN_ADDR", c.ListenAddr)
	if err != nil {
		return nil, err
	}
	a.server = front.NewServer(a.lifetime, front.Callers(c.PublicURLs, serving), connections, log)
	a.client = client.New("http://"+dialable(listener.Addr().String()), c.Token)
	a.closers = append(a.closers, func() error { a.client.Close(); return nil })
	greet(log, c, listener.Addr())
	for _, other := range others {
		go a.serve(connections.Listen(other))
	}
	a.run(ctx, connections.Listen(listener), c, router)
	return a, nil
}

// openStore locks the data directory and opens the store in it. It marks messages as failed that an
// earlier run left pending.
func (a *app) openStore(ctx context.Context, c config.Config) (err error) {
	if a.dir, err = openDataDir(c.DataDir); err != nil {
		return err
	}
	a.closers = append(a.closers, a.dir.close)
	spare := &dbfile.Spare{Path: a.dir.file("spare")}
	if err := spare.Fill(); err != nil {
		a.log.Warn().Err(err).Msg("cannot reserve space for revoking tokens on a full disk")
	}
	if a.store, err = store.Open(ctx, store.Options{Path: a.dir.file("bridged.db"), Watch: a.dir.watch, Log: a.log, MergeEdit: convert.MergeEdit, WithoutQuote: convert.WithoutQuote, Open: convert.OpenEncrypted, Transcribe: bridge.TranscribeMode(c.Transcribe), Spare: spare}); err != nil {
		return err
	}
	a.closers = append(a.closers, a.store.Close, a.removeErased)
	return a.store.FailPending(ctx)
}

// openAccount opens the account's session and its files. It does not dial.
func (a *app) openAccount(ctx context.Context, c config.Config) (err error) {
	servers := cdn.New(cdn.Options{Proxy: c.Network.Proxy, Authority: c.Network.Authority(), TempDir: a.dir.file("tmp"), Log: a.log})
	var lease wa.Lease
	if a.fleet != nil {
		lease = a.fleet
	}
	var noteTyping func(chat, person bridge.JID, state bridge.TypingState)
	a.live = stream.NewLive(a.store.Clock().Now)
	if c.ShowTyping {
		noteTyping = a.live.NoteTyping
	}
	a.account, err = wa.Open(ctx, wa.Options{
		SessionPath: a.dir.file("session.db"), DeviceName: c.DeviceName, ClientVersion: c.ClientVersion, PhoneNumber: c.PhoneNumber,
		HistoryImport: c.HistoryImport,
		NewChats:      bridge.NewChats{PerDay: c.NewChatsPerDay, MinGap: c.NewChatsMinGap},
		Network:       c.Network, Store: a.store, Log: a.log, Watch: a.dir.watch, Clock: a.store.Clock(), CDN: servers,
		PictureChanged: a.forgetPicture, Typing: noteTyping, Lease: lease,
	})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, a.account.Close)
	a.pictures, err = files.NewPictures(files.PicturesOptions{
		Dir: a.dir.file("pictures"), MaxBytes: maxPictureBytes, CDN: servers, Account: a.account, Now: a.store.Clock().Now, Log: a.log,
	})
	if err != nil {
		return explained(a.dir.file("pictures"), err)
	}
	if a.imported, err = files.OpenImported(ctx, a.dir.file("imported"), a.store.NeedsImportedFile); err != nil {
		return explained(a.dir.file("imported"), err)
	}
	a.thumbs, err = files.NewThumbnails(files.ThumbnailsOptions{
		Dir: a.dir.file("thumbnails"), MaxBytes: maxThumbnailBytes, Embedded: convert.Thumbnail, Log: a.log,
		Scale: func(ctx context.Context, from io.Reader, side int) ([]byte, error) {
			return a.preparer.ScaleFrom(ctx, from, side)
		},
	})
	if err != nil {
		return explained(a.dir.file("thumbnails"), err)
	}
	a.files, err = files.NewCache(files.CacheOptions{
		Imported: a.imported, Thumbnails: a.thumbs,
		Dir: a.dir.file("media"), MaxBytes: int64(c.MediaCacheBytes), MaxFile: int64(c.MediaMaxBytes), CDN: servers, Account: a.account, HasFile: a.hasFile, Log: a.log,
	})
	if err != nil {
		return explained(a.dir.file("media"), err)
	}
	a.closers = append(a.closers, func() error { a.files.Close(); return nil })
	if len(c.FetchAllow) > 0 {
		a.log.Warn().Strs("prefixes", strings.Split(c.SimulatedFetchAllow, ",")).Msg("SIMULATED_FETCH_ALLOW is set: send-media also fetches from these private addresses")
	}
	guard := urlguard.New(urlguard.Options{Timeout: c.FetchTimeout, UserAgent: userAgent(), AllowPrefixes: c.FetchAllow})
	converter, err := newConverter(c)
	if err != nil {
		return err
	}
	a.preparer = media.NewPreparer(media.PreparerOptions{
		Guard: guard, TempDir: a.dir.file("tmp"), MaxBytes: int64(c.MediaMaxBytes), Room: a.files.MakeRoom, Converter: converter, Log: a.log,
	})
	a.exports = media.NewPreparer(media.PreparerOptions{TempDir: a.dir.file("tmp"), MaxBytes: int64(c.ImportMaxBytes), Setting: "IMPORT_MAX_BYTES", Room: a.files.MakeRoom, Log: a.log})
	a.importer, err = chatimport.New(a.lifetime, chatimport.Options{
		Store: a.store, Files: a.imported, Limits: chatexport.Limits{File: int64(c.MediaMaxBytes), Sum: int64(c.ImportMaxBytes)},
		Quota: int64(c.ImportQuota), Reserve: &disk.Reserve{Dir: a.dir.file("")},
		Me: func() *bridge.User { return a.account.Status().User }, Lifetime: a.lifetime, Zone: operatorZone(), Now: a.store.Clock().Now, Progress: a.live.NoteImport, Log: a.log,
	})
	a.closers = append(a.closers, func() error { a.importer.Close(); return nil })
	return err
}

// removeErased removes the files of messages that were deleted shortly before. The account must be closed.
func (a *app) removeErased() error {
	if a.files == nil || a.imported == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), filesTimeout)
	defer cancel()
	maintenance.Finish(ctx, maintenance.Options{Store: a.store, Files: a.files, Imported: a.imported, Log: a.log})
	return nil
}

// hasFile reports whether a message still has the file that it had when it was read earlier.
func (a *app) hasFile(ctx context.Context, earlier bridge.Message) (bool, error) {
	m, err := a.store.Message(ctx, earlier.Chat, earlier.ID)
	switch {
	case bridge.CodeOf(err) == bridge.CodeNotFound:
		return false, nil
	case err != nil:
		return false, err
	}
	return m.Media != nil && bytes.Equal(m.Media.Ref.FileEncSHA256, earlier.Media.Ref.FileEncSHA256), nil
}

// forgetPicture removes a person's picture, which is stored by both JIDs, after it has changed.
func (a *app) forgetPicture(of bridge.JID) {
	a.pictures.Forget(of, a.store.Canonical(of), a.store.LIDOf(of))
}

func (a *app) handler(c config.Config, connections *front.Connections, previews *preview.Finder) *api.Handler {
	publicURL := ""
	if len(c.PublicURLs) > 0 {
		publicURL = c.PublicURLs[0].String()
	}
	collectors := append(a.webhooks.Metrics(), a.schedule, disk.Metric(a.dir.file("")))
	if a.fleet != nil {
		collectors = append(collectors, a.fleet.Metrics()...)
	}
	if a.voices != nil {
		collectors = append(collectors, a.voices.Metrics()...)
	}
	if a.backups != nil {
		collectors = append(collectors, a.backups.Metrics()...)
	}
	return api.New(api.Options{
		Connections: connections, TreeOf: a.treeOf,
		Store: a.store, Account: a.account, Token: c.Token, EnableSend: c.EnableSend, PhoneNumber: c.PhoneNumber,
		HistoryImport: c.HistoryImport,
		Files:         a.files, Preparer: a.preparer, Pictures: a.pictures, Live: a.live, FetchTimeout: c.FetchTimeout,
		Importer: a.importer, Exports: a.exports, Schedule: a.schedule,
		PublicURL: publicURL, BasePath: c.BasePath, CORSOrigins: c.AllowedOrigins, Transcription: transcription(c), Backups: a.backupState(),
		Preview: previews.Find, LinkPreviews: c.LinkPreviews,
		Webhooks: a.webhooks, WithoutPages: !c.Console, Lifetime: a.lifetime, Streams: a.streams, Log: a.log,
		Build: metrics.Build{Version: version, Library: libraryVersion()}, Metrics: collectors,
	})
}

// previews returns a finder of link previews. Its downloads have a limit of their own, apart from those of files.
func (a *app) previews(c config.Config) *preview.Finder {
	guard := urlguard.New(urlguard.Options{UserAgent: userAgent(), MaxConcurrent: 8, AllowPrefixes: c.FetchAllow})
	return preview.New(preview.Options{Guard: guard, Scale: a.preparer.Scale, Log: a.log})
}

func (a *app) run(ctx context.Context, listener net.Listener, c config.Config, router *api.Handler) {
	var connected context.Context
	connected, a.disconnect = context.WithCancel(context.WithoutCancel(ctx))
	runPart := func(ctx context.Context, run func(context.Context) error) {
		if err := run(ctx); err != nil {
			a.failed <- err
		}
	}
	maintenanceOptions := maintenance.Options{
		RetentionDays: int(c.RetentionDays), EventsMaxAge: c.EventsMaxAge, EventsMaxCount: c.EventsMaxCount,
		Store: a.store, Files: a.files, Imported: a.imported, Webhooks: a.webhooks, Log: a.log,
		ReleaseMemory: func(ctx context.Context) error {
			return errors.Join(a.store.ReleaseMemory(ctx), a.account.ReleaseMemory(ctx))
		},
	}
	a.background.Go(func() { maintenance.Run(a.lifetime, maintenanceOptions) })
	a.background.Go(func() { a.schedule.Run(a.lifetime, router) })
	a.background.Go(func() { runPart(a.posting, a.webhooks.Run) })
	if a.fleet != nil {
		a.background.Go(func() { runPart(a.posting, a.fleet.Run) })
	}
	if a.oauth != nil {
		a.background.Go(func() { a.oauth.Run(a.lifetime) })
	}
	if a.voices != nil {
		a.background.Go(func() { a.voices.Run(a.lifetime) })
	}
	if a.backups != nil {
		a.background.Go(func() { a.backups.Run(a.lifetime) })
	}
	go func() {
		defer close(a.ended)
		runPart(connected, a.account.Run)
	}()
	go a.serve(listener)
}

// serve serves a listener until the server is closed.
func (a *app) serve(listener net.Listener) {
	if err := a.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		a.failed <- err
	}
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

// Stop ends the bridge in this order: streams, requests, the connection to WhatsApp, webhooks, the
// databases.
func (a *app) Stop() error {
	a.log.Info().Msg("stopping")
	a.endStreams()
	if err := a.shutdown(requestsTimeout); err != nil {
		a.log.Warn().Msg("cancelling the requests that are still running")
	}
	a.cancel()
	a.disconnect()
	if err := a.shutdown(cancelTimeout); err != nil {
		if err := a.server.Close(); err != nil {
			a.log.Warn().Err(err).Msg("cannot close the connections")
		}
	}
	select {
	case <-a.ended:
	case <-time.After(cancelTimeout):
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

func (a *app) close() error {
	a.cancel()
	a.endStreams()
	a.endPosting()
	a.background.Wait()
	var errs []error
	for _, closePart := range slices.Backward(a.closers) {
		errs = append(errs, closePart())
	}
	return errors.Join(errs...)
}
