package media

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// CDN is what only the account knows of the network's media servers. Its errors
// are for the caller as they are: they are [bridge.Error] values.
type CDN interface {
	// MediaHosts are the hosts to try, in that order, and the client that
	// reaches them. It fails with [bridge.CodeNotConnected] without the socket.
	MediaHosts(ctx context.Context) (hosts []string, client *http.Client, err error)
	// Reupload asks the phone to upload a message's file again and answers its
	// new place. It fails with [bridge.CodeMediaGone] when the phone cannot.
	Reupload(ctx context.Context, m bridge.Message) (directPath string, err error)
}

const (
	// downloadTries is how often a download is begun at least; every host is
	// tried once however many there are.
	downloadTries = 3
	// defaultIdle is how long a CDN may stay silent before the next try.
	defaultIdle = 15 * time.Second
	// defaultPause is how long to wait before a host is asked again, times the tries so far.
	defaultPause = time.Second
	// maxPause bounds what a Retry-After may ask for.
	maxPause = 5 * time.Second
	// webOrigin is what the CDN expects its requests to come from.
	webOrigin = "https://web.whatsapp.com"
)

// codeUndelivered is for a CDN that answers, but not with the file.
const codeUndelivered = bridge.CodeMediaInvalid

// What may become of one try, beside what [decrypt] finds.
var (
	errGone    = errors.New("the media server no longer has the file")
	errStalled = errors.New("the media server stopped sending")
	errTooLong = errors.New("the media server sent more than the message announces")
	// errOverLimit is for messages that announce no size.
	errOverLimit = errors.New("the media server sent more than the limit")
)

// statusError is an answer that another try may better.
type statusError struct {
	status int
	after  time.Duration // what the server asks to wait
}

func (e *statusError) Error() string { return fmt.Sprintf("the media server answered %d", e.status) }

// downloader brings files from the CDN.
type downloader struct {
	cdn         CDN
	maxFile     int64
	idle, pause time.Duration
	// create makes the temporary file of a try.
	create func() (*os.File, error)
	log    zerolog.Logger
}

// download answers the path of a verified file, which is the caller's to keep or
// to remove. Where the CDN has lost the file, the phone is asked for it, once.
func (d *downloader) download(ctx context.Context, m bridge.Message) (path string, err error) {
	place := m.Media.Ref.DirectPath
	err = errGone // a message without a path may still be known to the phone
	if place != "" {
		path, err = d.from(ctx, m, place)
	}
	if errors.Is(err, errGone) {
		d.log.Info().Str("msg_id", m.ID).Msg("media expired, asking the phone")
		if place, err = d.cdn.Reupload(ctx, m); err == nil {
			path, err = d.from(ctx, m, place)
		}
	}
	return path, explain(ctx, err)
}

// from tries one place on all hosts.
func (d *downloader) from(ctx context.Context, m bridge.Message, place string) (string, error) {
	hosts, client, err := d.cdn.MediaHosts(ctx)
	if err != nil {
		return "", err
	}
	if len(hosts) == 0 {
		return "", errors.New("the network named no media hosts")
	}
	// Only the hosts that the network named are ever asked.
	client = withoutRedirects(client)
	var last error
	for try := range max(downloadTries, len(hosts)) {
		host := hosts[try%len(hosts)]
		if try >= len(hosts) {
			if !worthRepeating(last) {
				break
			}
			if err := d.wait(ctx, try, last); err != nil {
				return "", err
			}
		}
		address, err := fileURL(host, place, m.Media)
		if err != nil {
			return "", bridge.Fail(bridge.CodeMediaInvalid, "the message does not say properly where its file is: it cannot be downloaded").Because(err)
		}
		path, err := d.try(ctx, client, address, m.Media)
		if err == nil || ctx.Err() != nil || isFinal(err) {
			return path, err
		}
		d.log.Warn().Str("msg_id", m.ID).Str("host", host).Int("try", try+1).AnErr("cause", withoutURL(err)).Msg("media download failed")
		last = err
	}
	return "", last
}

// isFinal says that no other host can do better.
func isFinal(err error) bool {
	var disk *writeError
	for _, final := range []error{errGone, errOverLimit, errShort, errForged, errPadding, errPlain, errLength} {
		if errors.Is(err, final) {
			return true
		}
	}
	return errors.As(err, &disk)
}

// worthRepeating says that the same host may do better later.
func worthRepeating(err error) bool {
	return !errors.Is(err, errAltered) && !errors.Is(err, errTooLong)
}

