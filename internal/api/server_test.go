package api_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
	events "bridged/internal/api/stream"
	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
)

const token = "a-token-of-twenty-two!"

// The people and groups of these tests.
const (
	me     = bridge.JID("15551234567@s.whatsapp.net")
	grace  = bridge.JID("15557654321@s.whatsapp.net")
	alan   = bridge.JID("447700900123@s.whatsapp.net")
	hidden = bridge.JID("236395184570386@lid") // nobody's known number
	club   = bridge.JID("120363025246125486@g.us")
	olden  = bridge.JID("15557654321-1420070400@g.us")

	graceLID = bridge.JID("81234567890123@lid")
)

// noon is when the first message of a test was written.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// server is a served API with its store, its account and what it logs. The
// embedded client checks every answer against openapi.yaml.
type server struct {
	*apitest.Client
	t       *testing.T
	url     string
	handler http.Handler
	store   *store.Store
	fault   *storetest.Fault
	account *account
	cdn     *fakeCDN
	tmp     string // where fetched files lie
	log     *logBuffer
}

// newServer serves the API over a fresh store and an open account. Changes
// are made to the options before it starts.
func newServer(t *testing.T, changes ...func(*api.Options)) *server {
	t.Helper()
	return newServerOn(t, storetest.NewFile(t), changes...)
}

