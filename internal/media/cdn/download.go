package cdn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/media/disk"
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

var ErrGone = errors.New("the media server no longer has the file")

// Exists asks whether the CDN still has a file. It returns true if no server answers that.
func (c *Client) Exists(ctx context.Context, conns bridge.MediaConns, m *bridge.Media) (bool, error) {
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

// Download calls use with the encrypted file of a message at a path, from the hosts in turn until one
// delivers it. Beyond a limit it ends with [http.MaxBytesError].
func (c *Client) Download(ctx context.Context, conns bridge.MediaConns, m *bridge.Media, directPath string, limit int64, use func(io.Reader) error) error {
	return c.get(ctx, conns, func(host string) (string, error) { return fileURL(host, directPath, m) }, limit, use)
}

// Picture returns the picture of a person or a group at a path, of at most limit bytes.
func (c *Client) Picture(ctx context.Context, conns bridge.MediaConns, directPath string, limit int64) (data []byte, err error) {
	address := func(host string) (string, error) { return placeURL(host, directPath, nil, "") }
	err = c.get(ctx, conns, address, limit, func(body io.Reader) (err error) {
		data, err = io.ReadAll(body)
		return err
	})
	return data, err
}

// get calls use with the body of a file, from the hosts in turn until one delivers it. Beyond
// a limit the body ends with [http.MaxBytesError].
func (c *Client) get(ctx context.Context, conns bridge.MediaConns, addressOn func(host string) (string, error), limit int64, use func(io.Reader) error) error {
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
			return fmt.Errorf("%w (%d)", ErrGone, resp.StatusCode)
		case resp.StatusCode != http.StatusOK:
			return newStatusError(resp)
		case resp.ContentLength > limit:
			return &http.MaxBytesError{Limit: limit}
		}
		return use(http.MaxBytesReader(nil, resp.Body, limit))
	})
}

// Explain turns a failure into an error for the caller.
func Explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case is[*bridge.Error](err):
		return err
	case disk.IsWriteError(err):
		return disk.Failed(err)
	case errors.Is(err, ErrGone):
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
