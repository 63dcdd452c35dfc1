package fleet

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// OwnerOptions describes this process to the other processes.
type OwnerOptions struct {
	DataDir *DataDir
	TTL     time.Duration // of the key, if this process makes the bucket
	Host    string        // name of the machine
	State   func() string // of the account's connection
}

// These are fractions of the key's time to live, and timeouts.
const (
	renewalsInTTL  = 6  // renewals in one TTL
	retriesInTTL   = 30 // attempts in one TTL while renewing fails
	longestCall    = 5 * time.Second
	releaseTimeout = time.Second     // for giving the lease back when the program stops
	startTimeout   = 5 * time.Second // before a starting process gives up on NATS
	minPause       = 20 * time.Millisecond
)

// owner decides whether this process may run the account's session.
//
//   - The account's key is a lease, taken and renewed by compare-and-set. It names the process
//     that runs the account. The key of a process that has died expires.
//   - The last run of a session names its data directory and how far its log went. The session
//     may run again only in that directory, or in any if it was released, and never with a log
//     that lacks events of that run or of the stream.
//   - A process that cannot reach NATS continues the session that its directory ran last: by the
//     second rule no other directory may run it, and a second process on the same directory
//     cannot get its lock.
type owner struct {
	options OwnerOptions
	events  Log
	log     zerolog.Logger
	process string
	version string
	began   time.Time

	wake    chan struct{} // has an element when a step is wanted now
	written string        // the state in the stored key; only used by run's goroutine

	// registryMu is held while the registry is used. It guards the fields up to silent.
	registryMu  sync.Mutex
	registry    registry // nil until run
	ttl         time.Duration
	revision    uint64 // of the key; 0 if it must be read
	taken       bool   // this process has held the key, so a holder found later is not its predecessor
	since       bridge.Time
	runs        uint64 // revision of the session's last run
	unreachable bool   // NATS did not answer the last time

	// mu guards the fields from here on.
	mu       sync.Mutex
	session  string // the session to run
	onChange func() // called when Refusal has changed
	lease    leaseState
	refusal  error
	changed  chan struct{}      // closed at each change
	cancel   context.CancelFunc // of the current step
}

// leaseState is what NATS answered, as far as it is known.
type leaseState int

const (
	acquiring leaseState = iota // no answer yet
	available                   // there is no session here, and no other process runs the account
	held                        // this process may run the session
	refused                     // refusal says why
)

func newOwner(o Options, log zerolog.Logger) *owner {
	return &owner{
		options: o.Owner, events: o.Log, log: log, process: rand.Text(), version: o.Version, began: time.Now(),
		wake: make(chan struct{}, 1), changed: make(chan struct{}), ttl: o.Owner.TTL,
	}
}

// Acquire starts to acquire the lease for a session. All copies of the session have the same
// name. onChange is called, from any goroutine, when Refusal has changed. Call release after the
// session's connection has ended.
func (o *owner) Acquire(session string, onChange func()) (release func()) {
	o.mu.Lock()
	o.session, o.onChange = session, onChange
	o.lease, o.refusal = acquiring, nil
	o.mu.Unlock()
	o.stepNow()
	return o.release
}

// Refusal returns nil while the session may run, [bridge.ErrLeaseUnknown] until that is known, and
// else why it may not run.
func (o *owner) Refusal() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch o.lease {
	case held:
		return nil
	case refused:
		return o.refusal
	}
	return bridge.ErrLeaseUnknown
}

// setLease changes the lease state of a session. It does nothing if the session is not the
// current one any more.
func (o *owner) setLease(session string, next leaseState, why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.session != session || o.lease == next && fmt.Sprint(o.refusal) == fmt.Sprint(why) {
		return
	}
	if next == refused {
		o.log.Warn().Str("reason", why.Error()).Msg("the account cannot run here")
	}
	o.lease, o.refusal = next, why
	close(o.changed)
	o.changed = make(chan struct{})
	if o.onChange != nil {
		o.onChange()
	}
}

// whileServed calls serve while this process serves the account: while it holds the lease, or if
// there is no session here and no other process runs the account. It returns when ctx has ended.
func (o *owner) whileServed(ctx context.Context, serve func(ctx context.Context)) {
	isServed := func(now leaseState) bool { return now == held || now == available }
	for o.await(ctx, isServed) {
		serving, stop := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() { serve(serving) })
		o.await(ctx, func(now leaseState) bool { return now == refused })
		stop()
		done.Wait()
	}
}

// await waits for a lease state. It returns false if ctx has ended.
func (o *owner) await(ctx context.Context, is func(leaseState) bool) bool {
	for {
		o.mu.Lock()
		isSo, changed := is(o.lease), o.changed
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

// release gives the lease back after the session's connection has ended. If NATS does not answer,
// the lease expires, and only this directory can run the session again.
func (o *owner) release() {
	o.mu.Lock()
	session, wasHeld := o.session, o.lease == held
	o.session, o.onChange, o.lease, o.refusal = "", nil, acquiring, nil
	if o.cancel != nil {
		o.cancel()
	}
	o.mu.Unlock()
	defer o.stepNow()
	o.registryMu.Lock()
	defer o.registryMu.Unlock()
	if !wasHeld || o.registry == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	_, err := o.registry.open(ctx)
	if err == nil {
		err = o.save(ctx, session, true)
	}
	if err == nil {
		err = o.remove(ctx)
	}
	o.revision = 0
	if err != nil {
		o.log.Warn().Err(err).Msg("cannot release the account's lease in NATS: only this data directory can run the account again")
	}
}

// remove removes the key. It reads the key's revision first, because a renewal may have been
// stored without an answer, and takes the higher one, because the node that answers may lag.
func (o *owner) remove(ctx context.Context) error {
	var h holder
	revision, err := o.registry.read(ctx, "", &h)
	if err != nil {
		return err
	}
	if h.Process != o.process {
		revision = 0
	}
	if revision = max(revision, o.revision); revision == 0 {
		return nil
	}
	return o.registry.remove(ctx, revision)
}
