package sending

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

// stage is a connection that records the presence to show. mu guards it.
type stage struct {
	mu     sync.Mutex
	socket any
	shown  []string
}

// newStage returns an open connection.
func newStage() *stage { return &stage{socket: new(int)} }

func (s *stage) connection() (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.socket, s.socket != nil
}

// reconnect replaces the connection.
func (s *stage) reconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.socket = new(int)
}

// take returns the presence shown since the last call.
func (s *stage) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.shown
	s.shown = nil
	return shown
}

func (s *stage) show(what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, what)
	return nil
}

func (s *stage) showPresence(_ context.Context, presence types.Presence) error {
	return s.show(string(presence))
}

func (s *stage) showChatState(_ context.Context, to types.JID, state bridge.TypingState) error {
	return s.show(string(state) + " " + to.User)
}

// TestPresence_ShowsForAWhile: each chat for 25 seconds after the last request, and
// the account as available only while there is such a chat.
func TestPresence_ShowsForAWhile(t *testing.T) {
	one, two := types.NewJID("1", types.HiddenUserServer), types.NewJID("2", types.HiddenUserServer)
	type step struct {
		after time.Duration
		to    types.JID
		state bridge.TypingState // "" only checks
		lose  bool               // lose the connection before
		want  []string
	}
	for name, steps := range map[string][]step{
		"ends by itself": {
			{to: one, state: bridge.TypingText, want: []string{"available", "typing 1"}},
			{after: 24 * time.Second, want: nil},
			{after: 2 * time.Second, want: []string{"paused 1", "unavailable"}},
		},
		"is renewed": {
			{to: one, state: bridge.TypingText, want: []string{"available", "typing 1"}},
			{after: 20 * time.Second, to: one, state: bridge.TypingVoice, want: []string{"recording 1"}},
			{after: 20 * time.Second, want: nil},
			{after: 6 * time.Second, want: []string{"paused 1", "unavailable"}},
		},
		"is paused": {
			{to: one, state: bridge.TypingText, want: []string{"available", "typing 1"}},
			{to: one, state: bridge.TypingPaused, want: []string{"paused 1", "unavailable"}},
			{to: one, state: bridge.TypingPaused, want: nil},
			{after: time.Minute, want: nil},
		},
		"in two chats": {
			{to: one, state: bridge.TypingText, want: []string{"available", "typing 1"}},
			{after: 10 * time.Second, to: two, state: bridge.TypingText, want: []string{"typing 2"}},
			{after: 16 * time.Second, want: []string{"paused 1"}},
			{after: 10 * time.Second, want: []string{"paused 2", "unavailable"}},
		},
		"is over with its connection": {
			{to: one, state: bridge.TypingText, want: []string{"available", "typing 1"}},
			{lose: true, after: time.Minute, want: nil},
		},
		"begins anew on another connection": {
			{to: one, state: bridge.TypingText, want: []string{"available", "typing 1"}},
			{lose: true, to: two, state: bridge.TypingText, want: []string{"available", "typing 2"}},
			{after: time.Minute, want: []string{"paused 2", "unavailable"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				s, shown := newStage(), newPresence(false)
				for i, step := range steps {
					if step.lose {
						s.reconnect()
					}
					time.Sleep(step.after)
					if step.state != "" {
						until, err := shown.show(ctx, s, step.to, step.state)
						if err != nil || until.IsZero() != (step.state == bridge.TypingPaused) {
							t.Fatal(until, err)
						}
					}
					synctest.Wait()
					if got := s.take(); !slices.Equal(got, step.want) {
						t.Errorf("step %d shows %v, want %v", i, got, step.want)
					}
				}
				stop()
			})
		})
	}
}

// TestPresence_OfAnAccountThatIsAlwaysAvailable: it never becomes unavailable, and says so again on
// a new connection.
func TestPresence_OfAnAccountThatIsAlwaysAvailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, shown := newStage(), newPresence(true)
		for i, want := range [][]string{{"available"}, {"available", "typing 1"}} {
			state := []bridge.TypingState{"", bridge.TypingText}[i]
			if _, err := shown.show(t.Context(), s, types.NewJID("1", types.HiddenUserServer), state); err != nil {
				t.Fatal(err)
			}
			if got := s.take(); !slices.Equal(got, want) {
				t.Errorf("shows %v, want %v", got, want)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := s.take(), []string{"paused 1", "available"}; !slices.Equal(got, want) {
			t.Errorf("shows %v, want %v", got, want)
		}
		s.reconnect()
		if _, err := shown.show(t.Context(), s, types.EmptyJID, ""); err != nil || !slices.Equal(s.take(), []string{"available"}) {
			t.Errorf("not available on a new connection: %v", err)
		}
	})
}

// TestPresence_RestsUnlessItTypes: a login makes the account unavailable, but must
// not end a request from just before.
func TestPresence_RestsUnlessItTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		s, shown := newStage(), newPresence(false)
		for _, state := range []bridge.TypingState{"", bridge.TypingText, ""} {
			if _, err := shown.show(ctx, s, types.NewJID("1", types.HiddenUserServer), state); err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{"unavailable", "available", "typing 1"}; !slices.Equal(s.shown, want) {
			t.Errorf("shows %v, want %v", s.shown, want)
		}
		if _, err := shown.show(ctx, new(stage), types.EmptyJID, ""); err == nil {
			t.Error("nothing is shown without a connection")
		}
	})
}
