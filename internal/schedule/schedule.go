// Package schedule sends messages at the times that callers have chosen.
//
// A scheduled message is stored with its final id, its content and its files. [Schedule.Run] sends it when its
// time comes, within the grace period, and asks first whether its token may still send it. Before the first
// try it is stored as being sent. If the outcome of a try is unknown, also after a crash, it is sent again
// under the same id, and the apps show it once. It is removed after the network has accepted it.
//
// The time is that of the store's clock, which does not follow jumps of the system clock.
package schedule

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// Account sends messages.
type Account interface {
	// Ready returns nil if the account is open.
	Ready() error
	Send(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error)
	Resend(ctx context.Context, m bridge.Message) (bridge.Sent, error)
	SendAlbum(ctx context.Context, album bridge.OutgoingAlbum) (bridge.SentAlbum, error)
	// ResendAlbum sends those messages of a stored album that the network has not accepted.
	ResendAlbum(ctx context.Context, messages []bridge.Message) (bridge.SentAlbum, error)
}

// Callers knows the tokens.
type Callers interface {
	// MaySend returns the token of a scheduled message, or the reason why the message may not be sent.
	MaySend(ctx context.Context, m bridge.Scheduled) (bridge.Token, error)
}

// Options configures a [Schedule].
type Options struct {
	Store   *store.Store
	Account Account
	Dir     string        // of the files; it is created with the first one
	Grace   time.Duration // how late a message may be sent
	// Preview returns the preview of the first link in a text, or nil.
	Preview func(ctx context.Context, text string) *bridge.Preview
	Log     zerolog.Logger
}

// Schedule holds the scheduled messages. Its methods may be called concurrently.
type Schedule struct {
	o     Options
	files files
	wake  chan struct{}

	workers sync.WaitGroup
	mu      sync.Mutex
	running map[string]bool  // the ids of messages that are sent, changed or cancelled now; guarded by mu
	retries map[string]retry // of messages that could not be sent yet, by their ids; guarded by mu
}

// retry is when to try again.
type retry struct {
	at    time.Time
	pause time.Duration
}

// New returns the scheduled messages of a store. It removes files that have no message.
func New(ctx context.Context, o Options) (*Schedule, error) {
	s := &Schedule{
		o: o, files: files{dir: o.Dir}, wake: make(chan struct{}, 1),
		running: make(map[string]bool), retries: make(map[string]retry),
	}
	isNeeded := func(id string) (bool, error) {
		_, err := o.Store.ScheduledMessage(ctx, id)
		if bridge.CodeOf(err) == bridge.CodeNotFound {
			return false, nil
		}
		return true, err
	}
	if err := s.files.sweep(isNeeded); err != nil {
		return nil, fmt.Errorf("open the files of scheduled messages: %w", err)
	}
	counts, err := o.Store.ScheduledCounts(ctx)
	if held := counts[bridge.ScheduledHeld]; held > 0 {
		o.Log.Warn().Int("count", held).Msg("scheduled messages are held, because this store was restored from a backup: look at them with bridged scheduled, and send or cancel each")
	}
	return s, err
}

func (s *Schedule) now() time.Time { return s.o.Store.Clock().Now() }

// Wake makes [Schedule.Run] look at the messages and their tokens now. It may be called on nil.
func (s *Schedule) Wake() {
	if s == nil {
		return
	}
	bridge.Wake(s.wake)
}

// CheckQuota refuses another message of a token, with some bytes, if the quota does not allow it.
func (s *Schedule) CheckQuota(ctx context.Context, by bridge.Token, bytes int64) error {
	use, err := s.o.Store.ScheduledUse(ctx, by.Tree)
	if err != nil {
		return err
	}
	return bridge.Scheduling.Admits(use, by.ID, bytes)
}

// CheckTime refuses a time at which a message of a token cannot be sent.
func (s *Schedule) CheckTime(at bridge.Time, by bridge.Token) error {
	now := bridge.At(s.now())
	switch {
	case !at.After(now.Time):
		return bridge.Invalid("sendAt must be in the future: it is %s now", now)
	case at.After(now.Add(bridge.ScheduleAhead)):
		return bridge.Invalid("sendAt must be at most a year ahead: it is %s now", now)
	case by.ExpiresAt != nil && !at.Before(by.ExpiresAt.Time):
		return bridge.Invalid("sendAt must be before this token expires, at %s: its messages are not sent after that", by.ExpiresAt)
	}
	return nil
}

