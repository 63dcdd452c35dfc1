package wa

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/socket"

	"bridged/internal/bridge"
)

const (
	// uploadBudget is how long a file may take that is sent, beside sendBudget.
	uploadBudget = 15 * time.Minute
	// uploadIdle is how long a media server may take nothing before the next try.
	uploadIdle = 30 * time.Second
	// uploadTries is how often an upload is begun at least; every host is tried
	// once however many there are.
	uploadTries = 3
	// uploadPause is how long to wait before a host is asked again, times the tries so far.
	uploadPause = time.Second
	// uploadProgress is how often a long upload shows in the log.
	uploadProgress = 5 * time.Second
)

// Seal encrypts a file for the network's media servers under a new key.
type Seal func(dst io.Writer, src io.Reader, t bridge.MediaType) (bridge.EncryptedFile, error)

// uploaded is an encrypted file and where it lies. The JSON is the media server's.
type uploaded struct {
	bridge.EncryptedFile `json:"-"`
	URL                  string `json:"url"`
	DirectPath           string `json:"direct_path"`
}

// budgetOf is how long a message may take to be composed and sent.
func budgetOf(content bridge.Content) time.Duration {
	if _, isFile := content.(bridge.File); isFile {
		return sendBudget + uploadBudget
	}
	return sendBudget
}

// uploader brings files to the network's media servers. It is whatsmeow's
// Upload with every host of the network, tries, and one pass over the file in
// place of several.
type uploader struct {
	client      *http.Client
	seal        Seal
	tempDir     string
	idle, pause time.Duration // uploadIdle and uploadPause
	log         zerolog.Logger
	// conn names the media hosts and the right to use them, asking the network anew if told so.
	conn func(ctx context.Context, refresh bool) (*whatsmeow.MediaConn, error)
}

func (m *Manager) uploader(l *link) *uploader {
	client := *m.media
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &uploader{client: &client, seal: m.opts.Seal, tempDir: m.opts.TempDir, idle: uploadIdle, pause: uploadPause, log: m.log, conn: l.mediaConn}
}

// upload encrypts a file into a temporary one, because the address of an
// upload has the hash of what comes, and offers that.
func (u *uploader) upload(ctx context.Context, f bridge.File) (up uploaded, err error) {
	sealed, err := os.CreateTemp(u.tempDir, "upload-*")
	if err != nil {
		return up, notStored(err)
	}
	defer func() { err = errors.Join(err, sealed.Close(), os.Remove(sealed.Name())) }()
	if up.EncryptedFile, err = u.sealInto(sealed, f); err != nil {
		return up, err
	}
	began := time.Now()
	if err := u.offer(ctx, f.Type, sealed, &up); err != nil {
		return up, err
	}
	u.log.Info().Int64("bytes", up.EncryptedSize).Dur("took", time.Since(began)).Msg("file uploaded")
	return up, nil
}

func (u *uploader) sealInto(dst io.Writer, f bridge.File) (sealed bridge.EncryptedFile, err error) {
	plain, err := os.Open(f.Path)
	if err != nil {
		return sealed, err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	if sealed, err = u.seal(dst, plain, f.Type); err != nil {
		return sealed, notStored(err)
	}
	return sealed, nil
}

func notStored(cause error) error {
	return bridge.Fail(bridge.CodeStorageUnavailable, "the file could not be encrypted for the network: the disk may be full").Because(cause)
}

// offer tries the hosts in turn until one takes the file. A host that wants
// other credentials gets them, once.
func (u *uploader) offer(ctx context.Context, t bridge.MediaType, sealed *os.File, up *uploaded) error {
	conn, err := u.conn(ctx, false)
	if err != nil {
		return err
	}
	refreshed := false
	for try := 0; try < max(uploadTries, len(conn.Hosts)); try++ {
		if try >= len(conn.Hosts) {
			if err := rest(ctx, time.Duration(try)*u.pause); err != nil {
				return notUploaded(ctx, err)
			}
		}
		host := conn.Hosts[try%len(conn.Hosts)].Hostname
		err = u.offerTo(ctx, uploadURL(host, conn.Auth, t, up.FileEncSHA256), sealed, up)
		var refused uploadRefused
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return notUploaded(ctx, err)
		case errors.As(err, &refused) && refused.forAuth() && !refreshed:
			if conn, err = u.conn(ctx, true); err != nil {
				return err
			}
			refreshed, try = true, try-1
			continue
		case errors.As(err, &refused) && refused.isFinal():
			return bridge.Fail(bridge.CodeSendRefused, "the network's media server refused the file (status %d)", int(refused)).Because(err)
		}
		u.log.Warn().Str("host", host).Int("try", try+1).Str("error", redact(err.Error())).Msg("upload failed")
	}
	return notUploaded(ctx, err)
}

