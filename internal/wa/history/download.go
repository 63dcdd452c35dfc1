package history

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

// maxPart limits the compressed size of a part. The apps send parts of a few megabytes.
const maxPart = 64 << 20

var errTooLarge = errors.New("larger than the limit of imports")

// download returns a part in the compressed form of the phone.
func download(ctx context.Context, c Conn, n *waE2E.HistorySyncNotification) ([]byte, error) {
	if inline := n.GetInitialHistBootstrapInlinePayload(); inline != nil {
		return inline, nil
	}
	if n.GetFileLength() > maxPart {
		return nil, fmt.Errorf("%w: %d bytes", errTooLarge, n.GetFileLength())
	}
	data, err := c.Download(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("download: %w", withoutAddress(err))
	}
	return data, nil
}

// withoutAddress removes the URL from an error, because the URL gives access to the file.
func withoutAddress(err error) error {
	if withAddress, ok := errors.AsType[*url.Error](err); ok {
		return withAddress.Err
	}
	return err
}

// isTooLarge reports whether a part is above the limits. Trying again would not help.
func isTooLarge(err error) bool {
	_, beyond := errors.AsType[*http.MaxBytesError](err)
	return beyond || errors.Is(err, errTooLarge)
}

// isGone reports whether the network no longer has a file.
func isGone(err error) bool {
	return errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith403) || errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith404) ||
		errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith410)
}

// askForPart asks the phone to upload a part again that the network has lost. The phone announces
// the new upload with another message.
func (h *History) askForPart(ctx context.Context, c Conn, part bridge.HistoryPart) {
	notification, err := readNotification(part)
	if err == nil {
		err = c.SendHistorySyncServerErrorReceipt(ctx, part.ID, notification.GetMediaKey())
	}
	if err != nil {
		h.o.Log.Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot ask the phone to upload its history again")
	}
}

// deletePart asks the network to delete an imported part, as the apps do.
func (h *History) deletePart(ctx context.Context, c Conn, part bridge.HistoryPart) error {
	notification, err := readNotification(part)
	if err != nil {
		return err
	}
	err = c.DeleteMedia(ctx, whatsmeow.MediaHistory, notification.GetDirectPath(), notification.GetFileEncSHA256(), notification.GetEncHandle())
	if err != nil {
		return fmt.Errorf("delete: %w", withoutAddress(err))
	}
	step := part.HistoryStep
	step.State = bridge.HistoryDone
	return h.o.Store.Save(ctx, step)
}

// Bounded returns a client for whatsmeow's downloads. whatsmeow reads them into memory, so an
// answer that is longer than any valid part ends with an error.
func Bounded(client *http.Client) *http.Client { return bounded(client, maxPart+64<<10) }

func bounded(client *http.Client, limit int64) *http.Client {
	limited := *client
	limited.Transport = boundedTransport{client.Transport, limit}
	return &limited
}

type boundedTransport struct {
	http.RoundTripper
	limit int64
}

// RoundTrip limits the body of an answer.
func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		limit := t.limit
		if resp.ContentLength > limit {
			limit = 0 // Content-Length is above the limit
		}
		resp.Body = http.MaxBytesReader(nil, resp.Body, limit)
	}
	return resp, err
}