// newServerOn returns a server of the store in a file.
func newServerOn(t *testing.T, file string, changes ...func(*api.Options)) *server {
	t.Helper()
	log := new(logBuffer)
	fault := new(storetest.Fault)
	st, err := store.Open(context.Background(), store.Options{
		Path: file, Log: zerolog.Nop(), BeforeCommit: fault.BeforeCommit,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	acc := newAccount(st)
	cdn, tmp := newCDN(t, acc), filepath.Join(t.TempDir(), "tmp")
	kept, live := newImported(t, st), events.NewLive(time.Now)
	options := api.Options{
		Store: st, Account: acc, Token: token, EnableSend: true, HistoryImport: bridge.HistoryFull,
		Transcription: &bridge.Transcription{Mode: bridge.TranscribeOff},
		Files:         newFiles(t, cdn, 1<<20, kept), Exports: newExports(tmp), Importer: newImporter(t, st, acc, kept, live), Live: live, Pictures: newPictures(t, cdn), Preparer: newPreparer(t, tmp), FetchTimeout: time.Minute,
		Log: zerolog.New(log).Level(zerolog.DebugLevel),
	}
	options.Schedule = newSchedule(t, st, acc)
	for _, change := range changes {
		change(&options)
	}
	handler := api.New(options)
	listener := httptest.NewServer(handler)
	t.Cleanup(listener.Close)
	return &server{
		Client: apitest.NewClient(t, listener.URL, token),
		t:      t, url: listener.URL, handler: handler, store: st, fault: fault, account: acc, cdn: cdn, tmp: tmp, log: log,
	}
}

func sendDisabled(o *api.Options) { o.EnableSend = false }

func paired(number string) func(*api.Options) {
	return func(o *api.Options) { o.PhoneNumber = number }
}

// know saves facts.
func (s *server) know(facts ...bridge.Fact) {
	s.t.Helper()
	if err := s.store.Save(context.Background(), facts...); err != nil {
		s.t.Fatal(err)
	}
}

// say returns a text that was received minutes after noon.
func say(chat, sender bridge.JID, id, text string, minutes int) bridge.Message {
	return bridge.Message{
		Chat: chat, ID: id, SenderJID: sender, PushName: "~" + sender.User(),
		MessageType: "conversation", Content: text,
		Timestamp: bridge.At(noon.Add(time.Duration(minutes) * time.Minute)),
		Raw:       []byte{0x0a, 0x01, 'x'},
	}
}

// iSaid returns an own text that was sent a moment ago.
func iSaid(chat bridge.JID, id, text string) bridge.Message {
	m := say(chat, me, id, text, 0)
	sent := bridge.DeliverySent
	m.FromMe, m.Status, m.Timestamp = true, &sent, bridge.At(time.Now())
	return m
}

// members returns a group of people; the first is its owner.
func members(jid bridge.JID, name string, people ...bridge.JID) bridge.Group {
	created := bridge.At(noon.AddDate(-1, 0, 0))
	g := bridge.Group{JID: jid, Name: name, OwnerJID: people[0], CreatedAt: &created}
	for i, person := range people {
		g.Participants = append(g.Participants, bridge.Participant{JID: person, IsAdmin: i == 0, IsSuperAdmin: i == 0})
	}
	return g
}

// account is the double of the paired account. Its defaults are those of an
// open one that the network never refuses anything.
type account struct {
	store *store.Store

	mu     sync.Mutex
	sends  []bridge.Outgoing
	resent []bridge.Message
	acts   []string // what others were shown of chats beside messages

	woken          atomic.Int32
	traffic        bridge.Traffic
	pairedHistory  bridge.HistoryImport
	status         func() bridge.Status
	pair           func(ctx context.Context, phone string) (bridge.PairingCode, error)
	submitPasskey  func(ctx context.Context, response json.RawMessage) (bridge.PasskeyResult, error)
	confirmPasskey func(ctx context.Context) (bridge.PasskeyResult, error)
	reconnect      func(ctx context.Context) error
	logout         func(ctx context.Context) (bool, error)
	ready          func() error
	send           func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error)
	resend         func(ctx context.Context, m bridge.Message) (bridge.Sent, error)
	act            func(ctx context.Context) error
	liveGroup      func(ctx context.Context, jid bridge.JID) (*bridge.Group, error)
	askHistory     func(ctx context.Context, oldest bridge.Message, count int) (string, error)
	checkNumbers   func(phones []string) ([]bridge.NumberCheck, error)
	groupAdmin
}

func newAccount(st *store.Store) *account {
	a := &account{store: st}
	a.status = func() bridge.Status {
		return bridge.Status{
			Status: bridge.StateOpen, HasSession: true, Since: bridge.At(noon),
			User: &bridge.User{JID: me, Phone: me.User(), PushName: "Ada", Platform: "android"},
		}
	}
	a.pair = func(context.Context, string) (bridge.PairingCode, error) {
		return bridge.PairingCode{Code: "ABCD-EFGH", Hint: "type it on the phone", ExpiresAt: bridge.At(noon)}, nil
	}
	a.submitPasskey = func(context.Context, json.RawMessage) (bridge.PasskeyResult, error) {
		code := "K4PZ-9XQ2"
		return bridge.PasskeyResult{OK: true, Code: &code}, nil
	}
	a.confirmPasskey = func(context.Context) (bridge.PasskeyResult, error) {
		return bridge.PasskeyResult{OK: true, Confirmed: true}, nil
	}
	a.reconnect = func(context.Context) error { return nil }
	a.logout = func(context.Context) (bool, error) { return true, nil }
	a.ready = func() error { return nil }
	a.send = a.accept
	a.resend = a.acceptAgain
	a.act = func(context.Context) error { return nil }
	a.liveGroup = func(context.Context, bridge.JID) (*bridge.Group, error) {
		return nil, bridge.NotConnected("not open")
	}
	a.askHistory = func(context.Context, bridge.Message, int) (string, error) { return "3EB0REQUEST", a.ready() }
	a.checkNumbers = a.knowOdd
	a.groupAdmin.do = func(any) error { return nil }
	return a
}

func (a *account) Status() bridge.Status { return a.status() }
func (a *account) Pair(ctx context.Context, phone string) (bridge.PairingCode, error) {
	return a.pair(ctx, phone)
}

func (a *account) SubmitPasskey(ctx context.Context, response json.RawMessage) (bridge.PasskeyResult, error) {
	return a.submitPasskey(ctx, response)
}

func (a *account) ConfirmPasskey(ctx context.Context) (bridge.PasskeyResult, error) {
	return a.confirmPasskey(ctx)
}
func (a *account) WakePairing()                             { a.woken.Add(1) }
func (a *account) Reconnect(ctx context.Context) error      { return a.reconnect(ctx) }
func (a *account) Logout(ctx context.Context) (bool, error) { return a.logout(ctx) }
func (a *account) Ready() error                             { return a.ready() }
func (a *account) Send(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
	a.mu.Lock()
	a.sends = append(a.sends, out)
	a.mu.Unlock()
	return a.send(ctx, out)
}

// SendAlbum prepares the files of an album, and sends the first one.
func (a *account) SendAlbum(ctx context.Context, album bridge.OutgoingAlbum) (bridge.SentAlbum, error) {
	out := bridge.Outgoing{To: album.To, Quote: album.Quote, Key: album.Key, By: album.By}
	for _, prepare := range album.Items {
		file, cleanup, err := prepare(ctx)
		defer cleanup()
		if err != nil {
			return bridge.SentAlbum{}, err
		}
		out.Content = file
	}
	sent, err := a.Send(ctx, out)
	return bridge.SentAlbum{Sent: sent}, err
}

func (a *account) ResendAlbum(context.Context, []bridge.Message) (bridge.SentAlbum, error) {
	return bridge.SentAlbum{}, nil
}

func (a *account) Resend(ctx context.Context, m bridge.Message) (bridge.Sent, error) {
	a.mu.Lock()
	a.resent = append(a.resent, m)
	a.mu.Unlock()
	return a.resend(ctx, m)
}

func (a *account) MarkRead(ctx context.Context, chat bridge.Chat, upTo string) error {
	return a.do(ctx, "read "+string(chat.JID)+" "+upTo)
}

func (a *account) UpdateChat(ctx context.Context, chat bridge.Chat, patch bridge.ChatPatch) error {
	what, err := json.Marshal(patch)
	return errors.Join(err, a.do(ctx, "update "+string(chat.JID)+" "+string(what)))
}

func (a *account) Star(ctx context.Context, m bridge.Message, starred bool) error {
	if err := a.do(ctx, fmt.Sprintf("star %s %s %v", m.Chat, m.ID, starred)); err != nil {
		return err
	}
	return a.store.Save(ctx, bridge.Star{Chat: m.Chat, Target: m.ID, By: me, Starred: starred, Timestamp: bridge.At(time.Now())})
}

func (a *account) DeleteForMe(ctx context.Context, m bridge.Message) error {
	if err := a.do(ctx, fmt.Sprintf("delete %s %s", m.Chat, m.ID)); err != nil {
		return err
	}
	return a.store.Save(ctx, bridge.DeletionForMe{Chat: m.Chat, Target: m.ID, Timestamp: bridge.At(time.Now())})
}

func (a *account) ClearChat(ctx context.Context, chat bridge.Chat, c bridge.ChatClearing) error {
	return a.do(ctx, fmt.Sprintf("clear %s, starred stay: %v, deleted: %v", chat.JID, c.KeepStarred, c.Delete))
}

func (a *account) Block(ctx context.Context, person bridge.JID, block bool) error {
	if err := a.do(ctx, fmt.Sprintf("block %s %v", person, block)); err != nil {
		return err
	}
	return a.store.Save(ctx, bridge.Block{JID: person, IsBlocked: block})
}

func (a *account) SaveName(ctx context.Context, person bridge.JID, name bridge.ContactName) error {
	if err := a.do(ctx, fmt.Sprintf("name %s %q %q", person, name.Full, name.First)); err != nil {
		return err
	}
	return a.store.Save(ctx, bridge.Contact{JID: person, Name: &name.Full})
}

func (a *account) Type(ctx context.Context, chat bridge.JID, state bridge.TypingState) (until bridge.Time, err error) {
	if state != bridge.TypingPaused {
		until = bridge.At(noon)
	}
	return until, a.do(ctx, string(state)+" "+string(chat))
}

func (a *account) RejectCall(ctx context.Context, call bridge.Call) error {
	if err := a.do(ctx, "reject "+call.WireID); err != nil {
		return err
	}
	return a.store.Save(ctx, bridge.CallChange{ID: call.ID, Caller: call.FromJID, By: call.FromJID, State: bridge.CallRejected, At: bridge.At(noon)})
}

// do notes what others are shown of a chat.
func (a *account) do(ctx context.Context, what string) error {
	a.mu.Lock()
	a.acts = append(a.acts, what)
	a.mu.Unlock()
	return a.act(ctx)
}

// done returns what others were shown of chats so far.
func (a *account) done() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.acts...)
}

