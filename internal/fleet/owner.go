package fleet

import (
	"context"
	"crypto/rand"
	"errors"
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

// owner decides whether this process may run the account's session:
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
