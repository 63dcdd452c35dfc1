package media

import (
	"context"
	"errors"
	"os"
	"time"

	"bridged/internal/bridge"
)

// download is the one effort to get a file, for all who wait for it. Its fields
// are guarded by the cache's mu; entry and err are set before done is closed.
type download struct {
	waiters int
	cancel  context.CancelFunc
	done    chan struct{}
	entry   *entry
	err     error
	begun   *ticket // the place that it has taken; nil while it has none
}

// join waits in the download for a file, which it begins where there is none. The
// caller holds mu.
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
			path, size, err := c.get(ctx, f, name, m)
			c.land(name, f, path, size, err)
		})
	}
	f.waiters++
	return f, nil
}

func errStopping() error { return bridge.NotConnected("the service is stopping") }

// leave ends the waiting of a caller that went away. Nobody joins a download that
// nobody waits for: it is about to fail.
func (c *Cache) leave(name string, f *download) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-f.done: // at the same moment: the file is already held for the caller
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

// get verifies what an earlier process left, or downloads. An empty path says
// that the file is in the lru already.
func (c *Cache) get(ctx context.Context, f *download, name string, m bridge.Message) (path string, size int64, err error) {
	if size, err := hashFile(c.lru.path(name), m.Media.Ref.FileSHA256); err == nil {
		return "", size, nil
	} else if !errors.Is(err, errMissing) {
		c.log.Warn().Err(err).Str("msg_id", m.ID).Msg("cached media unusable")
	}
	if m.Media.Size > c.maxFile {
		return "", 0, bridge.Fail(bridge.CodeMediaTooLarge, "the file has %d bytes, but at most %d are downloaded", m.Media.Size, c.maxFile)
	}
	if f.begun, err = c.admit(ctx, c.expectedSize(m.Media)); err != nil {
		return "", 0, err
	}
	began := time.Now()
	path, info, err := c.downloadWhole(ctx, m)
	for isDiskFull(err) && c.makeRoom(f.begun.size) {
		c.log.Warn().Str("msg_id", m.ID).Msg("the disk is full: cached media removed, trying again")
		path, info, err = c.downloadWhole(ctx, m)
	}
	if err != nil {
		return "", 0, err
	}
	if err := c.stillHasFile(ctx, m); err != nil {
		if bridge.CodeOf(err) == bridge.CodeNotFound {
			err = errForgotten // by this message; others may wait that have the same file
		}
		return "", 0, errors.Join(err, os.Remove(path))
	}
	c.log.Info().Str("msg_id", m.ID).Int64("bytes", info.Size()).Dur("took", time.Since(began)).Msg("media downloaded")
	return path, info.Size(), nil
}

// downloadWhole downloads, and once more where the directory was wiped meanwhile.
func (c *Cache) downloadWhole(ctx context.Context, m bridge.Message) (path string, info os.FileInfo, err error) {
	for range 2 {
		if path, err = c.download(ctx, m); err != nil {
			return "", nil, err
		}
		if info, err = os.Stat(path); err == nil {
			return path, info, nil
		}
	}
	return "", nil, explain(ctx, &writeError{err})
}

// land puts a file in the lru, held by all who wait, and wakes them. What was
// forgotten meanwhile, or nobody waits for, is not kept.
func (c *Cache) land(name string, f *download, path string, size int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.ended(f.begun)
	if c.downloads[name] != f {
		if err == nil && path != "" {
			_ = os.Remove(path) // a partial file that stays is removed at the next start
		}
		err = errForgotten
	}
	if err == nil && path != "" {
		if err = os.Rename(path, c.lru.path(name)); err != nil {
			err = explain(c.background, &writeError{errors.Join(err, os.Remove(path))})
		}
	}
	if c.background.Err() != nil && errors.Is(err, context.Canceled) {
		err = errStopping()
	}
	if f.err = err; err == nil {
		f.entry = c.lru.put(name, size)
		f.entry.holders += f.waiters
		c.lru.evict()
	}
	if c.downloads[name] == f {
		delete(c.downloads, name)
	}
	close(f.done)
}
