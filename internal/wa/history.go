package wa

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// After pairing the phone uploads what it has of the past in parts, and tells
// of each with a message. Such a message is written down before anything else,
// because the network forgets it even where we do not acknowledge it. The part
// itself is taken over later: what a fresh session needs (tokens, salt,
// identities, names, timers), and the messages where the operator wants them.

const (
	// historyTimeout bounds one try to take a part over.
	historyTimeout = 10 * time.Minute
	// historyIdle is how long nobody need look, unless something happens.
	historyIdle = time.Hour
)

// historyPause is how long what has nothing to do with a part (the store, the
// connection) holds it up.
var historyPause = 10 * time.Second

// historyPauses are the pauses after failures of one part. With the last one
// it is given up.
var historyPauses = []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

// historyWorker takes the parts of the phone's history over, one at a time and
// off the path of the acknowledgement.
type historyWorker struct {
	m      *Manager
	notify chan struct{}
	// missingSince is when the phone of a session was first seen not to have told
	// of its history; only the worker's goroutine uses both.
	missingSince time.Time
	missingIn    *link
}

func newHistoryWorker(m *Manager) *historyWorker {
	return &historyWorker{m: m, notify: make(chan struct{}, 1)}
}

// wake has the worker look for something to do.
func (w *historyWorker) wake() {
	select {
	case w.notify <- struct{}{}:
	default: // it is about to look
	}
}

// want wakes the worker if facts bring work for it.
func (w *historyWorker) want(facts []bridge.Fact) {
	for _, fact := range facts {
		if _, is := fact.(bridge.HistoryPart); is {
			w.wake()
		}
	}
}

func (w *historyWorker) run(ctx context.Context) {
	for {
		timer := time.NewTimer(w.step(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-w.notify:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// step does what is due and returns after what time to look again.
func (w *historyWorker) step(ctx context.Context) time.Duration {
	l, err := w.m.open()
	if err != nil {
		return historyIdle // it is woken when the account is open
	}
	part, found, err := w.m.store.NextHistoryPart(ctx)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			w.m.log.Warn().Err(err).Msg("history that waits not read")
		}
		return historyPause
	case !found:
		return w.missing(ctx, l)
	case part.NextAt.After(time.Now()):
		return min(time.Until(part.NextAt.Time), w.missing(ctx, l))
	}
	return w.handle(ctx, l, part)
}

// handle takes a part over, or has the network delete one that was taken over.
func (w *historyWorker) handle(ctx context.Context, l *link, part bridge.HistoryPart) time.Duration {
	trying, cancel := context.WithTimeout(ctx, historyTimeout)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	var err error
	if part.State == bridge.HistoryWaiting {
		err = l.takeOver(trying, &part)
	} else {
		err = l.deletePart(trying, part)
	}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil, l.ctx.Err() != nil, !l.loggedIn():
		return historyPause
	case isOfStorage(err):
		w.m.log.Warn().Err(err).Str("kind", part.Kind).Msg("history not stored; trying again")
		return historyPause
	}
	if err := w.failed(ctx, l, part, err); err != nil {
		w.m.log.Warn().Err(err).Str("kind", part.Kind).Msg("failure of the history not noted")
		return historyPause
	}
	return 0
}

// isOfStorage reports whether a failure has nothing to do with the part.
func isOfStorage(err error) bool {
	return errors.Is(err, session.ErrNotStored) || bridge.CodeOf(err) == bridge.CodeStorageUnavailable
}

// failed plans the next try of a part, or gives it up.
func (w *historyWorker) failed(ctx context.Context, l *link, part bridge.HistoryPart, cause error) error {
	step := stepOf(part)
	step.Tries++
	log := w.m.log.Warn().Str("kind", part.Kind).Int("chunk", part.Chunk).Int("tries", step.Tries).Str("error", bridge.Redact(cause.Error()))
	switch final := errors.Is(cause, errTooLarge) || step.Tries > len(historyPauses); {
	case final && part.State == bridge.HistoryTakenOver:
		step.State = bridge.HistoryDone
		log.Msg("the network did not delete a part of the history that was taken over; it will by itself")
	case final:
		step.State = bridge.HistoryGivenUp
		log.Msg("a part of the phone's history was given up: first messages to some people may be refused, and names or timers be missing; pair again to get it")
	default:
		step.NextAt = bridge.At(time.Now().Add(historyPauses[step.Tries-1]))
		log.Time("next", step.NextAt.Time).Msg("a part of the phone's history could not be taken over; trying again")
		if isGone(cause) && part.State == bridge.HistoryWaiting {
			l.askForPart(ctx, part)
		}
	}
	return w.m.store.Save(ctx, step)
}

// stepOf returns what is known of a part, to be changed.
func stepOf(part bridge.HistoryPart) bridge.HistoryStep {
	return bridge.HistoryStep{ID: part.ID, State: part.State, Position: part.Position, Tries: part.Tries, NextAt: part.NextAt}
}

// readNotification decodes what the phone has told of a part.
func readNotification(part bridge.HistoryPart) (*waE2E.HistorySyncNotification, error) {
	notification := new(waE2E.HistorySyncNotification)
	return notification, proto.Unmarshal(part.Notification, notification)
}

// forgetHistory removes what is known of the history, which belongs to a
// session. Where nothing is known it writes nothing: a bridge that is not paired
// starts with a full disk, too.
func (m *Manager) forgetHistory(ctx context.Context) error {
	kinds, err := m.store.HistoryKinds(ctx)
	if err == nil && len(kinds) > 0 {
		err = m.store.Save(ctx, bridge.HistoryForgotten{})
	}
	for _, setting := range []string{settingHistoryAsked, settingHistoryPaired} {
		kept, settingErr := m.store.Setting(ctx, setting)
		if settingErr == nil && kept != "" {
			settingErr = m.store.SetSetting(ctx, setting, "")
		}
		err = errors.Join(err, settingErr)
	}
	return err
}
