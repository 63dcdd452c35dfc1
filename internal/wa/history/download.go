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

// maxPart bounds a compressed part of the history. The apps cut their history into parts
// of a few megabytes.
const maxPart = 64 << 20

var errTooLarge = errors.New("larger than what is taken over")

// download returns a part as the phone has compressed it.
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

// withoutAddress removes the address from an error: it is a key to the file.
func withoutAddress(err error) error {
	if withAddress, is := errors.AsType[*url.Error](err); is {
		return withAddress.Err
	}
	return err
}

// isTooLarge reports whether a part is beyond the limits, as it will be the next time.
func isTooLarge(err error) bool {
	_, beyond := errors.AsType[*http.MaxBytesError](err)
	return beyond || errors.Is(err, errTooLarge)
}

// isGone reports whether the network no longer has a file.
func isGone(err error) bool {
	return errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith403) || errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith404) ||
		errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith410)
}

// askForPart asks the phone to upload a part again that the network has lost. The phone
// announces it with another message.
func (h *History) askForPart(ctx context.Context, c Conn, part bridge.HistoryPart) {
	notification, err := readNotification(part)
	if err == nil {
		err = c.SendHistorySyncServerErrorReceipt(ctx, part.ID, notification.GetMediaKey())
	}
	if err != nil {
		h.o.Log.Warn().Str("error", bridge.Redact(err.Error())).Msg("the phone could not be asked to upload its history again")
	}
}

// deletePart has the network delete a part that was taken over, as the apps do.
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

// Bounded returns a client for whatsmeow's downloads, which it reads whole into
// memory: an answer that is longer than any part ends with an error.
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

// RoundTrip bounds the body of an answer.
func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		limit := t.limit
		if resp.ContentLength > limit {
			limit = 0 // announced to be too long
		}
		resp.Body = http.MaxBytesReader(nil, resp.Body, limit)
	}
	return resp, err
}
