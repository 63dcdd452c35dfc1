package chatwoot

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/chatwoot/chatwoottest"
	"bridged/internal/client"
	"bridged/internal/compat/cloud"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
)

const (
	me    = bridge.JID("15550100200@s.whatsapp.net")
	grace = bridge.JID("15550100301@s.whatsapp.net")
	ana   = bridge.JID("555187654321@s.whatsapp.net") // a number of Brazil, which has two spellings
	lena  = bridge.JID("123456789012345@lid")         // whose number is hidden
	club  = bridge.JID("120363025246125486@g.us")
)

const (
	whatsAppInbox = 1
	apiInbox      = 2
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// scene is a bridge with stored messages, and a Chatwoot.
type scene struct {
	*chatwoottest.Server
	t     *testing.T
	store *store.Store
	api   *client.Client
	notes []string
}

// account is an account that is paired and not connected.
type account struct{ api.Account }

func (account) Status() bridge.Status {
	return bridge.Status{Status: bridge.StateConnecting, Since: bridge.At(noon), User: &bridge.User{JID: me, Phone: me.User()}}
}

func newScene(t *testing.T, messages ...bridge.Message) *scene {
	t.Helper()
	stored, err := store.Open(t.Context(), store.Options{Path: storetest.NewFile(t), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stored.Close(); err != nil {
			t.Error(err)
		}
	})
	const token = "a-token-of-the-tests-0123456789"
	router := api.New(api.Options{Store: stored, Account: account{}, Token: token, Streams: t.Context(), Log: zerolog.Nop()})
	s := &scene{Server: chatwoottest.New(t, me.User()), t: t, store: stored, api: client.InProcess(router, token)}
	for _, m := range messages {
		s.save(m)
	}
	return s
}

// with returns the scene of the same bridge with another Chatwoot, in which nothing has happened.
func (s *scene) with(t *testing.T) *scene {
	return &scene{Server: chatwoottest.New(t, me.User()), t: t, store: s.store, api: s.api}
}

func (s *scene) save(facts ...bridge.Fact) {
	s.t.Helper()
	if err := s.store.Save(s.t.Context(), facts...); err != nil {
		s.t.Fatal(err)
	}
}

// said is a message in a chat, minutes after noon. Without a name it is the account's.
func said(chat bridge.JID, id, name, text string, minutes int) bridge.Message {
	m := bridge.Message{
		Chat: chat, ID: id, SenderJID: chat, PushName: name, MessageType: "conversation", Content: text,
		Timestamp: bridge.At(noon.Add(time.Duration(minutes) * time.Minute)), Raw: []byte{0x0a, 0x01, 'x'},
	}
	switch {
	case name == "":
		m.SenderJID, m.FromMe = me, true
	case chat.IsGroup():
		m.SenderJID = grace
	}
	return m
}

// talk is a short conversation with Grace.
func talk() []bridge.Message {
	return []bridge.Message{said(grace, "A1", "Grace", "hello", 0), said(grace, "A2", "", "hi Grace", 1), said(grace, "A3", "Grace", "see you", 2)}
}

// backfill returns a run into an inbox that is as fast as possible.
func (s *scene) backfill(inbox int64) *Backfill {
	chatwoot := New(Options{URL: s.URL + "/", Token: chatwoottest.Token, Account: 1, PerMinute: 60_000_000, Note: func(text string) { s.notes = append(s.notes, text) }})
	chatwoot.pauseOf = func(time.Duration) time.Duration { return 0 }
	s.t.Cleanup(chatwoot.Close)
	return &Backfill{
		Bridge: s.api, Chatwoot: chatwoot, Inbox: inbox, Status: StatusResolved, MaxFile: 1 << 20, Zone: time.UTC,
		Text: func(m bridge.Message) string { return m.Content },
		Note: func(text string) error { s.notes = append(s.notes, text); return nil },
	}
}

// run runs a backfill, which must not make anything leave Chatwoot, nor store a message twice.
func (s *scene) run(ctx context.Context, b *Backfill) (Result, error) {
	s.t.Helper()
	result, err := b.Run(ctx)
	s.isSafe()
	return result, err
}

func (s *scene) isSafe() {
	s.t.Helper()
	if sent := s.Delivered(); len(sent) > 0 {
		s.t.Errorf("Chatwoot sends %q", sent)
	}
	if doubles := s.Doubles(); len(doubles) > 0 {
		s.t.Errorf("doubles: %q", doubles)
	}
}

// succeeds runs a backfill that must send a number of messages.
func (s *scene) succeeds(b *Backfill, messages int) Result {
	s.t.Helper()
	result, err := s.run(s.t.Context(), b)
	if err != nil || result.Messages != messages {
		s.t.Fatalf("sent %+v: %v, want %d messages", result, err, messages)
	}
	return result
}

// shows returns the messages of a conversation, one a line, without the parts that hide.
func (s *scene) shows(conversation int64) string {
	var lines []string
	for _, m := range s.Messages() {
		if m.Conversation == conversation {
			kind := m.Type
			if m.Private {
				kind = "note"
			}
			text := strings.NewReplacer(cloud.HistoryMark, "", "\u200b", "", "\n\n", ": ").Replace(m.Content)
			lines = append(lines, fmt.Sprintf("%s %s", kind, text))
		}
	}
	return strings.Join(lines, "\n")
}

func (s *scene) expect(conversation int64, want ...string) {
	s.t.Helper()
	if got := s.shows(conversation); got != strings.Join(want, "\n") {
		s.t.Errorf("conversation %d shows\n%s\nwant\n%s", conversation, got, strings.Join(want, "\n"))
	}
}

// graceNotes are the notes about talk.
var graceNotes = []string{
	"note **Grace** · 2026-11-21 12:00 +00:00: hello",
	"note **+15550100200** · 2026-11-21 12:01 +00:00: hi Grace",
	"note **Grace** · 2026-11-21 12:02 +00:00: see you",
}
