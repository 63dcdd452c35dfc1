package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// CacheOptions configures a [Cache].
type CacheOptions struct {
	// Dir holds the files, decrypted. It is created if it does not exist, and again
	// if it is wiped. Downloads in progress lie there too, so that a finished one
	// appears in one step.
	Dir string
	// MaxBytes limits what is kept on the disk beyond open files; 0 keeps nothing.
	MaxBytes int64
	// MaxFile is the largest file that is downloaded.
	MaxFile int64
	CDN     *CDN
	Account Account
	// HasFile reports whether a message still has its file, that is, was not deleted
	// since the caller of Open read it. If nil, every message does.
	HasFile func(ctx context.Context, m bridge.Message) (bool, error)
	Log     zerolog.Logger
}

// Cache opens the files of messages. It shows a file only once it is verified
// whole, and serves what it holds without the network. When it grows too large, the
// least recently used files go first, but none that is open. It is safe for
// concurrent use.
type Cache struct {
	downloader
	hasFile    func(ctx context.Context, m bridge.Message) (bool, error)
	background context.Context // ends with Close
	stop       context.CancelFunc
	work       sync.WaitGroup // the downloads

	mu        sync.Mutex
	lru       *lru                 // guarded by mu
	downloads map[string]*download // by name; guarded by mu
	closed    bool                 // guarded by mu
	admission                      // guarded by mu
}

// NewCache opens the cache in a directory, with the files that an earlier one left
// there. Where the disk is full, uploads to its CDN take their room from it too.
func NewCache(o CacheOptions) (*Cache, error) {
	kept, err := newLRU(o.Dir, o.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("open media cache: %w", err)
	}
	c := &Cache{lru: kept, downloads: map[string]*download{}, hasFile: o.HasFile, admission: admission{patience: admissionPatience}}
	if c.hasFile == nil {
		c.hasFile = func(context.Context, bridge.Message) (bool, error) { return true, nil }
	}
	c.background, c.stop = context.WithCancel(context.Background())
	c.downloader = downloader{cdn: o.CDN, account: o.Account, maxFile: o.MaxFile, create: kept.createPartial, room: c.makeRoom, log: o.Log}
	o.CDN.cache.Store(c)
	return c, nil
}

// Close cancels the downloads in progress and waits until they have ended. Open
// files stay readable.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop()
	c.work.Wait()
}

// Size returns the total size of the files that are kept, in bytes.
func (c *Cache) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.total
}

// Open opens the file of a message, from the cache or the CDN. Callers that want
// the same file share one download, which continues while any of them waits.
//
// Its errors are [bridge.CodeNotFound] for a message without a file,
// [bridge.CodeMediaTooLarge], [bridge.CodeMediaGone], [bridge.CodeMediaInvalid],
// [bridge.CodeStorageUnavailable], [bridge.CodeMediaUnavailable], and those of the [Account].
func (c *Cache) Open(ctx context.Context, m bridge.Message) (*File, error) {
	if m.Media == nil {
		return nil, bridge.NotFound("the message has no file")
	}
	name, err := nameOf(m.Media)
	if err != nil {
		return nil, bridge.Fail(bridge.CodeMediaInvalid, "the message does not say how its file is decrypted: it cannot be downloaded").Because(err)
	}
	for {
		entry, err := c.take(ctx, name, m)
		if errors.Is(err, errForgotten) {
			if err := c.stillHasFile(ctx, m); err != nil {
				return nil, err
			}
			continue // another message's deletion: they share a file
		}
		if err != nil {
			return nil, err
		}
		file, err := c.openEntry(entry, m)
		if err == nil {
			return file, nil
		}
		lost := errors.Is(err, errMissing)
		c.giveBack(entry, lost)
		if !lost {
			return nil, bridge.Fail(bridge.CodeStorageUnavailable, "the stored file could not be opened").Because(err)
		}
		// The directory was wiped, or the file changed: get it again.
		c.log.Warn().Err(err).Str("msg_id", m.ID).Msg("cached media lost")
	}
}

// nameOf returns the cache's name for a file. It derives from the hash of the
// encrypted bytes, which is checked, and from the key that decrypts them. Files
// whose senders merely claim the same contents have different names, and a message
// with the wrong key finds nothing.
//
// A message without that hash has a file for itself, named by its place on the CDN.
// As the place may change, Forget might not find that file again: it gets the name
// of a partial file, and is removed as soon as nobody reads it.
func nameOf(m *bridge.Media) (string, error) {
	if _, err := expand(m.Ref.MediaKey, m.Type); err != nil {
		return "", err
	}
	prefix, identity := namePrefix, m.Ref.FileEncSHA256
	switch {
	case !hasEncryptedHash(m):
		prefix, identity = partialPrefix, []byte(m.Ref.DirectPath)
	case len(identity) != sha256.Size:
		return "", fmt.Errorf("the hash of the encrypted file has %d bytes, not %d", len(identity), sha256.Size)
	}
	h := sha256.New()
	h.Write(identity)
	h.Write(m.Ref.MediaKey)
	h.Write([]byte(families[m.Type].info))
	return prefix + hex.EncodeToString(h.Sum(nil)), nil
}

// take returns a kept file, held against eviction. If there is none, it downloads
// the file first.
func (c *Cache) take(ctx context.Context, name string, m bridge.Message) (*entry, error) {
	c.mu.Lock()
	if b := c.lru.find(name); b != nil && b.verified {
		b.holders++
		c.mu.Unlock()
		return b, nil
	}
	f, err := c.join(name, m)
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case <-f.done:
		return f.entry, f.err
	case <-ctx.Done():
		c.leave(name, f)
		return nil, ctx.Err()
	}
}

// giveBack ends a hold, and discards a file that was lost.
func (c *Cache) giveBack(b *entry, lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lost {
		c.lru.discard(b)
	}
	c.release(b)
}

// release ends a hold, which may make room for a waiting download. The caller holds
// mu.
func (c *Cache) release(b *entry) {
	c.lru.release(b)
	c.admitNext()
}
