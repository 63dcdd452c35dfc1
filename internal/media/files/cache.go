// Package files opens files on the disk: the files of messages, which [Cache] downloads, the pictures
// of people and groups ([Pictures]), the files of imported chats ([Imported]), and small pictures of
// files ([Thumbnails]).
package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
)

// CacheOptions configures a [Cache].
type CacheOptions struct {
	// Dir holds the files, decrypted. It is created if it does not exist, also if it is wiped.
	Dir string
	// MaxBytes limits the disk space apart from open files; with 0, files are removed once they are closed.
	MaxBytes int64
	// MaxFile is the largest file that is downloaded.
	MaxFile  int64
	CDN      *cdn.Client
	Account  cdn.Account
	Imported *Imported // files that are on no CDN; nil if none
	// Thumbnails has the small pictures that were made of files; nil if none.
	Thumbnails *Thumbnails
	// HasFile reports whether a message still has its file; nil for always.
	HasFile func(ctx context.Context, m bridge.Message) (bool, error)
	Log     zerolog.Logger
}

// Cache opens the files of messages, verified whole. When it grows too large, it evicts the
// least recently used ones that are not open. It is safe for concurrent use.
type Cache struct {
	opts       CacheOptions
	create     func() (*os.File, error) // the temporary file of a download
	background context.Context          // ends with Close
	stop       context.CancelFunc
	work       sync.WaitGroup // the downloads

	mu        sync.Mutex
	lru       *lru                 // guarded by mu
	downloads map[string]*download // by name; guarded by mu
	closed    bool                 // guarded by mu

	// Downloads are admitted first come, first served; guarded by mu.
	timeout  time.Duration
	running  int
	reserved int64       // bytes of the running ones
	waiting  []*download // the longest waiting first
	changed  *sync.Cond  // one may begin now
}

// NewCache opens the cache in a directory, with the files of earlier runs. If the disk is full, uploads
// through its CDN client evict files from it, too.
func NewCache(o CacheOptions) (*Cache, error) {
	stored, err := newLRU(o.Dir, o.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("open media cache: %w", err)
	}
	c := &Cache{opts: o, create: stored.createPartial, lru: stored, downloads: map[string]*download{}, timeout: admissionTimeout}
	c.changed = sync.NewCond(&c.mu)
	c.background, c.stop = context.WithCancel(context.Background())
	o.CDN.UseRoom(c.MakeRoom)
	return c, nil
}

// Close cancels the downloads in progress and waits for them. Open files stay readable.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop()
	c.work.Wait()
}

// Size returns the total size of the cached files, in bytes.
func (c *Cache) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.total
}

// Open opens the file of a message, from the cache or the CDN. Concurrent callers of one file use one
// download, which continues while any of them waits.
//
// Its errors are [bridge.CodeNotFound] for a message without a file,
// [bridge.CodeMediaTooLarge], [bridge.CodeMediaGone], [bridge.CodeMediaInvalid],
// [bridge.CodeStorageUnavailable], [bridge.CodeMediaUnavailable], and the errors of the [Account].
func (c *Cache) Open(ctx context.Context, m bridge.Message) (*File, error) {
	if m.Media == nil {
		return nil, bridge.NotFound("the message has no file")
	}
	if m.Media.Ref.IsImported && c.opts.Imported != nil {
		file, err := c.opts.Imported.open(m)
		if !errors.Is(err, errMissing) {
			return file, err
		}
		if len(m.Media.Ref.MediaKey) == 0 {
			return nil, bridge.Fail(bridge.CodeMediaGone, "the imported file is no longer on the disk: import the chat again, which puts it back").Because(err)
		}
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
		c.opts.Log.Warn().Err(err).Str("msg_id", m.ID).Msg("a cached file is missing or has changed; downloading it again")
	}
}

// nameOf returns the cache's name for a file: its [cdn.Identity].
//
// Without the hash of its encrypted bytes, Forget might not find the file again, so it is named as a
// partial one, and removed once it is closed.
func nameOf(m *bridge.Media) (string, error) {
	id, isLasting, err := cdn.Identity(m)
	if err != nil {
		return "", err
	}
	if !isLasting {
		return partialPrefix + id, nil
	}
	return namePrefix + id, nil
}

// take returns a file and protects it from eviction. It downloads the file if it is not in the cache.
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

func (c *Cache) giveBack(b *entry, lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lost {
		c.lru.discard(b)
	}
	c.release(b)
}

// release ends a hold. The caller holds mu.
func (c *Cache) release(b *entry) {
	c.lru.release(b)
	c.changed.Broadcast() // there may be room for a download
}

// File is a verified file. The embedded [os.File] lets the kernel send it without copying.
type File struct {
	*os.File
	Size    int64
	ModTime time.Time // the message's time: it does not change with the cache
	SHA256  []byte    // of the contents: computed, not the sender's

	close func() error
}

// Close closes the file. It is safe to call more than once.
func (f *File) Close() error { return f.close() }

// openEntry opens a file that the caller holds.
func (c *Cache) openEntry(b *entry, m bridge.Message) (*File, error) {
	path := c.lru.path(b.name, b.Sha256)
	file, err := openSized(path, b.Size)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil { // the order of use survives restarts
		c.opts.Log.Warn().Err(err).Msg("cannot store the use of a cached file")
	}
	closeOnce := sync.OnceValue(func() error {
		defer c.giveBack(b, false)
		return file.Close()
	})
	return &File{File: file, Size: b.Size, ModTime: m.Timestamp.Time, SHA256: b.Sha256, close: closeOnce}, nil
}

// errMissing means that a file is gone, or has changed.
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

// verifyStored verifies a file of an earlier run. It returns errMissing if there is none.
func (c *Cache) verifyStored(name string) (stored cdn.Content, err error) {
	c.mu.Lock()
	if b := c.lru.find(name); b != nil {
		stored = b.Content
	}
	c.mu.Unlock()
	file, err := openSized(c.lru.path(name, stored.Sha256), stored.Size)
	if err != nil {
		return stored, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return stored, err
	}
	if !bytes.Equal(h.Sum(nil), stored.Sha256) {
		return stored, errors.New("the file is not what it was")
	}
	return stored, nil
}

// errForgotten is the end of a download whose file was forgotten meanwhile.
var errForgotten = errors.New("file forgotten")

func (c *Cache) stillHasFile(ctx context.Context, m bridge.Message) error {
	if c.opts.HasFile == nil {
		return nil
	}
	has, err := c.opts.HasFile(ctx, m)
	if err == nil && !has {
		err = bridge.NotFound("the message was deleted, and its file with it")
	}
	return err
}

// Forget removes the files of deleted messages and their thumbnails from the disk at once; nil files are permitted. Open
// files stay readable; a download in progress is discarded. A message with the same file that is not
// deleted (a forward) downloads it again.
//
// Call it before the deletion is committed, so that no file is left after a crash, and again
// afterwards; HasFile catches downloads that begin later. If a file cannot be removed, Forget returns
// an error. The file is not opened again, and it is removed at the next eviction.
func (c *Cache) Forget(files ...*bridge.Media) error {
	var failed []error
	for _, file := range files {
		if file == nil {
			continue
		}
		if c.opts.Thumbnails != nil {
			failed = append(failed, c.opts.Thumbnails.forget(file))
		}
		if name, err := nameOf(file); err == nil { // a file without a name was never stored
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
