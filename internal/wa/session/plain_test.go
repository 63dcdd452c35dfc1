package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/simnet"
)

// plainClient is whatsmeow alone, linked to a phone on a simulated network, with
// bridged's settings.
type plainClient struct {
	*whatsmeow.Client
	device  *simnet.Device
	phone   *simnet.Phone
	friend  *simnet.Phone
	log     *recordedLog
	store   *recordedStore
	removed chan appstate.WAPatchName // the collections of removed entries

	mu       sync.Mutex
	onText   func(id string) bool // the handler of messages and of calls; guarded by mu
	received []string             // ids that it was called with; guarded by mu
}

func newPlainClient(t *testing.T) *plainClient {
	t.Helper()
	ctx := plainContext(t)
	network, err := simnet.New(context.Background(), simnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	c := &plainClient{log: new(recordedLog), removed: make(chan appstate.WAPatchName, 16), onText: func(string) bool { return true }}
	c.phone = plainPhone(t, network, "15550100200", "Alex")
	c.friend = plainPhone(t, network, "15550100301", "Sam")
	device := simnet.NewDevice(waLog.Noop)
	c.store = &recordedStore{SessionStore: device.Sessions, EventBuffer: device.EventBuffer, IdentityStore: device.Identities}
	device.Sessions, device.EventBuffer, device.Identities = c.store, c.store, c.store
	device.AppState = stateTap{device.AppState, func(name appstate.WAPatchName) { c.removed <- name }}
	c.Client = whatsmeow.NewClient(device, c.log)
	c.SynchronousAck = true
	c.EnableDecryptedEventBuffer = true
	c.ManualHistorySyncDownload = true
	background, stop := context.WithCancel(context.Background())
	c.BackgroundEventCtx = background
	network.Configure(c.Client)
	screen, open := new(simnet.Screen), make(chan struct{}, 16)
	c.AddEventHandlerWithSuccessStatus(func(evt any) bool {
		screen.Handle(evt)
		switch e := evt.(type) {
		case *events.Connected:
			open <- struct{}{}
		case *events.Message:
			return c.handle(e.Info.ID)
		case *events.CallOffer:
			return c.handle(e.CallID)
		}
		return true
	})
	if err := c.Connect(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		c.Disconnect()
	})
	if c.device, err = c.phone.HoldTo(ctx, screen.Shown); err != nil {
		t.Fatal(err)
	}
	await(t, open)
	if err := c.device.WaitSynced(ctx); err != nil {
		t.Fatal(err)
	}
	return c
}

func plainPhone(t *testing.T, network *simnet.Network, number, name string) *simnet.Phone {
	t.Helper()
	phone, err := network.NewPhone(plainContext(t), simnet.PhoneOptions{Number: number, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return phone
}

func plainContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func await[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		t.Fatal("waited too long")
		panic("unreachable")
	}
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("waited too long for: %s", what)
		}
	}
}

func (c *plainClient) handle(id string) bool {
	c.mu.Lock()
	c.received = append(c.received, id)
	onText := c.onText
	c.mu.Unlock()
	return onText(id)
}

// handleWith replaces the handler of messages.
func (c *plainClient) handleWith(onText func(id string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onText = onText
}

// say makes the friend write, and returns the message's id.
func (c *plainClient) say(t *testing.T, text string) string {
	t.Helper()
	id, err := c.friend.SendText(plainContext(t), c.phone.PN(), text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (c *plainClient) waitReceived(t *testing.T, id string) {
	t.Helper()
	waitFor(t, "message "+id, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Contains(c.received, id)
	})
}

func (c *plainClient) acknowledged(id string) bool {
	return slices.ContainsFunc(c.device.AcknowledgedMessages(), func(a simnet.Acknowledged) bool { return a.ID == id })
}

// recordedLog records whatsmeow's log.
type recordedLog struct {
	mu    sync.Mutex
	lines []logLine // guarded by mu
}

type logLine struct {
	level, module, format, text string
	args                        []any
}

func (l *recordedLog) add(level, module, format string, args []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, logLine{level, module, format, fmt.Sprintf(format, args...), args})
}

// all returns all lines so far.
func (l *recordedLog) all() []logLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// forget drops all lines so far.
func (l *recordedLog) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = nil
}

// count returns the number of lines with a text.
func (l *recordedLog) count(text string) (n int) {
	for _, line := range l.all() {
		if strings.Contains(line.text, text) {
			n++
		}
	}
	return n
}

// waitWarning waits until a warning with this format was logged.
func (l *recordedLog) waitWarning(t *testing.T, format string) {
	t.Helper()
	waitFor(t, "the warning "+format, func() bool {
		return slices.ContainsFunc(l.all(), func(line logLine) bool { return line.level == "warn" && line.format == format })
	})
}

