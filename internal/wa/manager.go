package wa

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	_ "modernc.org/sqlite" // the driver of session.db

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
)

// Inbox is where received facts go, and what sending needs to know of them.
// Save keeps all its facts or none; its failure refuses the acknowledgement.
type Inbox interface {
	Save(ctx context.Context, facts ...bridge.Fact) error
	Message(ctx context.Context, chat bridge.JID, id string) (bridge.Message, error)
	Canonical(jid bridge.JID) bridge.JID
	ChatTimer(ctx context.Context, chat bridge.JID) (uint32, error)
	OwnerOf(ctx context.Context) (bridge.Owner, bool, error)
	GroupsWithoutInfo(ctx context.Context) ([]bridge.JID, error)
	Setting(ctx context.Context, name string) (string, error)
	SetSetting(ctx context.Context, name, value string) error
}

// Options of a [Manager].
type Options struct {
	SessionPath string // of session.db, whatsmeow's keys; nobody else's file
	DeviceName  string // what the phone shows under linked devices
	PhoneNumber string // E.164 digits of the only account that may pair; "" for any
	Network     Network
	Inbox       Inbox
	Log         zerolog.Logger
	TempDir     string // for encrypted uploads
	Seal        Seal   // encrypts them
}

// Manager is the socket manager of the one account.
type Manager struct {
	opts      Options
	log       zerolog.Logger
	inbox     Inbox
	db        *sql.DB
	container *sqlstore.Container

	media      *http.Client
	background context.Context // of everything that must not die with a request
	stop       context.CancelFunc
	workers    sync.WaitGroup
	handlers   gate // of the socket's events

	beforeTry func() // set by tests alone, before anything is sent

	commands chan command
	changed  chan struct{} // a token after each change of status
	groups   *groupFetcher
	pairMu   sync.Mutex // serialises requests for pairing codes
	reupload reuploads

	mu       sync.Mutex // guards the fields below
	status   bridge.Status
	user     *bridge.User
	link     *link    // the client with a session
	pairing  *pairing // the client without one
	timelock time.Time
	resets   int // refusals in a row

	phoneSeen    time.Time // the phone's last sign of life
	phoneNoted   time.Time // when one was written down
	phoneWarning string    // the sentence of the status while the phone is away; "" else
}

// Open opens the session's database. Nothing is dialled before [Manager.Run].
func Open(ctx context.Context, opts Options) (*Manager, error) {
	db, err := openSession(opts.SessionPath)
	if err != nil {
		return nil, err
	}
	if err := checkPages(ctx, db, opts.SessionPath); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	container := sqlstore.NewWithDB(db, "sqlite", newWALogger(opts.Log, nil))
	if err := container.Upgrade(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w (restore it from a backup, or delete it and pair again; messages are kept elsewhere)",
			opts.SessionPath, err), db.Close())
	}
	if err := os.Chmod(opts.SessionPath, 0o600); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	m := &Manager{
		opts: opts, log: opts.Log, inbox: opts.Inbox, db: db, container: container,
		media:      opts.Network.mediaClient(),
		background: background, stop: stop,
		commands: make(chan command),
		changed:  make(chan struct{}, 1),
	}
	m.status = bridge.Status{Status: bridge.StateIdle, Since: bridge.At(time.Now())}
	m.groups = newGroupFetcher(m)
	if err := m.loadUser(ctx); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// sessionDatabase is how people are told of session.db.
var sessionDatabase = dbfile.Database{
	Name:   "session.db",
	Repair: "stop bridged, delete session.db, session.db-wal and session.db-shm, start again and pair the account; messages are kept elsewhere",
}

// sqliteHeader begins every SQLite database (sqlite.org/fileformat.html, 1.3).
const sqliteHeader = "SQLite format 3\x00"

// checkSession refuses a file that is no whole database. SQLite itself would
// take an emptied one for a new one, and the session would be gone silently.
func checkSession(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer file.Close()
	header := make([]byte, len(sqliteHeader))
	if _, err := io.ReadFull(file, header); err != nil || string(header) != sqliteHeader {
		return fmt.Errorf("%s is damaged (emptied or overwritten): delete it and pair the account again; messages are kept elsewhere", path)
	}
	return nil
}

// checkPages looks for damage inside the session's database, which is small.
func checkPages(ctx context.Context, db *sql.DB, path string) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		verdict = err.Error()
	}
	if verdict != "ok" {
		return fmt.Errorf("%s is damaged (%s): delete it and pair the account again; messages are kept elsewhere", path, verdict)
	}
	return nil
}

// openSession opens session.db with one connection, so that a decryption's
// transaction cannot be interleaved with a send's reads and writes.
func openSession(path string) (*sql.DB, error) {
	if err := checkSession(path); err != nil {
		return nil, err
	}
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+pragmas.Encode()+"&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// loadUser reads whose session there is, so that the status is right before
// the first dial.
func (m *Manager) loadUser(ctx context.Context) error {
	device, err := m.container.GetFirstDevice(ctx)
	if err != nil {
		return fmt.Errorf("read the session: %w", err)
	}
	m.setUser(userOf(device))
	return m.loadPhoneSeen(ctx)
}

func userOf(device *store.Device) *bridge.User {
	if device.ID == nil {
		return nil
	}
	return &bridge.User{
		JID: toBridge(*device.ID), LID: toBridge(device.LID), Phone: device.ID.User,
		PushName: device.PushName, Platform: device.Platform,
	}
}

// Run keeps the account connected until ctx ends, then disconnects. It
// returns an error only when the session's database cannot be used.
func (m *Manager) Run(ctx context.Context) error {
	defer m.stop()
	if err := m.container.LIDMap.FillCache(ctx); err != nil {
		return fmt.Errorf("read the session: %w", err)
	}
	if !m.opts.Network.IsSimulated() {
		m.prepareVersion(ctx)
	}
	m.workers.Go(func() { m.groups.run(m.background) })
	err := m.supervise(ctx)
	m.handlers.shut() // they may still begin work
	m.setState(bridge.StateIdle, "")
	m.stop()
	m.workers.Wait()
	return err
}

// Close closes the session's database, after Run has returned.
func (m *Manager) Close() error { return m.close() }

func (m *Manager) close() error {
	m.stop()
	m.media.CloseIdleConnections()
	return m.db.Close()
}

// Changed gives a token after a change of the status; for a single listener.
func (m *Manager) Changed() <-chan struct{} { return m.changed }
