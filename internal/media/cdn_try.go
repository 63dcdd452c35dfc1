package media

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"bridged/internal/bridge"
)

// onHosts calls try with the hosts in turn until it succeeds or fails for good. It may change conn.
func (c *CDN) onHosts(ctx context.Context, conns bridge.MediaConns, try func(conn *bridge.MediaConn, host string) error) error {
	conn, err := c.connect(ctx, conns, false)
	if err != nil {
		return err
	}
	var last error
	for n := range max(minTries, len(conn.Hosts)) {
		if n >= len(conn.Hosts) {
			if errors.Is(last, errAltered) {
				break // the same host would send the same bytes
			}
			if err := c.wait(ctx, n, last); err != nil {
				return err
			}
		}
		host := conn.Hosts[n%len(conn.Hosts)]
		err := try(&conn, host)
		if err == nil || ctx.Err() != nil || isFinal(err) {
			return err
		}
		c.log.Warn().Str("host", host).Int("try", n+1).AnErr("cause", err).Msg("media server failed")
		last = err
	}
	return last
}

func (c *CDN) wait(ctx context.Context, try int, last error) error {
	pause := c.pause * time.Duration(try)
	if after := retryAfter(last); after > 0 {
		pause = min(after, maxPause)
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type statusError struct {
	status int
	after  time.Duration // from Retry-After; 0 without
}

func (e *statusError) Error() string { return fmt.Sprintf("the media server answered %d", e.status) }

func newStatusError(resp *http.Response) *statusError {
	seconds, err := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 16)
	if err != nil {
		seconds = 0 // absent, or a date: the usual pause applies
	}
	return &statusError{status: resp.StatusCode, after: time.Duration(seconds) * time.Second}
}

// retryAfter returns how long the server asked to wait, 0 if it did not.
func retryAfter(err error) time.Duration {
	if answer, ok := errors.AsType[*statusError](err); ok {
		return answer.after
	}
	return 0
}

func isGone(status int) bool {
	return status == http.StatusForbidden || status == http.StatusNotFound || status == http.StatusGone
}

// isFinal reports whether trying another host is pointless.
func isFinal(err error) bool {
	for _, final := range []error{errGone, errShort, errForged, errPadding} {
		if errors.Is(err, final) {
			return true
		}
	}
	return is[*writeError](err) || is[*bridge.Error](err) || is[*http.MaxBytesError](err)
}

// is reports whether an error of a type is in the tree of another.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
