package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
)

// registry is where an account's processes meet.
type registry interface {
	// ttl returns how long the key lives after it was put.
	ttl(ctx context.Context) (time.Duration, error)
	// holder returns who has the key, nil for nobody, and the revision to put it at.
	holder(ctx context.Context) (*holder, uint64, error)
	// put writes the key if its revision is still this one, else it fails with errTaken.
	put(ctx context.Context, h holder, revision uint64) (uint64, error)
	remove(ctx context.Context, revision uint64) error
	// lastRun returns the last run of a session, nil for none, and its revision.
	lastRun(ctx context.Context, session string) (*sessionRun, uint64, error)
	// saveRun writes a run if the revision is still this one, else it fails with errTaken.
	saveRun(ctx context.Context, session string, run sessionRun, revision uint64) (uint64, error)
	// published returns the account's last event in the stream, 0 for none, and when it
	// was; the zero time where a reset stands for it.
	published(ctx context.Context) (logID string, event int64, at bridge.Time, err error)
}

// holder is the key's value: who runs an account.
type holder struct {
	Process   string      `json:"process"`
	Host      string      `json:"host"`
	Version   string      `json:"version"`
	State     string      `json:"state"`
	Since     bridge.Time `json:"since"`
	Directory string      `json:"directory"`
}

var errTaken = errors.New("another process was faster")

// heldBy is the refusal while another process has the key.
func heldBy(h *holder) error {
	return bridge.NotConnected("another process runs this account (on %s, since %s, last seen as %s): it can be run here once that one has ended", h.Host, h.Since, h.State)
}

// isRefusal reports whether an error says that the session may not run, and not
// that something could not be asked.
func isRefusal(err error) bool { return bridge.CodeOf(err) == bridge.CodeNotConnected }

// natsRegistry keeps two buckets: the keys, which run out, and the last runs of
// sessions, which stay. Both are files at the servers: what NATS forgets when it is
// restarted would be everybody's.
type natsRegistry struct {
	nc       *nats.Conn
	js       jetstream.JetStream
	events   jetstream.StreamConfig // of the events, where they are made
	prefix   string
	account  string
	replicas int
	life     time.Duration // of keys, where the bucket is made

	mu   sync.Mutex
	keys jetstream.KeyValue // nil until it is open; guarded by mu
	runs jetstream.KeyValue // nil until it is open; guarded by mu
	real time.Duration      // how long keys live; guarded by mu
}

func newRegistry(nc *nats.Conn, js jetstream.JetStream, o Options, account string) *natsRegistry {
	return &natsRegistry{nc: nc, js: js, events: o.Stream.config(o.Prefix), prefix: o.Prefix, account: account, replicas: o.Stream.Replicas, life: o.Owner.TTL}
}

// open returns the two buckets, which are made where they are missing.
func (r *natsRegistry) open(ctx context.Context) (keys, runs jetstream.KeyValue, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys != nil {
		return r.keys, r.runs, nil
	}
	if keys, err = r.bucket(ctx, "ACCOUNTS", "Which process of bridged runs which account.", r.life); err != nil {
		return nil, nil, err
	}
	status, err := keys.Status(ctx)
	if err != nil {
		return nil, nil, err
	}
	if r.real = status.TTL(); r.real <= 0 {
		return nil, nil, fmt.Errorf("the bucket %s has no time to live, so that nobody could take over: remove it, and it is made anew", status.Bucket())
	}
	if runs, err = r.bucket(ctx, "SESSIONS", "From where bridged has run each session last.", 0); err != nil {
		return nil, nil, err
	}
	r.keys, r.runs = keys, runs
	return keys, runs, nil
}

func (r *natsRegistry) bucket(ctx context.Context, name, what string, ttl time.Duration) (jetstream.KeyValue, error) {
	config := jetstream.KeyValueConfig{Bucket: streamName(r.prefix, name), Description: what, TTL: ttl, Replicas: r.replicas, Storage: jetstream.FileStorage}
	return openOrMake(jetstream.ErrBucketNotFound, jetstream.ErrBucketExists,
		func() (jetstream.KeyValue, error) { return r.js.KeyValue(ctx, config.Bucket) },
		func() (jetstream.KeyValue, error) { return r.js.CreateKeyValue(ctx, config) })
}

