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

// OwnerOptions describe this process to the others.
type OwnerOptions struct {
	Place *Place
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
	shortestOfWait = 20 * time.Millisecond
)

// owner decides whether this process may run the account's session.
//
//   - The account's key, taken and renewed by compare-and-set, says which process runs
//     it. It is a lease: the key of a process that has died expires.
//   - The last run of a session says from which directory, and how far its log came. The
//     session runs again only from there, or where it was given back, and never with a
//     log that is behind that run or the stream.
//   - A process that cannot ask NATS goes on with the session that its directory has
//     run last: by the second rule no other directory may, and a second process on the
//     same directory does not get its lock.
type owner struct {
	options OwnerOptions
	events  Log
	log     zerolog.Logger
	process string
	version string
	began   time.Time

	wake    chan struct{} // has a token when there is something to do
	written string        // the state that the key says; of the goroutine that runs

	// turn is held while the registry is used. It guards these.
	turn     sync.Mutex
	registry registry // nil until it runs
	ttl      time.Duration
	revision uint64 // of the key, 0 where it has to be read
	taken    bool   // this process has had the key: a holder found later is no predecessor
	since    bridge.Time
	runs     uint64 // the revision of the session's last run
	silent   bool   // NATS did not answer the last time

	// mu guards these.
	mu       sync.Mutex
	session  string // that is sought
	onChange func() // of the session
	standing standing
	refusal  error
	changed  chan struct{}      // closed at each change
	cancel   context.CancelFunc // of the present step
}

// standing is the answer of NATS, as far as it is known.
type standing int

const (
	sought  standing = iota // nothing yet
	vacant                  // there is no session here, and no other process runs the account
	held                    // this process may run the session
	refused                 // refusal says why not
)

func newOwner(o Options, log zerolog.Logger) *owner {
	return &owner{
		options: o.Owner, events: o.Log, log: log, process: rand.Text(), version: o.Version, began: time.Now(),
		wake: make(chan struct{}, 1), changed: make(chan struct{}), ttl: o.Owner.TTL,
	}
}

// Seek seeks the right to run a session, whose name all its copies share. onChange is
// called, from any goroutine, when Refusal has changed. release gives the right back, after
// the session's connection has ended.
func (o *owner) Seek(session string, onChange func()) (release func()) {
	o.mu.Lock()
	o.session, o.onChange = session, onChange
	o.standing, o.refusal = sought, nil
	o.mu.Unlock()
	o.stepNow()
	return o.release
}

// Refusal returns why the session may not run now, [bridge.ErrLeaseSought] until that is known, and
// nil while it may.
func (o *owner) Refusal() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch o.standing {
	case held:
		return nil
	case refused:
		return o.refusal
	}
	return bridge.ErrLeaseSought
}

// become changes the standing of a session, unless it is not the present one any more.
func (o *owner) become(session string, next standing, why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.session != session || o.standing == next && fmt.Sprint(o.refusal) == fmt.Sprint(why) {
		return
	}
	if next == refused {
		o.log.Warn().Str("reason", why.Error()).Msg("the account is not run here")
	}
	o.standing, o.refusal = next, why
	close(o.changed)
	o.changed = make(chan struct{})
	if o.onChange != nil {
		o.onChange()
	}
}

// during calls serve while the account is served here: while this process has the
// session, or there is none and no other process runs the account. It returns when ctx
// has ended.
func (o *owner) during(ctx context.Context, serve func(ctx context.Context)) {
	isServed := func(now standing) bool { return now == held || now == vacant }
	for o.await(ctx, isServed) {
		serving, stop := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() { serve(serving) })
		o.await(ctx, func(now standing) bool { return now == refused })
		stop()
		done.Wait()
	}
}

// await waits for a standing, and reports whether ctx still lives.
func (o *owner) await(ctx context.Context, is func(standing) bool) bool {
	for {
		o.mu.Lock()
		isSo, changed := is(o.standing), o.changed
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

// release gives the session back, whose connection has ended. Where NATS does not
// answer it is left as it is: this directory may begin it again.
func (o *owner) release() {
	o.mu.Lock()
	session, wasHeld := o.session, o.standing == held
	o.session, o.onChange, o.standing, o.refusal = "", nil, sought, nil
	if o.cancel != nil {
		o.cancel()
	}
	o.mu.Unlock()
	defer o.stepNow()
	o.turn.Lock()
	defer o.turn.Unlock()
	if !wasHeld || o.registry == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
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
		o.log.Warn().Err(err).Msg("the account was not given back to the fleet: only this data directory can go on with it")
	}
}

// remove removes the key, also behind a renewal whose answer has not come. The node
// that is asked may be behind.
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
