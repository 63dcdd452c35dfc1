package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"bridged/internal/bridge"
)

// downloadIdle is how long a server may send nothing before the next try.
const downloadIdle = 15 * time.Second

// Account names the network's media servers. Its errors are [bridge.Error] values,
// passed to the caller as they are.
type Account interface {
	// MediaConn implements [bridge.MediaConns].
	MediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error)
	// Reupload asks the phone to upload a message's file again and returns its new
	// place. It fails with [bridge.CodeMediaGone] if the phone cannot.
	Reupload(ctx context.Context, m bridge.Message) (directPath string, err error)
}

// The failures of one try, besides those that [decrypt] finds.
var (
	errGone      = errors.New("the media server no longer has the file")
	errTooLong   = errors.New("the media server sent more than the message announces") // which may be wrong
	errOverLimit = errors.New("the media server sent more than the limit")             // of any file
)

// Exists reports whether the CDN still has a file, by asking for its first byte. It
// returns true if no server answers that.
func (c *CDN) Exists(ctx context.Context, conns bridge.MediaConns, m *bridge.Media) (bool, error) {
	conn, err := c.connect(ctx, conns, false)
	if err != nil {
		return false, err
	}
	for _, host := range conn.Hosts {
		address, err := c.fileURL(host, m.Ref.DirectPath, m)
		if err != nil {
			return false, nil // an unusable path is a lost file
		}
		switch status, err := c.probe(ctx, address); {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil: // the next host may know
		case isGone(status):
			return false, nil
		case status == http.StatusOK, status == http.StatusPartialContent:
			return true, nil
		}
	}
	return true, nil
}

func (c *CDN) probe(ctx context.Context, address string) (status int, err error) {
	watch := watchIdle(ctx, c.downloadIdle)
	defer watch.stop()
	resp, err := c.do(watch.ctx, http.MethodGet, address, nil, func(r *http.Request) { r.Header.Set("Range", "bytes=0-0") })
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

type received struct {
	content
	path string // of a temporary file, to keep or to remove
}

// download downloads and verifies a message's file. If the CDN has lost it, the
// phone is asked to upload it again, once.
func (c *Cache) download(ctx context.Context, m bridge.Message) (got received, err error) {
	place := m.Media.Ref.DirectPath
	err = errGone // a message without a path may still be known to the phone
	if place != "" {
		got, err = c.from(ctx, m, place)
	}
	if errors.Is(err, errGone) {
		c.opts.Log.Info().Str("msg_id", m.ID).Msg("media expired, asking the phone")
		if place, err = c.opts.Account.Reupload(ctx, m); err == nil {
			got, err = c.from(ctx, m, place)
		}
	}
	return got, explain(ctx, err)
}

func (c *Cache) from(ctx context.Context, m bridge.Message, place string) (got received, err error) {
	conn, err := c.opts.CDN.connect(ctx, c.opts.Account.MediaConn, false)
	if err != nil {
		return received{}, err
	}
	err = c.opts.CDN.onHosts(ctx, conn.Hosts, func(host string) error {
		address, err := c.opts.CDN.fileURL(host, place, m.Media)
		if err != nil {
			return bridge.Fail(bridge.CodeMediaInvalid, "the message does not say properly where its file is: it cannot be downloaded").Because(err)
		}
		got, err = c.try(ctx, address, m.Media)
		return err
	})
	return got, err
}

// try downloads into a new file, and removes it again if that fails.
func (c *Cache) try(ctx context.Context, address string, m *bridge.Media) (got received, err error) {
	file, err := room(c.makeRoom).create(c.create)
	if err != nil {
		return received{}, &writeError{err}
	}
	defer func() {
		if closeErr := file.Close(); err == nil && closeErr != nil {
			err = &writeError{closeErr}
		}
		if err != nil {
			got, err = received{}, errors.Join(err, os.Remove(file.Name()))
		}
	}()
	watch := watchIdle(ctx, c.opts.CDN.downloadIdle)
	defer watch.stop()
	limit, tooLong := c.limit(m)
	body, err := c.opts.CDN.fetch(watch, address, limit, tooLong)
	if err == nil {
		defer func() { _ = body.Close() }()
		got.content, err = decrypt(room(c.makeRoom).writer(file), body, m)
	}
	got.path = file.Name()
	return got, watch.explain(err)
}

// limit returns how long the encrypted file may be, and the error for a longer one.
func (c *Cache) limit(m *bridge.Media) (int64, error) {
	if m.Size > 0 && m.Size <= c.opts.MaxFile {
		return encryptedSize(m.Size), errTooLong
	}
	return encryptedSize(c.opts.MaxFile), errOverLimit
}

// fetch returns the body of a file, which ends with tooLong beyond a limit.
func (c *CDN) fetch(watch *idleWatch, address string, limit int64, tooLong error) (io.ReadCloser, error) {
	resp, err := c.do(watch.ctx, http.MethodGet, address, nil, nil)
	switch {
	case err != nil:
		return nil, watch.explain(err)
	case isGone(resp.StatusCode):
		err = fmt.Errorf("%w (%d)", errGone, resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		err = newStatusError(resp)
	case resp.ContentLength > limit:
		err = tooLong
	}
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return &incomingBody{ReadCloser: resp.Body, left: limit, tooLong: tooLong, watch: watch}, nil
}

// incomingBody reads a body that may neither stall nor exceed a limit.
type incomingBody struct {
	io.ReadCloser
	left    int64
	tooLong error
	watch   *idleWatch
}

func (b *incomingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n, b.tooLong
	}
	if n > 0 {
		b.watch.moved()
	}
	return n, err
}

// explain turns a failure into an error for the caller.
func explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case is[*bridge.Error](err):
		return err
	case is[*writeError](err):
		return bridge.Fail(bridge.CodeStorageUnavailable, "the file could not be stored: the disk may be full").Because(err)
	case errors.Is(err, errGone):
		return bridge.Fail(bridge.CodeMediaGone, "the network no longer has the file: it cannot be recovered").Because(err)
	case errors.Is(err, errOverLimit):
		return bridge.Fail(bridge.CodeMediaTooLarge, "the file is larger than what this service downloads").Because(err)
	case errors.Is(err, errStalled):
		return bridge.Fail(bridge.CodeMediaUnavailable, "the network's media server stopped sending the file: try again later").Because(err)
	case !worthRepeating(err), isFinal(err):
		return bridge.Fail(bridge.CodeMediaInvalid, "the file on the network's media server is damaged, or not the one that was sent").Because(err)
	}
	e := bridge.Fail(bridge.CodeMediaUnavailable, "the network's media server did not deliver the file: try again later").Because(err)
	e.RetryAfter = retryAfter(err)
	return e
}