func (a *account) Traffic() bridge.Traffic { return a.traffic }
func (a *account) LiveGroup(ctx context.Context, jid bridge.JID) (*bridge.Group, error) {
	return a.liveGroup(ctx, jid)
}

func (a *account) AskHistory(ctx context.Context, oldest bridge.Message, count int) (string, error) {
	return a.askHistory(ctx, oldest, count)
}

func (a *account) PairedHistory(context.Context) (bridge.HistoryImport, error) {
	return a.pairedHistory, nil
}

// closed makes the account one that waits for its socket.
func (a *account) closed() {
	a.ready = func() error { return bridge.NotConnected("the account is not open (status connecting)") }
}

// refuseAll makes the account refuse everything with err.
func (a *account) refuseAll(err error) {
	a.pair = func(context.Context, string) (bridge.PairingCode, error) { return bridge.PairingCode{}, err }
	a.submitPasskey = func(context.Context, json.RawMessage) (bridge.PasskeyResult, error) {
		return bridge.PasskeyResult{}, err
	}
	a.confirmPasskey = func(context.Context) (bridge.PasskeyResult, error) { return bridge.PasskeyResult{}, err }
	a.reconnect = func(context.Context) error { return err }
	a.logout = func(context.Context) (bool, error) { return false, err }
	a.send = func(context.Context, bridge.Outgoing) (bridge.Sent, error) { return bridge.Sent{}, err }
	a.act = func(context.Context) error { return err }
	a.askHistory = func(context.Context, bridge.Message, int) (string, error) { return "", err }
	a.checkNumbers = func([]string) ([]bridge.NumberCheck, error) { return nil, err }
	a.groupAdmin.do = func(any) error { return err }
}

