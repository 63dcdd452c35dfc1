package wa_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
	"bridged/internal/longtest"
	"bridged/internal/media"
	"bridged/internal/media/files"
	"bridged/internal/simnet"
	"bridged/internal/store"
	"bridged/internal/urlguard"
	"bridged/internal/wa"
)

// perReceived bounds the cost of a message that is stored, read, searched, quoted,
// forwarded and deleted.
var perReceived = fuzzbudget.Budget{Base: 32 << 20, PerByte: 2 << 10, Time: 5 * time.Second}

// FuzzReceived takes anything that a stranger's phone may send through the whole
// bridge: the handler that acknowledges it, the store, every route that reads it,
// and the sends that build on it (a forward, a reaction, a quote), which whatsmeow
// encrypts and a simulated network delivers. It must never panic, must be
// acknowledged, found, and shown as openapi.yaml says, and each send must succeed
// or fail with a reason.
func FuzzReceived(f *testing.F) {
	lab := newLab(f)
	for i, s := range append(lab.sentByPhones(f), hostile()...) {
		if i%longtest.Else(2, 1) == 0 {
			f.Add(s.data, s.id, s.pushName, s.at, s.from)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, id, pushName string, at int64, from byte) {
		perReceived.Check(t, len(data)+len(id)+len(pushName), func() {
			msg := new(waE2E.Message)
			if id == "" || proto.Unmarshal(data, msg) != nil {
				return // whatsmeow never delivers such a message
			}
			lab.examine(t, received{msg: msg, id: id, pushName: pushName, at: at, from: from})
		})
	})
}

// Bits of a message's origin.
const (
	InGroup byte = 1 << iota
	ownMessage
	toList // a broadcast list
)

// received is one message as it comes out of whatsmeow.
type received struct {
	msg          *waE2E.Message
	id, pushName string
	at           int64
	from         byte
}

// lab is a paired account with its API, and people to write to.
type lab struct {
	*account
	handler *httptest.Server
	log     *lockedBuffer
	friend  *simnet.Phone // in a direct chat
	group   *simnet.Group // with the friend
	sink    *simnet.Phone // gets the forwards
	count   int           // of examined messages
	known   map[string]bool
}

// lockedBuffer is a log that can be read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

// take empties the buffer.
func (b *lockedBuffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.text.Reset()
	return b.text.String()
}

const labToken = "a-token-of-the-fuzzer-0123456789"

