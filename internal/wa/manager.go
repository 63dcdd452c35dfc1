// Package wa is the socket manager: it owns the account's one connection, its status,
// pairing, reconnecting and logout, and decides what is acknowledged. Of its rooms,
// session holds the inside of whatsmeow, convert translates between protobufs and bridge
// values, and sending, groups and history do what their names say.
//
// Call [Open], then [Manager.Run] in a goroutine of its own; everything else
// may be called at any time from anywhere. Received facts go to the [Store]
// that the store implements, each stanza's facts in one call, and a stanza is
// acknowledged only after that call succeeded.
//
// The package and its rooms are, with the simulated network, the only importers of
// whatsmeow. They know neither the store's tables nor routes nor status codes.
package wa

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/wa/groups"
	"bridged/internal/wa/history"
	"bridged/internal/wa/sending"
	"bridged/internal/wa/session"
)

// Store is where received facts go, and what sending needs to know of them.
// Save keeps all its facts or none; its failure refuses the acknowledgement.
type Store interface {
	sending.Store
	groups.Store
	history.Store
	// TextErased gives a token after the deletion of a text.
	TextErased() <-chan struct{}
	// Damage returns the damage that is known, with a sentence for people.
	Damage() error
	OwnerOf(ctx context.Context) (bridge.Owner, bool, error)
}

// Options of a [Manager].
type Options struct {
	SessionPath string          // of session.db, whatsmeow's keys, which no other program opens
	DeviceName  string          // what the phone shows under linked devices
	PhoneNumber string          // E.164 digits of the only account that may pair; "" for any
	NewChats    bridge.NewChats // how many chats the account may begin
	// ClientVersion is the version that the client reports, unless a newer one is known; "" for none.
	ClientVersion string
	// HistoryImport says how much of the phone's messages is imported.
	HistoryImport bridge.HistoryImport
	Network       Network
	Store         Store
	Log           zerolog.Logger
	CDN           sending.CDN
	// Typing, unless nil, is called with what a person does in a chat, both by their canonical JIDs. The
	// account is available for it.
	Typing func(chat, person bridge.JID, state bridge.TypingState)
	// PictureChanged, unless nil, is called with the person or group of a new picture.
	PictureChanged func(of bridge.JID)
	// Watch notices files that are taken away, those of others included; without
	// one the session's own are watched.
	Watch *dbfile.Watch
	// Clock is set to the network's time, and measures the phone's absence; nil is the
	// machine's.
	Clock *bridge.Clock
	// Lease decides whether the session may run here; nil where nothing else can
	// run it.
	Lease Lease
}

// Manager is the socket manager of the one account.
type Manager struct {
	*groups.Groups
	*history.History
	*sending.Sender
	opts  Options
	log   zerolog.Logger
	store Store
	db    *session.DB

	background context.Context // of everything that must not die with a request
	stop       context.CancelFunc
	workers    sync.WaitGroup
	handlers   gate       // of the socket's events
	turn       sync.Mutex // held while the facts of a stanza are stored

	commands chan command
	sync     *syncRepair
	rang     chan struct{} // has a token after a call
	pairMu   sync.Mutex    // serialises requests for pairing codes
	traffic  traffic
	phone    phone
	timelock timelock
	stalls   stalls
	quota    quota
	// defaultTimer is of the account's new chats.
	defaultTimer defaultTimer
	ban          ban
	security     security
	loginPause   loginPause
	expiry       expiry
	shallow      atomic.Bool                     // pairs as a browser, whatever history is wanted
	refusals     atomic.Int32                    // in a row
	version      atomic.Pointer[session.Version] // that was looked up, or nil
	hourly       atomic.Int64                    // how long a refused version is left alone; tests change it
	// blocksReadBy is the device that has read the list of blocked people; nil for none.
	blocksReadBy atomic.Pointer[types.JID]
	behind       atomic.Bool // the session may know of people and chats what the store does not

	mu      sync.Mutex // guards the fields below
	status  bridge.Status
	user    *bridge.User
	link    *link    // the client of a session
	pairing *pairing // while there is none
}

