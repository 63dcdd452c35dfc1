// Package wa manages the account's WhatsApp connection: its status, pairing, reconnecting,
// logout, and the decision to acknowledge a stanza. Its subpackages do the rest: session contains
// whatsmeow's internals, convert translates between protobufs and bridge values, and sending,
// groups, history and offline do what their names say.
//
// Call [Open], then [Manager.Run] in its own goroutine. All other methods may be called
// concurrently and at any time. Received facts are saved in the [Store], the facts of one stanza
// in one call. A stanza is acknowledged only after that call has succeeded.
//
// Apart from the simulated network, only this package and its subpackages import whatsmeow. They
// know neither the store's tables nor routes nor HTTP status codes.
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

// Store stores received facts and answers questions about them. Save stores either all its facts
// or none. If it fails, the stanza is not acknowledged.
type Store interface {
	sending.Store
	groups.Store
	history.Store
	// TextErased returns a channel that receives an element after the deletion of a text.
	TextErased() <-chan struct{}
	// Damage returns the known damage, as an error with a sentence for users, or nil.
	Damage() error
	OwnerOf(ctx context.Context) (bridge.Owner, bool, error)
	Contacts(ctx context.Context, q bridge.ContactQuery) (bridge.Page[bridge.KnownContact], error)
}

// Options configures a [Manager].
type Options struct {
	SessionPath string          // of session.db, whatsmeow's keys; no other program may open it
	DeviceName  string          // shown on the phone under linked devices
	PhoneNumber string          // E.164 digits of the only account that may pair; "" for any
	NewChats    bridge.NewChats // limits the chats that the account may start
	// ClientVersion is the version that the client reports, unless a newer one is known; "" for
	// none.
	ClientVersion string
	// HistoryImport says how many of the phone's messages are imported.
	HistoryImport bridge.HistoryImport
	Network       Network
	Store         Store
	Log           zerolog.Logger
	CDN           sending.CDN
	// Typing, if not nil, is called when a person types in a chat, both as canonical JIDs. The
	// account is then available all the time, because the network requires that.
	Typing func(chat, person bridge.JID, state bridge.TypingState)
	// PictureChanged, if not nil, is called with the person or group of a new picture.
	PictureChanged func(of bridge.JID)
	// Watch notices removed files, including the files of other packages. If it is nil, only the
	// session's files are watched.
	Watch *dbfile.Watch
	// Clock is set to the network's time and measures the phone's absence. nil means the system
	// clock.
	Clock *bridge.Clock
	// Lease decides whether the session may run here. It is nil if no other process can run it.
	Lease Lease
}

// Manager manages the connection of the account.
type Manager struct {
	*groups.Groups
	*history.History
	*sending.Sender
	opts  Options
	log   zerolog.Logger
	store Store
	db    *session.DB

	background context.Context // for work that must outlive a request
	stop       context.CancelFunc
	workers    sync.WaitGroup
	handlers   gate       // of the socket's event handlers
	saving     sync.Mutex // held while the facts of a stanza are stored

	commands chan command
	sync     *syncRepair
	rang     chan struct{} // has an element after a call
	pairMu   sync.Mutex    // held while a pairing code is requested
	traffic  traffic
	phone    phone
	timelock timelock
	stalls   stalls
	quota    quota
	// defaultTimer is the timer of the account's new chats.
	defaultTimer defaultTimer
	ban          ban
	security     security
	loginPause   loginPause
	expiry       expiry
	shallow      atomic.Bool                     // pairs as a browser, regardless of the wanted history
	refusals     atomic.Int32                    // consecutive refusals
	version      atomic.Pointer[session.Version] // the version that was looked up, or nil
	hourly       atomic.Int64                    // how long a refused version is not retried; tests change it
	// blocksReadBy is the device that has read the list of blocked people, or nil.
	blocksReadBy atomic.Pointer[types.JID]
	storeLags    atomic.Bool // the session may know people and chats that the store lacks

	mu      sync.Mutex // guards the fields from here on
	status  bridge.Status
	user    *bridge.User
	link    *link    // the client of a session
	pairing *pairing // nil while there is a session
}

// Open opens the session database. No connection is made before [Manager.Run].
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
	m.storeLags.Store(true)
	m.Sender = sending.New(sending.Options{
		Store: opts.Store, CDN: opts.CDN, Log: opts.Log, Clock: opts.Clock, NewChats: opts.NewChats, Connection: m.openClient,
		Own: m.own, PushName: func() string { return m.currentUser().PushName }, Timelock: m.timelock.left, Capped: m.quota.left, NewChatRefused: m.newChatRefused, DefaultTimer: m.defaultTimer.value, Background: background,
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

// ReleaseMemory frees cached pages of the session database. It waits until the database is idle.
func (m *Manager) ReleaseMemory(ctx context.Context) error { return m.db.ReleaseMemory(ctx) }

// loadUser reads the user of the session, so that the status is right before the first dial.
func (m *Manager) loadUser(ctx context.Context) error {
	device, err := m.db.Device(ctx)
	if err != nil {
		return err
	}
	m.setUser(device.User())
	if !device.IsLinked() {
		// The program may have been killed while it wiped a session.
		if !m.db.Created {
			err = m.db.Erase(ctx)
		}
		if err := errors.Join(err, m.History.Forget(ctx)); err != nil {
			return err
		}
	}
	return errors.Join(m.loadPhoneSeen(ctx), m.loadRestrictions(ctx), m.loadDefaultTimer(ctx), m.loadSecurity(ctx), m.loadLoginPause(ctx), m.loadExpiry(ctx))
}

// Run connects the account and reconnects it until ctx ends, then disconnects. It returns an
// error only if the session database cannot be used.
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
	if !m.missCalls(ctx, 0) { // calls that were ringing when the process ended
		m.rang <- struct{}{}
	}
	m.workers.Go(func() { m.watchCalls(m.background) })
	m.workers.Go(func() { m.db.KeepLogShort(m.background, m.store.TextErased(), m.log) })
	m.workers.Go(func() { m.db.KeepClean(m.background, m.openSince, m.log) })
	err := m.supervise(ctx)
	m.handlers.shut() // handlers may still start work
	m.setState(bridge.StateIdle, "")
	m.stop()
	m.workers.Wait()
	return err
}

// openSince returns when the account became open, and false while it is not open.
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
