package simnet_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"
	_ "modernc.org/sqlite"

	"bridged/internal/simnet"
)

// testLog prints the clients' logs if SIMNET_LOG is set, as an aid for debugging
// tests.
func testLog(name string) waLog.Logger {
	if level := os.Getenv("SIMNET_LOG"); level != "" {
		return waLog.Stdout(name, level, false)
	}
	return waLog.Noop
}

func newNetwork(t *testing.T, opts ...func(*simnet.Options)) *simnet.Network {
	t.Helper()
	o := simnet.Options{Log: testLog("net"), PhoneLog: testLog("phone")}
	for _, opt := range opts {
		opt(&o)
	}
	n, err := simnet.New(t.Context(), o)
	if err != nil {
		t.Fatalf("start the network: %v", err)
	}
	t.Cleanup(n.Close)
	return n
}

// patience bounds every wait of the tests. Under the race detector the 812 keys of a
// client on SQLite alone take seconds.
const patience = 60 * time.Second

// within limits a wait, so that a stuck test shows where.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func newPhone(t *testing.T, n *simnet.Network, number, name string) *simnet.Phone {
	t.Helper()
	p, err := n.NewPhone(within(t), simnet.PhoneOptions{Number: number, Name: name})
	if err != nil {
		t.Fatalf("new phone: %v", err)
	}
	return p
}

// companion is a plain whatsmeow client, as an application would have it.
type companion struct {
	t      *testing.T
	cli    *whatsmeow.Client
	events chan any
	seen   []any
	screen simnet.Screen
	device *simnet.Device
	// ended means that the server has hung up for good: whatsmeow's Disconnect would
	// race with that.
	ended bool
}

// newCompanion returns a client with its session in memory.
func newCompanion(t *testing.T, n *simnet.Network) *companion {
	t.Helper()
	return companionOn(t, n, simnet.NewDevice(testLog("device")))
}

// newSQLCompanion returns one with its session in SQLite.
func newSQLCompanion(t *testing.T, n *simnet.Network) *companion {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+t.TempDir()+"/session.db?_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		t.Fatalf("open the session store: %v", err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	container := sqlstore.NewWithDB(db, "sqlite", testLog("db"))
	if err = container.Upgrade(within(t)); err != nil {
		t.Fatalf("upgrade the session store: %v", err)
	}
	return companionOn(t, n, container.NewDevice())
}

func companionOn(t *testing.T, n *simnet.Network, device *store.Device) *companion {
	t.Helper()
	c := &companion{t: t, cli: whatsmeow.NewClient(device, testLog("client")), events: make(chan any, 20000)}
	httpClient := n.Configure(c.cli)
	c.cli.SynchronousAck = true
	c.cli.EnableDecryptedEventBuffer = true
	// whatsmeow stores history in the background, which would race with the deletion of its store when a test unlinks the device.
	c.cli.ManualHistorySyncDownload = true
	c.cli.AddEventHandler(func(event any) {
		c.screen.Handle(event)
		c.events <- event
	})
	t.Cleanup(func() {
		if !c.ended {
			c.cli.Disconnect()
		}
		httpClient.CloseIdleConnections()
	})
	return c
}

// await waits for the next matching event of a type. Each event matches once.
func await[T any](c *companion, match func(T) bool) T {
	c.t.Helper()
	timeout := time.After(patience)
	for i, event := range c.seen {
		if typed, ok := event.(T); ok && (match == nil || match(typed)) {
			c.seen = append(c.seen[:i:i], c.seen[i+1:]...)
			return typed
		}
	}
	for {
		select {
		case event := <-c.events:
			if typed, ok := event.(T); ok && (match == nil || match(typed)) {
				return typed
			}
			c.seen = append(c.seen, event)
		case <-timeout:
			var zero T
			c.t.Fatalf("no %T came; what did: %s", zero, summary(c.seen))
		}
	}
}

func summary(events []any) string {
	out := ""
	for _, event := range events {
		out += fmt.Sprintf("%T ", event)
	}
	return out
}

func (c *companion) connect() {
	c.t.Helper()
	if err := c.cli.Connect(); err != nil {
		c.t.Fatalf("connect: %v", err)
	}
}

// pairByCode links the client to a phone by code and waits until it is online and synced.
func (c *companion) pairByCode(p *simnet.Phone) {
	c.t.Helper()
	c.connect()
	await[*events.QR](c, nil)
	code, err := c.cli.PairPhone(within(c.t), p.Number(), true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	if err != nil {
		c.t.Fatalf("ask for a code: %v", err)
	}
	c.device, err = p.EnterPairingCode(within(c.t), code)
	if err != nil {
		c.t.Fatalf("enter the code: %v", err)
	}
	c.online()
}

func (c *companion) online() {
	c.t.Helper()
	await[*events.Connected](c, nil)
	if err := c.device.WaitSynced(within(c.t)); err != nil {
		c.t.Fatalf("%v; waiting: %+v", err, c.device.Waiting())
	}
}

// calm waits until the client has handled all of its welcome, so that it does not use
// its store when the test deletes it: whatsmeow itself does not wait.
func (c *companion) calm(own *simnet.Phone) {
	c.t.Helper()
	await(c, func(e *events.AppStateSyncComplete) bool { return e.Name == appstate.WAPatchRegularLow })
	id := mustSend(c.t, own, own.PN(), "are you done?")
	if err := c.device.WaitAcknowledged(within(c.t), id); err != nil {
		c.t.Fatal(err)
	}
}

// text waits for a message with a text.
func (c *companion) text(want string) *events.Message {
	c.t.Helper()
	return await(c, func(m *events.Message) bool {
		return m.Message.GetConversation() == want || m.Message.GetExtendedTextMessage().GetText() == want
	})
}

func mustSend(t *testing.T, p *simnet.Phone, to types.JID, text string, opts ...simnet.SendOption) types.MessageID {
	t.Helper()
	id, err := p.SendText(within(t), to, text, opts...)
	if err != nil {
		t.Fatalf("send %q: %v", text, err)
	}
	return id
}

func mustReceive(t *testing.T, p *simnet.Phone, text string) *simnet.Received {
	t.Helper()
	r, err := p.ReceivedText(within(t), text)
	if err != nil {
		t.Fatalf("wait for %q: %v", text, err)
	}
	return r
}