// Add schedules a message of a token. Its files are stored when Add returns. preview asks for the preview of a
// link in its text. The key may be nil.
func (s *Schedule) Add(ctx context.Context, out bridge.Outgoing, at bridge.Time, preview bool, by bridge.Token, key *bridge.SendKey) (m bridge.Scheduled, err error) {
	m = bridge.Scheduled{
		ID: bridge.NewMessageID(), Chat: out.To, Status: bridge.ScheduledWaiting, SendAt: at, CreatedAt: bridge.At(s.now()),
		Draft: bridge.DraftOf(out), Token: by.ID, Tree: by.Tree,
	}
	m.Draft.Preview = preview
	size := int64(0)
	for i, file := range m.Draft.Files() {
		bytes, err := s.files.take(file.Path, fileName(m.ID, i))
		if err != nil {
			s.removeFiles(m.ID)
			return m, err
		}
		size += bytes
		file.Path = ""
	}
	if key != nil {
		key.Chat, key.MsgID, key.At = m.Chat, m.ID, m.CreatedAt
	}
	if err := s.o.Store.AddScheduled(ctx, m, size, key); err != nil {
		s.removeFiles(m.ID)
		return m, err
	}
	s.Wake()
	return m, nil
}

// Patch changes a scheduled message. Nil fields stay unchanged.
type Patch struct {
	SendAt           *bridge.Time
	Text             *string
	Mentions, Unseen []bridge.JID // replace the mentions if HasMentions is set
	HasMentions      bool
}

// Change changes a message. The token is then responsible for it: it is sent only while that token may send
// it. A message that was missed, held or refused waits again if it gets a time. Change fails with
// [bridge.CodeAlreadySending] while the message is being sent.
func (s *Schedule) Change(ctx context.Context, id string, p Patch, by bridge.Token) (m bridge.Scheduled, err error) {
	done, err := s.hold(id)
	if err != nil {
		return m, err
	}
	defer done()
	m, err = s.o.Store.ChangeScheduled(ctx, id, func(m *bridge.Scheduled) error {
		if p.Text != nil && m.Begun {
			return bridge.Fail(bridge.CodeAlreadySending, "the text of the message cannot be changed, because its sending has begun: cancel it and send another")
		}
		if p.Text != nil {
			if err := m.Draft.SetWords(*p.Text); err != nil {
				return err
			}
			m.Draft.Mentions = bridge.StillMentioned(*p.Text, m.Draft.Mentions)
			m.Draft.Unseen = bridge.StillMentioned(*p.Text, m.Draft.Unseen)
		}
		if p.HasMentions {
			m.Draft.Mentions, m.Draft.Unseen = p.Mentions, p.Unseen
		}
		if p.SendAt != nil {
			m.SendAt, m.Status, m.Error = *p.SendAt, bridge.ScheduledWaiting, nil
		}
		m.Token, m.Tree = by.ID, by.Tree
		return nil
	})
	s.Wake()
	return m, err
}

// Cancel erases a message that was not sent. It fails with [bridge.CodeAlreadySending] while the message is
// being sent.
func (s *Schedule) Cancel(ctx context.Context, id string) (bridge.Scheduled, error) {
	done, err := s.hold(id)
	if err != nil {
		return bridge.Scheduled{}, err
	}
	defer done()
	m, err := s.o.Store.CancelScheduled(ctx, id)
	if err == nil {
		s.removeFiles(id)
	}
	return m, err
}

// hold reserves a message until done is called.
func (s *Schedule) hold(id string) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[id] {
		return nil, bridge.Fail(bridge.CodeAlreadySending, "the message is being sent just now: try again in a moment")
	}
	s.running[id] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, id)
	}, nil
}

// removeFiles removes the files of a message, if it has any. A failure is only logged: the next start tries again.
func (s *Schedule) removeFiles(id string) {
	if err := s.files.removeAll(id); err != nil {
		s.o.Log.Error().Err(err).Str("msg_id", id).Msg("cannot remove a file of a scheduled message; the next start removes it")
	}
}
