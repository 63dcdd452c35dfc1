package console_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/console"
	"bridged/internal/media/files"
)

// Thumbnails are for those who may read the message, under its conditions for caches. Without one the answer is empty.
func TestThumbnails_AreForReaders(t *testing.T) {
	t.Parallel()
	var opened []string
	s := newSite(t, func(o *console.Options) {
		o.API = bearing(func(w http.ResponseWriter, r *http.Request) {
			if content := map[string]string{"/M1": `"media":{"type":"image"}`, "/M2": `"media":{"type":"video"}`, "/M3": `"content":"hello"`}[r.URL.Path[max(0, len(r.URL.Path)-3):]]; content != "" {
				replies(`{"chatJid":"`+grace+`","message":{"msgId":"M1",`+content+`}}`)(w, r)
				return
			}
			new(site).api(w, r)
		})
		o.Thumbnail = func(_ context.Context, chat bridge.JID, id string, side files.ThumbnailSide) (*files.Picture, error) {
			opened = append(opened, id)
			if id == "M2" {
				return nil, bridge.Fail(bridge.CodeNoPicture, "there is none")
			}
			return &files.Picture{Reader: bytes.NewReader(make([]byte, side)), MimeType: "image/jpeg", SHA256: []byte(chat), At: time.Unix(1, 0)}, nil
		}
	})
	path := "/console/thumbnails/" + grace
	s.get(path+"/M1").want(t, http.StatusSeeOther, "/login?next=%2Fconsole%2Fthumbnails%2F15550100301%40s.whatsapp.net%2FM1")
	s.logIn()
	for id, want := range map[string]int{"M1": http.StatusOK, "M2": http.StatusNoContent, "M3": http.StatusNoContent, "M4": http.StatusNotFound} {
		s.get(path+"/"+id).want(t, want, "")
	}
	if got := len(opened); got != 2 {
		t.Errorf("opened %q", opened)
	}
	large, tile := s.get(path+"/M1"), s.get(path+"/M1?tile")
	if len(large.body) != 640 || len(tile.body) != 320 || large.Header.Get("Cache-Control") != "private, no-cache" || large.Header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
		t.Errorf("%d and %d bytes, %v", len(large.body), len(tile.body), large.Header)
	}
	s.header.Set("If-None-Match", large.Header.Get("ETag"))
	s.get(path+"/M1").want(t, http.StatusNotModified, "")
}
