package preview

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
	"bridged/internal/media"
	"bridged/internal/urlguard"
)

// web is a server at an address that counts as public, and a finder that asks it.
type web struct {
	*Finder
	t   *testing.T
	url string
	log bytes.Buffer

	mu    sync.Mutex
	pages map[string]http.HandlerFunc // guarded by mu
	asked []string                    // guarded by mu
}

func newWeb(t *testing.T) *web {
	t.Helper()
	w := &web{t: t, pages: make(map[string]http.HandlerFunc)}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		answer := w.pages[r.URL.Path]
		w.asked = append(w.asked, r.URL.Path)
		w.mu.Unlock()
		if answer == nil {
			http.NotFound(rw, r)
			return
		}
		answer(rw, r)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL
	guard := urlguard.New(urlguard.Options{UserAgent: "bridged/test", AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	preparer := media.NewPreparer(media.PreparerOptions{TempDir: t.TempDir(), MaxBytes: 1 << 20})
	w.Finder = New(Options{Guard: guard, Scale: preparer.Scale, Log: zerolog.New(zerolog.SyncWriter(&w.log))})
	return w
}

// serves answers at a path, and returns its address.
func (w *web) serves(path string, answer http.HandlerFunc) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[path] = answer
	return w.url + path
}

// has answers at a path with a body of a type.
func (w *web) has(path, contentType string, body []byte) string {
	return w.serves(path, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header()["Content-Type"] = []string{contentType}
		_, _ = rw.Write(body)
	})
}

// page has a page with a head, and returns its preview in a text.
func (w *web) page(head string) *bridge.Preview {
	address := w.has("/page", "text/html; charset=utf-8", []byte("<!DOCTYPE html><html><head>"+head+"</head><body>words</body></html>"))
	return w.Find(w.t.Context(), "see "+address+".")
}

func picture(width, height int) image.Image {
	m := image.NewPaletted(image.Rect(0, 0, width, height), palette.Plan9)
	for i := range m.Pix {
		m.Pix[i] = uint8(i)
	}
	return m
}

func pngOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, picture(width, height)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func wantPicture(t *testing.T, thumbnail []byte, width, height int) {
	t.Helper()
	if size, err := jpeg.DecodeConfig(bytes.NewReader(thumbnail)); err != nil || size.Width != width || size.Height != height {
		t.Errorf("a picture of %d by %d, want %d by %d: %v", size.Width, size.Height, width, height, err)
	}
}