func notUploaded(ctx context.Context, cause error) error {
	if errors.Is(ctx.Err(), context.Canceled) { // the program's end
		return ctx.Err()
	}
	return bridge.NotConnected("the file could not be uploaded to the network: try again in a moment").Because(cause)
}

// uploadRefused is the status of a media server that did not take a file.
type uploadRefused int

func (r uploadRefused) Error() string { return fmt.Sprintf("the media server answered %d", int(r)) }

// forAuth says that the media connection may have run out.
func (r uploadRefused) forAuth() bool {
	return r == http.StatusUnauthorized || r == http.StatusForbidden
}

// isFinal says that another try would end the same.
func (r uploadRefused) isFinal() bool {
	return r >= 400 && r < 500 && r != http.StatusRequestTimeout && r != http.StatusTooManyRequests
}

// offerTo sends the file to one host.
func (u *uploader) offerTo(ctx context.Context, address string, sealed *os.File, up *uploaded) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// A section of its own: after a failure the transport may still read from the last try's.
	body := &outgoingBody{Reader: io.NewSectionReader(sealed, 0, up.EncryptedSize), idle: u.idle, told: time.Now(), total: up.EncryptedSize, log: u.log}
	body.watch = time.AfterFunc(u.idle, func() { cancel(errUploadStalled) })
	defer body.watch.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, body)
	if err != nil {
		return err
	}
	req.ContentLength = up.EncryptedSize
	req.Header.Set("Origin", socket.Origin)
	req.Header.Set("Referer", socket.Origin+"/")
	resp, err := u.client.Do(req)
	if err != nil {
		return errors.Join(context.Cause(ctx), withoutURL(err))
	}
	defer func() { _ = resp.Body.Close() }() // read as far as it is wanted
	if resp.StatusCode != http.StatusOK {
		return uploadRefused(resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(up); err != nil {
		return fmt.Errorf("read the media server's answer: %w", err)
	}
	if up.DirectPath == "" {
		return errors.New("the media server did not say where the file is")
	}
	return nil
}

// uploadURL is the address of an upload, as the network's clients build it.
func uploadURL(host, auth string, t bridge.MediaType, hash []byte) string {
	token := base64.URLEncoding.EncodeToString(hash)
	u := url.URL{Scheme: "https", Host: host, Path: "/mms/" + string(t) + "/" + token,
		RawQuery: url.Values{"auth": {auth}, "token": {token}}.Encode()}
	return u.String()
}

var errUploadStalled = errors.New("the media server stopped taking the file")

// outgoingBody is a body that is watched while it leaves.
type outgoingBody struct {
	io.Reader
	watch       *time.Timer
	idle        time.Duration
	told        time.Time
	done, total int64
	log         zerolog.Logger
}

func (b *outgoingBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.watch.Reset(b.idle)
	b.done += int64(n)
	if now := time.Now(); now.Sub(b.told) >= uploadProgress {
		b.told = now
		b.log.Info().Int64("bytes", b.done).Int64("total", b.total).Msg("uploading file")
	}
	return n, err
}

// withoutURL takes the address out of an error: it holds the right to upload.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mediaConn is the network's media hosts and the right to use them.
func (l *link) mediaConn(ctx context.Context, refresh bool) (*whatsmeow.MediaConn, error) {
	//lint:ignore SA1019 there is no other way to the media hosts, and the version of the library is pinned
	conn, err := l.cli.DangerousInternals().RefreshMediaConn(ctx, refresh)
	if err == nil && len(conn.Hosts) == 0 {
		err = errors.New("the network named no media hosts")
	}
	if err != nil {
		return nil, bridge.NotConnected("the network did not name its media hosts: try again in a moment").Because(err)
	}
	return conn, nil
}
