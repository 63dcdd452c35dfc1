package fleet

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
)

const (
	// The limits of the bucket of files, if a bridge creates it.
	filesLife  = time.Hour
	filesBytes = 1 << 30

	chunkBytes  = 128 << 10 // of an object in one message
	chunksAhead = 4         // are on their way to a reader at once
)

// files is the bucket for files and large answers. It is created when it is first needed.
type files struct{ *link }

func (f files) bucket() string { return streamName(f.options.Prefix, "FILES") }

func (f files) open(ctx context.Context) (jetstream.Stream, error) {
	config := jetstream.ObjectStoreConfig{
		Bucket: f.bucket(), Description: "Files and large answers of bridged; they go after an hour.",
		TTL: filesLife, MaxBytes: filesBytes, Replicas: f.options.Stream.Replicas,
	}
	open := func() (jetstream.Stream, error) { return f.js.Stream(ctx, "OBJ_"+f.bucket()) }
	found, err := openOrMake(jetstream.ErrStreamNotFound, jetstream.ErrBucketExists, open, func() (jetstream.Stream, error) {
		if _, err := f.js.CreateObjectStore(ctx, config); err != nil {
			return nil, err
		}
		return open()
	})
	if err != nil {
		return nil, unavailable(err)
	}
	readFromLeader(found)
	return found, nil
}

// about returns the subject of an object's description.
func (f files) about(name string) string {
	return "$O." + f.bucket() + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
}

// chunks returns the subject of an object's content.
func (f files) chunks(nuid string) string { return "$O." + f.bucket() + ".C." + nuid }

func (f files) notFound(why string) error {
	return bridge.Fail(CodeFileNotFound, "%s in the bucket %s: put it there first, for example with nats object put %s <file>", why, f.bucket(), f.bucket())
}

func unavailable(cause error) *bridge.Error {
	return bridge.Fail(CodeFilesUnavailable, "the bucket of files cannot be used (is it full, or JetStream not there?): ask for less at once, or try again in a while").Because(cause)
}

// put stores a body under a random name. It writes the object's messages (ADR-20 of NATS) one after the
// other. The client's own Put sends many at once, and when it repeats one around an election, the buffer may
// already have later bytes.
func (f files) put(ctx context.Context, body io.Reader) (*fileOut, error) {
	bucket, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	info := &jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: rand.Text(), Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkBytes}},
		Bucket:     f.bucket(), NUID: rand.Text(),
	}
	if err = f.writeChunks(ctx, body, info); err == nil {
		err = f.writeInfo(ctx, info)
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestCall)
		defer cancel()
		return nil, errors.Join(err, bucket.Purge(ctx, jetstream.WithPurgeSubject(f.chunks(info.NUID))))
	}
	return &fileOut{Bucket: info.Bucket, Name: info.Name, Size: info.Size, Digest: info.Digest}, nil
}

// writeChunks writes the body, and sets size, chunks and digest in info.
func (f files) writeChunks(ctx context.Context, body io.Reader, info *jetstream.ObjectInfo) error {
	subject, digest := f.chunks(info.NUID), sha256.New()
	chunk := make([]byte, chunkBytes)
	for {
		n, err := io.ReadFull(body, chunk)
		isLast := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !isLast {
			return fmt.Errorf("read the body for the bucket of files: %w", err)
		}
		if n > 0 {
			if _, err := f.js.Publish(ctx, subject, chunk[:n]); err != nil {
				return unavailable(err)
			}
			digest.Write(chunk[:n])
			info.Size += uint64(n)
			info.Chunks++
		}
		if isLast {
			info.Digest = jetstream.GetObjectDigestValue(digest)
			return nil
		}
	}
}

// writeInfo writes the description of an object, after its chunks.
func (f files) writeInfo(ctx context.Context, info *jetstream.ObjectInfo) error {
	data, err := json.Marshal(info)
	if err != nil {
		return err
	}
	m := nats.NewMsg(f.about(info.Name))
	m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	m.Data = data
	if _, err := f.js.PublishMsg(ctx, m); err != nil {
		return unavailable(err)
	}
	return nil
}

// storedFile holds an object that was opened for reading.
type storedFile struct {
	info    jetstream.ObjectInfo
	content jetstream.MessagesContext
	failure atomic.Pointer[bridge.Error] // why it could not be read
}

func (f files) get(ctx context.Context, name string) (*storedFile, error) {
	bucket, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	info, err := f.info(ctx, bucket, name)
	if err != nil {
		return nil, err
	}
	consumer, err := bucket.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{f.chunks(info.NUID)}})
	if err != nil {
		return nil, unavailable(err)
	}
	content, err := consumer.Messages(jetstream.PullMaxMessages(chunksAhead))
	if err != nil {
		return nil, unavailable(err)
	}
	return &storedFile{info: info, content: content}, nil
}

// info reads an object's description. It refuses links, because a link could lead to an object that its
// creator must not read.
func (f files) info(ctx context.Context, bucket jetstream.Stream, name string) (info jetstream.ObjectInfo, err error) {
	asking, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	m, err := bucket.GetLastMsgForSubject(asking, f.about(name))
	if err == nil {
		err = json.Unmarshal(m.Data, &info)
	}
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
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

// copyTo writes all chunks of the object and compares their digest. The client's own Get ends early if the
// node that it asks lags behind the others.
func (o *storedFile) copyTo(ctx context.Context, w io.Writer) error {
	digest := sha256.New()
	for i := range o.info.Chunks {
		waiting, cancel := context.WithTimeout(ctx, longestCall)
		m, err := o.content.Next(jetstream.NextContext(waiting))
		cancel()
		if err != nil {
			return o.fail(fmt.Errorf("read chunk %d of %d: %w", i+1, o.info.Chunks, err))
		}
		digest.Write(m.Data())
		if _, err := w.Write(m.Data()); err != nil {
			return err
		}
	}
	if jetstream.GetObjectDigestValue(digest) != o.info.Digest {
		return o.fail(errors.New("the object does not have its digest"))
	}
	return nil
}

func (o *storedFile) fail(cause error) error {
	failure := unavailable(cause)
	o.failure.Store(failure)
	return failure
}
