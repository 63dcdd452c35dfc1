package fleet

import (
	"context"
	"errors"
	"time"

	"bridged/internal/bridge"
)

// run asks the registry until ctx ends. It fails with ErrLost.
func (o *owner) run(ctx context.Context, r registry) error {
	o.turn.Lock()
	o.registry = r
	o.turn.Unlock()
	for {
		timer := time.NewTimer(max(o.step(ctx), shortestOfWait))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-o.wake:
		case <-o.lost:
		}
		timer.Stop()
		select {
		case <-o.lost:
			return ErrLost
		case <-ctx.Done():
			return nil
		default:
		}
	}
}

// poke has the next step begin now.
func (o *owner) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// step does what is due, and returns when something is due again.
func (o *owner) step(ctx context.Context) time.Duration {
	o.turn.Lock()
	defer o.turn.Unlock()
	if o.end() {
		return 0
	}
	o.mu.Lock()
	ctx, o.cancel = context.WithCancelCause(ctx)
	session, isHeld := o.session, o.standing == held
	o.mu.Unlock()
	defer o.cancel(nil)
	ctx, cancel := context.WithTimeout(ctx, min(longestCall, o.part(2)))
	defer cancel()
	if ttl, err := o.registry.ttl(ctx); err == nil {
		o.mu.Lock()
		o.ttl = ttl
		o.mu.Unlock()
	}
	switch {
	case session == "":
		return o.watch(ctx)
	case isHeld:
		return o.renew(ctx, session)
	default:
		return o.take(ctx, session)
	}
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
		o.refuse("", heldBy(h))
	default:
		o.become("", vacant, nil)
	}
	return o.part(renewalsInTTL)
}

// take takes the key, if that is allowed.
func (o *owner) take(ctx context.Context, session string) time.Duration {
	revision, err := o.mayTake(ctx, session)
	if err == nil {
		o.since = bridge.At(time.Now())
		err = o.put(ctx, session, revision, true)
	}
	switch {
	case err == nil:
		o.silent = false
		return o.part(renewalsInTTL)
	case errors.Is(err, errTaken):
		return 0
	case isRefusal(err):
		o.refuse(session, err)
		return o.part(renewalsInTTL)
	}
	return o.without(session, err)
}

// mayTake returns the revision of the key to take, or a refusal.
func (o *owner) mayTake(ctx context.Context, session string) (uint64, error) {
	h, revision, err := o.registry.holder(ctx)
	if err != nil {
		return 0, err
	}
	if h != nil && !o.isGone(h) {
		return 0, heldBy(h)
	}
	return revision, o.mayRun(ctx, session)
}

// isGone reports whether a holder has ended for certain: it is this process, or
// held the very lock that this process holds now.
func (o *owner) isGone(h *holder) bool {
	return h.Process == o.process || h.Lock != "" && h.Lock == o.options.Place.Lock
}

// put writes the key, and where it is taken anew, the run that begins.
func (o *owner) put(ctx context.Context, session string, revision uint64, isNew bool) error {
	began := time.Now()
	written, err := o.registry.put(ctx, o.self(), revision)
	if err != nil {
		return err
	}
	o.revision = written
	if isNew {
		if err := o.save(ctx, session, false); err != nil {
			return err
		}
	}
	o.hold(session, began)
	return nil
}

// self returns what the key says of this process.
func (o *owner) self() holder {
	return holder{
		Process: o.process, Host: o.options.Host, Version: o.version, State: o.options.State(), Since: o.since,
		Directory: o.options.Place.Mark, Lock: o.options.Place.Lock,
	}
}

// renew writes the key again. Whoever finds it gone, or another's, looks anew.
func (o *owner) renew(ctx context.Context, session string) time.Duration {
	isNew, err := false, error(nil)
	if o.revision == 0 {
		isNew = true
		o.revision, err = o.mayTake(ctx, session)
	}
	if err == nil {
		err = o.put(ctx, session, o.revision, isNew)
	}
	switch {
	case err == nil:
		o.silent = false
		return o.part(renewalsInTTL)
	case isRefusal(err):
		o.refuse(session, err)
		return o.part(renewalsInTTL)
	case errors.Is(err, errTaken):
		o.revision = 0
		return 0
	}
	o.warn(err, "the account's key was not renewed; trying again")
	if isNew {
		o.revision = 0
	}
	return o.part(retriesInTTL)
}

// without goes on where NATS cannot be asked: with the session that this process's
// directory has run last and not given back, if nobody else can have it.
func (o *owner) without(session string, cause error) time.Duration {
	o.mu.Lock()
	patient := o.standing == sought && time.Since(o.began) < startPatience
	o.mu.Unlock()
	if patient {
		return startPatience / 25
	}
	if o.mayGoOn(session) {
		o.warn(cause, "NATS cannot be asked: the account goes on, because nobody else can have its session")
		o.revision, o.since = 0, bridge.At(time.Now())
		o.hold(session, time.Now())
		return o.part(retriesInTTL)
	}
	o.warn(cause, "NATS cannot be asked who runs the account; trying again")
	o.refuse(session, bridge.NotConnected("NATS cannot be asked whether another process runs this account: look at NATS_URL and the servers; trying again"))
	return o.part(retriesInTTL)
}

// warn logs the first failure in a row.
func (o *owner) warn(cause error, what string) {
	if !o.silent {
		o.silent = true
		o.log.Warn().Err(cause).Msg(what)
	}
}
