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
		timer := time.NewTimer(max(o.step(ctx), shortestOfWait))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-o.wake:
		}
		timer.Stop()
	}
}

// stepNow has the next step begin now.
func (o *owner) stepNow() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// step does what is due, and returns when something is due again.
func (o *owner) step(ctx context.Context) time.Duration {
	o.turn.Lock()
	defer o.turn.Unlock()
	ctx, cancel := context.WithTimeout(ctx, min(longestCall, o.part(2)))
	defer cancel()
	o.mu.Lock()
	o.cancel = cancel
	session, isHeld := o.session, o.standing == held
	o.mu.Unlock()
	if ttl, err := o.registry.ttl(ctx); err == nil {
		o.mu.Lock()
		o.ttl = ttl
		o.mu.Unlock()
	}
	if session == "" {
		return o.watch(ctx)
	}
	err := o.takeOrRenew(ctx, session, isHeld)
	switch {
	case err == nil:
		o.silent = false
		o.become(session, held, nil)
		return o.part(renewalsInTTL)
	case errors.Is(err, errTaken):
		o.revision = 0
		return 0
	case isRefusal(err):
		o.become(session, refused, err)
		return o.part(renewalsInTTL)
	case isHeld:
		o.warn(err, "the account's key was not renewed; trying again")
		return o.part(retriesInTTL)
	}
	return o.without(session, err)
}

// part returns a part of the key's time to live.
func (o *owner) part(n time.Duration) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ttl / n
}

// watch looks whether another process runs the account while there is no session.
func (o *owner) watch(ctx context.Context) time.Duration {
	h, _, err := o.registry.holder(ctx)
	switch {
	case err != nil:
		return o.part(retriesInTTL)
	case h != nil && !o.isGone(h):
		o.become("", refused, heldBy(h))
	default:
		o.become("", vacant, nil)
	}
	return o.part(renewalsInTTL)
}

// takeOrRenew writes the key: as it was written last, or, where this process does not
// have it, if nobody else has and the session may run here.
func (o *owner) takeOrRenew(ctx context.Context, session string, isHeld bool) error {
	isNew := !isHeld || o.revision == 0
	if isNew {
		h, revision, err := o.registry.holder(ctx)
		if err != nil {
			return err
		}
		if h != nil && !o.isGone(h) {
			return heldBy(h)
		}
		if err := o.mayRun(ctx, session); err != nil {
			return err
		}
		o.revision = revision
	}
	if !isHeld {
		o.since = bridge.At(time.Now())
	}
	written, err := o.registry.put(ctx, holder{
		Process: o.process, Host: o.options.Host, Version: o.version, State: o.options.State(), Since: o.since, Directory: o.options.Place.Directory,
	}, o.revision)
	if err != nil {
		if isNew {
			o.revision = 0
		}
		return err
	}
	o.taken = true
	if isNew {
		if err := o.save(ctx, session, false); err != nil {
			o.revision = 0
			return err
		}
	}
	o.revision = written
	return nil
}

// isGone reports whether a holder has ended: it is this process, or it had the lock of
// this directory on this machine, which this process has now. After this process had
// the key, such a holder is alive on a clone of the machine.
func (o *owner) isGone(h *holder) bool {
	return h.Process == o.process || !o.taken && h.Directory == o.options.Place.Directory && h.Host == o.options.Host
}

// without goes on where NATS cannot be asked: with the session that this directory has
// run last and not given back.
func (o *owner) without(session string, cause error) time.Duration {
	o.mu.Lock()
	patient := o.standing == sought && time.Since(o.began) < startPatience
	o.mu.Unlock()
	place := o.options.Place
	switch {
	case patient:
		return startPatience / 25
	case place.Session == session && !place.Returned:
		o.warn(cause, "NATS cannot be asked: the account goes on, because only this data directory can have its session")
		o.revision, o.since = 0, bridge.At(time.Now())
		o.become(session, held, nil)
	default:
		o.warn(cause, "NATS cannot be asked who runs the account; trying again")
		o.become(session, refused, bridge.NotConnected("NATS cannot be asked whether another process runs this account: look at NATS_URL and the servers; trying again"))
	}
	return o.part(retriesInTTL)
}

// warn logs the first failure in a row.
func (o *owner) warn(cause error, what string) {
	if !o.silent {
		o.silent = true
		o.log.Warn().Err(cause).Msg(what)
	}
}