func TestFind_ReadsWhatAPageSaysOfItself(t *testing.T) {
	w := newWeb(t)
	for name, c := range map[string]struct{ head, title, description string }{
		"Open Graph":         {`<title>Shop</title><meta property="og:title" content="A &amp; B"><meta content='What it is' property='og:description'/>`, "A & B", "What it is"},
		"Twitter's":          {`<meta name="twitter:title" content="T"><meta name="twitter:description" content="D"><meta name=description content=Other>`, "T", "D"},
		"title and meta":     {"<TITLE>\n  A title\tof &quot;words&quot; </TITLE><META NAME=Description CONTENT='About it'>", `A title of "words"`, "About it"},
		"title alone":        {`<title>Grüße 🏔️ 日本</title>`, "Grüße 🏔️ 日本", ""},
		"the first of each":  {`<title>One</title><title>Two</title><meta property="og:title" content=""><meta property="og:title" content="Three">`, "Three", ""},
		"a title's tags":     {`<title><b>bold</b> &lt;i&gt;</title>`, "<b>bold</b> <i>", ""},
		"tags in a script":   {`<script>"<title>no</title>"</script><!-- <title>no</title> --><title>yes</title>`, "yes", ""},
		"control characters": {"<title>a\x00b\x1b[31m\u202ec\u200b\u2028d\r\ne\ufeff</title>", "ab [31mc d e", ""},
	} {
		got := w.page(c.head)
		want := &bridge.Preview{LinkPreview: bridge.LinkPreview{URL: w.url + "/page", Title: c.title, Description: c.description}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFind_BoundsTexts(t *testing.T) {
	w := newWeb(t)
	long := strings.Repeat("é", 300_000)
	got := w.page(`<title>` + long + `</title><meta name="description" content="` + long + `">`)
	if got == nil || utf8.RuneCountInString(got.Title) != maxTitle || utf8.RuneCountInString(got.Description) != 0 {
		t.Fatalf("%d and %d characters", utf8.RuneCountInString(got.Title), utf8.RuneCountInString(got.Description)) // the rest is beyond 1 MiB
	}
	got = w.page(`<title>t</title><meta name="description" content="` + long + `">`)
	if got == nil || utf8.RuneCountInString(got.Description) != maxDescription {
		t.Errorf("a description of %d characters", utf8.RuneCountInString(got.Description))
	}
}

func TestFind_WithoutAnAddressOrAPage(t *testing.T) {
	w := newWeb(t)
	for name, text := range map[string]string{
		"no address":            "hello",
		"no scheme":             "example.org",
		"no title":              w.has("/untitled", "text/html", []byte("<p>words</p>")),
		"an empty title":        w.has("/empty", "text/html", []byte("<title> \u200b </title>")),
		"nothing":               w.has("/nothing", "text/html", nil),
		"not found":             w.url + "/none",
		"a document":            w.has("/paper.pdf", "application/pdf", []byte("%PDF-1.4 <title>no</title>")),
		"text":                  w.has("/text", "text/plain", []byte("<title>no</title>")),
		"JSON":                  w.has("/json", "application/json", []byte(`{"title":"<title>no</title>"}`)),
		"binary, of no type":    w.has("/binary", "", []byte("\x00\x01<title>no</title>")),
		"a drawing":             w.has("/a.svg", "image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><title>no</title></svg>`)),
		"a picture that is not": w.has("/a.png", "image/png", []byte("<title>no</title>")),
		"user and password":     strings.Replace(w.url, "http://", "http://user:password@", 1) + "/nothing",
		"a private address":     "http://192.168.0.1/",
		"this machine":          "http://localhost/",
		"another of this":       strings.Replace(w.url, "127.0.0.1", "127.0.0.2", 1),
		"a redirect to private": w.serves("/moved", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://10.0.0.1/", http.StatusFound)
		}),
		"a redirect to a file": w.serves("/file", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "file:///etc/passwd", http.StatusFound)
		}),
		"redirects in circles": w.serves("/circle", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/circle", http.StatusFound) }),
	} {
		if got := w.Find(t.Context(), text); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, part := range []string{"/none", "password", "192.168", "127.0.0", "words"} {
		if strings.Contains(w.log.String(), part) {
			t.Errorf("the log shows %q:\n%s", part, w.log.String())
		}
	}
}

func TestFind_Pictures(t *testing.T) {
	w := newWeb(t)
	w.has("/pictures/wide.png", "image/png", pngOf(t, 900, 300))
	w.has("/small.png", "application/octet-stream", pngOf(t, 40, 30))
	var moving bytes.Buffer
	frame := picture(600, 600).(*image.Paletted)
	if err := gif.EncodeAll(&moving, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{9, 9}}); err != nil {
		t.Fatal(err)
	}
	w.has("/moving.gif", "image/gif", moving.Bytes())
	for name, c := range map[string]struct {
		head          string
		width, height int
	}{
		"absolute":         {`<meta property="og:image" content="` + w.url + `/pictures/wide.png">`, 300, 100},
		"from the root":    {`<meta property="og:image" content="/pictures/wide.png">`, 300, 100},
		"relative":         {`<meta property="og:image:url" content=" pictures/wide.png ">`, 300, 100},
		"without a scheme": {`<meta name="twitter:image" content="` + strings.TrimPrefix(w.url, "http:") + `/small.png">`, 40, 30},
		"one that moves":   {`<meta name="twitter:image:src" content="/moving.gif">`, 300, 300},
	} {
		got := w.page("<title>t</title>" + c.head)
		if got == nil {
			t.Fatalf("%s: no preview", name)
		}
		wantPicture(t, got.Thumbnail, c.width, c.height)
	}
	moved := w.serves("/old/place", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "/new/place", http.StatusMovedPermanently)
	})
	w.has("/new/place", "text/html", []byte(`<title>t</title><meta property="og:image" content="../pictures/wide.png">`))
	if got := w.Find(t.Context(), moved); got == nil || got.URL != moved {
		t.Errorf("after a redirect: %+v", got)
	} else {
		wantPicture(t, got.Thumbnail, 300, 100)
	}
	direct := w.Find(t.Context(), w.url+"/pictures/wide.png")
	if direct == nil || direct.Title != "127.0.0.1" {
		t.Fatalf("a picture itself: %+v", direct)
	}
	wantPicture(t, direct.Thumbnail, 300, 100)
}

