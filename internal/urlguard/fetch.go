package urlguard

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const maxRedirects = 5

// Result describes a fetched file. Its strings come from the server: well formed, but untrusted.
type Result struct {
	ContentType string // with its parameters; empty if it cannot be parsed
	// FileName comes from Content-Disposition or the URL: a plain name, possibly empty.
	FileName string
	// IsNamed reports whether FileName is from Content-Disposition, and not a part of the URL.
	IsNamed bool
	Size    int64  // bytes written
	URL     string // the last URL after redirects
}

// Fetch requests a URL with GET and streams the decompressed body into w. If it fails, w may have
// received a part of the body, but never more than maxBytes.
//
// An *Error means that the URL or its server is at fault. Other errors come from w or from ctx
// (errors.Is with ctx.Err() holds).
func (g *Guard) Fetch(ctx context.Context, url string, maxBytes int64, w io.Writer) (Result, error) {
	return g.take(ctx, url, maxBytes, w, true)
}

// FetchBeginning is Fetch, but of a larger file it reads about maxBytes and stops.
func (g *Guard) FetchBeginning(ctx context.Context, url string, maxBytes int64, w io.Writer) (Result, error) {
	return g.take(ctx, url, maxBytes, w, false)
}

func (g *Guard) take(ctx context.Context, url string, maxBytes int64, w io.Writer, whole bool) (Result, error) {
	target, err := g.parse(url)
	if err != nil {
		return Result{}, err
	}
	if err := g.admit(ctx); err != nil {
		return Result{}, err
	}
	defer g.slots.Release(1)

	fetchCtx, cancel := context.WithTimeout(ctx, g.opts.Timeout)
	defer cancel()
	result, err := g.fetch(fetchCtx, target, maxBytes, w, whole)
	if err != nil {
		return Result{}, g.explain(ctx, fetchCtx, err)
	}
	return result, nil
}

func (g *Guard) admit(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, g.opts.Timeout)
	defer cancel()
	switch err := g.slots.Acquire(waiting, 1); {
	case err != nil && ctx.Err() != nil:
		return stopped(ctx)
	case err != nil:
		return refuse("too many other files are being fetched; try again later")
	}
	return nil
}

func (g *Guard) fetch(ctx context.Context, target *url.URL, maxBytes int64, w io.Writer, whole bool) (Result, error) {
	resp, from, err := g.request(ctx, g.fetchTransport(ctx), target)
	if err != nil {
		return Result{}, err
	}
	defer resp.Body.Close()
	if err := checkStatus(resp.StatusCode); err != nil {
		return Result{}, err
	}
	if !whole {
		resp.ContentLength = -1 // accept any length
	}
	n, err := receive(w, resp, maxBytes)
	if refused, ok := errors.AsType[*Error](err); err != nil && (whole || !ok || !refused.tooLarge) {
		return Result{}, err
	}
	name, isNamed := fileName(resp.Header, from)
	return Result{ContentType: contentType(resp.Header), FileName: name, IsNamed: isNamed, Size: n, URL: from.String()}, nil
}

// fetchTransport makes connections that end with the context of a fetch. Otherwise a transport
// would let a dial or a handshake continue, beyond the time-out and the limit of concurrent
// fetches.
func (g *Guard) fetchTransport(ctx context.Context) *http.Transport {
	transport := g.Transport()
	transport.DisableKeepAlives = true // every request dials, so every request is checked
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

// request follows redirects. http.Client would send the URL as Referer and include it in errors.
func (g *Guard) request(ctx context.Context, transport http.RoundTripper, target *url.URL) (*http.Response, *url.URL, error) {
	for hops := 0; ; hops++ {
		resp, err := g.get(ctx, transport, target)
		if err != nil {
			return nil, nil, err
		}
		location := resp.Header.Get("Location")
		if location == "" || !slices.Contains([]int{301, 302, 303, 307, 308}, resp.StatusCode) {
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
	if g.opts.UserAgent != "" {
		r.Header.Set("User-Agent", g.opts.UserAgent)
	}
	resp, err := transport.RoundTrip(r)
	return resp, transportError(err)
}

// checkStatus accepts 2xx except partial content, which was not requested.
func checkStatus(status int) error {
	if status >= 200 && status <= 299 && status != http.StatusPartialContent {
		return nil
	}
	return refuse("the server answered %s", strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status))))
}

func transportError(err error) error {
	known, ok := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return nil
	case ok:
		return known
	case is[*tls.CertificateVerificationError](err):
		return networkError(err, "the server's certificate is not valid")
	}
	return networkError(err, "the server gave no proper answer")
}

// explain attributes an error to the URL, the caller or the time-out. Refusals are returned
// unchanged, and so are errors of the writer, which are the only ones that are not an [Error].
func (g *Guard) explain(caller, fetch context.Context, err error) error {
	switch {
	case isRefusal(err), !is[*Error](err):
		return err
	case caller.Err() != nil:
		return stopped(caller)
	case fetch.Err() != nil:
		return networkError(err, "no complete answer within %g seconds", g.opts.Timeout.Seconds())
	}
	return err
}

func stopped(ctx context.Context) error { return fmt.Errorf("fetch stopped: %w", ctx.Err()) }

// pieceBytes is the memory that one fetch uses for a file of any size.
const pieceBytes = 64 << 10

// receive streams a body into w, decompressed, and returns its size. Errors of w are returned
// unchanged.
func receive(w io.Writer, resp *http.Response, limit int64) (int64, error) {
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(resp.Header.Values("Content-Encoding"), ",")))
	switch encoding {
	case "", "identity":
		if resp.ContentLength > limit {
			return 0, errTooLarge(limit)
		}
		return copyLimited(w, resp.Body, limit)
	case "gzip", "x-gzip":
		return receiveGzip(w, resp.Body, limit)
	}
	return 0, refuse("the server compressed the file with a method that was not requested")
}

// receiveGzip also limits its input, because empty blocks could continue forever without any
// output.
func receiveGzip(w io.Writer, body io.ReadCloser, limit int64) (int64, error) {
	most := min(limit, math.MaxInt64/2)
	capped := http.MaxBytesReader(nil, body, most+most/64+64<<10)
	unzipped, err := gzip.NewReader(capped)
	if errors.Is(err, io.EOF) {
		return 0, nil // an empty body that was not compressed
	}
	if err != nil {
		return 0, readError(err, limit)
	}
	return copyLimited(w, unzipped, limit)
}

// copyLimited copies up to the limit and never writes more.
func copyLimited(w io.Writer, r io.Reader, limit int64) (int64, error) {
	buf := make([]byte, pieceBytes)
	var done int64
	for {
		n, err := r.Read(buf)
		if done+int64(n) > limit {
			return done, errTooLarge(limit)
		}
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return done, err
			}
			done += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return done, nil
		}
		if err != nil {
			return done, readError(err, limit)
		}
	}
}

func readError(err error, limit int64) error {
	switch {
	case is[*http.MaxBytesError](err):
		return errTooLarge(limit)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), is[flate.CorruptInputError](err):
		return networkError(err, "the compressed file is damaged")
	}
	return networkError(err, "the file is incomplete: the connection ended early")
}
