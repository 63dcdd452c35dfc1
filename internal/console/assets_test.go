package console_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Scripts and styles are compressed for browsers that accept it, and plain for others.
func TestAssets_AreCompressed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ask := func(name, accepted string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/console/assets/"+name, nil)
		r.Header.Set("Accept-Encoding", accepted)
		w := httptest.NewRecorder()
		s.console.ServeHTTP(w, r)
		return w
	}
	read := func(name string) []byte {
		content, err := os.ReadFile("assets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	for accepted, want := range map[string]string{"gzip, deflate, br": "gzip", "br;q=1, GZIP;q=0.5": "gzip", "": "", "br": "", "gzip;q=0": "", "x-gzip": ""} {
		got := ask("console.css", accepted)
		content := io.Reader(got.Body)
		if got.Header().Get("Content-Encoding") != want || got.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("for %q: %v", accepted, got.Header())
		}
		if want == "gzip" {
			var err error
			if content, err = gzip.NewReader(content); err != nil {
				t.Fatal(err)
			}
		}
		if plain, err := io.ReadAll(content); err != nil || !bytes.Equal(plain, read("console.css")) {
			t.Errorf("for %q: %d bytes, %v", accepted, len(plain), err)
		}
	}
	if got := ask("icon-512.png", "gzip"); got.Header().Get("Content-Encoding") != "" || !bytes.Equal(got.Body.Bytes(), read("icon-512.png")) {
		t.Errorf("a picture: %v", got.Header())
	}
	entries, err := os.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	all, plain, packed := ask("all.css", "").Body.Bytes(), 0, 0
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, ".css") && !bytes.Contains(all, read(name)) {
			t.Errorf("%s is not among the styles of pages", name)
		}
		if got := ask(name, "gzip"); got.Header().Get("Content-Encoding") == "gzip" {
			plain, packed = plain+ask(name, "").Body.Len(), packed+got.Body.Len()
		}
	}
	if plain == 0 || packed > plain/2 {
		t.Errorf("%d bytes are %d compressed", plain, packed)
	}
}

// The style sheets become one: a class that two of them define looks in one place as it does in the other.
func TestAssets_AClassIsDefinedInOneFile(t *testing.T) {
	sheets, err := filepath.Glob("assets/*.css")
	if err != nil || len(sheets) == 0 {
		t.Fatal(sheets, err)
	}
	ofClass := regexp.MustCompile(`(?:^|[{},])\s*\.([\w-]+)\s*[,{]`)
	definedIn := map[string]string{}
	for _, sheet := range sheets {
		text, err := os.ReadFile(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range ofClass.FindAllSubmatch(text, -1) {
			class := string(found[1])
			if other := definedIn[class]; other != "" && other != sheet {
				t.Errorf(".%s is defined in %s and in %s", class, other, sheet)
			}
			definedIn[class] = sheet
		}
	}
	if len(definedIn) < 100 {
		t.Errorf("only %d classes were found", len(definedIn))
	}
}
