package media

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"bridged/internal/bridge"
)

// File is a verified, complete file, open for reading. The embedded [os.File] lets
// the kernel send it without copying.
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

// errMissing means that a file is gone, or not what it was.
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

// verifyKept verifies a file that an earlier process left. It fails with errMissing
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

// hashFile returns the hash and the size of a file.
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
