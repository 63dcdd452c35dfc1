package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
)

const token = "a-token-of-the-tests-0123456789"

const (
	me    = bridge.JID("15550100200@s.whatsapp.net")
	grace = bridge.JID("15550100301@s.whatsapp.net")
	club  = bridge.JID("120363025246125486@g.us")
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// bridgeUnderTest is the real router over a real store; only the account is a
// double.
type bridgeUnderTest struct {
	t        *testing.T
	store    *store.Store
	account  *account
	router   http.Handler
	listener *httptest.Server
	*client.Client
}

// both runs a test over the wire and in the process.
func both(t *testing.T, test func(t *testing.T, b *bridgeUnderTest)) {
	t.Parallel()
	t.Run("over the wire", func(t *testing.T) {
		t.Parallel()
		test(t, overTheWire(t))
	})
	t.Run("in the process", func(t *testing.T) {
		t.Parallel()
		b := newBridge(t)
		b.Client = client.InProcess(b.router, token)
		test(t, b)
	})
}

// overTheWire serves a bridge. Every answer is held against openapi.yaml.
func overTheWire(t *testing.T) *bridgeUnderTest {
	t.Helper()
	b := newBridge(t)
	b.listener = httptest.NewServer(b.router)
	t.Cleanup(b.listener.Close)
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	b.Client = client.Over(apitest.Checked(t, transport), b.listener.URL, token)
	return b
}

func newBridge(t *testing.T) *bridgeUnderTest {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Path: storetest.NewFile(t), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	streams, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	acc := &account{store: s, status: bridge.Status{Status: bridge.StateConnecting, Since: bridge.At(noon)}}
	router := api.New(api.Options{Store: s, Account: acc, Token: token, EnableSend: true, Streams: streams, Log: zerolog.Nop()})
	return &bridgeUnderTest{t: t, store: s, account: acc, router: router}
}

// know saves facts.
func (b *bridgeUnderTest) know(facts ...bridge.Fact) {
	b.t.Helper()
	if err := b.store.Save(b.t.Context(), facts...); err != nil {
		b.t.Fatal(err)
	}
}

// said is a text that came in, minutes after noon.
func said(chat bridge.JID, id, text string, minutes int) bridge.Message {
	return bridge.Message{
		Chat: chat, ID: id, SenderJID: grace, PushName: "Grace", MessageType: "conversation", Content: text,
		Timestamp: bridge.At(noon.Add(time.Duration(minutes) * time.Minute)), Raw: []byte{0x0a, 0x01, 'x'},
	}
}

// account is the double of the paired account: an open one that the network
// refuses nothing.
type account struct {
	api.Account // the rest is not called
	store       *store.Store

	mu         sync.Mutex
	status     bridge.Status      // guarded by mu
	sends      []bridge.Outgoing  // guarded by mu
	acts       []string           // guarded by mu
	patches    []bridge.ChatPatch // guarded by mu
	reconnects int                // guarded by mu
}

func (a *account) Status() bridge.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status
}

func (a *account) become(s bridge.State) bridge.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.Status = s
	return a.status
}

func (a *account) Pair(_ context.Context, phone string) (bridge.PairingCode, error) {
	if phone != me.User() {
		return bridge.PairingCode{}, bridge.Fail(bridge.CodeOtherAccount, "the store belongs to another account")
	}
	return bridge.PairingCode{Code: "ABCD-EFGH", Hint: "type it on the phone", ExpiresAt: bridge.At(noon)}, nil
}

func (a *account) SubmitPasskey(_ context.Context, response json.RawMessage) (bridge.PasskeyResult, error) {
	code := string(response[:1])
	return bridge.PasskeyResult{OK: true, Code: &code}, nil
}

func (a *account) ConfirmPasskey(context.Context) (bridge.PasskeyResult, error) {
	return bridge.PasskeyResult{OK: true, Confirmed: true}, nil
}

func (*account) WakePairing() {}

func (a *account) Reconnect(context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reconnects++
	return nil
}

func (a *account) Logout(context.Context) (bool, error) { return true, nil }
func (a *account) Ready() error                         { return nil }

func (a *account) PairedHistory(context.Context) (bridge.HistoryImport, error) { return "", nil }

func (a *account) AskHistory(context.Context, bridge.Message, int) (string, error) { return "", nil }

func (a *account) LiveGroup(context.Context, bridge.JID) (*bridge.Group, error) {
	return nil, bridge.NotConnected("not open")
}

// Send stores the message and its key as the account does.
func (a *account) MarkRead(_ context.Context, chat bridge.Chat, upTo string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acts = append(a.acts, "read "+string(chat.JID)+" "+upTo)
	return nil
}

func (a *account) UpdateChat(_ context.Context, chat bridge.Chat, patch bridge.ChatPatch) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.patches = append(a.patches, patch)
	return nil
}

func (a *account) Block(_ context.Context, person bridge.JID, block bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acts = append(a.acts, fmt.Sprintf("block %s %v", person, block))
	return nil
}

func (a *account) SaveName(_ context.Context, person bridge.JID, name bridge.ContactName) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acts = append(a.acts, fmt.Sprintf("name %s %q %q", person, name.Full, name.First))
	return nil
}

func (a *account) Type(_ context.Context, chat bridge.JID, state bridge.TypingState) (bridge.Time, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acts = append(a.acts, string(state)+" "+string(chat))
	return bridge.At(noon), nil
}

func (a *account) Send(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
	a.mu.Lock()
	a.sends = append(a.sends, out)
	id := fmt.Sprintf("3EB0%04d", len(a.sends))
	a.mu.Unlock()
	delivery := bridge.DeliverySent
	m := bridge.Message{
		Chat: out.To, ID: id, FromMe: true, SenderJID: me, MessageType: "conversation", Content: "sent",
		Status: &delivery, Timestamp: bridge.At(noon), Raw: []byte{0x0a, 0x01, 'x'},
	}
	facts := []bridge.Fact{m}
	if out.Key != nil {
		key := *out.Key
		key.Chat, key.MsgID = m.Chat, m.ID
		facts = append(facts, key)
	}
	return bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: m.Timestamp}, a.store.Save(ctx, facts...)
}

func (a *account) sent() []bridge.Outgoing {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]bridge.Outgoing(nil), a.sends...)
}
