package harness

import (
	"bytes"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// SentFile is a received file.
type SentFile struct {
	Bytes      []byte
	ID         simnet.MessageID
	Chat       simnet.JID
	Path       string // of its download
	DirectPath string // on the CDN
}

func (c *Cast) Arrived(t testing.TB, id simnet.MessageID, chat simnet.JID, file []byte) SentFile {
	t.Helper()
	if err := c.Device.WaitAcknowledged(Within(t), id); err != nil {
		t.Fatal(err)
	}
	got := Must(c.Owner.ReceivedID(Within(t), id))(t)
	return SentFile{Bytes: file, ID: id, Chat: chat, Path: bridge.DownloadPath(bridge.JID(chat.String()), id), DirectPath: simnet.DirectPath(got.RawMessage)}
}

// Downloads downloads a file and compares it.
func (c *Cast) Downloads(t testing.TB, f SentFile, headers ...string) http.Header {
	t.Helper()
	got := c.Bridge.Get(f.Path, headers...).Want(http.StatusOK)
	if !bytes.Equal(got.Body, f.Bytes) {
		t.Errorf("%d other bytes, want %d", len(got.Body), len(f.Bytes))
	}
	return got.Header
}