// Open opens the session database. Nothing is dialled before [Manager.Run].
func Open(ctx context.Context, opts Options) (*Manager, error) {
	db, err := session.Open(ctx, opts.SessionPath, opts.Log)
	if err != nil {
		return nil, err
	}
	if opts.Watch, err = db.Watch(opts.Watch); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	m := &Manager{
		opts: opts, log: opts.Log, store: opts.Store, db: db,
		background: background, stop: stop,
		commands: make(chan command),
		rang:     make(chan struct{}, 1),
	}
	m.expiry.wake = make(chan struct{}, 1)
	m.hourly.Store(int64(refusedPause))
	m.status = bridge.Status{Status: bridge.StateIdle, Since: bridge.At(time.Now())}
	m.behind.Store(true)
	m.Sender = sending.New(sending.Options{
		Store: opts.Store, CDN: opts.CDN, Log: opts.Log, Clock: opts.Clock, NewChats: opts.NewChats, Connection: m.openClient,
		Own: m.own, PushName: func() string { return m.presentUser().PushName }, Timelock: m.timelock.left, Capped: m.quota.left, NewChatRefused: m.newChatRefused, DefaultTimer: m.defaultTimer.present, Background: background,
		Available: opts.Typing != nil,
	})
	m.Groups = groups.New(groups.Options{
		Open: m.openGroups, Own: m.own, Within: m.Within, Answer: func() time.Duration { return m.Waits.Answer },
		Refusal: m.AccountRefusal, IsLost: func(err error) bool { again, _ := sending.Uncertain(err); return again },
		Background: background, Store: opts.Store, Clock: opts.Clock, Log: opts.Log,
	})
	m.History = history.New(history.Options{
		Open: m.openHistory, Own: m.own, Within: m.Within, WireID: m.WireID, Import: opts.HistoryImport,
		Background: background, Store: opts.Store, Clock: opts.Clock, Log: opts.Log,
	})
	m.sync = newSyncRepair(m)
	if err := m.loadUser(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// ReleaseMemory gives back the pages of the session database that are kept. It
// waits for what is using the database.
func (m *Manager) ReleaseMemory(ctx context.Context) error { return m.db.ReleaseMemory(ctx) }

// loadUser reads whose session there is, so that the status is right before
// the first dial.
func (m *Manager) loadUser(ctx context.Context) error {
	device, err := m.db.Device(ctx)
	if err != nil {
		return err
	}
	m.setUser(device.User())
	if !device.IsLinked() {
		// The program may have been killed while it wiped a session.
		if err := errors.Join(m.db.Erase(ctx), m.History.Forget(ctx)); err != nil {
			return err
		}
	}
	return errors.Join(m.loadPhoneSeen(ctx), m.loadRestrictions(ctx), m.loadDefaultTimer(ctx), m.loadSecurity(ctx), m.loadLoginPause(ctx), m.loadExpiry(ctx))
}

// Run keeps the account connected until ctx ends, then disconnects. It
// returns an error only when the session database cannot be used.
func (m *Manager) Run(ctx context.Context) error {
	defer m.stop()
	if err := m.db.LoadIdentities(ctx); err != nil {
		return err
	}
	m.warnOfOtherPhone(ctx)
	m.prepareVersion(ctx)
	m.History.Compare(ctx)
	m.workers.Go(func() { m.Groups.Run(m.background) })
	m.workers.Go(func() { m.History.Run(m.background) })
	m.workers.Go(func() { m.sync.run(m.background) })
	m.workers.Go(func() { m.Sender.Run(m.background) })
	m.workers.Go(func() { m.renewExpiring(m.background) })
	if !m.missCalls(ctx, 0) { // what rang when the process ended
		m.rang <- struct{}{}
	}
	m.workers.Go(func() { m.watchCalls(m.background) })
	m.workers.Go(func() { m.db.KeepLogShort(m.background, m.store.TextErased(), m.log) })
	m.workers.Go(func() { m.db.KeepClean(m.background, m.openSince, m.log) })
	err := m.supervise(ctx)
	m.handlers.shut() // they may still begin work
	m.setState(bridge.StateIdle, "")
	m.stop()
	m.workers.Wait()
	return err
}

// openSince returns since when the account is open; not ok while it is not.
func (m *Manager) openSince() (since time.Time, ok bool) {
	status := m.Status()
	return status.Since.Time, status.Status == bridge.StateOpen
}

// Close closes the session database, after Run has returned.
func (m *Manager) Close() error {
	m.stop()
	m.opts.CDN.HTTPClient().CloseIdleConnections()
	return m.db.Close()
}
