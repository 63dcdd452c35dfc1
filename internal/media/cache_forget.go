package media

import (
	"context"
	"errors"

	"bridged/internal/bridge"
)

// errForgotten is the end of a download whose file was forgotten meanwhile.
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

// Forget removes the files of deleted messages from the disk at once. Readers that
// have one open may finish; a download in progress is not kept. A message with the
// same file that is not deleted (a forward) downloads it again when asked.
//
// Call it before the deletion is committed, so that a crash leaves nothing behind,
// and again afterwards, for downloads that began in between; HasFile catches those
// that begin later. Files that the cache does not hold cost a hash and a map lookup;
// nil files are permitted. An error means that a file could not be removed: the
// cache never shows it again, and retries when it evicts.
func (c *Cache) Forget(files ...*bridge.Media) error {
	var failed []error
	for _, file := range files {
		if file == nil {
			continue
		}
		if name, err := nameOf(file); err == nil { // a file without a name was never kept
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