// A picture that cannot be shown is left out, and the rest is shown.
func TestFind_HostilePictures(t *testing.T) {
	w := newWeb(t)
	bomb := image.NewGray(image.Rect(0, 0, 8_000, 8_000))
	var packed bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&packed, bomb); err != nil {
		t.Fatal(err)
	}
	w.has("/bomb.png", "image/png", packed.Bytes()[:min(packed.Len(), maxBytes)])
	w.has("/drawing.svg", "image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="file:///etc/passwd"/></svg>`))
	w.has("/page.png", "image/png", []byte("<html>"))
	w.has("/large.png", "image/png", append(pngOf(t, 4, 3), make([]byte, maxBytes)...))
	w.serves("/private", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "http://127.0.0.2:1/", http.StatusFound)
	})
	for _, reference := range []string{
		"/bomb.png", "/drawing.svg", "/page.png", "/large.png", "/private", "/none", "http://192.168.0.1/a.png", "http://localhost/a.png", "file:///etc/passwd",
		"data:image/png;base64,iVBORw0KGgo=", "javascript:alert(1)", "ftp://example.org/a.png", "http://%zz/", "//", "http://user:password@127.0.0.1/",
	} {
		got := w.page(`<title>t</title><meta property="og:image" content="` + reference + `">`)
		if got == nil || got.Title != "t" || got.Thumbnail != nil {
			t.Errorf("%s: %+v", reference, got)
		}
	}
}

// wide returns a text in UTF-16.
func wide(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

func TestFind_Charsets(t *testing.T) {
	w := newWeb(t)
	for name, c := range map[string]struct{ contentType, body, want string }{
		"named in the head":         {"text/html; charset=ISO-8859-1", "<title>Gr\xfc\xdfe</title>", "Grüße"},
		"named in the page":         {"text/html", "<meta charset='windows-1251'><title>\xcf\xf0\xe8\xe2\xe5\xf2</title>", "Привет"},
		"named in the older form":   {"text/html", `<meta http-equiv="Content-Type" content="text/html; charset=koi8-r"><title>` + "\xf0\xd2\xc9\xd7\xc5\xd4</title>", "Привет"},
		"the head counts more":      {"text/html; charset=windows-1253", "<meta charset=windows-1251><title>\xc3\xe5\xe9\xe1</title>", "Γεια"},
		"not named":                 {"text/html", "<title>Gr\xfc\xdfe</title>", "Grüße"},
		"UTF-8 by another name":     {"text/html; charset=iso-8859-1", "<title>Grüße</title>", "Grüße"},
		"UTF-8 with its mark":       {"text/html", "\xef\xbb\xbf<title>Grüße</title>", "Grüße"},
		"UTF-8 with faults":         {"text/html; charset=utf-8", "<title>Gr\xffü\xc3</title>", "Grü"},
		"UTF-16 with its mark":      {"text/html", "\xff\xfe" + wide("<title>ü</title>", binary.LittleEndian), "ü"},
		"UTF-16, the other":         {"text/html", "\xfe\xff" + wide("<title>ü</title>", binary.BigEndian), "ü"},
		"Shift_JIS":                 {"text/html; charset=Shift_JIS", "<title>\x93\xfa\x96\x7b</title>", "日本"},
		"ISO-2022-JP":               {"text/html; charset=iso-2022-jp", "<title>\x1b$BF|K\\\x1b(B</title>", "日本"},
		"an unknown one":            {"text/html; charset=x-none", "<title>\xff\xfd</title>", "ÿý"},
		"tags that UTF-7 would be":  {"text/html; charset=utf-7", "<title>+ADw-b+AD4-</title>", "+ADw-b+AD4-"},
		"a name that is far behind": {"text/html", strings.Repeat(" ", 5000) + "<meta charset=windows-1251><title>Gr\xfc\xdfe</title>", "Grüße"},
	} {
		got := w.Find(t.Context(), w.has("/page", c.contentType, []byte(c.body)))
		if c.want == "" && got != nil || c.want != "" && (got == nil || got.Title != c.want) {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
}

// endless writes a beginning, and then bytes without end.
func endless(t *testing.T, encoding, beginning string, taken *int) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		var to io.Writer = rw
		if encoding != "" {
			rw.Header().Set("Content-Encoding", encoding)
			zipped := gzip.NewWriter(rw)
			defer zipped.Close()
			to = zipped
		}
		for piece := []byte(beginning); r.Context().Err() == nil; piece = bytes.Repeat([]byte(" "), 64<<10) {
			n, err := to.Write(piece)
			*taken += n
			if err != nil || *taken > 1<<30 {
				return
			}
		}
	}
}

func TestFind_LargePagesAreReadInTheirBeginning(t *testing.T) {
	w := newWeb(t)
	w.time = time.Minute
	for _, encoding := range []string{"", "gzip"} {
		taken := 0
		done := make(chan struct{})
		answer := endless(t, encoding, "<title>t</title>", &taken)
		address := w.serves("/endless", func(rw http.ResponseWriter, r *http.Request) { defer close(done); answer(rw, r) })
		if got := w.Find(t.Context(), address); got == nil || got.Title != "t" {
			t.Errorf("%q: %+v", encoding, got)
		}
		<-done
		if taken > 1<<28 {
			t.Errorf("%q: %d bytes were taken", encoding, taken)
		}
	}
	announced := w.serves("/announced", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Length", fmt.Sprint(1<<30))
		_, _ = rw.Write([]byte("<title>t</title>" + strings.Repeat(" ", 2<<20)))
	})
	if got := w.Find(t.Context(), announced); got == nil || got.Title != "t" {
		t.Errorf("a body of 1 GB: %+v", got)
	}
}

