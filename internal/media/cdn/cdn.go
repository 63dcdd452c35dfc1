// Package cdn downloads files from WhatsApp's media servers and uploads them. Files are encrypted
// and decrypted in one pass, in memory that does not grow with their size.
package cdn

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/disk"
	"bridged/internal/urlguard"
)

const (
	minTries = 3 // of a file; every host is tried once, even if there are more
	// defaultPause, times the tries so far, is the pause before a host is asked again.
	defaultPause = time.Second
	maxPause     = 5 * time.Second            // at most, whatever Retry-After asks for
	webOrigin    = "https://web.whatsapp.com" // the CDN expects it of its clients

	dialTimeout         = 10 * time.Second
	answerHeaderTimeout = 20 * time.Second
)

// CDNOptions configures a [CDN]. The zero value is for the real network.
type Options struct {
	// Proxy is an http, https or socks5 proxy. It has to refuse private addresses itself.
	Proxy *url.URL
	// Authority signs the certificates of a simulated network; nil for the real one.
	Authority *x509.CertPool
	Resolver  urlguard.Resolver // nil means the system's
	Idle      time.Duration     // how long a server may send nothing before the next try; 0 for 15 s
	Pause     time.Duration     // before a host is asked again, times the tries so far; 0 for a second
	TempDir   string            // for encrypted uploads
	Log       zerolog.Logger
}

// CDN is a client of the network's media servers. It checks every address, follows no
// redirects and connects to no private address. It is safe for concurrent use.
type Client struct {
	client    *http.Client
	guard     *urlguard.Guard
	simulated bool
	tempDir   string
	makesRoom atomic.Pointer[disk.Room] // frees disk space; may be nil
	log       zerolog.Logger
	// How long a server may stay silent before the next try, and the pause before it.
	downloadIdle, uploadIdle, pause time.Duration
}

