package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// Place is the data directory of a process, as others can tell it from theirs.
type Place struct {
	// Mark is the same for all that use this directory, on whatever machine, and
	// another one for copies of it.
	Mark string
	// Lock is the file whose lock this process holds, named so that only processes
	// of this machine, since it was started, have the same; empty where the system
	// does not tell. Whoever held it before has ended.
	Lock string
	// IsShared says that other machines may have the directory, too, so that its
	// lock may not keep them out.
	IsShared bool
	// Note is the path of a file in the directory.
	Note string
}

// OwnerOptions are what one process is to the others.
type OwnerOptions struct {
	Place Place
	TTL   time.Duration // of the key, where the bucket is made
	Host  string        // by which people know the machine
	State func() string // of the account
}

// The parts of the key's time to live.
const (
	renewalsInTTL  = 6  // how often it is renewed
	retriesInTTL   = 30 // how often it is tried while that fails
	longestCall    = 5 * time.Second
	releaseTime    = time.Second     // for giving it back, within a stop
	startPatience  = 5 * time.Second // before a start says that there is no NATS
	usualTTL       = time.Minute
	shortestOfWait = 20 * time.Millisecond
)

// endsAfter is when a session on a shared directory ends that could not renew its
// key: with a quarter of the key's time left, for closing, and for clocks of the
// servers that differ.
func endsAfter(ttl time.Duration) time.Duration { return ttl * 3 / 4 }

// ErrSought is the refusal as long as it is not known whether the session may run.
var ErrSought = errors.New("NATS is being asked whether another process runs the account")

// ErrLost is the end of a fleet whose data directory may be another machine's now:
// nothing of it may be used any more.
var ErrLost = errors.New("NATS could not be reached in time, and another machine may have taken the account over: everything is closed, and the account is asked for anew")

// owner decides whether this process may run the account's session. See D21.5 ff.
// of docs/decisions.md for the rules.
//
//   - The key of the account says who runs it; without it nothing is begun.
//   - The last run of a session says from which directory, and how far it came. It
//     is begun again only from there, or where it was given back, and never behind
//     what it had.
//   - Who holds the key and cannot renew it goes on if the directory is this
//     machine's alone: by the second rule nobody else can have the session. On a
//     shared directory it ends before the key can.
type owner struct {
	options  OwnerOptions
	registry registry // nil until it runs; guarded by turn
	journal  Log
	log      zerolog.Logger
	process  string
	version  string
	began    time.Time

	wake chan struct{} // has a token when there is something to do
	lost chan struct{} // closed when everything must end

	turn sync.Mutex // held while the registry is asked for a change

	mu       sync.Mutex
	session  string                  // that is sought; guarded by mu
	onChange func()                  // of the session; guarded by mu
	standing standing                // guarded by mu
	refusal  error                   // guarded by mu
	revision uint64                  // of the key, 0 where it has to be read; guarded by turn
	renewed  time.Time               // when the last renewal that succeeded was begun; guarded by mu
	ttl      time.Duration           // guarded by mu
	since    bridge.Time             // guarded by turn
	runs     uint64                  // the revision of the session's last run; guarded by turn
	silent   bool                    // NATS did not answer the last time; guarded by turn
	limit    *time.Timer             // of a shared directory; guarded by mu
	changed  chan struct{}           // closed at each change; guarded by mu
	serves   bool                    // whether the account is served here; guarded by mu
	cancel   context.CancelCauseFunc // of the present step; guarded by mu
}

// standing is what is known.
type standing int

const (
	sought  standing = iota // nothing yet
	vacant                  // there is no session here, and nobody else runs the account
	held                    // this process may run the session
	refused                 // refusal says why not
)

func newOwner(o Options, log zerolog.Logger) *owner {
	return &owner{
		options: o.Owner, journal: o.Log, log: log, process: rand.Text(), version: o.Version, began: time.Now(),
		wake: make(chan struct{}, 1), lost: make(chan struct{}), changed: make(chan struct{}), ttl: o.Owner.TTL,
	}
}

// Seek seeks the right to run a session. onChange is called when Refusal has
// changed. release gives the right back.
func (o *owner) Seek(session string, onChange func()) (release func()) {
	o.mu.Lock()
	o.session, o.onChange, o.standing, o.refusal = session, onChange, sought, nil
	o.mu.Unlock()
	o.poke()
	return o.release
}

// Refusal returns why the session may not run now; nil if it may.
func (o *owner) Refusal() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.standing == refused:
		return o.refusal
	case o.standing != held:
		return ErrSought
	case o.hasRunOut():
		o.lose()
		return ErrLost
	}
	return nil
}

// hasRunOut reports whether the key may be another's, though nobody said so. Time
// in which the machine slept counts: one of the two clocks has it. mu is held.
func (o *owner) hasRunOut() bool {
	if !o.options.Place.IsShared {
		return false
	}
	now := time.Now()
	return max(now.Sub(o.renewed), now.Round(0).Sub(o.renewed.Round(0))) >= endsAfter(o.ttl)
}

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

// hold lets the session run. began is when the renewal was begun.
func (o *owner) hold(session string, began time.Time) {
	o.mu.Lock()
	o.renewed = began
	if o.options.Place.IsShared {
		if o.limit != nil {
			o.limit.Stop()
		}
		o.limit = time.AfterFunc(time.Until(began.Add(endsAfter(o.ttl))), func() { o.end() })
	}
	o.mu.Unlock()
	o.become(session, held, nil)
}

// end ends everything if the key has not been renewed in time, and reports whether.
func (o *owner) end() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	isLost := o.standing == held && o.hasRunOut()
	if isLost {
		o.lose()
	}
	return isLost
}

// lose ends everything, for good: another process may have used the directory since, so
// that no later renewal makes up for it. mu is held.
func (o *owner) lose() {
	o.standing, o.refusal, o.serves = refused, ErrLost, false
	o.tell()
	close(o.lost)
}

func (o *owner) refuse(session string, why error) { o.become(session, refused, why) }

// become changes the standing of a session, unless it is not the present one any more.
func (o *owner) become(session string, next standing, why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.session != session || o.standing == next && fmt.Sprint(o.refusal) == fmt.Sprint(why) || errors.Is(o.refusal, ErrLost) {
		return
	}
	if next == refused {
		o.log.Warn().Str("reason", why.Error()).Msg("the account is not run here")
	}
	o.standing, o.refusal, o.serves = next, why, next != refused
	o.tell()
}

// during calls serve while the account is served here: while this process has the
// session, or there is none and nobody else runs the account. It returns when ctx has
// ended.
func (o *owner) during(ctx context.Context, serve func(ctx context.Context)) {
	for o.await(ctx, true) {
		serving, stop := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() { serve(serving) })
		o.await(ctx, false)
		stop()
		done.Wait()
	}
}

// await waits until the account is served here, or not, and reports whether ctx still
// lives.
func (o *owner) await(ctx context.Context, serves bool) bool {
	for {
		o.mu.Lock()
		isSo, changed := o.serves == serves, o.changed
		o.mu.Unlock()
		if isSo && ctx.Err() == nil {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// tell wakes those who wait for a change. mu is held.
func (o *owner) tell() {
	close(o.changed)
	o.changed = make(chan struct{})
	if o.onChange != nil {
		o.onChange()
	}
}