func (a *account) CheckNumbers(_ context.Context, phones []string) ([]bridge.NumberCheck, error) {
	return a.checkNumbers(phones)
}

// knowOdd knows the numbers that end in an odd digit. It looks into the store
// first, as the account does.
func (a *account) knowOdd(phones []string) ([]bridge.NumberCheck, error) {
	if _, err := a.store.NumberChecks(context.Background(), phones); err != nil {
		return nil, err
	}
	checks := make([]bridge.NumberCheck, len(phones))
	for i, phone := range phones {
		checks[i].Phone = phone
		if phone[len(phone)-1]%2 == 1 {
			checks[i].JID = bridge.PhoneJID(phone)
		}
	}
	return checks, a.ready()
}

// sent returns everything that was sent so far.
func (a *account) sent() []bridge.Outgoing {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]bridge.Outgoing(nil), a.sends...)
}

// begin stores a message as the account does before it leaves: pending,
// together with its key. A change is no message; its key comes last.
func (a *account) begin(ctx context.Context, out bridge.Outgoing) (bridge.Message, error) {
	pending := bridge.DeliveryPending
	m := bridge.Message{
		Chat: out.To, ID: cmp.Or(out.ID, "3EB0"+bridge.At(noon).Format("150405")+string(rune('A'+len(a.sent())))), FromMe: true, SenderJID: me,
		MessageType: "conversation", Content: "sent", Status: &pending,
		Timestamp: bridge.At(noon), Raw: []byte{0x0a, 0x01, 'x'}, By: out.By,
	}
	if isChange(out.Content) {
		return m, nil
	}
	facts := []bridge.Fact{m}
	if out.Key != nil {
		facts = append(facts, boundTo(*out.Key, m))
	}
	return m, a.store.Save(ctx, facts...)
}

func boundTo(key bridge.SendKey, m bridge.Message) bridge.SendKey {
	key.Chat, key.MsgID = m.Chat, m.ID
	return key
}

func (a *account) accept(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
	m, err := a.begin(ctx, out)
	if err != nil {
		return bridge.Sent{}, err
	}
	if isChange(out.Content) {
		sent := bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: m.Timestamp}
		if out.Key == nil {
			return sent, nil
		}
		key := boundTo(*out.Key, m)
		key.TakenAt = m.Timestamp
		return sent, a.store.Save(ctx, key)
	}
	return a.acceptAgain(ctx, m)
}

// isChange reports whether content is about a stored message and has no row.
func isChange(content bridge.Content) bool {
	switch content.(type) {
	case bridge.Reaction, bridge.TextEdit, bridge.Revocation, bridge.MessagePin, bridge.Vote:
		return true
	}
	return false
}

func (a *account) acceptAgain(ctx context.Context, m bridge.Message) (bridge.Sent, error) {
	err := a.store.Save(ctx, bridge.SendResult{Chat: m.Chat, ID: m.ID, Status: bridge.DeliverySent, Timestamp: m.Timestamp})
	return bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: m.Timestamp}, err
}

// logBuffer keeps the log of a server.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// inProcess posts without a connection, for callers whose context is the
// test's to end.
func (s *server) inProcess(ctx context.Context, path, body string) *httptest.ResponseRecorder {
	return inProcess(ctx, s.handler, path, body)
}

func inProcess(ctx context.Context, handler http.Handler, path, body string) *httptest.ResponseRecorder {
	return serve(ctx, handler, http.MethodPost, path, body)
}

func serve(ctx context.Context, handler http.Handler, method, path, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+token)
	got := httptest.NewRecorder()
	handler.ServeHTTP(got, req)
	return got
}
