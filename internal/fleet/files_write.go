package fleet

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// chunkBytes is how much of an object one message holds.
const chunkBytes = 128 << 10

// write writes an object as NATS lays it down (ADR-20), one message after the other.
// The client's own Put has many under way and repeats those to which nobody
// responded, which happens around an election; by then its buffer holds what comes
// later, and the object is corrupt.
func (f *files) write(ctx context.Context, body io.Reader) (*jetstream.ObjectInfo, error) {
	info := &jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: rand.Text(), Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkBytes}},
		Bucket:     f.config.Bucket, NUID: rand.Text(),
	}
	chunks := f.chunks(info.NUID)
	digest := sha256.New()
	err := f.writeChunks(ctx, chunks, body, digest, info)
	if err == nil {
		info.Digest = jetstream.GetObjectDigestValue(digest)
		err = f.writeInfo(ctx, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.purge(ctx, chunks))
	}
	return info, nil
}

// writeChunks writes the body, and counts it.
func (f *files) writeChunks(ctx context.Context, subject string, body io.Reader, digest hash.Hash, info *jetstream.ObjectInfo) error {
	chunk := make([]byte, chunkBytes)
	for {
		n, err := io.ReadFull(body, chunk)
		isLast := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !isLast {
			return fmt.Errorf("read what goes into the bucket of files: %w", err)
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
			return nil
		}
	}
}

// writeInfo makes a written object known.
func (f *files) writeInfo(ctx context.Context, info *jetstream.ObjectInfo) error {
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

// purge removes the chunks of an object that was not finished.
func (f *files) purge(ctx context.Context, subject string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestCall)
	defer cancel()
	stream, err := f.js.Stream(ctx, f.stream())
	if err == nil {
		err = stream.Purge(ctx, jetstream.WithPurgeSubject(subject))
	}
	if err != nil {
		return fmt.Errorf("remove a part of an object: %w", err)
	}
	return nil
}
