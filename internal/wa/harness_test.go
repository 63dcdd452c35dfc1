package wa_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
	"bridged/internal/simnet"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
	"bridged/internal/wa"
	"bridged/internal/wa/convert"
)

// account is a bridge's manager and store on a simulated network, with its linked
// phone.
type account struct {
	t       testing.TB
	manager *wa.Manager
	store   *store.Store
	fault   *storetest.Fault
	cdn     *cdn.Client
	phone   *simnet.Phone
	stop    func()
}

const accountNumber = "15550100200"

// testContext ends with the test, well before go test's own time limit.
func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func newNetwork(t testing.TB) *simnet.Network {
	t.Helper()
	network, err := simnet.New(context.Background(), simnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	return network
}

func newPhone(t testing.TB, network *simnet.Network, number, name string) *simnet.Phone {
	t.Helper()
	phone, err := network.NewPhone(testContext(t), simnet.PhoneOptions{Number: number, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return phone
}

// newAccount starts a manager and pairs it.
func newAccount(t testing.TB, network *simnet.Network) *account {
	t.Helper()
	return newAccountIn(t, network, t.TempDir())
}

// newAccountIn does so in a data directory.
func newAccountIn(t testing.TB, network *simnet.Network, dir string) *account {
	t.Helper()
	a := startAccount(t, network, dir)
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	return a
}

// startAccount starts a manager in a data directory, whose store may be prepared
// first.
func startAccount(t testing.TB, network *simnet.Network, dir string, prepare ...func(*store.Store)) *account {
	t.Helper()
	return startAccountWith(t, network, dir, func(s *store.Store) wa.Store {
		for _, change := range prepare {
			change(s)
		}
		return s
	})
}

// testLog writes into the test's own output.
func testLog(t testing.TB) zerolog.Logger {
	log := zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)
	if testing.Verbose() {
		log = log.Level(zerolog.DebugLevel)
	}
	return log
}

// startAccountWith does so with a wrapper around the store.
func startAccountWith(t testing.TB, network *simnet.Network, dir string, wrap func(*store.Store) wa.Store) *account {
	t.Helper()
	return startAccountLogging(t, network, dir, testLog(t), wrap)
}

// startAccountLogging does so with another log and other options.
func startAccountLogging(t testing.TB, network *simnet.Network, dir string, log zerolog.Logger, wrap func(*store.Store) wa.Store, change ...func(*wa.Options)) *account {
	t.Helper()
	ctx := testContext(t)
	file := filepath.Join(dir, "network.json")
	if err := network.WriteNetworkFile(file); err != nil {
		t.Fatal(err)
	}
	net, err := wa.ReadNetworkFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fault, path := new(storetest.Fault), filepath.Join(dir, "bridged.db")
	storetest.Ensure(t, path)
	s, err := store.Open(ctx, store.Options{Path: path, Log: log, MergeEdit: convert.MergeEdit, WithoutQuote: convert.WithoutQuote, Open: convert.OpenEncrypted, BeforeCommit: fault.BeforeCommit})
	if err != nil {
		t.Fatal(err)
	}
	servers := cdn.New(cdn.Options{Authority: net.Authority(), TempDir: dir, Log: log})
	options := wa.Options{
		SessionPath: filepath.Join(dir, "session.db"), DeviceName: "bridged",
		Network: net, Store: wrap(s), Clock: s.Clock(), Log: log, CDN: servers,
	}
	for _, f := range change {
		f(&options)
	}
	m, err := wa.Open(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	running, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := m.Run(running); err != nil {
			t.Errorf("manager: %v", err)
		}
	}()
	a := &account{t: t, manager: m, store: s, fault: fault, cdn: servers}
	a.stop = sync.OnceFunc(func() {
		cancel()
		<-done
		if err := m.Close(); err != nil {
			t.Errorf("close the manager: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	t.Cleanup(a.stop)
	return a
}

// pair links the phone by QR code, because a pairing code costs each side a slow
// derivation of keys.
func (a *account) pair() {
	a.t.Helper()
	ctx := testContext(a.t)
	if _, err := a.phone.HoldTo(ctx, a.shownQR); err != nil {
		a.t.Fatalf("scan the code: %v", err)
	}
	a.waitState(bridge.StateOpen)
	if err := a.device().WaitSynced(ctx); err != nil {
		a.t.Fatal(err)
	}
	if err := a.device().WaitHistory(ctx); err != nil {
		a.t.Fatal(err)
	}
}

// shownQR returns the QR code that the status shows, or "".
func (a *account) shownQR() string {
	if code := a.manager.Status().QR; code != nil {
		return *code
	}
	return ""
}

func (a *account) waitState(want bridge.State) {
	a.t.Helper()
	eventually(a.t, "status "+string(want), func() bool { return a.manager.Status().Status == want })
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(60 * time.Second)
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

func (a *account) send(to bridge.JID, text string) (bridge.Sent, error) {
	return a.manager.Send(testContext(a.t), bridge.Outgoing{To: to, Content: bridge.Text{Text: text}})
}

// messages returns the messages of a chat, in order.
func (a *account) messages(chat bridge.JID) []bridge.Message {
	a.t.Helper()
	page, err := a.store.Messages(testContext(a.t), bridge.MessageQuery{Chat: chat, Order: bridge.OrderAsc, Limit: 1000})
	if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
		a.t.Fatal(err)
	}
	return page.Items
}

func jidOf(p *simnet.Phone) bridge.JID { return bridge.PhoneJID(p.Number()) }
