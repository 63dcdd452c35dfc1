// Package history takes over what the phone sends of its past.
//
// After pairing the phone uploads what it has of the past in parts, and announces each
// with a message. That message is stored before anything else,
// because the network forgets it even where we do not acknowledge it. The part
// itself is taken over later: what a fresh session needs (tokens, salt,
// identities, names, timers), and the messages where the operator wants them.
package history

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

const (
	// takeoverTimeout bounds one try to take a part over.
	takeoverTimeout = 10 * time.Minute
	// idle is after how long Run looks again if nothing wakes it.
	idle = time.Hour
)

// pause is how long what has nothing to do with a part (the store, the
// connection) holds it up.
var pause = 10 * time.Second

// pauses are the pauses after failures of one part. With the last one
// it is given up.
var pauses = []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

// Store is where parts of the history are kept until they are taken over, and what
// they hold.
type Store interface {
	Save(ctx context.Context, facts ...bridge.Fact) error
	NextHistoryPart(ctx context.Context) (bridge.HistoryPart, bool, error)
	HistoryKinds(ctx context.Context) (map[string]bool, error)
	Setting(ctx context.Context, name string) (string, error)
	SetSetting(ctx context.Context, name, value string) error
}

// Conn is an open connection of the account.
type Conn struct {
	*session.Client
	// Ctx ends with the session.
	Ctx context.Context
	// Facts interprets a message as one that comes over the connection.
	Facts func(e *events.Message) []bridge.Fact
}

// Options of [History].
type Options struct {
	// Open returns the open connection, or why there is none.
	Open func() (Conn, error)
	// Own returns the account's number and LID.
	Own func() (pn, lid bridge.JID)
	// Within bounds a context by a time and by the end of the program.
	Within func(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc)
	// WireID returns the id of a message as the network knows it.
	WireID     func(ctx context.Context, chat bridge.JID, id string) string
	Import     bridge.HistoryImport // how much of the phone's messages is imported
	Background context.Context      // ends with the program
	Store      Store
	Clock      *bridge.Clock
	Log        zerolog.Logger
}

// History takes the parts of the phone's history over, one at a time and off the path
// of the acknowledgement.
type History struct {
	o      Options
	notify chan struct{}
	// missingSince is when the phone of a session was first seen not to have announced
	// its history; only Run uses both.
	missingSince time.Time
	missingIn    *session.Client
}

// New returns the account's history. Nothing is asked before [History.Run].
func New(o Options) *History { return &History{o: o, notify: make(chan struct{}, 1)} }

// conn is an open connection in use.
type conn struct {
	Conn
	h *History
}

func (h *History) open() (*conn, error) {
	c, err := h.o.Open()
	return &conn{c, h}, err
}

// Wake has Run look for something to do.
func (h *History) Wake() {
	select {
	case h.notify <- struct{}{}:
	default: // it is about to look
	}
}

// Want wakes Run if facts bring work for it.
func (h *History) Want(facts []bridge.Fact) {
	for _, fact := range facts {
		if _, is := fact.(bridge.HistoryPart); is {
			h.Wake()
		}
	}
}

