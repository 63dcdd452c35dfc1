package wa

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"go.mau.fi/whatsmeow"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

// maxPart bounds a part of the history as it is downloaded, compressed. The
// apps cut their history into pieces of a few megabytes.
const maxPart = 64 << 20

// errTooLarge says that a part is beyond the limits; it will not be smaller the
// next time.
var errTooLarge = errors.New("larger than what is taken over")

// download returns a part as the phone has compressed it.
func (l *link) download(ctx context.Context, n *waE2E.HistorySyncNotification) ([]byte, error) {
	if inline := n.GetInitialHistBootstrapInlinePayload(); inline != nil {
		return inline, nil
	}
	if n.GetFileLength() > maxPart {
		return nil, fmt.Errorf("%w: %d bytes", errTooLarge, n.GetFileLength())
	}
	data, err := l.cli.Download(ctx, n)
	var withAddress *url.Error
	if errors.As(err, &withAddress) {
		err = withAddress.Err // the address is a key to the file
	}
	if err != nil {
		return nil, fmt.Errorf("download: %w", err)
	}
	return data, nil
}

// isGone reports whether the network no longer has a file.
func isGone(err error) bool {
	return errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith403) || errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith404) ||
		errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith410)
}

// askForPart asks the phone to upload a part again that the network has lost.
// The phone tells of it with another message.
func (l *link) askForPart(ctx context.Context, part bridge.HistoryPart) {
	notification, err := readNotification(part)
	if err == nil {
		err = l.cli.SendHistorySyncServerErrorReceipt(ctx, part.ID, notification.GetMediaKey())
	}
	if err != nil {
		l.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("the phone could not be asked to upload its history again")
	}
}

// deletePart has the network delete a part that was taken over, as the apps do.
func (l *link) deletePart(ctx context.Context, part bridge.HistoryPart) error {
	notification, err := readNotification(part)
	if err != nil {
		return err
	}
	err = l.cli.DeleteMedia(ctx, whatsmeow.MediaHistory, notification.GetDirectPath(), notification.GetFileEncSHA256(), notification.GetEncHandle())
	var withAddress *url.Error
	if errors.As(err, &withAddress) {
		err = withAddress.Err
	}
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	step := stepOf(part)
	step.State = bridge.HistoryDone
	return l.m.store.Save(ctx, step)
}

// bounded returns a client whose answers end with errTooLarge beyond a limit:
// whatsmeow reads them whole into memory.
func bounded(client *http.Client, limit int64) *http.Client {
	limited := *client
	limited.Transport = &boundedTransport{next: client.Transport, limit: limit}
	return &limited
}

type boundedTransport struct {
	next  http.RoundTripper
	limit int64
}

// RoundTrip implements [http.RoundTripper].
func (t *boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err == nil {
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: t.limit, over: resp.ContentLength > t.limit}
	}
	return resp, err
}

// CloseIdleConnections closes those of the transport below.
func (t *boundedTransport) CloseIdleConnections() {
	if closer, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

type boundedBody struct {
	io.ReadCloser
	left int64
	over bool // announced to be too long
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.over {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLarge
	}
	return n, err
}
