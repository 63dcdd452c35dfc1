package console

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Scripts and styles come compressed to browsers that take that, and as they are to others.
func TestAssets_AreCompressed(t *testing.T) {
	all, err := assets()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name, accepted string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, root+"/assets/"+name, nil)
		r.SetPathValue("name", name)
		r.Header.Set("Accept-Encoding", accepted)
		w := httptest.NewRecorder()
		new(Console).serveAsset(w, r)
		return w
	}
	for accepted, want := range map[string]string{"gzip, deflate, br": "gzip", "br;q=1, GZIP;q=0.5": "gzip", "": "", "br": "", "gzip;q=0": "", "x-gzip": ""} {
		got := ask("console.css", accepted)
		content := io.Reader(got.Body)
		if got.Header().Get("Content-Encoding") != want || got.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("for %q: %v", accepted, got.Header())
		}
		if want == "gzip" {
			if content, err = gzip.NewReader(content); err != nil {
				t.Fatal(err)
			}
		}
		if read, err := io.ReadAll(content); err != nil || !bytes.Equal(read, all["console.css"].content) {
			t.Errorf("for %q: %d bytes, %v", accepted, len(read), err)
		}
	}
	if got := ask("icon-512.png", "gzip"); got.Header().Get("Content-Encoding") != "" || !bytes.Equal(got.Body.Bytes(), all["icon-512.png"].content) {
		t.Errorf("a picture: %v", got.Header())
	}
	for name, one := range all {
		if strings.HasSuffix(name, ".css") && !bytes.Contains(all["all.css"].content, one.content) {
			t.Errorf("%s is not among the styles of pages", name)
		}
	}
	plain, packed := 0, 0
	for _, one := range all {
		if one.gzipped != nil {
			plain, packed = plain+len(one.content), packed+len(one.gzipped)
		}
	}
	if packed > plain/2 {
		t.Errorf("%d bytes are %d compressed", plain, packed)
	}
}
