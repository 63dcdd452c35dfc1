package fleet

import (
	"context"
	"errors"
	"time"

	"bridged/internal/bridge"
)

// run takes steps until ctx ends.
func (o *owner) run(ctx context.Context, r registry) {
	o.registryMu.Lock()
	o.registry = r
	o.registryMu.Unlock()
	for ctx.Err() == nil {
		o.awaitStep(ctx, max(o.step(ctx), minPause))
	}
}

// awaitStep waits until the pause is over, a step is wanted, or the account's state differs from
// the state in the key. A change of the state is an event of the log.
func (o *owner) awaitStep(ctx context.Context, pause time.Duration) {
	due := time.After(pause)
	for {
		changed := o.events.Changed()
		if o.written != "" && o.options.State() != o.written {
			o.written = "" // only once: a failed write has its own pause
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-due:
			return
		case <-o.wake:
			return
		case <-changed:
		}
	}
}

func (o *owner) stepNow() { bridge.Wake(o.wake) }

// step asks NATS and returns the pause until the next step.
func (o *owner) step(ctx context.Context) time.Duration {
	o.registryMu.Lock()
	defer o.registryMu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, min(longestCall, o.ttl/2))
	defer cancel()
	o.mu.Lock()
	o.cancel = cancel
	session, isHeld := o.session, o.lease == held
	o.mu.Unlock()
	err := o.ask(ctx, session, isHeld)
	switch {
	case err == nil && session == "":
		o.setLease(session, available, nil)
	case err == nil:
		o.unreachable = false
		o.setLease(session, held, nil)
	case errors.Is(err, errTaken):
		o.revision = 0
		return 0
	case isRefusal(err):
		o.setLease(session, refused, err)
	case session == "":
		return o.ttl / retriesInTTL
	case isHeld:
		o.warn(err, "cannot renew the account's key; trying again")
		return o.ttl / retriesInTTL
	default:
		return o.continueOffline(session, err)
	}
	return o.ttl / renewalsInTTL
}

// ask takes or renews the key for a session. Without a session it checks whether another process
// runs the account.
func (o *owner) ask(ctx context.Context, session string, isHeld bool) error {
	ttl, err := o.registry.open(ctx)
	if err != nil {
		return err
	}
	o.ttl = ttl
	if session != "" {
		return o.takeOrRenew(ctx, session, isHeld)
	}
	_, err = o.free(ctx)
	return err
}

// free returns the key's revision if no other process holds it, and an error otherwise. A holder
// with this directory and machine has ended, as this process has the directory's lock now. But
// once this process has held the key, such a holder runs on a clone of the machine.
func (o *owner) free(ctx context.Context) (revision uint64, err error) {
	var h holder
	if revision, err = o.registry.read(ctx, "", &h); err != nil || h.Process == "" || h.Process == o.process {
		return revision, err
	}
	if !o.taken && h.Directory == o.options.DataDir.Directory && h.Host == o.options.Host {
		return revision, nil
	}
	// Remedy: nothing, if this is intended; otherwise stop the other process
	// ([fleets](fleet.md#one-process-for-each-account)).
	return 0, bridge.NotConnected("another process runs this account (on %s, since %s, last seen as %s): it can run here after that process has ended", h.Host, h.Since, h.State)
}

// isRefusal reports whether an error says that the session may not run, rather than that NATS
// could not be asked.
func isRefusal(err error) bool { return bridge.CodeOf(err) == bridge.CodeNotConnected }