func newLab(t testing.TB) *lab {
	t.Helper()
	network := newNetwork(t)
	l := &lab{log: new(lockedBuffer), known: map[string]bool{}}
	log := zerolog.New(l.log).Level(zerolog.WarnLevel)
	l.account = startAccountLogging(t, network, t.TempDir(), log, func(s *store.Store) wa.Store { return s })
	l.phone = newPhone(t, network, accountNumber, "Alex")
	l.pair()
	l.friend, l.sink = newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Kim")
	group, err := l.phone.CreateGroup(testContext(t), simnet.GroupOptions{Subject: "Lab", Members: []*simnet.Phone{l.friend}})
	if err != nil {
		t.Fatal(err)
	}
	l.group = group
	files, err := files.NewCache(files.CacheOptions{Dir: t.TempDir(), MaxBytes: 1 << 20, MaxFile: 1 << 20, CDN: l.cdn, Account: l.manager, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(files.Close)
	preparer := media.NewPreparer(media.PreparerOptions{
		Guard:   urlguard.New(urlguard.Options{Timeout: time.Second}),
		TempDir: t.TempDir(), MaxBytes: 1 << 20, Log: log,
	})
	l.handler = httptest.NewServer(api.New(api.Options{
		Store: l.store, Account: l.manager, Token: labToken, EnableSend: true,
		Files: files, Preparer: preparer, FetchTimeout: time.Second, Log: log,
	}))
	t.Cleanup(l.handler.Close)
	return l
}

// event returns the message as whatsmeow delivers it.
func (l *lab) event(r received) *events.Message {
	from := types.MessageSource{Chat: l.friend.LID(), Sender: l.friend.LID(), SenderAlt: l.friend.PN()}
	if r.from&ownMessage != 0 {
		from = types.MessageSource{Chat: l.friend.LID(), RecipientAlt: l.friend.PN(), Sender: l.phone.LID(), SenderAlt: l.phone.PN(), IsFromMe: true}
	}
	switch {
	case r.from&InGroup != 0:
		from.Chat, from.IsGroup, from.AddressingMode = l.group.JID(), true, types.AddressingModeLID
	case r.from&toList != 0:
		from.Chat, from.IsGroup = types.NewJID("1700000000", types.BroadcastServer), true
		if from.IsFromMe {
			from.BroadcastRecipients = []types.BroadcastRecipient{{LID: l.friend.LID(), PN: l.friend.PN()}}
		}
	}
	info := types.MessageInfo{MessageSource: from, ID: r.id, PushName: r.pushName, Timestamp: time.Unix(r.at, 0), Type: "text"}
	return (&events.Message{Info: info, RawMessage: proto.Clone(r.msg).(*waE2E.Message)}).UnwrapRaw()
}

// chat returns the chat that shows the message.
func (l *lab) chat(r received) bridge.JID {
	if r.from&InGroup != 0 {
		return bridge.JID(l.group.JID().String())
	}
	return jidOf(l.friend)
}

// examine takes one message through the bridge.
func (l *lab) examine(t *testing.T, r received) {
	l.count++
	chat := l.chat(r)
	if l.known[string(chat)+r.id] {
		r.id = fmt.Sprint(r.id, "'", l.count) // a message of its own
	}
	l.known[string(chat)+r.id] = true
	e := &examination{lab: l, Client: apitest.NewClient(t, l.handler.URL, labToken), t: t, received: r, chat: chat}
	defer func() {
		if text := l.log.take(); strings.Contains(text, "panic") || strings.Contains(text, "not understood") {
			t.Errorf("the log reports a panic: %s", text)
		}
	}()
	e.deliver()
	e.readLists()
	if e.shown != nil {
		e.readMessage()
		for i, act := range []func(){e.forward, e.react, e.quote} { // usually one of them
			if longtest.Enabled() || l.count%3 == i {
				act()
			}
		}
	}
}

// deliver delivers the message twice; the second time changes nothing.
func (e *examination) deliver() {
	// Without message.status: receipts of earlier sends may still come.
	const changes = "?limit=1000&types=message.created,message.updated,chat.updated,group.updated&after="
	before := e.events("?after=now").NextCursor
	e.accept()
	first := e.events(changes + before)
	for _, event := range first.Events {
		if event.Type == bridge.EventMessageCreated {
			e.shown = event.Message
		}
	}
	e.accept()
	if again := e.events(changes + first.NextCursor); again.Count != 0 {
		e.t.Errorf("the same message again makes %d events: %+v", again.Count, again.Events)
	}
	if wa.Shows(e.event(e.received).RawMessage) && e.shown == nil && len(first.Events) == 0 {
		e.t.Error("the message is acknowledged, but not kept")
	}
}

func (e *examination) accept() {
	acknowledged, err := e.manager.Deliver(e.event(e.received))
	if err != nil || !acknowledged {
		e.t.Fatalf("the message is refused: %v\n%s", err, e.log.take())
	}
}

// wantAnswer fails the test unless the answer is a success or a refusal that the
// caller can act on, or reports a lost file: the account is open and the store is
// sound, so no other error is acceptable.
func (e *examination) wantAnswer(what string, r apitest.Response) {
	e.t.Helper()
	switch {
	case r.Status < http.StatusInternalServerError:
	case r.Code() == string(bridge.CodeMediaGone), r.Code() == string(bridge.CodeMediaInvalid), r.Code() == string(bridge.CodeMediaTooLarge):
	default:
		e.t.Errorf("%s: status %d: %s\n%s", what, r.Status, r.Body, e.log.take())
	}
}
