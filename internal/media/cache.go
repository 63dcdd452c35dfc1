package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// CacheOptions describe a [Cache].
type CacheOptions struct {
	// Dir is where the files lie, decrypted. It is made where it does not exist,
	// and again if it is wiped. Downloads under way lie there too, so that a
	// finished one appears in one step.
	Dir string
	// MaxBytes is how much is kept on the disk beyond what is open; 0 keeps nothing.
	MaxBytes int64
	// MaxFile is the largest file that is downloaded.
	MaxFile int64
	CDN     *CDN
	Account Account
	// HasFile reports whether a message still has its file: whether it was not
	// deleted since the caller of Open read it. Nil stands for one that always has.
	HasFile func(ctx context.Context, m bridge.Message) (bool, error)
	Log     zerolog.Logger
}

// Cache answers the files of messages. Files are shown only once they are
// verified whole; those that it holds are served without the network. The least
// recently used go first when there are too many, but none that is open. It is
// safe for concurrent use.
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

// Close gives up the downloads under way and waits for their end. Files that are
// open stay readable.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop()
	c.work.Wait()
}

// Size returns how many bytes are kept.
func (c *Cache) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.total
}

// File is a verified whole file, open for reading. The embedded [os.File] is
// what lets the kernel send it without copying.
type File struct {
	*os.File
	Size    int64
	ModTime time.Time // the message's time: it does not change with the cache
	SHA256  []byte    // of the contents: computed, not the sender's

	close func() error
}

// Close ends the reading. It is safe to call more than once.
func (f *File) Close() error { return f.close() }

// Open answers the file of a message, from the cache or the CDN. Many callers
// that want one file share one download, which goes on while one of them waits.
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
		// Somebody wiped the directory, or touched the file: get it again.
		c.log.Warn().Err(err).Str("msg_id", m.ID).Msg("cached media lost")
	}
}

// errForgotten is for downloads whose file was told to be forgotten meanwhile.
var errForgotten = errors.New("file forgotten")

// stillHasFile fails with [bridge.CodeNotFound] for a message that was deleted.
func (c *Cache) stillHasFile(ctx context.Context, m bridge.Message) error {
	switch has, err := c.hasFile(ctx, m); {
	case err != nil:
		return err
	case !has:
		return bridge.NotFound("the message was deleted, and its file with it")
	}
	return nil
}

// Forget removes the files of deleted messages from the disk at once. Who has one
// open may finish reading it; a download under way is not kept. A message that is
// not deleted and has the same file (a forward) downloads it again when asked.
//
// Call it before the deletion is committed, so that a crash leaves nothing behind,
// and again afterwards, for a download that began in between: of those that begin
// later HasFile tells. Files that the cache does not hold cost a hash and a look
// into a map, and nil is permitted. Its error is a file that could not be removed:
// the cache never shows it again, and tries again to remove it as it does with
// files that are too many.
func (c *Cache) Forget(files ...*bridge.Media) error {
	var failed []error
	for _, file := range files {
		if file == nil {
			continue
		}
		if name, err := nameOf(file); err == nil { // what has no name was never kept
			failed = append(failed, c.forget(name))
		}
	}
	return errors.Join(failed...)
}

func (c *Cache) forget(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.downloads[name]; f != nil {
		f.cancel()
		delete(c.downloads, name) // which land notices
	}
	return c.lru.forget(name)
}

// nameOf returns the cache's name for a file: by the hash of the encrypted bytes,
// which is checked, and by the keys that open them. Two files of which senders
// claim the same contents are two files, and a message without the key has no
// claim to one.
//
// A message without that hash has a file of its own, named by its place on the CDN.
// As the place may change, nothing could find that file again to forget it: its
// name is that of a partial file, and it goes as soon as nobody reads it.
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

// take answers a kept file, held against eviction, and gets it there
// first if need be.
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

// giveBack ends a hold, and takes a file that was lost out of the lru.
func (c *Cache) giveBack(b *entry, lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lost {
		c.lru.discard(b)
	}
	c.release(b)
}

// release ends a hold, which may make room for a download that waits. The caller
// holds mu.
func (c *Cache) release(b *entry) {
	c.lru.release(b)
	c.admitNext()
}

// openEntry opens a file that the caller holds.
func (c *Cache) openEntry(b *entry, m bridge.Message) (*File, error) {
	path := c.lru.path(b.name, b.sha256)
	file, err := openSized(path, b.size)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil { // the order of use survives restarts
		c.log.Warn().Err(err).Msg("use of cached media not noted")
	}
	closeOnce := sync.OnceValue(func() error {
		defer c.giveBack(b, false)
		return file.Close()
	})
	return &File{File: file, Size: b.size, ModTime: m.Timestamp.Time, SHA256: b.sha256, close: closeOnce}, nil
}

// errMissing is for files that are not there any more as they were.
var errMissing = errors.New("file missing or changed")

func openSized(path string, size int64) (*os.File, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", errMissing, err)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() != size {
		err = fmt.Errorf("%w: %d bytes, not %d", errMissing, info.Size(), size)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// verifyKept checks a file that an earlier process left. It fails with errMissing
// if there is none.
func (c *Cache) verifyKept(name string) (received, error) {
	kept, err := c.contentOf(name)
	if err != nil {
		return received{}, err
	}
	got, err := hashFile(c.lru.path(name, kept.sha256))
	if err == nil && !bytes.Equal(got.sha256, kept.sha256) {
		err = fmt.Errorf("%s is not what it was", name)
	}
	return received{content: got}, err
}

// contentOf returns what a kept file should hold.
func (c *Cache) contentOf(name string) (content, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.lru.find(name)
	if b == nil {
		return content{}, errMissing
	}
	return b.content, nil
}

// hashFile reads a file through.
func hashFile(path string) (got content, err error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return got, errMissing
	}
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	h := sha256.New()
	if got.size, err = io.Copy(h, file); err != nil {
		return got, err
	}
	got.sha256 = h.Sum(nil)
	return got, nil
}
