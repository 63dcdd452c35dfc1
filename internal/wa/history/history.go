// Package history takes over the history that the phone sends.
//
// After pairing the phone uploads its history in parts, and announces each with a
// message. That message is stored before anything else, because the network forgets it
// even where we do not acknowledge it. The part itself is taken over later: what a fresh
// session needs (tokens, salt, identities, names, timers), and the messages where the
// operator wants them.
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
	// idle separates two looks of Run if nothing wakes it.
	idle = time.Hour
)

// pause follows failures that are not a part's own: of the store, of the connection.
var pause = 10 * time.Second

// pauses follow the failures of one part. After the last it is given up.
var pauses = []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

// Store keeps parts of the history until they are taken over, and their content.
type Store interface {
	Save(ctx context.Context, facts ...bridge.Fact) error
	NextHistoryPart(ctx context.Context) (bridge.HistoryPart, bool, error)
	HistoryKinds(ctx context.Context) (map[string]bool, error)
	// OldestKnown returns the oldest message of a chat that the network knows.
	OldestKnown(ctx context.Context, chat bridge.JID) (oldest bridge.Message, found bool, err error)
	HistoryEnd(ctx context.Context, chat bridge.JID) (bridge.HistoryEnd, error)
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
	// missingSince says when missingIn was first seen without an announced history; only Run
	// uses both.
	missingSince time.Time
	missingIn    *session.Client
}

// New returns the account's history. Nothing is asked before [History.Run].
func New(o Options) *History { return &History{o: o, notify: make(chan struct{}, 1)} }

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

// Run takes parts over until ctx ends.
func (h *History) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.notify:
		case <-time.After(h.step(ctx)):
		}
	}
}

// step does what is due, and returns when to look again.
func (h *History) step(ctx context.Context) time.Duration {
	c, err := h.o.Open()
	if err != nil {
		return idle // it is woken when the account is open
	}
	part, found, err := h.o.Store.NextHistoryPart(ctx)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			h.o.Log.Warn().Err(err).Msg("pending parts of the history not read")
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
func (h *History) handle(ctx context.Context, c Conn, part bridge.HistoryPart) time.Duration {
	trying, cancel := context.WithTimeout(ctx, takeoverTimeout)
	defer cancel()
	defer context.AfterFunc(c.Ctx, cancel)()
	var err error
	if part.Kind == bridge.HistoryShared {
		err = h.takeBundle(trying, c, &part)
	} else if part.State == bridge.HistoryWaiting {
		err = h.takeOver(trying, c, &part)
	} else {
		err = h.deletePart(trying, c, part)
	}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil, c.Ctx.Err() != nil, !c.LoggedIn():
		return pause
	case errors.Is(err, session.ErrNotStored), bridge.CodeOf(err) == bridge.CodeStorageUnavailable: // not the part's fault
		h.o.Log.Warn().Err(err).Str("kind", part.Kind).Msg("history not stored; trying again")
		return pause
	}
	if err := h.failed(ctx, c, part, err); err != nil {
		h.o.Log.Warn().Err(err).Str("kind", part.Kind).Msg("failure of the history not noted")
		return pause
	}
	return 0
}

// failed plans the next try of a part, or gives it up.
func (h *History) failed(ctx context.Context, c Conn, part bridge.HistoryPart, cause error) error {
	step := part.HistoryStep
	step.Tries++
	log := h.o.Log.Warn().Str("kind", part.Kind).Int("chunk", part.Chunk).Int("tries", step.Tries).Str("error", bridge.Redact(cause.Error()))
	shared := part.Kind == bridge.HistoryShared
	switch final := isTooLarge(cause) || errors.Is(cause, errNoBundle) || shared && isGone(cause) || step.Tries > len(pauses); {
	case final && shared:
		step.State = bridge.HistoryGivenUp
		log.Msg("the messages that a member shared with this account, which has joined a group, were given up")
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
			h.askForPart(ctx, c, part)
		}
	}
	return h.o.Store.Save(ctx, step)
}

// readNotification decodes the phone's announcement of a part.
func readNotification(part bridge.HistoryPart) (*waE2E.HistorySyncNotification, error) {
	notification := new(waE2E.HistorySyncNotification)
	return notification, proto.Unmarshal(part.Notification, notification)
}

// Forget removes the state of the history, which belongs to a session. Without any it
// writes nothing: a bridge that is not paired starts with a full disk, too.
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
