// Package history imports the history that the phone sends.
//
// After pairing, the phone uploads its history in parts and announces each with a message. The
// announcement is stored first, because the network forgets it even if it is not acknowledged.
// The part itself is imported later: the data that a new session needs (tokens, salt, identities,
// names, timers), and the messages if the operator wants them.
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
	// importTimeout limits one attempt to import a part.
	importTimeout = 10 * time.Minute
	// idle is the time after which Run looks for work without being woken.
	idle = time.Hour
)

// pause follows failures that are not the fault of a part: of the store or of the connection.
var pause = 10 * time.Second

// pauses follow the failures of one part. After the last one the part is given up.
var pauses = []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

// Store holds the announced parts until they are imported, and their content.
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
	// Facts converts a message in the same way as one that is received over the connection.
	Facts func(e *events.Message) []bridge.Fact
}

// Options of [History].
type Options struct {
	// Open returns the open connection, or an error with the reason.
	Open func() (Conn, error)
	// Own returns the account's number and LID.
	Own func() (pn, lid bridge.JID)
	// Within limits a context by a duration and by the end of the program.
	Within func(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc)
	// WireID returns the id of a message on the network.
	WireID     func(ctx context.Context, chat bridge.JID, id string) string
	Import     bridge.HistoryImport // how many of the phone's messages are imported
	Background context.Context      // ends with the program
	Store      Store
	Clock      *bridge.Clock
	Log        zerolog.Logger
}

// History imports the parts of the phone's history, one at a time. Acknowledgements do not wait
// for it.
type History struct {
	o      Options
	notify chan struct{}
	// missingSince is when missingIn was first seen without an announced history. Only Run uses
	// both.
	missingSince time.Time
	missingIn    *session.Client
}

// New returns the account's history. It does nothing before [History.Run].
func New(o Options) *History { return &History{o: o, notify: make(chan struct{}, 1)} }

// Wake makes Run look for work.
func (h *History) Wake() { bridge.Wake(h.notify) }

// Want wakes Run if facts contain work for it.
func (h *History) Want(facts []bridge.Fact) {
	for _, fact := range facts {
		if _, ok := fact.(bridge.HistoryPart); ok {
			h.Wake()
		}
	}
}

// Run imports parts until ctx ends.
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

// step does the work that is due and returns the pause until the next step.
func (h *History) step(ctx context.Context) time.Duration {
	c, err := h.o.Open()
	if err != nil {
		return idle // it is woken when the account is open
	}
	part, found, err := h.o.Store.NextHistoryPart(ctx)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			h.o.Log.Warn().Err(err).Msg("cannot read the pending parts of the history")
		}
		return pause
	case !found:
		return h.missing(ctx, c)
	case part.NextAt.After(time.Now()):
		return min(time.Until(part.NextAt.Time), h.missing(ctx, c))
	}
	return h.handle(ctx, c, part)
}

// handle imports a part, or deletes an imported part from the network.
func (h *History) handle(ctx context.Context, c Conn, part bridge.HistoryPart) time.Duration {
	trying, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	defer context.AfterFunc(c.Ctx, cancel)()
	var err error
	if part.Kind == bridge.HistoryShared {
		err = h.importBundle(trying, c, &part)
	} else if part.State == bridge.HistoryWaiting {
		err = h.importPart(trying, c, &part)
	} else {
		err = h.deletePart(trying, c, part)
	}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil, c.Ctx.Err() != nil, !c.LoggedIn():
		return pause
	case errors.Is(err, session.ErrNotStored), bridge.CodeOf(err) == bridge.CodeStorageUnavailable: // not the part's fault
		h.o.Log.Warn().Err(err).Str("kind", part.Kind).Msg("cannot store the history; trying again")
		return pause
	}
	if err := h.failed(ctx, c, part, err); err != nil {
		h.o.Log.Warn().Err(err).Str("kind", part.Kind).Msg("cannot store the failure of a part of the history")
		return pause
	}
	return 0
}

// failed schedules the next attempt for a part, or gives the part up.
func (h *History) failed(ctx context.Context, c Conn, part bridge.HistoryPart, cause error) error {
	step := part.HistoryStep
	step.Tries++
	log := h.o.Log.Warn().Str("kind", part.Kind).Int("chunk", part.Chunk).Int("tries", step.Tries).Str("error", bridge.Redact(cause.Error()))
	shared := part.Kind == bridge.HistoryShared
	switch final := isTooLarge(cause) || errors.Is(cause, errNoBundle) || shared && isGone(cause) || step.Tries > len(pauses); {
	case final && shared:
		step.State = bridge.HistoryGivenUp
		log.Msg("giving up on the messages that a member shared when this account joined a group")
	case final && part.State == bridge.HistoryTakenOver:
		step.State = bridge.HistoryDone
		log.Msg("the network did not delete an imported part of the history; it deletes it later by itself")
	case final:
		step.State = bridge.HistoryGivenUp
		log.Msg("giving up on a part of the phone's history: first messages to some people may be refused, and names or timers may be missing; pair again to get it")
	default:
		step.NextAt = bridge.At(time.Now().Add(pauses[step.Tries-1]))
		log.Time("next", step.NextAt.Time).Msg("cannot import a part of the phone's history; trying again")
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

// Forget removes the state of the history when its session ends. It writes nothing if there is
// none, because an unpaired bridge must start with a full disk, too.
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

// Hurry shortens the time for the phone's announcement, and the pauses after failures. It is for
// tests of the whole process.
func Hurry(forPhone, afterFailure time.Duration) {
	announceTimeout, pause = forPhone, afterFailure
	for i := range pauses {
		pauses[i] = afterFailure
	}
}
