package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
	"bridged/internal/media/disk"
)

// download gets one file for all callers that wait for it. The cache's mu guards its fields;
// entry and err are set before done is closed.
type download struct {
	waiters  int
	cancel   context.CancelFunc
	done     chan struct{}
	entry    *entry
	err      error
	reserved int64 // bytes of the disk, while it has its turn
}

// join adds a waiter to the download of a file, which it starts if need be. The caller holds mu.
func (c *Cache) join(name string, m bridge.Message) (*download, error) {
	if c.closed {
		return nil, errStopping()
	}
	f := c.downloads[name]
	if f == nil {
		ctx, cancel := context.WithCancel(c.background)
		f = &download{cancel: cancel, done: make(chan struct{})}
		c.downloads[name] = f
		c.work.Go(func() {
			defer cancel()
			got, err := c.get(ctx, f, name, m)
			c.land(name, f, got, err)
		})
	}
	f.waiters++
	return f, nil
}

func errStopping() error { return bridge.NotConnected("the service is stopping") }

// leave removes a waiter. A download without waiters is cancelled and takes no more of them.
func (c *Cache) leave(name string, f *download) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-f.done: // just finished: the file is already held for the caller
		if f.entry != nil {
			c.release(f.entry)
		}
		return
	default:
	}
	if f.waiters--; f.waiters == 0 {
		f.cancel()
		if c.downloads[name] == f {
			delete(c.downloads, name)
		}
	}
}

// get verifies the file that an earlier process left, without a path, or downloads it.
func (c *Cache) get(ctx context.Context, f *download, name string, m bridge.Message) (received, error) {
	if stored, err := c.verifyStored(name); err == nil {
		return received{Content: stored}, nil
	} else if !errors.Is(err, errMissing) {
		c.opts.Log.Warn().Err(err).Str("msg_id", m.ID).Msg("a cached file is damaged; downloading it again")
	}
	if m.Media.Size > c.opts.MaxFile {
		return received{}, bridge.Fail(bridge.CodeMediaTooLarge, "the file has %d bytes, but at most %d are downloaded", m.Media.Size, c.opts.MaxFile)
	}
	began := time.Now()
	got, err := c.downloadOnTurn(ctx, f, m)
	if err != nil {
		return received{}, err
	}
	if err := c.stillHasFile(ctx, m); err != nil {
		if bridge.CodeOf(err) == bridge.CodeNotFound {
			err = errForgotten // by this message; others may wait that have the same file
		}
		return received{}, errors.Join(err, os.Remove(got.path))
	}
	c.opts.Log.Info().Str("msg_id", m.ID).Int64("bytes", got.Size).Dur("took", time.Since(began)).Msg("media downloaded")
	c.warnOfClaims(m, got.Content)
	return got, nil
}

// downloadOnTurn downloads a file when its turn comes. One that is larger than its message
// claims waits for another turn, with the room of the largest.
func (c *Cache) downloadOnTurn(ctx context.Context, f *download, m bridge.Message) (received, error) {
	largest := cdn.EncryptedSize(c.opts.MaxFile)
	limit := largest
	if m.Media.Size > 0 {
		limit = cdn.EncryptedSize(m.Media.Size)
	}
	for {
		if err := c.admit(ctx, f, limit); err != nil {
			return received{}, err
		}
		got, err := c.download(ctx, m, limit)
		if limit == largest || !isTooLarge(err) {
			return got, err
		}
		c.mu.Lock()
		c.endTurn(f)
		c.mu.Unlock()
		limit = largest
	}
}

func isTooLarge(err error) bool {
	_, ok := errors.AsType[*http.MaxBytesError](err)
	return ok
}

func (c *Cache) warnOfClaims(m bridge.Message, got cdn.Content) {
	if m.Media.Size > 0 && m.Media.Size != got.Size {
		c.opts.Log.Warn().Str("msg_id", m.ID).Int64("bytes", got.Size).Int64("claimed", m.Media.Size).Msg("media has another size than its message says")
	}
	if claimed := m.Media.Ref.FileSHA256; len(claimed) > 0 && !bytes.Equal(claimed, got.Sha256) {
		c.opts.Log.Warn().Str("msg_id", m.ID).Msg("media has another hash than its message says")
	}
}