// Run takes over what comes until ctx ends.
func (h *History) Run(ctx context.Context) {
	for {
		timer := time.NewTimer(h.step(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-h.notify:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// step does what is due and returns after what time to look again.
func (h *History) step(ctx context.Context) time.Duration {
	c, err := h.open()
	if err != nil {
		return idle // it is woken when the account is open
	}
	part, found, err := h.o.Store.NextHistoryPart(ctx)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			h.o.Log.Warn().Err(err).Msg("history that waits not read")
		}
		return pause
	case !found:
		return h.missing(ctx, c)
	case part.NextAt.After(time.Now()):
		return min(time.Until(part.NextAt.Time), h.missing(ctx, c))
	}
	return h.handle(ctx, c, part)
}

// handle takes a part over, or has the network delete one that was taken over.
func (h *History) handle(ctx context.Context, c *conn, part bridge.HistoryPart) time.Duration {
	trying, cancel := context.WithTimeout(ctx, takeoverTimeout)
	defer cancel()
	defer context.AfterFunc(c.Ctx, cancel)()
	var err error
	if part.State == bridge.HistoryWaiting {
		err = c.takeOver(trying, &part)
	} else {
		err = c.deletePart(trying, part)
	}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil, c.Ctx.Err() != nil, !c.LoggedIn():
		return pause
	case isOfStorage(err):
		h.o.Log.Warn().Err(err).Str("kind", part.Kind).Msg("history not stored; trying again")
		return pause
	}
	if err := h.failed(ctx, c, part, err); err != nil {
		h.o.Log.Warn().Err(err).Str("kind", part.Kind).Msg("failure of the history not noted")
		return pause
	}
	return 0
}

// isOfStorage reports whether a failure has nothing to do with the part.
func isOfStorage(err error) bool {
	return errors.Is(err, session.ErrNotStored) || bridge.CodeOf(err) == bridge.CodeStorageUnavailable
}

// failed plans the next try of a part, or gives it up.
func (h *History) failed(ctx context.Context, c *conn, part bridge.HistoryPart, cause error) error {
	step := stepOf(part)
	step.Tries++
	log := h.o.Log.Warn().Str("kind", part.Kind).Int("chunk", part.Chunk).Int("tries", step.Tries).Str("error", bridge.Redact(cause.Error()))
	switch final := isTooLarge(cause) || step.Tries > len(pauses); {
	case final && part.State == bridge.HistoryTakenOver:
		step.State = bridge.HistoryDone
		log.Msg("the network did not delete a part of the history that was taken over; it will by itself")
	case final:
		step.State = bridge.HistoryGivenUp
		log.Msg("a part of the phone's history was given up: first messages to some people may be refused, and names or timers be missing; pair again to get it")
	default:
		step.NextAt = bridge.At(time.Now().Add(pauses[step.Tries-1]))
		log.Time("next", step.NextAt.Time).Msg("a part of the phone's history could not be taken over; trying again")
		if isGone(cause) && part.State == bridge.HistoryWaiting {
			c.askForPart(ctx, part)
		}
	}
	return h.o.Store.Save(ctx, step)
}

// stepOf returns what is known of a part, to be changed.
func stepOf(part bridge.HistoryPart) bridge.HistoryStep {
	return bridge.HistoryStep{ID: part.ID, State: part.State, Position: part.Position, Tries: part.Tries, NextAt: part.NextAt}
}

// readNotification decodes the phone's announcement of a part.
func readNotification(part bridge.HistoryPart) (*waE2E.HistorySyncNotification, error) {
	notification := new(waE2E.HistorySyncNotification)
	return notification, proto.Unmarshal(part.Notification, notification)
}

// Forget removes what is known of the history, which belongs to a
// session. Where nothing is known it writes nothing: a bridge that is not paired
// starts with a full disk, too.
func (h *History) Forget(ctx context.Context) error {
	kinds, err := h.o.Store.HistoryKinds(ctx)
	if err == nil && len(kinds) > 0 {
		err = h.o.Store.Save(ctx, bridge.HistoryForgotten{})
	}
	for _, setting := range []string{settingAsked, settingPaired} {
		kept, settingErr := h.o.Store.Setting(ctx, setting)
		if settingErr == nil && kept != "" {
			settingErr = h.o.Store.SetSetting(ctx, setting, "")
		}
		err = errors.Join(err, settingErr)
	}
	return err
}

// Hurry shortens how long the phone has to announce its history, and the pauses after
// failures, in tests of the whole process.
func Hurry(forPhone, afterFailure time.Duration) {
	patience, pause = forPhone, afterFailure
	for i := range pauses {
		pauses[i] = afterFailure
	}
}