// A page, or its picture, that is slow is left out when its time is over.
func TestFind_ItsTimeHolds(t *testing.T) {
	w := newWeb(t)
	w.time = time.Second
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	slow := func(path, beginning string) string {
		return w.serves(path, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "text/html")
			for _, b := range []byte(beginning) {
				_, _ = rw.Write([]byte{b})
				_ = http.NewResponseController(rw).Flush()
			}
			select {
			case <-over:
			case <-r.Context().Done():
			}
		})
	}
	if got := w.Find(t.Context(), slow("/slow", "<title>t</title>")); got != nil {
		t.Errorf("a slow page: %+v", got)
	}
	if !strings.Contains(w.log.String(), "it took too long") {
		t.Errorf("the log says\n%s", w.log.String())
	}
	slow("/slow.png", "\x89PNG")
	if got := w.page(`<title>t</title><meta property="og:image" content="/slow.png">`); got == nil || got.Title != "t" || got.Thumbnail != nil {
		t.Errorf("a slow picture: %+v", got)
	}
	w.Scale = func(ctx context.Context, _ []byte, _ int) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }
	w.has("/a.png", "image/png", pngOf(t, 4, 3))
	if got := w.page(`<title>t</title><meta property="og:image" content="/a.png">`); got == nil || got.Thumbnail != nil {
		t.Errorf("a picture whose turn does not come: %+v", got)
	}
}

func TestFind_SaysWhoAsks(t *testing.T) {
	w := newWeb(t)
	agents := make(chan string, 1)
	w.Find(t.Context(), w.serves("/page", func(_ http.ResponseWriter, r *http.Request) { agents <- r.UserAgent() }))
	if got := <-agents; got != "bridged/test" {
		t.Errorf("the page was asked by %q", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`<title>a</title><meta property="og:title" content="b">`), "text/html; charset=koi8-r")
	f.Add([]byte("\xff\xfe<\x00"), "text/html")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		fuzzbudget.Usual.Check(t, len(body)+len(contentType), func() {
			text, err := decode(body, contentType)
			if err != nil {
				return
			}
			for name, value := range read(t.Context(), text) {
				if got := plain(value, maxTitle); !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxTitle || strings.ContainsAny(got, "\n\r\x00") {
					t.Errorf("%s is %q", name, got)
				}
			}
		})
	})
}

// No page of a MiB takes long to read.
func TestRead_OfHostilePages(t *testing.T) {
	for name, piece := range map[string]string{
		"attributes": "a=b ", "the same attributes": "content=x ", "open tags": "<meta ", "entities": "&lt;&", "torn ends": "</titl", "comments": "<!--", "quotes": `<meta content="`, "zeros": "\x00",
	} {
		for _, begins := range []string{"", "<meta ", "<title>", "<script>", "<!-- ", "<svg><style>"} {
			began := time.Now()
			body := []byte(begins + strings.Repeat(piece, maxBytes/len(piece)))
			if text, err := decode(body, "text/html"); err == nil {
				read(t.Context(), text)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s behind %q take %v", name, begins, took)
			}
		}
	}
}