// land puts a file in the lru, held by all waiters, and wakes them; one that was forgotten is removed.
func (c *Cache) land(name string, f *download, got received, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.endTurn(f)
	switch {
	case c.downloads[name] != f:
		if got.path != "" {
			_ = os.Remove(got.path) // a partial file that stays is removed at the next start
		}
		err = errForgotten
	case got.path != "":
		if err = os.Rename(got.path, c.lru.path(name, got.Sha256)); err != nil {
			err = cdn.Explain(c.background, &disk.WriteError{Err: errors.Join(err, os.Remove(got.path))})
		}
		fallthrough
	default:
		delete(c.downloads, name)
	}
	if c.background.Err() != nil && errors.Is(err, context.Canceled) {
		err = errStopping()
	}
	if f.err = err; err == nil {
		f.entry = c.lru.put(name, got.Content)
		f.entry.holders += f.waiters
		c.lru.shrink(c.lru.max)
	}
	close(f.done)
}

const (
	maxDownloads = 8 // at a time; the others wait
	// downloadsOfDisk limits the disk beyond the cache's own, in files of the largest size.
	downloadsOfDisk  = 2
	admissionTimeout = 2 * time.Minute  // how long a download waits for its turn
	busyRetry        = 10 * time.Second // the Retry-After for one that had no turn
)

// admit waits until a download of that size may begin. It bounds the number of downloads,
// and the bytes that they and open files take beyond the cache's limit.
func (c *Cache) admit(ctx context.Context, f *download, size int64) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, errBusy())
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})
	defer stop()
	c.waiting = append(c.waiting, f)
	fits := func() bool {
		return c.running < maxDownloads && size <= downloadsOfDisk*cdn.EncryptedSize(c.opts.MaxFile)-c.lru.excess()-c.reserved
	}
	for ctx.Err() == nil && (c.waiting[0] != f || !fits()) {
		c.changed.Wait()
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(waiting *download) bool { return waiting == f })
	c.changed.Broadcast() // the next one may be smaller
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.running++
	c.reserved += size
	f.reserved = size
	return nil
}

func errBusy() error {
	e := bridge.Fail(bridge.CodeMediaUnavailable, "too many other files are being downloaded: try again later")
	e.RetryAfter = busyRetry
	return e
}

// endTurn gives up the turn of a download, if it has one. The caller holds mu.
func (c *Cache) endTurn(f *download) {
	if f.reserved == 0 {
		return
	}
	c.running--
	c.reserved -= f.reserved
	f.reserved = 0
	c.changed.Broadcast()
}

// MakeRoom removes the least recently used files of a full disk that are not open. It is a [disk.Room].
func (c *Cache) MakeRoom(size int64) bool {
	c.mu.Lock()
	removed := c.lru.shrink(c.lru.total - size)
	c.mu.Unlock()
	if removed == 0 {
		return false
	}
	c.opts.Log.Warn().Int64("bytes", removed).Msg("the disk is full: cached media removed")
	return true
}

type received struct {
	cdn.Content
	path string // of a temporary file
}

// download downloads a file of at most limit encrypted bytes. If the CDN has lost it, the
// phone is asked to upload it again, once.
func (c *Cache) download(ctx context.Context, m bridge.Message, limit int64) (got received, err error) {
	place := m.Media.Ref.DirectPath
	err = cdn.ErrGone // a message without a path may still be known to the phone
	if place != "" {
		got, err = c.from(ctx, m, place, limit)
	}
	if errors.Is(err, cdn.ErrGone) {
		c.opts.Log.Info().Str("msg_id", m.ID).Msg("media expired, asking the phone")
		if place, err = c.opts.Account.Reupload(ctx, m); err == nil {
			got, err = c.from(ctx, m, place, limit)
		}
	}
	return got, cdn.Explain(ctx, err)
}

func (c *Cache) from(ctx context.Context, m bridge.Message, place string, limit int64) (got received, err error) {
	err = c.opts.CDN.Download(ctx, c.opts.Account.MediaConn, m.Media, place, limit, func(body io.Reader) (err error) {
		got, err = c.receive(body, m.Media)
		return err
	})
	return got, err
}

// receive decrypts into a new file, and removes it again if that fails.
func (c *Cache) receive(body io.Reader, m *bridge.Media) (got received, err error) {
	file, err := disk.Room(c.MakeRoom).Create(c.create)
	if err != nil {
		return received{}, &disk.WriteError{Err: err}
	}
	got.path = file.Name()
	got.Content, err = cdn.Decrypt(disk.Room(c.MakeRoom).Writer(file), body, m)
	if closeErr := file.Close(); err == nil && closeErr != nil {
		err = &disk.WriteError{Err: closeErr}
	}
	if err != nil {
		return received{}, errors.Join(err, os.Remove(got.path))
	}
	return got, nil
}
