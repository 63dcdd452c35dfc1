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

// Account names the network's media servers. Callers get its errors as they are.
type Account interface {
	// MediaConn implements [bridge.MediaConns].
	MediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error)
	// Reupload asks the phone to upload a message's file again and returns its new place. It
	// fails with [bridge.CodeMediaGone] if the phone cannot.
	Reupload(ctx context.Context, m bridge.Message) (directPath string, err error)
}

var errGone = errors.New("the media server no longer has the file")

// Exists asks whether the CDN still has a file. It returns true if no server answers that.
func (c *CDN) Exists(ctx context.Context, conns bridge.MediaConns, m *bridge.Media) (bool, error) {
	conn, err := c.connect(ctx, conns, false)
	if err != nil {
		return false, err
	}
	for _, host := range conn.Hosts {
		address, err := fileURL(host, m.Ref.DirectPath, m)
		if err != nil {
			return false, nil // an unusable path is a lost file
		}
		resp, err := c.do(ctx, c.downloadIdle, http.MethodGet, address, nil, func(r *http.Request) { r.Header.Set("Range", "bytes=0-0") })
		if err == nil {
			err = resp.Body.Close()
		}
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil: // the next host may know
		case isGone(resp.StatusCode):
			return false, nil
		case resp.StatusCode == http.StatusOK, resp.StatusCode == http.StatusPartialContent:
			return true, nil
		}
	}
	return true, nil
}

type received struct {
	content
	path string // of a temporary file, to keep or to remove
}

// download downloads a file of at most limit encrypted bytes. If the CDN has lost it, the
// phone is asked to upload it again, once.
func (c *Cache) download(ctx context.Context, m bridge.Message, limit int64) (got received, err error) {
	place := m.Media.Ref.DirectPath
	err = errGone // a message without a path may still be known to the phone
	if place != "" {
		got, err = c.from(ctx, m, place, limit)
	}
	if errors.Is(err, errGone) {
		c.opts.Log.Info().Str("msg_id", m.ID).Msg("media expired, asking the phone")
		if place, err = c.opts.Account.Reupload(ctx, m); err == nil {
			got, err = c.from(ctx, m, place, limit)
		}
	}
	return got, explain(ctx, err)
}

func (c *Cache) from(ctx context.Context, m bridge.Message, place string, limit int64) (got received, err error) {
	address := func(host string) (string, error) { return fileURL(host, place, m.Media) }
	err = c.opts.CDN.get(ctx, c.opts.Account.MediaConn, address, limit, func(body io.Reader) (err error) {
		got, err = c.receive(body, m.Media)
		return err
	})
	return got, err
}

// receive decrypts into a new file, and removes it again if that fails.
func (c *Cache) receive(body io.Reader, m *bridge.Media) (got received, err error) {
	file, err := room(c.makeRoom).create(c.create)
	if err != nil {
		return received{}, &writeError{err}
	}
	got.path = file.Name()
	got.content, err = decrypt(room(c.makeRoom).writer(file), body, m)
	if closeErr := file.Close(); err == nil && closeErr != nil {
		err = &writeError{closeErr}
	}
	if err != nil {
		return received{}, errors.Join(err, os.Remove(got.path))
	}
	return got, nil
}

// get calls use with the body of a file, from the hosts in turn until one delivers it. Beyond
// a limit the body ends with [http.MaxBytesError].
func (c *CDN) get(ctx context.Context, conns bridge.MediaConns, addressOn func(host string) (string, error), limit int64, use func(io.Reader) error) error {
	return c.onHosts(ctx, conns, func(_ *bridge.MediaConn, host string) error {
		address, err := addressOn(host)
		if err != nil {
			return err
		}
		resp, err := c.do(ctx, c.downloadIdle, http.MethodGet, address, nil, func(*http.Request) {})
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		switch {
		case isGone(resp.StatusCode):
			return fmt.Errorf("%w (%d)", errGone, resp.StatusCode)
		case resp.StatusCode != http.StatusOK:
			return newStatusError(resp)
		case resp.ContentLength > limit:
			return &http.MaxBytesError{Limit: limit}
		}
		return use(http.MaxBytesReader(nil, resp.Body, limit))
	})
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
	case is[*http.MaxBytesError](err):
		return bridge.Fail(bridge.CodeMediaTooLarge, "the file is larger than what this service downloads").Because(err)
	case errors.Is(err, errStalled):
		return bridge.Fail(bridge.CodeMediaUnavailable, "the network's media server stopped sending the file: try again later").Because(err)
	case errors.Is(err, errAltered), isFinal(err):
		return bridge.Fail(bridge.CodeMediaInvalid, "the file on the network's media server is damaged, or not the one that was sent").Because(err)
	}
	e := bridge.Fail(bridge.CodeMediaUnavailable, "the network's media server did not deliver the file: try again later").Because(err)
	e.RetryAfter = answerIn(err).after
	return e
}
