package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store/columns"
	"bridged/internal/store/read"
	"bridged/internal/store/storetest"
)

// The people and groups of the tests.
const (
	me       bridge.JID = "491700000001@s.whatsapp.net"
	meLID    bridge.JID = "10000000000001@lid"
	alice    bridge.JID = "491700000002@s.whatsapp.net"
	aliceLID bridge.JID = "10000000000002@lid"
	bob      bridge.JID = "491700000003@s.whatsapp.net"
	bobLID   bridge.JID = "10000000000003@lid"
	carol    bridge.JID = "491700000004@s.whatsapp.net"
	club     bridge.JID = "120363000000000001@g.us"
)

// The tests make small blocks and packs, so that small stores have many.
const (
	testBlockBits = 5
	testBlock     = 1 << testBlockBits
	testPackSize  = 7
)

// empty is an empty store whose index has such blocks.
var empty = storetest.NewTemplate(func(path string) error {
	s, err := Open(context.Background(), Options{Path: path, Log: zerolog.Nop(), blockBits: testBlockBits, packSize: testPackSize})
	if err != nil {
		return err
	}
	return s.Close()
})

// newStore is a new store in a directory of its own, closed when the test ends.
func newStore(t testing.TB) *Store {
	t.Helper()
	return openStore(t, empty.NewFile(t))
}

// newFailingStore is a new store whose writes the test can make fail.
func newFailingStore(t testing.TB) (*Store, *storetest.Fault) {
	t.Helper()
	fault := new(storetest.Fault)
	return openWith(t, Options{Path: empty.NewFile(t), Log: zerolog.Nop(), BeforeCommit: fault.BeforeCommit}), fault
}

func openStore(t testing.TB, path string) *Store {
	t.Helper()
	return openWith(t, Options{Path: path, Log: zerolog.Nop()})
}

func openWith(t testing.TB, o Options) *Store {
	t.Helper()
	o.blockBits, o.packSize = testBlockBits, testPackSize
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	s.Tuning.Small = 0
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return s
}

func save(t testing.TB, s *Store, facts ...bridge.Fact) {
	t.Helper()
	if err := s.Save(context.Background(), facts...); err != nil {
		t.Fatalf("save %T: %v", facts[0], err)
	}
}

// at is a moment some seconds into the story that the tests tell.
func at(seconds int) bridge.Time {
	return bridge.At(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second))
}

func ptr[T any](v T) *T { return &v }

// says is a text message from somebody else.
func says(chat, sender bridge.JID, id string, seconds int, text string) bridge.Message {
	return bridge.Message{
		Chat: chat, ID: id, SenderJID: sender, Timestamp: at(seconds),
		MessageType: "conversation", Content: text, Raw: []byte("raw of " + id),
	}
}

// iSay is an own text message that is about to be sent.
func iSay(chat bridge.JID, id string, seconds int, text string) bridge.Message {
	m := says(chat, me, id, seconds, text)
	m.FromMe, m.Status = true, ptr(bridge.DeliveryPending)
	return m
}

func placeholder(chat, sender bridge.JID, id string, seconds int) bridge.Message {
	m := says(chat, sender, id, seconds, "")
	m.MessageType, m.Raw = bridge.TypeUndecryptable, nil
	return m
}

func owner() bridge.Owner { return bridge.Owner{PN: me, LID: meLID} }

func messages(t testing.TB, s *Store, q bridge.MessageQuery) []bridge.Message {
	t.Helper()
	page, err := s.Messages(context.Background(), q)
	if err != nil {
		t.Fatalf("read messages: %v", err)
	}
	return page.Items
}

// history is all of a chat, oldest first.
func historyOf(t testing.TB, s *Store, chat bridge.JID) []bridge.Message {
	t.Helper()
	return messages(t, s, bridge.MessageQuery{Chat: chat, Order: bridge.OrderAsc, Limit: 1000})
}

// message is a message that must be there.
func message(t testing.TB, s *Store, chat bridge.JID, id string) bridge.Message {
	t.Helper()
	m, err := s.Message(context.Background(), chat, id)
	if err != nil {
		t.Fatalf("read message %s: %v", id, err)
	}
	return m
}

func chats(t testing.TB, s *Store, q bridge.ChatQuery) []bridge.Chat {
	t.Helper()
	page, err := s.Chats(context.Background(), q)
	if err != nil {
		t.Fatalf("list chats: %v", err)
	}
	return page.Items
}

func matchesOf(t testing.TB, s *Store, q bridge.SearchQuery) []bridge.Match {
	t.Helper()
	page, err := s.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	return page.Items
}

// settle indexes all that can be indexed.
func settle(t testing.TB, s *Store) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.index.IndexSome(context.Background()); err != nil {
			t.Fatalf("index: %v", err)
		}
	}
}

func ids(messages []bridge.Message) []string {
	list := make([]string, len(messages))
	for i, m := range messages {
		list[i] = m.ID
	}
	return list
}

func matchIDs(matches []bridge.Match) []string {
	list := make([]string, len(matches))
	for i, m := range matches {
		list[i] = m.MsgID
	}
	return list
}

func wantCode(t *testing.T, err error, want bridge.Code) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", want)
	}
	if got := bridge.CodeOf(err); got != want {
		t.Fatalf("code %s (%v), want %s", got, err, want)
	}
}

// logged is the log of events as "type reference" lines.
func logged(t testing.TB, s *Store) []string {
	t.Helper()
	lines := []string{}
	err := s.Read(context.Background(), func(r *read.Snapshot) {
		for row := range r.Rows(`
			SELECT e.id, e.type, coalesce(m.id, c.jid, '') FROM events e
			LEFT JOIN messages m ON m.seq = e.message LEFT JOIN chats c ON c.id = e.chat ORDER BY e.id`) {
			var id, kind int
			var about string
			row.Scan(&id, &kind, &about)
			lines = append(lines, fmt.Sprintf("%s %s", columns.EventTypes[kind], about))
		}
	})
	if err != nil {
		t.Fatalf("read the log: %v", err)
	}
	return lines
}

func sameList[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// checkSound has SQLite read the whole store for damage.
func checkSound(t testing.TB, s *Store) {
	t.Helper()
	var verdict string
	err := s.Read(t.Context(), func(r *read.Snapshot) {
		r.Find("PRAGMA quick_check(1)", nil, &verdict)
	})
	if err != nil || verdict != "ok" {
		t.Errorf("the store is damaged: %q, %v", verdict, err)
	}
}

// onWriter runs a statement on the connection for writing, which the background
// uses, too.
func onWriter(t *testing.T, s *Store, query string) {
	t.Helper()
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.writer.Script(query); err != nil {
		t.Fatal(err)
	}
}