// waitDebug waits for n lines of debug output with a wanted format.
func (l *recordedLog) waitDebug(t *testing.T, what string, n int, wanted func(format string) bool) {
	t.Helper()
	waitFor(t, what, func() bool {
		found := 0
		for _, line := range l.all() {
			if line.level == "debug" && wanted(line.format) {
				found++
			}
		}
		return found >= n
	})
}

func (l *recordedLog) Errorf(format string, args ...any) { l.add("error", "", format, args) }
func (l *recordedLog) Warnf(format string, args ...any)  { l.add("warn", "", format, args) }
func (l *recordedLog) Infof(format string, args ...any)  { l.add("info", "", format, args) }
func (l *recordedLog) Debugf(format string, args ...any) { l.add("debug", "", format, args) }
func (l *recordedLog) Sub(module string) waLog.Logger    { return &recordedModule{l, module} }

type recordedModule struct {
	log    *recordedLog
	module string
}

func (l *recordedModule) Errorf(format string, args ...any) {
	l.log.add("error", l.module, format, args)
}

func (l *recordedModule) Warnf(format string, args ...any) { l.log.add("warn", l.module, format, args) }

func (l *recordedModule) Infof(format string, args ...any) { l.log.add("info", l.module, format, args) }

func (l *recordedModule) Debugf(format string, args ...any) {
	l.log.add("debug", l.module, format, args)
}
func (l *recordedModule) Sub(module string) waLog.Logger { return &recordedModule{l.log, module} }

// recordedStore records the order in which whatsmeow calls its store.
type recordedStore struct {
	store.SessionStore
	store.EventBuffer
	store.IdentityStore

	mu    sync.Mutex
	calls []storeCall // guarded by mu
	// keepBack is an address whose session is left out of bulk reads.
	keepBack string // guarded by mu
	// decrypt and storeMany, if set, are called instead of the store.
	decrypt   func() error // guarded by mu
	storeMany func()       // guarded by mu
}

// storeCall is one call, with the number of its send, if any, and whether it was
// inside a decryption's transaction.
type storeCall struct {
	name, send string
	decrypting bool
}

type (
	sendMark    struct{}
	decryptMark struct{}
)

func (s *recordedStore) add(ctx context.Context, name string) {
	send, _ := ctx.Value(sendMark{}).(string)
	decrypting, _ := ctx.Value(decryptMark{}).(bool)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, storeCall{name, send, decrypting})
}

// names returns the names of the chosen calls, in order.
func (s *recordedStore) names(chosen func(storeCall) bool) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range s.calls {
		if chosen(call) {
			names = append(names, call.name)
		}
	}
	return names
}

// forget drops the calls so far.
func (s *recordedStore) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// interfere sets functions to run instead of a decryption, and before the sessions
// of a send are stored.
func (s *recordedStore) interfere(decrypt func() error, storeMany func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decrypt, s.storeMany = decrypt, storeMany
}

func (s *recordedStore) GetSession(ctx context.Context, address string) ([]byte, error) {
	s.add(ctx, "GetSession")
	return s.SessionStore.GetSession(ctx, address)
}

func (s *recordedStore) PutSession(ctx context.Context, address string, session []byte) error {
	s.add(ctx, "PutSession")
	return s.SessionStore.PutSession(ctx, address, session)
}

func (s *recordedStore) GetManySessions(ctx context.Context, addresses []string) (map[string][]byte, error) {
	s.add(ctx, "GetManySessions")
	sessions, err := s.SessionStore.GetManySessions(ctx, addresses)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(sessions, s.keepBack)
	return sessions, err
}

func (s *recordedStore) PutIdentity(ctx context.Context, address string, key [32]byte) error {
	s.add(ctx, "PutIdentity")
	return s.IdentityStore.PutIdentity(ctx, address, key)
}

func (s *recordedStore) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	s.add(ctx, "PutManySessions")
	s.mu.Lock()
	first := s.storeMany
	s.mu.Unlock()
	if first != nil {
		first()
	}
	if h := holdOf(ctx); h != nil {
		h.setStored(sessions)
	}
	return s.SessionStore.PutManySessions(ctx, sessions)
}

func (s *recordedStore) MigratePNToLID(ctx context.Context, pn, lid types.JID) error {
	s.add(ctx, "MigratePNToLID")
	return s.SessionStore.MigratePNToLID(ctx, pn, lid)
}

func (s *recordedStore) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	s.add(ctx, "DoDecryptionTxn")
	s.mu.Lock()
	instead := s.decrypt
	s.mu.Unlock()
	if instead != nil {
		return instead()
	}
	return s.EventBuffer.DoDecryptionTxn(context.WithValue(ctx, decryptMark{}, true), fn)
}
