package simnet_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet"
)

func TestMedia_EveryKindIsDownloadedByteForByte(t *testing.T) {
	_, own, anna, c := pair(t)
	data := bytes.Repeat([]byte("all the bytes of a file "), 5000)
	m := simnet.Media{Data: data, Caption: "look", Width: 640, Height: 480, Seconds: 7, FileName: "a.pdf", Voice: true}
	kinds := map[string]func() (types.MessageID, error){
		"image":    func() (types.MessageID, error) { return anna.SendImage(within(t), own.PN(), m) },
		"once":     func() (types.MessageID, error) { return anna.SendImage(within(t), own.PN(), m, simnet.ViewOnce()) },
		"video":    func() (types.MessageID, error) { return anna.SendVideo(within(t), own.PN(), m) },
		"audio":    func() (types.MessageID, error) { return anna.SendAudio(within(t), own.PN(), m) },
		"document": func() (types.MessageID, error) { return anna.SendDocument(within(t), own.PN(), m) },
		"sticker":  func() (types.MessageID, error) { return anna.SendSticker(within(t), own.PN(), m) },
	}
	for name, send := range kinds {
		id, err := send()
		if err != nil {
			t.Fatalf("send %s: %v", name, err)
		}
		got := await(c, func(m *events.Message) bool { return m.Info.ID == id })
		file, err := c.cli.Download(within(t), mediaIn(got.Message))
		if err != nil || !bytes.Equal(file, data) {
			t.Errorf("%s: %d bytes, %v", name, len(file), err)
		}
		r, err := own.ReceivedID(within(t), id)
		if err != nil {
			t.Fatal(err)
		}
		if file, err = own.Download(within(t), r); err != nil || !bytes.Equal(file, data) {
			t.Errorf("%s on the own phone: %d bytes, %v", name, len(file), err)
		}
	}
}

func mediaIn(msg *waE2E.Message) whatsmeow.DownloadableMessage {
	switch {
	case msg.GetImageMessage() != nil:
		return msg.GetImageMessage()
	case msg.GetVideoMessage() != nil:
		return msg.GetVideoMessage()
	case msg.GetAudioMessage() != nil:
		return msg.GetAudioMessage()
	case msg.GetDocumentMessage() != nil:
		return msg.GetDocumentMessage()
	}
	return msg.GetStickerMessage()
}

func sendImage(t *testing.T, anna, own *simnet.Phone, c *companion, data []byte) *events.Message {
	t.Helper()
	id, err := anna.SendImage(within(t), own.PN(), simnet.Media{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return await(c, func(m *events.Message) bool { return m.Info.ID == id })
}

func TestMedia_ExpiredIsUploadedAgainOrGone(t *testing.T) {
	n, own, anna, c := pair(t)
	data := []byte("a picture that is asked for late")
	m := sendImage(t, anna, own, c, data)
	image := m.Message.GetImageMessage()
	if _, err := own.ReceivedID(within(t), m.Info.ID); err != nil {
		t.Fatal(err)
	}
	n.CDN().Expire(image.GetDirectPath())
	if _, err := c.cli.Download(within(t), image); !errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith410) {
		t.Fatalf("expired: %v", err)
	}
	retry := func() (*waMmsRetry.MediaRetryNotification, error) {
		t.Helper()
		if err := c.cli.SendMediaRetryReceipt(within(t), &m.Info, image.GetMediaKey()); err != nil {
			t.Fatal(err)
		}
		return whatsmeow.DecryptMediaRetryNotification(await[*events.MediaRetry](c, nil), image.GetMediaKey())
	}
	own.AnswerMedia(simnet.MediaGone)
	if _, err := retry(); !errors.Is(err, whatsmeow.ErrMediaNotAvailableOnPhone) {
		t.Errorf("gone: %v", err)
	}
	own.AnswerMedia(simnet.MediaNotFound)
	if answer, err := retry(); err != nil || answer.GetResult() != waMmsRetry.MediaRetryNotification_NOT_FOUND {
		t.Errorf("not found: %v, %v", answer, err)
	}
	own.AnswerMedia(simnet.MediaReupload)
	answer, err := retry()
	if err != nil || answer.GetResult() != waMmsRetry.MediaRetryNotification_SUCCESS {
		t.Fatalf("reupload: %v, %v", answer, err)
	}
	image.DirectPath = answer.DirectPath
	if got, err := c.cli.Download(within(t), image); err != nil || !bytes.Equal(got, data) {
		t.Errorf("after the reupload: %q, %v", got, err)
	}
}

func TestMedia_FaultsOfTheCDN(t *testing.T) {
	n, own, anna, c := pair(t)
	data := bytes.Repeat([]byte{1, 2, 3, 4}, 4000)
	image := sendImage(t, anna, own, c, data).Message.GetImageMessage()
	cdn := n.CDN()
	cases := []struct {
		name  string
		fault simnet.CDNFault
		ok    func(error) bool
	}{
		{"403", simnet.CDNFault{Status: 403}, func(err error) bool { return errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith403) }},
		{"404", simnet.CDNFault{Status: 404}, func(err error) bool { return errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith404) }},
		{"tampered", simnet.CDNFault{Tamper: true}, func(err error) bool { return errors.Is(err, whatsmeow.ErrInvalidMediaEncSHA256) }},
		{"truncated", simnet.CDNFault{Truncate: 1000}, func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		{"503 once", simnet.CDNFault{Status: 503, RetryAfter: "0", Times: 1}, func(err error) bool { return err == nil }},
	}
	for _, tc := range cases {
		tc.fault.Path, tc.fault.Method = image.GetDirectPath(), http.MethodGet
		cdn.Fail(tc.fault)
		if _, err := c.cli.Download(within(t), image); !tc.ok(err) {
			t.Errorf("%s: %v", tc.name, err)
		}
		cdn.ClearFaults()
	}
	if got := cdn.Downloads(image.GetDirectPath()); got != 6 {
		t.Errorf("%d downloads counted, want 6", got)
	}
	cdn.Fail(simnet.CDNFault{Method: http.MethodPost, Status: 507, Times: 1})
	if _, err := c.cli.Upload(within(t), data, whatsmeow.MediaImage); err == nil {
		t.Error("an upload succeeded that was to fail")
	}
	if _, err := c.cli.Upload(within(t), data, whatsmeow.MediaImage); err != nil {
		t.Errorf("the upload after it: %v", err)
	}
}

func TestCDN_StallsUntilTheClientGivesUp(t *testing.T) {
	n, own, anna, c := pair(t)
	image := sendImage(t, anna, own, c, bytes.Repeat([]byte{7}, 100000)).Message.GetImageMessage()
	for name, fault := range map[string]simnet.CDNFault{"in the middle": {Stall: 1000}, "at once": {StallAtOnce: true}} {
		n.CDN().Fail(fault)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if _, err := c.cli.Download(ctx, image); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		n.CDN().ClearFaults()
	}
}

func TestCDN_ServesRangesAndStoresInFiles(t *testing.T) {
	n, own, anna, c := pair(t)
	n.CDN().KeepIn(t.TempDir())
	image := sendImage(t, anna, own, c, []byte("0123456789abcdef")).Message.GetImageMessage()
	request, err := http.NewRequestWithContext(within(t), http.MethodGet, "https://"+n.Addr()+image.GetDirectPath(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Range", "bytes=2-5")
	client := n.HTTPClient()
	defer client.CloseIdleConnections()
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	part, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusPartialContent || len(part) != 4 {
		t.Errorf("status %d, %d bytes, %v", answer.StatusCode, len(part), err)
	}
}
