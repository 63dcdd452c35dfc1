package fleet

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
)

// The bounds of the bucket of files, where it is made by a bridge.
const (
	filesLife  = time.Hour
	filesBytes = 1 << 30
)

// files is the bucket of what is too large for a message. It is made when it is
// first needed, unless it is there.
type files struct {
	js     jetstream.JetStream
	config jetstream.ObjectStoreConfig

	mu     sync.Mutex
	bucket jetstream.ObjectStore // nil until it is known; guarded by mu
}

func newFiles(js jetstream.JetStream, prefix string, replicas int) *files {
	return &files{js: js, config: jetstream.ObjectStoreConfig{
		Bucket: streamName(prefix, "FILES"), Description: "Files and large answers of bridged; they go after an hour.",
		TTL: filesLife, MaxBytes: filesBytes, Replicas: replicas,
	}}
}

// open returns the bucket.
func (f *files) open(ctx context.Context) (jetstream.ObjectStore, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bucket != nil {
		return f.bucket, nil
	}
	bucket, err := openOrMake(jetstream.ErrBucketNotFound, jetstream.ErrBucketExists,
		func() (jetstream.ObjectStore, error) { return f.js.ObjectStore(ctx, f.config.Bucket) },
		func() (jetstream.ObjectStore, error) { return f.js.CreateObjectStore(ctx, f.config) })
	if err == nil {
		f.bucket = bucket
	}
	return bucket, err
}

// put keeps a body under a name that nobody can guess.
func (f *files) put(ctx context.Context, body io.Reader) (*fileOut, error) {
	if _, err := f.open(ctx); err != nil {
		return nil, unavailable(err)
	}
	info, err := f.write(ctx, body)
	if err != nil {
		return nil, err
	}
	return &fileOut{Bucket: f.config.Bucket, Name: info.Name, Size: info.Size, Digest: info.Digest}, nil
}

func unavailable(cause error) error {
	return bridge.Fail(CodeFilesUnavailable, "the bucket of files cannot be used (is it full, or JetStream not there?): ask for less at once, or try again in a while").Because(cause)
}
