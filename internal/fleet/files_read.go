package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
)

// chunksAhead is how many chunks of an object are on their way at once.
const chunksAhead = 4

// objectReader reads an object of the bucket, for as many chunks as it has. The client's
// own Get takes an object for whole as soon as the node that it asks has no more of it,
// and a node may be behind.
type objectReader struct {
	ctx    context.Context
	chunks jetstream.MessagesContext
	info   jetstream.ObjectInfo
	digest hash.Hash
	read   uint32 // chunks
	rest   []byte // of the present one

	mu  sync.Mutex
	err error // why it could not be read; guarded by mu
}

// get opens an object.
func (f *files) get(ctx context.Context, name string) (*objectReader, error) {
	if _, err := f.open(ctx); err != nil {
		return nil, unavailable(err)
	}
	found, err := f.js.Stream(ctx, f.stream())
	if err != nil {
		return nil, unavailable(err)
	}
	leader := &stream{nc: f.js.Conn(), js: f.js, info: found.CachedInfo()}
	info, err := f.info(ctx, leader, name)
	if err != nil {
		return nil, err
	}
	consumer, err := found.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{f.chunks(info.NUID)}})
	if err != nil {
		return nil, unavailable(err)
	}
	chunks, err := consumer.Messages(jetstream.PullMaxMessages(chunksAhead))
	if err != nil {
		return nil, unavailable(err)
	}
	return &objectReader{ctx: ctx, chunks: chunks, info: info, digest: sha256.New()}, nil
}

// info reads what is known of an object. A link is not followed: it may lead to what
// its maker must not read.
func (f *files) info(ctx context.Context, leader *stream, name string) (info jetstream.ObjectInfo, err error) {
	m, err := leader.get(ctx, wanted{LastFor: f.about(name)})
	if err == nil {
		err = json.Unmarshal(m.Data, &info)
	}
	switch {
	case errors.Is(err, errNoMessage):
		return info, f.notFound("there is no such object")
	case err != nil:
		return info, unavailable(err)
	case info.Deleted:
		return info, f.notFound("this object was deleted")
	case info.Opts != nil && info.Opts.Link != nil:
		return info, f.notFound("this object is a link, and there is no file")
	}
	return info, nil
}

func (f *files) notFound(why string) error {
	return bridge.Fail(CodeFileNotFound, "%s in the bucket %s: put it there first, for example with nats object put %s <file>", why, f.config.Bucket, f.config.Bucket)
}

// stream returns the name of the bucket's stream.
func (f *files) stream() string { return "OBJ_" + f.config.Bucket }

// about returns the subject of what is known of an object.
func (f *files) about(name string) string {
	return "$O." + f.config.Bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
}

// chunks returns the subject of an object's content.
func (f *files) chunks(nuid string) string { return "$O." + f.config.Bucket + ".C." + nuid }

// Read implements [io.Reader].
func (o *objectReader) Read(into []byte) (int, error) {
	for len(o.rest) == 0 {
		if err := o.next(); err != nil {
			return 0, err
		}
	}
	n := copy(into, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}

// next reads the next chunk, and behind the last one compares the digest.
func (o *objectReader) next() error {
	if o.read == o.info.Chunks {
		if jetstream.GetObjectDigestValue(o.digest) != o.info.Digest {
			return o.fail(errors.New("the object does not have its digest"))
		}
		return io.EOF
	}
	ctx, cancel := context.WithTimeout(o.ctx, longestCall)
	defer cancel()
	m, err := o.chunks.Next(jetstream.NextContext(ctx))
	if err != nil {
		return o.fail(fmt.Errorf("read chunk %d of %d: %w", o.read+1, o.info.Chunks, err))
	}
	o.read++
	o.rest = m.Data()
	o.digest.Write(o.rest)
	return nil
}

func (o *objectReader) fail(cause error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = unavailable(cause)
	return o.err
}

// failure returns why the object could not be read; nil if it could.
func (o *objectReader) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *objectReader) close() { o.chunks.Stop() }
