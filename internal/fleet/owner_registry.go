package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
)

// registry holds the values that an account's processes share: the account's key, which expires,
// and the last run of each session, which stays. A run is named by its session; the key has no
// name. Only one goroutine uses the registry at a time.
type registry interface {
	// open creates missing buckets and returns the key's time to live.
	open(ctx context.Context) (ttl time.Duration, err error)
	// read reads a value and returns its revision, 0 if there is no value.
	read(ctx context.Context, session string, into any) (revision uint64, err error)
	// write writes a value if its revision has not changed, and returns errTaken otherwise.
	write(ctx context.Context, session string, value any, revision uint64) (written uint64, err error)
	// remove removes the key if its revision has not changed.
	remove(ctx context.Context, revision uint64) error
	// published returns the account's last message in the stream, or the zero value.
	published(ctx context.Context) (published, error)
}

var errTaken = errors.New("another process wrote first")

// holder is the key's value: the process that runs the account.
type holder struct {
	Process   string      `json:"process"`
	Host      string      `json:"host"`
	Version   string      `json:"version"`
	State     string      `json:"state"`
	Since     bridge.Time `json:"since"`
	Directory string      `json:"directory"`
}

// sessionRun describes the last run of a session, on any machine.
type sessionRun struct {
	Directory string      `json:"directory"` // its random name; see DataDir
	Host      string      `json:"host"`
	Event     int64       `json:"event"` // the newest event of the log: at the start, or at the end if the lease was released
	EventAt   bridge.Time `json:"eventAt"`
	Returned  bool        `json:"returned"` // the run has ended, and the lease was released
}

// natsRegistry stores both buckets in files: if a restart of the servers emptied them, any copy
// of a directory could run the account.
type natsRegistry struct {
	*link
	keys, runs jetstream.KeyValue // nil until they are open
	ttl        time.Duration
}

func (r *natsRegistry) open(ctx context.Context) (time.Duration, error) {
	if r.runs != nil {
		return r.ttl, nil
	}
	keys, err := r.bucket(ctx, "ACCOUNTS", "Which process of bridged runs which account.", r.options.Owner.TTL)
	if err != nil {
		return 0, err
	}
	status, err := keys.Status(ctx)
	if err != nil {
		return 0, err
	}
	if r.ttl = status.TTL(); r.ttl <= 0 {
		return 0, fmt.Errorf("the bucket %s has no time to live, so no other process could ever take over the account: remove the bucket, and bridged creates it again", status.Bucket())
	}
	runs, err := r.bucket(ctx, "SESSIONS", "Where bridged ran each session last.", 0)
	if err != nil {
		return 0, err
	}
	r.keys, r.runs = keys, runs
	return r.ttl, nil
}

func (r *natsRegistry) bucket(ctx context.Context, name, what string, ttl time.Duration) (jetstream.KeyValue, error) {
	config := jetstream.KeyValueConfig{
		Bucket: streamName(r.options.Prefix, name), Description: what, TTL: ttl,
		Replicas: r.options.Stream.Replicas, Storage: jetstream.FileStorage,
	}
	return openOrMake(jetstream.ErrBucketNotFound, jetstream.ErrBucketExists,
		func() (jetstream.KeyValue, error) { return r.js.KeyValue(ctx, config.Bucket) },
		func() (jetstream.KeyValue, error) { return r.js.CreateKeyValue(ctx, config) })
}

// openOrMake opens a stream or bucket, or creates it. Another process may create it at the same
// time.
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

// at returns the bucket and the key of a value.
func (r *natsRegistry) at(session string) (jetstream.KeyValue, string) {
	if session == "" {
		return r.keys, r.account
	}
	return r.runs, r.account + "." + session
}

// failed makes the next step open the buckets again, as they may have been removed. It returns
// err.
func (r *natsRegistry) failed(err error) error {
	r.keys, r.runs = nil, nil
	return err
}

func (r *natsRegistry) read(ctx context.Context, session string, into any) (uint64, error) {
	bucket, key := r.at(session)
	entry, err := bucket.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, r.failed(err)
	}
	if err := json.Unmarshal(entry.Value(), into); err != nil {
		return 0, fmt.Errorf("the key %s of the bucket %s is not in the form that bridged writes: %w", key, bucket.Bucket(), err)
	}
	return entry.Revision(), nil
}

func (r *natsRegistry) write(ctx context.Context, session string, value any, revision uint64) (written uint64, _ error) {
	bucket, key := r.at(session)
	data, err := json.Marshal(value)
	if err != nil {
		return 0, err
	}
	if revision == 0 {
		written, err = bucket.Create(ctx, key, data)
	} else {
		written, err = bucket.Update(ctx, key, data, revision)
	}
	switch {
	case errors.Is(err, jetstream.ErrKeyExists), errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		return 0, errTaken
	case err != nil:
		return 0, r.failed(err)
	}
	return written, nil
}

func (r *natsRegistry) remove(ctx context.Context, revision uint64) error {
	return r.keys.Purge(ctx, r.account, jetstream.LastRevision(revision))
}

func (r *natsRegistry) published(ctx context.Context) (published, error) {
	events, err := r.openStream(ctx)
	if err != nil {
		return published{}, err
	}
	return events.last(ctx, subjectsOf(r.options.Prefix, r.account).all())
}
