package urlguard

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"bridged/internal/fuzzbudget"
)

func TestFileName(t *testing.T) {
	for _, c := range []struct{ name, disposition, path, want string }{
		{"none", "", "/", ""},
		{"nothing at all", "", "", ""},
		{"path", "", "/a/b/photo.jpg", "photo.jpg"},
		{"directory", "", "/a/b/", "b"},
		{"escaped slash", "", "/a%2Fb.jpg", "b.jpg"},
		{"header before path", `attachment; filename="report.pdf"`, "/a.bin", "report.pdf"},
		{"inline", `inline; filename=report.pdf`, "/a.bin", "report.pdf"},
		{"utf-8", `attachment; filename="x.pdf"; filename*=UTF-8''%E2%82%AC%20rates.pdf`, "/", "€ rates.pdf"},
		{"utf-8 alone", `attachment; filename*=utf-8''na%C3%AFve.txt`, "/", "naïve.txt"},
		{"raw utf-8", `attachment; filename="отчёт.pdf"`, "/", "отчёт.pdf"},
		{"mail style", `attachment; filename="=?UTF-8?B?w6TDtsO8LnR4dA==?="`, "/", "äöü.txt"},
		{"malformed", `attachment; filename=my report.pdf`, "/a.pdf", "a.pdf"},
		{"no name", `attachment`, "/a.pdf", "a.pdf"},
		{"empty name", `attachment; filename=""`, "/a.pdf", "a.pdf"},
		{"traversal", `attachment; filename="../../etc/passwd"`, "/", "passwd"},
		{"windows traversal", `attachment; filename="C:\\Users\\x\\a.txt"`, "/", "a.txt"},
		{"dots", `attachment; filename=".."`, "/..", ""},
		{"hidden", `attachment; filename=".profile"`, "/", "profile"},
		{"turned around", "attachment; filename=\"\u202egpj.exe\"", "/", "gpj.exe"},
		{"narrow space", "attachment; filename=\"at 3.04\u202fPM.png\"", "/", "at 3.04 PM.png"},
		{"control", "", "/a%00b%0A%1Bc.txt", "abc.txt"},
		{"broken utf-8", "", "/a%FFb.txt", "ab.txt"},
		{"long", "", "/" + strings.Repeat("é", 300) + ".jpeg", strings.Repeat("é", 125) + ".jpeg"},
		{"long extension", "", "/a." + strings.Repeat("b", 300), "a." + strings.Repeat("b", 253)},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			if c.disposition != "" {
				h.Set("Content-Disposition", c.disposition)
			}
			u, err := url.Parse("https://example.com" + c.path)
			if err != nil {
				t.Fatal(err)
			}
			got, isNamed := fileName(h, u)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if inURL, _ := fileName(nil, u); isNamed != (got != inURL) {
				t.Errorf("%q is the server's name: %v", got, isNamed)
			}
		})
	}
}

func TestContentType(t *testing.T) {
	for header, want := range map[string]string{
		"":                               "",
		"image/jpeg":                     "image/jpeg",
		" Text/HTML ; Charset=\"UTF-8\"": "text/html; charset=UTF-8",
		"audio/ogg; codecs=opus":         "audio/ogg; codecs=opus",
		"image/png;":                     "image/png",
		"image/png; =":                   "image/png",
		"png":                            "",
		"image/":                         "",
		"image/png/x":                    "",
		"\x01":                           "",
	} {
		h := http.Header{}
		h.Set("Content-Type", header)
		if got := contentType(h); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	f.Add(`attachment; filename="a.pdf"`, "/b/c.pdf")
	f.Add(`attachment; filename*=UTF-8''%e2%80%ae..%2f..%5cx`, "/..")
	f.Add("attachment; filename=\"=?UTF-8?Q?=2E=2E=2F?=\"", "\\")
	f.Fuzz(func(t *testing.T, disposition, path string) {
		fuzzbudget.Usual.Check(t, len(disposition)+len(path), func() {
			name, _ := fileName(http.Header{"Content-Disposition": {disposition}}, &url.URL{Path: path})
			if !utf8.ValidString(name) || len(name) > maxNameBytes || strings.ContainsAny(name, "/\\\x00\n\r\u202e") || name == "." || name == ".." {
				t.Fatalf("got %q", name)
			}
		})
	})
}