// openOrMake opens what there may be at the servers, or makes it: another process may
// do so at the same time.
func openOrMake[T any](missing, exists error, open, create func() (T, error)) (T, error) {
	found, err := open()
	if errors.Is(err, missing) {
		found, err = create()
	}
	if errors.Is(err, exists) {
		found, err = open()
	}
	return found, err
}

// forget has the buckets opened anew where one of them seems to be gone.
func (r *natsRegistry) forget(err error) error {
	if errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrBucketNotFound) {
		r.mu.Lock()
		r.keys, r.runs = nil, nil
		r.mu.Unlock()
	}
	return err
}

func (r *natsRegistry) ttl(ctx context.Context) (time.Duration, error) {
	_, _, err := r.open(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.real, err
}

func (r *natsRegistry) holder(ctx context.Context) (*holder, uint64, error) {
	h := new(holder)
	keys, _, err := r.open(ctx)
	revision, err := r.get(ctx, keys, r.account, h, err)
	if revision == 0 || h.Process == "" {
		h = nil
	}
	return h, revision, err
}

func (r *natsRegistry) put(ctx context.Context, h holder, revision uint64) (uint64, error) {
	keys, _, err := r.open(ctx)
	return r.write(ctx, keys, r.account, h, revision, err)
}

func (r *natsRegistry) remove(ctx context.Context, revision uint64) error {
	keys, _, err := r.open(ctx)
	if err != nil {
		return err
	}
	return keys.Purge(ctx, r.account, jetstream.LastRevision(revision))
}

func (r *natsRegistry) lastRun(ctx context.Context, session string) (*sessionRun, uint64, error) {
	run := new(sessionRun)
	_, runs, err := r.open(ctx)
	revision, err := r.get(ctx, runs, r.account+"."+session, run, err)
	if revision == 0 {
		run = nil
	}
	return run, revision, err
}

func (r *natsRegistry) saveRun(ctx context.Context, session string, run sessionRun, revision uint64) (uint64, error) {
	_, runs, err := r.open(ctx)
	return r.write(ctx, runs, r.account+"."+session, run, revision, err)
}

// get reads a value of a bucket that was opened with err, and returns its revision;
// 0 where there is none.
func (r *natsRegistry) get(ctx context.Context, bucket jetstream.KeyValue, key string, into any, err error) (uint64, error) {
	if err != nil {
		return 0, err
	}
	entry, err := bucket.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, r.forget(err)
	}
	if err := json.Unmarshal(entry.Value(), into); err != nil {
		return 0, fmt.Errorf("the key %s of the bucket %s is not what bridged has written: %w", key, bucket.Bucket(), err)
	}
	return entry.Revision(), nil
}

// write writes a value into a bucket that was opened with err, if its revision is
// still this one.
func (r *natsRegistry) write(ctx context.Context, bucket jetstream.KeyValue, key string, value any, revision uint64, err error) (written uint64, _ error) {
	if err != nil {
		return 0, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return 0, err
	}
	if revision == 0 {
		written, err = bucket.Create(ctx, key, data)
	} else {
		written, err = bucket.Update(ctx, key, data, revision)
	}
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return 0, errTaken
	}
	return written, r.forget(err)
}

func (r *natsRegistry) published(ctx context.Context) (logID string, event int64, at bridge.Time, err error) {
	events, err := openStream(ctx, r.nc, r.js, r.events)
	if err != nil {
		return "", 0, at, err
	}
	p, err := events.published(ctx, wanted{LastFor: subjectsOf(r.prefix, r.account).all()})
	if errors.Is(err, errNoMessage) {
		return "", 0, at, nil
	}
	if p.isReset {
		p.at = bridge.Time{} // that of the reset, not of the event
	}
	return p.logID, p.event, p.at, err
}
