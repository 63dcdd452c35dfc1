package schedule

import (
	"context"
	"errors"
	"time"

	"bridged/internal/bridge"
)

const (
	// slots limits the messages that are sent at the same time: sending a file may take long. Messages of one
	// chat are sent one after the other.
	slots = 4
	// maxPause is the longest pause between two reads of the messages: tokens expire, and clocks jump.
	maxPause = time.Minute
	// readyEvery is the pause between two looks at whether the account is open.
	readyEvery = time.Second
	// retryFirst is the pause before a message is tried again. It doubles up to retryMost.
	retryFirst = 2 * time.Second
	retryMost  = time.Minute
	// forgetAfter is how long a message stays stored that was not sent.
	forgetAfter = 30 * 24 * time.Hour
	forgetEvery = time.Hour
)

// Run sends the messages until ctx ends.
func (s *Schedule) Run(ctx context.Context, callers Callers) {
	defer s.workers.Wait()
	var forgotten time.Time
	for {
		pause, err := s.sendDue(ctx, callers)
		if err == nil && time.Since(forgotten) >= forgetEvery {
			forgotten, err = time.Now(), s.forget(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.o.Log.Error().Err(err).Msg("cannot read the scheduled messages; trying again")
			pause = maxPause
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// sendDue begins to send the messages that are due, marks the ones that are too late, and returns the pause until
// the next call.
func (s *Schedule) sendDue(ctx context.Context, callers Callers) (pause time.Duration, err error) {
	if err := s.failEnded(ctx, callers); err != nil {
		return 0, err
	}
	now := s.now()
	due, next, err := s.o.Store.ScheduledBefore(ctx, bridge.At(now))
	if err != nil {
		return 0, err
	}
	pause = maxPause
	if !next.IsZero() {
		pause = min(pause, next.Sub(now))
	}
	isReady, busy := s.o.Account.Ready() == nil, make(map[bridge.JID]bool)
	for _, m := range due {
		wait := time.Duration(0)
		switch {
		case busy[m.Chat]:
			continue
		case now.Sub(m.SendAt.Time) > s.o.Grace:
			if err := s.miss(ctx, m.ID); err != nil {
				return 0, err
			}
			continue
		case isReady:
			wait = s.begin(ctx, m, callers)
		default:
			wait = readyEvery
		}
		busy[m.Chat] = true
		pause = min(pause, wait)
	}
	return max(pause, 0), nil
}

// begin begins to send a message, or returns how long to wait.
func (s *Schedule) begin(ctx context.Context, m bridge.Scheduled, callers Callers) (wait time.Duration) {
	s.mu.Lock()
	again, inProgress := s.retries[m.ID], len(s.running)
	s.mu.Unlock()
	if wait := time.Until(again.at); wait > 0 {
		return wait
	}
	if inProgress >= slots {
		return maxPause // the end of each wakes this loop
	}
	done, err := s.hold(m.ID)
	if err != nil {
		return maxPause
	}
	s.workers.Go(func() {
		defer s.Wake()
		defer done()
		s.sendOne(ctx, m.ID, callers)
	})
	return maxPause
}

// sendOne sends a message that is due, and stores the outcome.
func (s *Schedule) sendOne(ctx context.Context, id string, callers Callers) {
	m, err := s.o.Store.ChangeScheduled(ctx, id, func(m *bridge.Scheduled) error {
		if m.Status != bridge.ScheduledWaiting && m.Status != bridge.ScheduledSending || m.SendAt.After(s.now()) {
			return errChanged
		}
		m.Status, m.Begun = bridge.ScheduledSending, true
		return nil
	})
	if errors.Is(err, errChanged) || bridge.CodeOf(err) == bridge.CodeNotFound {
		return
	}
	if err != nil {
		m.ID, m.SendAt = id, bridge.At(s.now()) // so that it is tried again after a pause
	}
	if err == nil {
		var token bridge.Token
		if token, err = callers.MaySend(ctx, m); err == nil {
			_, err = s.send(ctx, m, token, nil)
		}
	}
	if ctx.Err() != nil && err != nil {
		return // the next start continues
	}
	s.settle(context.WithoutCancel(ctx), m, err)
}

// errChanged means that a message was changed after it was due.
var errChanged = errors.New("the message is no longer due")

// settle stores the outcome of a try.
func (s *Schedule) settle(ctx context.Context, m bridge.Scheduled, sendErr error) {
	if sendErr == nil {
		s.sent(ctx, m.ID)
		return
	}
	wait, again := s.retryAfter(m, sendErr)
	_, err := s.o.Store.ChangeScheduled(ctx, m.ID, func(m *bridge.Scheduled) error {
		m.Begun = s.hasBegun(ctx, *m)
		switch {
		case !again:
			m.Status, m.Error = bridge.ScheduledFailed, problemOf(sendErr)
		case !m.Begun:
			m.Status = bridge.ScheduledWaiting
		}
		return nil
	})
	event := s.o.Log.Info()
	if !again {
		event = s.o.Log.Warn()
	}
	event.Str("msg_id", m.ID).Str("code", string(bridge.CodeOf(sendErr))).Str("error", bridge.Redact(sendErr.Error())).Bool("again", again).Msg("a scheduled message was not sent")
	if err != nil {
		s.o.Log.Error().Err(err).Str("msg_id", m.ID).Msg("cannot store the outcome of a scheduled message")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.retries, m.ID); again {
		s.retries[m.ID] = retry{time.Now().Add(wait), wait}
	}
}

// sent removes a message that was sent.
func (s *Schedule) sent(ctx context.Context, id string) {
	if err := s.o.Store.EndScheduled(ctx, id); err != nil {
		// The next try finds that it was sent.
		s.o.Log.Error().Err(err).Str("msg_id", id).Msg("cannot remove a scheduled message that was sent")
		return
	}
	s.removeFiles(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.retries, id)
}

// retryAfter returns when to try again after an error, and whether that can help within the grace period.
func (s *Schedule) retryAfter(m bridge.Scheduled, err error) (wait time.Duration, again bool) {
	s.mu.Lock()
	last := s.retries[m.ID].pause
	s.mu.Unlock()
	wait = min(max(2*last, retryFirst), retryMost)
	var known *bridge.Error
	if errors.As(err, &known) && known.RetryAfter > 0 {
		wait = known.RetryAfter
	}
	switch bridge.CodeOf(err) {
	case bridge.CodeNotConnected, bridge.CodeSendTimeout, bridge.CodeStorageUnavailable, bridge.CodeMediaUnavailable, bridge.CodeTooManyConnections:
		return wait, true
	case bridge.CodeRateLimited, bridge.CodeNewChatsLimited, bridge.CodeLookUpsLimited:
		return wait, known.RetryAfter > 0 && s.now().Add(wait).Sub(m.SendAt.Time) < s.o.Grace
	}
	return 0, false
}

// problemOf returns an error as callers see it. Internal errors are in the log only.
func problemOf(err error) *bridge.ScheduledError {
	var known *bridge.Error
	if errors.As(err, &known) && known.Code != bridge.CodeInternal {
		return &bridge.ScheduledError{Code: known.Code, Error: known.Msg}
	}
	return &bridge.ScheduledError{Code: bridge.CodeInternal, Error: "something went wrong inside the service; its log says what"}
}

// hasBegun reports whether the message is in its chat, because its sending has begun.
func (s *Schedule) hasBegun(ctx context.Context, m bridge.Scheduled) bool {
	_, err := s.o.Store.Message(ctx, m.Chat, m.ID)
	return err == nil
}

// miss marks a message as missed, unless it was sent.
func (s *Schedule) miss(ctx context.Context, id string) error {
	done, err := s.hold(id)
	if err != nil {
		return nil //nolint:nilerr // it is being sent
	}
	defer done()
	m, err := s.o.Store.ScheduledMessage(ctx, id)
	if err != nil {
		return err
	}
	rows, err := s.stored(ctx, m)
	if err == nil && areOut(rows) {
		s.sent(ctx, id)
		return nil
	}
	begun, why := err == nil, "the account was not connected within the grace period after its time ("+s.o.Grace.String()+"): send it now, give it a new time or cancel it"
	if begun {
		why = "its sending began, and the network did not confirm it within the grace period (" + s.o.Grace.String() + "): look in the chat whether it arrived; if you send it now, it has the same id and is shown once"
	}
	_, err = s.o.Store.ChangeScheduled(ctx, id, func(m *bridge.Scheduled) error {
		m.Status, m.Begun, m.Error = bridge.ScheduledMissed, begun, &bridge.ScheduledError{Code: bridge.CodeMissed, Error: why}
		return nil
	})
	s.o.Log.Warn().Str("msg_id", id).Bool("begun", begun).Msg("a scheduled message was missed")
	return err
}

// failEnded marks the messages as failed whose token has ended.
func (s *Schedule) failEnded(ctx context.Context, callers Callers) error {
	tokens, err := s.o.Store.ScheduledTokens(ctx)
	if err != nil {
		return err
	}
	for _, token := range tokens {
		_, ended := callers.MaySend(ctx, bridge.Scheduled{Token: token})
		if bridge.CodeOf(ended) != bridge.CodeUnauthorized || ended == nil {
			continue
		}
		count, err := s.o.Store.FailScheduled(ctx, token, *problemOf(ended))
		if err != nil {
			return err
		}
		s.o.Log.Warn().Int64("token", token).Int("count", count).Msg("scheduled messages are not sent, because their token has ended")
	}
	return nil
}

// forget erases the messages that were not sent a long time ago.
func (s *Schedule) forget(ctx context.Context) error {
	for {
		ids, err := s.o.Store.ForgetScheduled(ctx, bridge.At(s.now().Add(-forgetAfter)))
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			s.removeFiles(id)
		}
	}
}