func (d *downloader) wait(ctx context.Context, try int, last error) error {
	pause := d.pause * time.Duration(try)
	var answer *statusError
	if errors.As(last, &answer) && answer.after > 0 {
		pause = min(answer.after, maxPause)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try downloads into a fresh file, which is gone again if it fails.
func (d *downloader) try(ctx context.Context, client *http.Client, address string, m *bridge.Media) (path string, err error) {
	file, err := d.create()
	if err != nil {
		return "", &writeError{err}
	}
	defer func() {
		if closeErr := file.Close(); err == nil && closeErr != nil {
			err = &writeError{closeErr}
		}
		if err != nil {
			path, err = "", errors.Join(err, os.Remove(file.Name()))
		}
	}()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(d.idle, func() { cancel(errStalled) })
	defer watch.Stop()
	body, err := d.request(ctx, client, address, m)
	if err == nil {
		defer func() { _ = body.Close() }()
		limit, tooLong := d.limit(m)
		err = decrypt(file, &watched{r: body, left: limit, tooLong: tooLong, watch: watch, idle: d.idle}, m)
	}
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		err = errStalled
	}
	return file.Name(), err
}

// limit is how long the encrypted file may be, and what it is if it is longer.
func (d *downloader) limit(m *bridge.Media) (int64, error) {
	if m.Size > 0 {
		return encryptedSize(m.Size), errTooLong
	}
	return encryptedSize(d.maxFile), errOverLimit
}

func (d *downloader) request(ctx context.Context, client *http.Client, address string, m *bridge.Media) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Origin", webOrigin)
	req.Header.Set("Referer", webOrigin+"/")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if err := d.judge(resp, m); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp.Body, nil
}

// judge reads the head of an answer.
func (d *downloader) judge(resp *http.Response, m *bridge.Media) error {
	switch resp.StatusCode {
	case http.StatusOK:
		if limit, tooLong := d.limit(m); resp.ContentLength > limit {
			return tooLong
		}
		return nil
	case http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return fmt.Errorf("%w (%d)", errGone, resp.StatusCode)
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil {
		seconds = 0 // absent, or a date: the own pause does
	}
	return &statusError{status: resp.StatusCode, after: time.Duration(seconds) * time.Second}
}

// watched is a body that may neither stall nor go on for ever.
type watched struct {
	r       io.Reader
	left    int64
	tooLong error
	watch   *time.Timer
	idle    time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.left -= int64(n)
	if w.left < 0 {
		return n, w.tooLong
	}
	if n > 0 {
		w.watch.Reset(w.idle)
	}
	return n, err
}

// fileURL is the address of a file on a host, built as the network's clients do.
// The path comes from the sender, so it must not lead to another host.
func fileURL(host, directPath string, m *bridge.Media) (string, error) {
	if !strings.HasPrefix(directPath, "/") || strings.ContainsAny(directPath, "#\\") {
		return "", errors.New("the file's path is not an absolute one")
	}
	separator := "&"
	if !strings.Contains(directPath, "?") {
		separator = "?"
	}
	address := "https://" + host + directPath + separator +
		"hash=" + base64.URLEncoding.EncodeToString(m.Ref.FileEncSHA256) + "&mms-type=" + families[m.Type].mms + "&__wa-mms="
	u, err := url.Parse(address)
	if err != nil {
		return "", withoutURL(err)
	}
	if u.Host != host || u.User != nil || u.Scheme != "https" {
		return "", errors.New("the file's path leads to another host")
	}
	return address, nil
}

// withoutURL takes the address out of an error: whoever has it has the file.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

func withoutRedirects(client *http.Client) *http.Client {
	c := *client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// explain turns what happened into words for the caller.
func explain(ctx context.Context, err error) error {
	var known *bridge.Error
	var disk *writeError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &known):
		return err
	case errors.As(err, &disk):
		return bridge.Fail(bridge.CodeStorageUnavailable, "the file could not be stored: the disk may be full").Because(err)
	case errors.Is(err, errGone):
		return bridge.Fail(bridge.CodeMediaGone, "the network no longer has the file: it cannot be recovered").Because(err)
	case errors.Is(err, errOverLimit):
		return bridge.Fail(bridge.CodeMediaTooLarge, "the file is larger than what this service downloads").Because(err)
	case errors.Is(err, errStalled):
		return bridge.Fail(codeUndelivered, "the network's media server stopped sending the file: try again later").Because(err)
	case !worthRepeating(err), isFinal(err):
		return bridge.Fail(bridge.CodeMediaInvalid, "the file on the network's media server is damaged, or not the one that was sent").Because(err)
	}
	return bridge.Fail(codeUndelivered, "the network's media server did not deliver the file: try again later").Because(withoutURL(err))
}
