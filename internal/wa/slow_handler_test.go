package wa_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

// Write appends to the log.
func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

// slowStore delays the saving of messages until it is released.
type slowStore struct {
	*store.Store
	entered chan struct{} // gets a token for each delayed message
	release chan struct{} // closed

	mu           sync.Mutex
	saving, most int // messages; guarded by mu
}

// Save saves facts, those of a message only after release.
func (s *slowStore) Save(ctx context.Context, facts ...bridge.Fact) error {
	if !slices.ContainsFunc(facts, func(f bridge.Fact) bool { _, ok := f.(bridge.Message); return ok }) {
		return s.Store.Save(ctx, facts...)
	}
	s.mu.Lock()
	s.saving++
	s.most = max(s.most, s.saving)
	s.mu.Unlock()
	s.entered <- struct{}{}
	<-s.release
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.saving--
	}()
	return s.Store.Save(ctx, facts...)
}

// atOnce returns the highest number of messages that were being saved concurrently.
func (s *slowStore) atOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// slowAccount is a paired account with a slow message handler, a friend, and its
// log.
type slowAccount struct {
	*account
	slow   *slowStore
	log    *lines
	friend *simnet.Phone
	letGo  func()
}

func newSlowAccount(t *testing.T) *slowAccount {
	t.Helper()
	network := newNetwork(t)
	s := &slowAccount{slow: &slowStore{entered: make(chan struct{}, 100), release: make(chan struct{})}, log: new(lines)}
	s.letGo = sync.OnceFunc(func() { close(s.slow.release) })
	t.Cleanup(s.letGo)
	s.account = startAccountLogging(t, network, t.TempDir(), zerolog.New(s.log), func(of *store.Store) wa.Store {
		s.slow.Store = of
		return s.slow
	})
	t.Cleanup(s.letGo) // before the account is stopped
	s.phone = newPhone(t, network, accountNumber, "Alex")
	s.friend = newPhone(t, network, "15550100301", "Sam")
	s.pair()
	return s
}

// say has the friend write.
func (s *slowAccount) say(text string) {
	s.t.Helper()
	if _, err := s.friend.SendText(testContext(s.t), s.phone.PN(), text); err != nil {
		s.t.Fatal(err)
	}
}

// stored waits until the chat with the friend has these texts, in this order.
func (s *slowAccount) stored(want ...string) {
	s.t.Helper()
	var got []string
	eventually(s.t, strings.Join(want, ", "), func() bool {
		got = nil
		for _, m := range s.messages(jidOf(s.friend)) {
			got = append(got, m.Content)
		}
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		s.t.Errorf("stored are %q, want %q", got, want)
	}
	if err := s.device().WaitQuiet(testContext(s.t)); err != nil {
		s.t.Error(err)
	}
}

// decrypting is logged when a handler begins with a message.
const decrypting = "Decrypting message from"

// TestReceive_OneStanzaIsStoredAtATimeOverAReconnect: handlers of the next
// connection wait for one that is still running.
func TestReceive_OneStanzaIsStoredAtATimeOverAReconnect(t *testing.T) {
	t.Parallel()
	s := newSlowAccount(t)
	ctx := testContext(t)
	begun := s.log.count(decrypting)
	s.say("first")
	<-s.slow.entered
	logins := s.device().Counters().Logins
	s.device().Drop()
	if err := s.device().WaitLogins(ctx, logins+1); err != nil {
		t.Fatal(err)
	}
	s.say("second")
	s.say("third")
	eventually(t, "the first message on the second connection", func() bool { return s.log.count(decrypting) >= begun+2 })
	s.letGo()
	s.stored("first", "second", "third")
	if n := s.slow.atOnce(); n != 1 {
		t.Errorf("%d messages were being saved at one time", n)
	}
	s.stop()
	if s.log.count("in the middle of handling <message>") == 0 {
		t.Error("the log does not report the running handler")
	}
	for _, leak := range []string{"<enc", "participant=", "offline=", s.friend.Number()} {
		if s.log.count(leak) > 0 {
			t.Errorf("the log has %q", leak)
		}
	}
	if s.log.count("Handler queue wait channel not closed") > 0 {
		t.Error("the end of a connection has waited for the handler")
	}
}

// TestReceive_AMessageIsDecryptedOnceOverAReconnect: a handler that has not
// decrypted its message when the next connection brings it again leaves it to that
// connection. A second decryption would fail and cause a retry receipt.
func TestReceive_AMessageIsDecryptedOnceOverAReconnect(t *testing.T) {
	t.Parallel()
	s := newSlowAccount(t)
	s.letGo()
	ctx := testContext(t)
	s.say("hello")
	s.stored("hello")
	release, err := s.manager.HoldDecryption(ctx)
	if err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(release)
	t.Cleanup(release)
	begun := s.log.count(decrypting)
	s.say("first")
	eventually(t, "the first connection's handler", func() bool { return s.log.count(decrypting) > begun })
	s.device().Drop()
	eventually(t, "the second connection's handler", func() bool { return s.log.count(decrypting) > begun+1 })
	s.say("second")
	release()
	s.stored("hello", "first", "second")
	if n := s.device().Counters().RetryReceipts; n != 0 {
		t.Errorf("%d messages were asked for again", n)
	}
	if s.log.count("key was used before") > 0 {
		t.Error("a message was decrypted twice")
	}
}

// TestConnection_ReplacedDuringASlowHandler: whatsmeow then reports the reason for
// a connection's end after the end, when the next attempt is already planned. It
// must be cancelled.
func TestConnection_ReplacedDuringASlowHandler(t *testing.T) {
	t.Parallel()
	s := newSlowAccount(t)
	logins := s.device().Counters().Logins + 1
	s.device().Drop() // so that the next attempt has to wait
	if err := s.device().WaitLogins(testContext(t), logins); err != nil {
		t.Fatal(err)
	}
	s.waitState(bridge.StateOpen)
	s.say("first")
	<-s.slow.entered
	s.device().Replace()
	s.waitError(bridge.StateClosed, "another client took over")
	s.letGo()
	if err := s.manager.Reconnect(testContext(t)); err != nil {
		t.Fatal(err)
	}
	s.stored("first")
	if n := s.device().Counters().Logins; n != logins+1 {
		t.Errorf("%d logins, want %d: the last one for a person", n, logins+1)
	}
}
