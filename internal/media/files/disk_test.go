package files

import (
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
	"bridged/internal/media/mediatest"
)

// An upload takes its space from the cache that uses the same CDN.
func TestUpload_FullDiskEvictsTheCache(t *testing.T) {
	dir, fake := mediatest.SmallDisk(t), mediatest.NewCDN(t)
	c, err := NewCache(CacheOptions{Dir: dir, MaxBytes: 1 << 30, MaxFile: 8 << 20, CDN: connect(fake, cdn.Options{TempDir: dir}), Account: fake, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	const size = 300 << 10
	for i := range 3 {
		wantFile(t, c, fake.Send(bridge.MediaImage, mediatest.RandomBytes(size+i)), mediatest.RandomBytes(size+i))
	}
	mediatest.WantOnly(t, dir, 3)
	path := filepath.Join(t.TempDir(), "film")
	mediatest.Write(t, path, mediatest.RandomBytes(600<<10))
	fake.Serve(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"url":"https://x/v/x","direct_path":"/v/x?ccb=1"}`)
	})
	up, err := c.opts.CDN.Upload(t.Context(), fake.MediaConn, bridge.File{Type: bridge.MediaVideo, Path: path})
	if err != nil || up.Size != 600<<10 {
		t.Errorf("uploaded %d bytes: %v", up.Size, err)
	}
	mediatest.WantOnly(t, dir, 1) // two were evicted, and the upload's own is removed
}
