package fleet

import (
	"context"
	"errors"
	"time"

	"bridged/internal/bridge"
)

// run asks the registry until ctx ends.
func (o *owner) run(ctx context.Context, r registry) {
	o.turn.Lock()
	o.registry = r
	o.turn.Unlock()
	for ctx.Err() == nil {
		o.rest(ctx, max(o.step(ctx), shortestOfWait))
	}
}

// rest waits for the next step: that it is due, wanted now, or that the account's state is
// another one than the key says. A change of the state is an event of the log.
func (o *owner) rest(ctx context.Context, pause time.Duration) {
	due := time.After(pause)
	for {
		changed := o.events.Changed()
		if o.written != "" && o.options.State() != o.written {
			o.written = "" // until it is written: a failure has its own pause
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

func (o *owner) stepNow() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// step asks NATS, and returns when to ask again.
func (o *owner) step(ctx context.Context) time.Duration {
	o.turn.Lock()
	defer o.turn.Unlock()
	ctx, cancel := context.WithTimeout(ctx, min(longestCall, o.ttl/2))
	defer cancel()
	o.mu.Lock()
	o.cancel = cancel
	session, isHeld := o.session, o.standing == held
	o.mu.Unlock()
	err := o.ask(ctx, session, isHeld)
	switch {
	case err == nil && session == "":
		o.become(session, vacant, nil)
	case err == nil:
		o.silent = false
		o.become(session, held, nil)
	case errors.Is(err, errTaken):
		o.revision = 0
		return 0
	case isRefusal(err):
		o.become(session, refused, err)
	case session == "":
		return o.ttl / retriesInTTL
	case isHeld:
		o.warn(err, "the account's key was not renewed; trying again")
		return o.ttl / retriesInTTL
	default:
		return o.without(session, err)
	}
	return o.ttl / renewalsInTTL
}

// ask writes the key of a session; without one it looks whether another process runs
// the account.
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

// free returns the revision of the key if no other process has it, and refuses otherwise.
// A holder on this directory and machine has ended: this process has the directory's lock
// now. Once this process has had the key, such a holder runs on a clone of the machine.
func (o *owner) free(ctx context.Context) (revision uint64, err error) {
	var h holder
	if revision, err = o.registry.read(ctx, "", &h); err != nil || h.Process == "" || h.Process == o.process {
		return revision, err
	}
	if !o.taken && h.Directory == o.options.Place.Directory && h.Host == o.options.Host {
		return revision, nil
	}
	return 0, bridge.NotConnected("another process runs this account (on %s, since %s, last seen as %s): it can be run here once that one has ended", h.Host, h.Since, h.State)
}

// isRefusal reports whether an error says that the session may not run, and not
// that something could not be asked.
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
		Process: o.process, Host: o.options.Host, Version: o.version, State: state, Since: o.since, Directory: o.options.Place.Directory,
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

// without decides where NATS cannot be asked: the session goes on if this directory has
// run it last and not given it back.
func (o *owner) without(session string, cause error) time.Duration {
	o.mu.Lock()
	isPatient := o.standing == sought && time.Since(o.began) < startPatience
	o.mu.Unlock()
	place := o.options.Place
	switch {
	case isPatient:
		return startPatience / 25
	case place.Session == session && !place.Returned:
		o.warn(cause, "NATS cannot be asked: the account goes on, because only this data directory can have its session")
		o.revision, o.since = 0, bridge.At(time.Now())
		o.become(session, held, nil)
	default:
		o.warn(cause, "NATS cannot be asked who runs the account; trying again")
		o.become(session, refused, bridge.NotConnected("NATS cannot be asked whether another process runs this account: look at NATS_URL and the servers; trying again"))
	}
	return o.ttl / retriesInTTL
}

// warn logs the first failure in a row.
func (o *owner) warn(cause error, what string) {
	if !o.silent {
		o.silent = true
		o.log.Warn().Err(cause).Msg(what)
	}
}

// mayRun refuses a session where this directory is, or may be, an old copy.
func (o *owner) mayRun(ctx context.Context, session string) (err error) {
	var run sessionRun
	if o.runs, err = o.registry.read(ctx, session, &run); err != nil {
		return err
	}
	if o.runs > 0 && !run.Returned && run.Directory != o.options.Place.Directory {
		return bridge.NotConnected("this data directory is a copy: the session was last run from another one (on %s), which has not given it back. Start that one; where it is lost, log out here and pair again", run.Host)
	}
	if err := o.hasCome(ctx, run.Event, run.EventAt); err != nil {
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
	return o.hasCome(ctx, last.event, last.at)
}

// hasCome refuses a log that lacks an event; 0 is none.
func (o *owner) hasCome(ctx context.Context, event int64, at bridge.Time) error {
	has, err := hasEvent(ctx, o.events, event, at)
	if err != nil || has {
		return err
	}
	return bridge.NotConnected("this data directory is old: the account has gone on elsewhere since, up to event %d. An old session must never be started: use the directory that ran it last, or log out here and pair again", event)
}

// save writes down a run, in the registry and in this directory, unless another process
// has written meanwhile.
func (o *owner) save(ctx context.Context, session string, returned bool) error {
	place := o.options.Place
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
	if returned { // first here: if a crash comes between, this directory does not go on without NATS
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