// takeOrRenew renews the key, or takes it if it is free and the session may run here.
func (o *owner) takeOrRenew(ctx context.Context, session string, isHeld bool) (err error) {
	isNew := !isHeld || o.revision == 0
	if isNew {
		if o.revision, err = o.free(ctx); err == nil {
			err = o.mayRun(ctx, session)
		}
		if err != nil {
			o.revision = 0
			return err
		}
	}
	if !isHeld {
		o.since = bridge.At(time.Now())
	}
	state := o.options.State()
	written, err := o.registry.write(ctx, "", holder{
		Process: o.process, Host: o.options.Host, Version: o.version, State: state, Since: o.since, Directory: o.options.DataDir.Directory,
	}, o.revision)
	if err == nil {
		o.taken, o.written = true, state
		if isNew {
			err = o.save(ctx, session, false)
		}
	}
	switch {
	case err == nil:
		o.revision = written
	case isNew:
		o.revision = 0
	}
	return err
}

// continueOffline decides when NATS cannot be asked: the session continues if this directory ran
// it last and did not release it.
func (o *owner) continueOffline(session string, cause error) time.Duration {
	o.mu.Lock()
	isStarting := o.lease == acquiring && time.Since(o.began) < startTimeout
	o.mu.Unlock()
	place := o.options.DataDir
	switch {
	case isStarting:
		return startTimeout / 25
	case place.Session == session && !place.Returned:
		o.warn(cause, "cannot reach NATS: the account continues, because only this data directory may run its session")
		o.revision, o.since = 0, bridge.At(time.Now())
		o.setLease(session, held, nil)
	default:
		o.warn(cause, "cannot ask NATS which process runs the account; trying again")
		o.setLease(session, refused, bridge.NotConnected("bridged cannot ask NATS whether another process runs this account: check NATS_URL and the servers; trying again"))
	}
	return o.ttl / retriesInTTL
}

// warn logs the first of several failures in a row.
func (o *owner) warn(cause error, what string) {
	if !o.unreachable {
		o.unreachable = true
		o.log.Warn().Err(cause).Msg(what)
	}
}

// mayRun refuses a session if this directory is, or may be, an old copy.
func (o *owner) mayRun(ctx context.Context, session string) (err error) {
	var run sessionRun
	if o.runs, err = o.registry.read(ctx, session, &run); err != nil {
		return err
	}
	if o.runs > 0 && !run.Returned && run.Directory != o.options.DataDir.Directory {
		return bridge.NotConnected("this data directory is a copy: the session last ran in another directory (on %s), which has not released it. Start bridged there; if that directory is lost, log out here and pair again", run.Host)
	}
	if err := o.requireEvent(ctx, run.Event, run.EventAt); err != nil {
		return err
	}
	last, err := o.registry.published(ctx)
	if err != nil {
		return err
	}
	position, err := o.events.Position(ctx)
	if err != nil || position.LogID != last.logID {
		return err // another log cannot be compared
	}
	return o.requireEvent(ctx, last.event, last.at)
}

// requireEvent refuses to run with a log that lacks an event; event 0 means none.
func (o *owner) requireEvent(ctx context.Context, event int64, at bridge.Time) error {
	has, err := hasEvent(ctx, o.events, event, at)
	if err != nil || has {
		return err
	}
	return bridge.NotConnected("this data directory is old: the account has since run elsewhere, up to event %d. An old session must never be started: use the directory that ran it last, or log out here and pair again", event)
}

// save records a run in the registry and in this directory, unless another process has written to
// the registry in the meantime.
func (o *owner) save(ctx context.Context, session string, returned bool) error {
	place := o.options.DataDir
	run := sessionRun{Directory: place.Directory, Host: o.options.Host, Returned: returned}
	last, err := o.events.LastEvent(ctx)
	if err != nil {
		return err
	}
	page, err := o.events.Events(ctx, max(last-1, 0), 1)
	if err != nil {
		return err
	}
	if len(page.Events) > 0 {
		run.Event, run.EventAt = page.Events[0].ID, page.Events[0].At
	}
	if returned { // the directory first: after a crash in between, it does not continue without NATS
		err = place.save(session, true)
	}
	if err == nil {
		o.runs, err = o.registry.write(ctx, session, run, o.runs)
	}
	if !returned && err != nil || returned && err == nil {
		return err
	}
	return errors.Join(err, place.save(session, false))
}
