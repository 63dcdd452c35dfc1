package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
	"bridged/internal/media/probe"
	"bridged/internal/urlguard"
)

// served is an answer of the web server whose files are sent.
type served struct {
	body        []byte
	contentType string
	disposition string
	status      int
}

// jpegSignature begins the files that are sent as images as they are.
var jpegSignature = []byte{0xFF, 0xD8, 0xFF}

// web is a server at an address that counts as public, and a preparer that fetches
// from it.
type web struct {
	*Preparer
	t   testing.TB
	url string
	dir string
	log bytes.Buffer

	mu     sync.Mutex
	answer http.HandlerFunc // guarded by mu
}

func newWeb(t testing.TB) *web {
	t.Helper()
	w := &web{t: t, dir: filepath.Join(t.TempDir(), "tmp")}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		answer := w.answer
		w.mu.Unlock()
		answer(rw, r)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL
	guard := urlguard.New(urlguard.Options{AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	w.Preparer = NewPreparer(PreparerOptions{Guard: guard, TempDir: w.dir, MaxBytes: 4 << 20, Log: zerolog.New(zerolog.SyncWriter(&w.log))})
	return w
}

func (w *web) serve(s served) {
	w.serveWith(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", s.contentType)
		if s.disposition != "" {
			rw.Header().Set("Content-Disposition", s.disposition)
		}
		if s.status != 0 {
			rw.WriteHeader(s.status)
		}
		_, _ = rw.Write(s.body)
	})
}

func (w *web) serveWith(answer http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// prepare prepares what the server answers, checks the file and removes it.
func (w *web) prepare(s served, req Request) (bridge.File, error) {
	w.t.Helper()
	w.serve(s)
	if req.URL == "" {
		req.URL = w.url + "/file"
	}
	f, cleanup, err := w.Prepare(w.t.Context(), req)
	defer mediatest.WantOnly(w.t, w.dir, 0)
	defer cleanup()
	if err != nil {
		mediatest.WantOnly(w.t, w.dir, 0)
		return f, err
	}
	got, readErr := os.ReadFile(f.Path)
	if readErr != nil || f.Size != int64(len(got)) {
		w.t.Errorf("prepared %d bytes as %d: %v", len(got), f.Size, readErr)
	}
	if req.Type != bridge.MediaImage || bytes.HasPrefix(s.body, jpegSignature) {
		if !bytes.Equal(got, s.body) {
			w.t.Errorf("prepared %d other bytes than the %d served", len(got), len(s.body))
		}
	} else if size, err := jpeg.DecodeConfig(bytes.NewReader(got)); err != nil || size.Width != f.Width || size.Height != f.Height {
		w.t.Errorf("converted to %d by %d, described as %d by %d: %v", size.Width, size.Height, f.Width, f.Height, err)
	}
	info, statErr := os.Stat(f.Path)
	if statErr != nil || info.Mode().Perm() != 0o600 {
		w.t.Errorf("mode %v: %v", info.Mode(), statErr)
	}
	if f.Type != req.Type || f.Caption != req.Caption || f.PTT != req.PTT {
		w.t.Errorf("prepared %+v for %+v", f, req)
	}
	return f, nil
}

func TestPrepare_Images(t *testing.T) {
	w := newWeb(t)
	for name, c := range map[string]struct {
		body []byte
		size image.Point
	}{
		"png":    {mediatest.PNG(t, mediatest.Quarters(300, 120)), image.Pt(300, 120)},
		"jpeg":   {mediatest.JPEG(t, mediatest.Quarters(640, 480)), image.Pt(640, 480)},
		"turned": {mediatest.WithExif(mediatest.JPEG(t, mediatest.Quarters(640, 480)), binary.BigEndian, 6), image.Pt(480, 640)},
		"gif":    {mediatest.GIF(t, mediatest.Quarters(50, 40)), image.Pt(50, 40)},
		"webp":   {mediatest.WebPPixel(t), image.Pt(1, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := w.prepare(served{body: c.body, contentType: bridge.UnknownMIMEType}, Request{Type: bridge.MediaImage, Caption: "look"})
			if err != nil {
				t.Fatal(err)
			}
			if f.MimeType != probe.JpegType || image.Pt(f.Width, f.Height) != c.size || f.FileName != "" {
				t.Errorf("got %s of %d by %d", f.MimeType, f.Width, f.Height)
			}
			thumbnail, format, err := image.Decode(bytes.NewReader(f.Thumbnail))
			if err != nil || format != "jpeg" {
				t.Fatalf("thumbnail: %s, %v", format, err)
			}
			if s := thumbnail.Bounds().Size(); max(s.X, s.Y) > thumbnailSide || len(f.Thumbnail) > 10<<10 {
				t.Errorf("thumbnail of %v, %d bytes", s, len(f.Thumbnail))
			}
		})
	}
}

func TestPrepare_FailedProbesDoNotFailTheSend(t *testing.T) {
	w := newWeb(t)
	picture := mediatest.JPEG(t, mediatest.Quarters(300, 120))
	for name, c := range map[string]struct {
		body []byte
		kind bridge.MediaType
		size image.Point
	}{
		"cut picture":      {picture[:len(picture)-300], bridge.MediaImage, image.Pt(300, 120)},
		"head alone":       {enlarged(t, picture, 60000, 60000), bridge.MediaImage, image.Pt(60000, 60000)},
		"signature alone":  {picture[:9], bridge.MediaImage, image.Point{}},
		"movie without":    {mediatest.Box("ftyp", []byte("isom"), mediatest.Words(0), []byte("isom")), bridge.MediaVideo, image.Point{}},
		"sound of no kind": {append([]byte("#!AMR\n"), make([]byte, 100)...), bridge.MediaAudio, image.Point{}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := w.prepare(served{body: c.body}, Request{Type: c.kind})
			if err != nil {
				t.Fatal(err)
			}
			if got := image.Pt(f.Width, f.Height); got != c.size || f.Thumbnail != nil || f.Seconds != 0 {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestPrepare_FetchesThatFail(t *testing.T) {
	w := newWeb(t)
	for name, c := range map[string]struct {
		served served
		req    Request
		says   string
	}{
		"not there":           {served{status: 404, body: []byte("no")}, Request{Type: bridge.MediaImage}, "404"},
		"empty":               {served{}, Request{Type: bridge.MediaImage}, "empty"},
		"empty document":      {served{contentType: "application/pdf"}, Request{Type: bridge.MediaDocument}, "empty"},
		"too large":           {served{body: make([]byte, 4<<20+1)}, Request{Type: bridge.MediaDocument}, "larger than 4 MiB"},
		"private":             {served{}, Request{Type: bridge.MediaImage, URL: "http://10.0.0.1/x"}, "public"},
		"no URL":              {served{}, Request{Type: bridge.MediaImage, URL: "file:///etc/passwd"}, ""},
		"page":                {served{body: page, contentType: "text/html"}, Request{Type: bridge.MediaImage}, "HTML page"},
		"page called image":   {served{body: page, contentType: "image/jpeg"}, Request{Type: bridge.MediaImage}, "HTML page"},
		"page for a document": {served{body: page, contentType: "text/html"}, Request{Type: bridge.MediaDocument, FileName: "report.pdf"}, "HTML page"},
		"page for a type":     {served{body: page, contentType: "text/html"}, Request{Type: bridge.MediaDocument, MimeType: "application/pdf"}, "HTML page"},
		"page for a path":     {served{body: page, contentType: "text/html"}, Request{Type: bridge.MediaDocument, URL: w.url + "/report.pdf"}, "HTML page"},
		"page for a sound":    {served{body: page}, Request{Type: bridge.MediaAudio, PTT: true}, "HTML page"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.prepare(c.served, c.req)
			mediatest.WantCode(t, err, bridge.CodeFetchFailed)
			var known *bridge.Error
			if errors.As(err, &known) && (!strings.HasPrefix(known.Msg, "fetch failed: ") || !strings.Contains(known.Msg, c.says)) {
				t.Errorf("says %q", known.Msg)
			}
		})
	}
}

func TestPrepare_CancelledLeavesNothing(t *testing.T) {
	w := newWeb(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.serveWith(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = rw.Write(make([]byte, 100<<10))
		_ = http.NewResponseController(rw).Flush()
		cancel()
		<-r.Context().Done()
	})
	_, cleanup, err := w.Prepare(ctx, Request{URL: w.url, Type: bridge.MediaDocument})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	mediatest.WantOnly(t, w.dir, 0)
	cleanup()
	cleanup()
}

func TestPrepare_FullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no full disk here")
	}
	w := newWeb(t)
	w.create = mediatest.FullDisk(w.create)
	_, err := w.prepare(served{body: make([]byte, 1<<20)}, Request{Type: bridge.MediaDocument})
	mediatest.WantCode(t, err, bridge.CodeStorageUnavailable)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("cause lost: %v", err)
	}
}

func TestPrepare_SurvivesAWipe(t *testing.T) {
	w := newWeb(t)
	if err := os.RemoveAll(w.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := w.prepare(served{body: []byte("hello")}, Request{Type: bridge.MediaDocument}); err != nil {
		t.Error(err)
	}
}

func TestPrepare_LongFetchesShowInTheLog(t *testing.T) {
	w := newWeb(t)
	w.every = 0
	if _, err := w.prepare(served{body: make([]byte, 1<<20)}, Request{Type: bridge.MediaDocument, URL: w.url + "/x?secret=1"}); err != nil {
		t.Fatal(err)
	}
	if log := w.log.String(); strings.Count(log, "fetching media") < 2 || !strings.Contains(log, `"bytes":1048576`) || strings.Contains(log, "secret") {
		t.Errorf("log: %s", log)
	}
}

func TestPrepare_MemoryStaysFlat(t *testing.T) {
	const size, limit = 32 << 20, 64 << 20
	w := newWeb(t)
	w.opts.MaxBytes = size
	chunk := make([]byte, 64<<10)
	copy(chunk, []byte{0xFF, 0xFB, 0x90, 0x00})
	for i := 0; i+417 <= len(chunk); i += 417 {
		copy(chunk[i:], []byte{0xFF, 0xFB, 0x90, 0x00})
	}
	w.serveWith(func(rw http.ResponseWriter, _ *http.Request) {
		for range size / len(chunk) {
			if _, err := rw.Write(chunk); err != nil {
				return
			}
		}
	})
	grown := mediatest.HeapPeak(func() {
		var wait sync.WaitGroup
		for i := range 8 {
			wait.Go(func() {
				f, cleanup, err := w.Prepare(context.Background(), Request{URL: w.url, Type: bridge.MediaAudio})
				defer cleanup()
				if err != nil || f.Seconds < 1000 {
					t.Error(i, f.Seconds, err)
				}
			})
		}
		wait.Wait()
	})
	t.Logf("8 preparations of %d MiB: +%.1f MiB", size>>20, float64(grown)/(1<<20))
	if grown > limit {
		t.Errorf("preparing takes %d MiB", grown>>20)
	}
}

func BenchmarkPrepare(b *testing.B) {
	w := newWeb(b)
	w.opts.MaxBytes = 100 << 20
	w.serve(served{body: make([]byte, 100<<20)})
	b.SetBytes(100 << 20)
	for b.Loop() {
		_, cleanup, err := w.Prepare(b.Context(), Request{URL: w.url, Type: bridge.MediaDocument})
		if err != nil {
			b.Fatal(err)
		}
		cleanup()
	}
}

func BenchmarkThumbnail(b *testing.B) {
	p := NewPreparer(PreparerOptions{})
	file := mediatest.JPEG(b, mediatest.Quarters(4000, 3000))
	for b.Loop() {
		var f bridge.File
		if err := p.measureImage(b.Context(), &f, bytes.NewReader(file)); err != nil {
			b.Fatal(err)
		}
	}
}

func TestCheck_RefusesWithoutTheNetwork(t *testing.T) {
	w := newWeb(t)
	w.serveWith(func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") })
	strict := NewPreparer(PreparerOptions{Guard: urlguard.New(urlguard.Options{}), TempDir: w.dir, MaxBytes: 1, Log: zerolog.Nop()})
	for name, c := range map[string]struct {
		req  Request
		want bridge.Code
	}{
		"loopback":               {Request{URL: w.url, Type: bridge.MediaImage}, bridge.CodeFetchFailed},
		"malformed":              {Request{URL: "ftp://example.org", Type: bridge.MediaImage}, bridge.CodeFetchFailed},
		"no MIME type":           {Request{URL: "https://example.org", Type: bridge.MediaImage, MimeType: "jpeg"}, bridge.CodeInvalid},
		"MIME type of another":   {Request{URL: "https://example.org", Type: bridge.MediaImage, MimeType: "video/mp4"}, bridge.CodeUnsupportedMedia},
		"no voice":               {Request{URL: "https://example.org", Type: bridge.MediaAudio, MimeType: "audio/mpeg", PTT: true}, bridge.CodeUnsupportedMedia},
		"voice":                  {Request{URL: "https://example.org", Type: bridge.MediaAudio, MimeType: "audio/ogg", PTT: true}, ""},
		"sound":                  {Request{URL: "https://example.org", Type: bridge.MediaAudio, MimeType: "audio/mpeg"}, ""},
		"document of any format": {Request{URL: "https://example.org/x?y=z", Type: bridge.MediaDocument, MimeType: "text/html"}, ""},
	} {
		err := strict.Check(c.req)
		if c.want == "" && err != nil || c.want != "" && bridge.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A file that is fetched to be sent is stored once there is room for it.
func TestPrepare_FullDiskMakesRoom(t *testing.T) {
	dir, makeRoom := mediatest.FullOfFiles(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(mediatest.RandomBytes(600 << 10)) }))
	defer server.Close()
	guard := urlguard.New(urlguard.Options{AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	p := NewPreparer(PreparerOptions{Guard: guard, TempDir: filepath.Join(dir, "tmp"), MaxBytes: 1 << 20, Room: makeRoom, Log: zerolog.Nop()})
	f, cleanup, err := p.Prepare(t.Context(), Request{URL: server.URL, Type: bridge.MediaDocument})
	defer cleanup()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(f.Path); err != nil || !bytes.Equal(got, mediatest.RandomBytes(600<<10)) {
		t.Errorf("fetched %d bytes: %v", len(got), err)
	}
}