// NewCDN returns a client of a network's media servers. It does not connect yet.
func New(o Options) *Client {
	c := &Client{
		simulated: o.Authority != nil, tempDir: o.TempDir, log: o.Log,
		downloadIdle: cmp.Or(o.Idle, downloadIdle), uploadIdle: uploadIdle, pause: cmp.Or(o.Pause, defaultPause),
	}
	guarded := urlguard.Options{Resolver: o.Resolver}
	if c.simulated {
		guarded.AllowPrefixes = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	}
	c.guard = urlguard.New(guarded)
	c.client = &http.Client{
		Transport:     &checkedTransport{Transport: c.transport(o), check: c.checkURL},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// HTTPClient returns the client for whatsmeow's own requests. It has no total time-out.
func (c *Client) HTTPClient() *http.Client { return c.client }

func (c *Client) transport(o Options) *http.Transport {
	t := c.guard.Transport()
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		return dial(ctx, network, address)
	}
	t.ResponseHeaderTimeout = answerHeaderTimeout
	t.MaxIdleConnsPerHost = 8
	t.ForceAttemptHTTP2 = false
	t.DisableCompression = false
	if o.Proxy != nil {
		t.Proxy = http.ProxyURL(o.Proxy)
		t.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext // to the proxy, which may well be private
	}
	if c.simulated {
		t.TLSClientConfig = &tls.Config{RootCAs: o.Authority}
	}
	return t
}

type checkedTransport struct {
	*http.Transport
	check func(*url.URL) error
}

// RoundTrip implements [http.RoundTripper].
func (t *checkedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.check(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return t.Transport.RoundTrip(r)
}

func fileURL(host, directPath string, m *bridge.Media) (string, error) {
	return placeURL(host, directPath, m.Ref.FileEncSHA256, mediaClasses[m.Type].mms)
}

// placeURL returns the address of a file on a host, as the network's clients build it. The
// path comes from a sender, who must not choose the host. A picture has no hash and kind.
func placeURL(host, directPath string, hash []byte, mms string) (string, error) {
	switch {
	case bridge.IsDirectPath(directPath):
	case mms == "":
		return "", bridge.Fail(bridge.CodeMediaInvalid, "the network sent an invalid address of the picture")
	default:
		return "", bridge.Fail(bridge.CodeMediaInvalid, "the address of the message's file is invalid: it cannot be downloaded")
	}
	separator := "&"
	if !strings.Contains(directPath, "?") {
		separator = "?"
	}
	return "https://" + host + directPath + separator + "hash=" + base64.URLEncoding.EncodeToString(hash) + "&mms-type=" + mms + "&__wa-mms=", nil
}

func (c *Client) checkURL(u *url.URL) error {
	if u.Scheme != "https" || u.User != nil {
		return errors.New("the address of a media server must be plain https")
	}
	return c.checkHost(u.Host)
}

const hostNameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"

// checkHost refuses anything but the name of a public host: the real network names
// neither addresses nor ports. A simulated one names its own address.
func (c *Client) checkHost(host string) error {
	if _, err := netip.ParseAddrPort(host); err == nil && c.simulated {
		return nil
	}
	if _, err := netip.ParseAddr(host); err == nil || strings.Trim(host, hostNameChars) != "" {
		return errors.New("the media server's host is not a name")
	}
	return c.guard.Check("https://" + host + "/")
}

// connect asks for the hosts and drops invalid ones.
func (c *Client) connect(ctx context.Context, conns bridge.MediaConns, refresh bool) (bridge.MediaConn, error) {
	conn, err := conns(ctx, refresh)
	if err != nil {
		return conn, err
	}
	conn.Hosts = slices.DeleteFunc(slices.Clone(conn.Hosts), func(host string) bool {
		err := c.checkHost(host)
		if err != nil {
			c.log.Warn().AnErr("cause", err).Msg("ignoring a media server that the network named, because its host is invalid")
		}
		return err != nil
	})
	if len(conn.Hosts) == 0 {
		return conn, bridge.NotConnected("the network named no media servers that can be used: try again in a moment")
	}
	return conn, nil
}

// do makes a request as the network's web client does, which ends with errStalled when its
// bodies do not move. Errors do not show the address: knowing it is enough to get the file.
func (c *Client) do(ctx context.Context, idle time.Duration, method, address string, body io.Reader, prepare func(*http.Request)) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &idleWatch{idle: idle, ctx: ctx, cancel: cancel, timer: time.AfterFunc(idle, func() { cancel(errStalled) })}
	if body != nil {
		body = &watchedReader{body, w}
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err == nil {
		req.Header.Set("Origin", webOrigin)
		req.Header.Set("Referer", webOrigin+"/")
		prepare(req)
		var resp *http.Response
		if resp, err = c.client.Do(req); err == nil {
			resp.Body = &watchedBody{watchedReader{resp.Body, w}, resp.Body}
			return resp, nil
		}
	}
	w.stop()
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return nil, w.explain(err)
}

// errStalled ends a request in which no bytes moved for too long.
var errStalled = errors.New("the media server stopped sending or taking")

// idleWatch cancels a request with errStalled when nothing moves for a while.
type idleWatch struct {
	timer  *time.Timer
	idle   time.Duration
	ctx    context.Context // the request's
	cancel context.CancelCauseFunc
}

func (w *idleWatch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// explain returns errStalled in place of an error that the watch caused.
func (w *idleWatch) explain(err error) error {
	if err != nil && errors.Is(context.Cause(w.ctx), errStalled) {
		return errStalled
	}
	return err
}

// watchedReader reads the body of a request or of an answer.
type watchedReader struct {
	io.Reader
	watch *idleWatch
}

func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.watch.timer.Reset(r.watch.idle)
	}
	if err == io.EOF {
		return n, err
	}
	return n, r.watch.explain(err)
}

// watchedBody is the body of an answer; closing it ends the watch.
type watchedBody struct {
	watchedReader
	body io.Closer
}

func (b *watchedBody) Close() error {
	defer b.watch.stop()
	return b.body.Close()
}

// onHosts calls try with the hosts in turn until it succeeds or fails for good. It may change conn.
func (c *Client) onHosts(ctx context.Context, conns bridge.MediaConns, try func(conn *bridge.MediaConn, host string) error) error {
	conn, err := c.connect(ctx, conns, false)
	if err != nil {
		return err
	}
	var last error
	for n := range max(minTries, len(conn.Hosts)) {
		if n >= len(conn.Hosts) {
			if errors.Is(last, errAltered) || is[*http.MaxBytesError](last) {
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

func (c *Client) wait(ctx context.Context, try int, last error) error {
	pause := c.pause * time.Duration(try)
	if after := answerIn(last).after; after > 0 {
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

func (e statusError) Error() string { return fmt.Sprintf("the media server answered %d", e.status) }

func newStatusError(resp *http.Response) statusError {
	seconds, err := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 16)
	if err != nil {
		seconds = 0 // absent, or a date: the usual pause applies
	}
	return statusError{status: resp.StatusCode, after: time.Duration(seconds) * time.Second}
}

// answerIn returns the unexpected answer that an error is about, the zero value for others.
func answerIn(err error) statusError {
	answer, _ := errors.AsType[statusError](err)
	return answer
}

func isGone(status int) bool {
	return status == http.StatusForbidden || status == http.StatusNotFound || status == http.StatusGone
}

// isFinal reports whether trying another host is pointless.
func isFinal(err error) bool {
	for _, final := range []error{ErrGone, errShort, errForged, errPadding} {
		if errors.Is(err, final) {
			return true
		}
	}
	return disk.IsWriteError(err) || is[*bridge.Error](err)
}

// is reports whether an error of a type is in the tree of another.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
