package urlguard

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const maxRedirects = 5

// Request describes a fetch.
type Request struct {
	URL string
	// MaxBytes is the largest file that is accepted, counted after decompression.
	MaxBytes int64
	// Progress, if set, is called after every piece with the bytes so far and the
	// total, -1 if the server does not send it. It must return quickly.
	Progress func(done, total int64)
}

// Result describes what was fetched. Its strings come from the server: they are
// well formed, but not to be believed.
type Result struct {
	// ContentType is the media type with its parameters, empty if the server
	// names none that can be parsed.
	ContentType string
	// FileName is from Content-Disposition, else the last part of the URL's path;
	// it has no directories and no control characters, and may be empty.
	FileName string
	// Size is the number of bytes written.
	Size int64
}

// Fetch requests a URL with GET and streams the body into w. On an error w may
// have received a part of it, never more than MaxBytes.
//
// An *Error means that the URL is to blame, or the server behind it. Everything
// else is not meant for the caller: an error of w, or the end of ctx
// (errors.Is with ctx.Err() holds).
func (g *Guard) Fetch(ctx context.Context, req Request, w io.Writer) (Result, error) {
	target, err := g.parse(req.URL)
	if err != nil {
		return Result{}, err
	}
	release, err := g.admit(ctx)
	if err != nil {
		return Result{}, err
	}
	defer release()

	fetchCtx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	result, err := g.fetch(fetchCtx, target, req, w)
	if err != nil {
		return Result{}, g.explain(ctx, fetchCtx, err)
	}
	return result, nil
}

// admit waits for one of the slots.
func (g *Guard) admit(ctx context.Context) (release func(), err error) {
	select {
	case g.slots <- struct{}{}:
		return func() { <-g.slots }, nil
	case <-time.After(g.timeout):
		return nil, refuse("too many other files are being fetched; try again later")
	case <-ctx.Done():
		return nil, stopped(ctx)
	}
}

func (g *Guard) fetch(ctx context.Context, target *url.URL, req Request, w io.Writer) (Result, error) {
	resp, from, err := g.request(ctx, g.fetchTransport(ctx), target)
	if err != nil {
		return Result{}, err
	}
	defer resp.Body.Close()
	if err := checkStatus(resp.StatusCode); err != nil {
		return Result{}, err
	}
	n, err := receive(w, resp, req)
	if err != nil {
		return Result{}, err
	}
	return Result{ContentType: contentType(resp.Header), FileName: fileName(resp.Header, from), Size: n}, nil
}

// fetchTransport makes connections for one fetch, and they end with its context. Left
// to itself, a transport lets a dial or a handshake run on after its request was
// given up, in the hope of using the connection later: beyond the time-out, and
// beyond the number at once. So the dial listens to the fetch and not to it.
func (g *Guard) fetchTransport(ctx context.Context) *http.Transport {
	transport := g.Transport()
	transport.DisableKeepAlives = true // every request dials, so every request is judged
	transport.DialContext = func(_ context.Context, _, hostport string) (net.Conn, error) {
		conn, err := g.dial(ctx, hostport)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		return conn, nil
	}
	return transport
}

// request asks for a URL and for what it redirects to. It speaks to the transport
// itself: http.Client would tell each server in Referer where it was sent from,
// query and all, and put URLs into its errors.
func (g *Guard) request(ctx context.Context, transport http.RoundTripper, target *url.URL) (*http.Response, *url.URL, error) {
	for hops := 0; ; hops++ {
		resp, err := g.get(ctx, transport, target)
		if err != nil {
			return nil, nil, err
		}
		location := resp.Header.Get("Location")
		if !isRedirect(resp.StatusCode) || location == "" {
			return resp, target, nil
		}
		resp.Body.Close()
		if hops == maxRedirects {
			return nil, nil, refuse("more than %d redirects", maxRedirects)
		}
		if target, err = g.follow(target, location); err != nil {
			return nil, nil, err
		}
	}
}

func (g *Guard) get(ctx context.Context, transport http.RoundTripper, target *url.URL) (*http.Response, error) {
	r := (&http.Request{
		Method: http.MethodGet,
		URL:    target,
		Host:   target.Host,
		Header: http.Header{"Accept": {"*/*"}, "Accept-Encoding": {"identity"}},
	}).WithContext(ctx)
	if g.userAgent != "" {
		r.Header.Set("User-Agent", g.userAgent)
	}
	resp, err := transport.RoundTrip(r)
	return resp, transportError(err)
}

func isRedirect(status int) bool {
	return slices.Contains([]int{
		http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
	}, status)
}

// checkStatus accepts 2xx, but not a part of a file: none was asked for.
func checkStatus(status int) error {
	if status >= 200 && status <= 299 && status != http.StatusPartialContent {
		return nil
	}
	return refuse("the server answered %s", strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status))))
}

func transportError(err error) error {
	var known *Error
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &certificate):
		return broke(err, "the server's certificate is not valid")
	}
	return broke(err, "the server gave no proper answer")
}

// explain attributes an error to the URL, to the caller or to the time that is up. The guard's refusals stand; what broke
// after an end was ordered broke because of it.
func (g *Guard) explain(caller, fetch context.Context, err error) error {
	var output *writeError
	switch {
	case isRefusal(err), errors.As(err, &output):
		return err
	case caller.Err() != nil:
		return stopped(caller)
	case fetch.Err() != nil:
		return broke(err, "no complete answer within %g seconds", g.timeout.Seconds())
	}
	return err
}

func stopped(ctx context.Context) error { return fmt.Errorf("fetch stopped: %w", ctx.Err()) }
