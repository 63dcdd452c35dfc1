package hooks

import (
	"net/http"
	"strings"
	"testing"
)

// What scripts and monitors post is read as they mean it: an alert that is refused is lost.
func TestPayload_ReadsWhatScriptsWrite(t *testing.T) {
	for name, c := range map[string]struct{ kind, body, want string }{
		"a raw line break":        {"application/json", "{\"text\":\"disk full\non \\\"db1\\\"\"}", "disk full\non \"db1\""},
		"a raw tab and a bell":    {"application/json", "{\"host\":\"a\tb\\\\\",\"x\":\"\u0007!\"}", "*host*: a\tb\\\n*x*: !"},
		"a byte order mark":       {"application/json", "\xef\xbb\xbf{\"text\":\"hi\"}", "hi"},
		"UTF-16":                  {"application/json; charset=utf-16le", "{\x00\"\x00t\x00e\x00x\x00t\x00\"\x00:\x00\"\x00\xe9\x00\"\x00}\x00", "é"},
		"UTF-16 with a mark":      {"application/json", "\xfe\xff\x00{\x00\"\x00t\x00e\x00x\x00t\x00\"\x00:\x00\"\x00\xe9\x00\"\x00}", "é"},
		"a declared set":          {"application/json; charset=iso-8859-1", "{\"text\":\"B\xfcro\"}", "Büro"},
		"a declared set in text":  {"text/plain; charset=windows-1251", "\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"},
		"a declared set in forms": {"application/x-www-form-urlencoded; charset=iso-8859-1", "text=B%FCro", "Büro"},
		"a set by mistake":        {"application/json; charset=iso-8859-1", "{\"text\":\"Büro\"}", "Büro"},
		"an unknown set":          {"application/json; charset=none", "{\"text\":\"Büro\"}", "Büro"},
		"an empty field":          {"application/json", "{\"text\":\"\",\"host\":\"db1\",\"up\":false,\"n\":0,\"x\":null}", "*host*: db1\n*n*: 0\n*up*: false"},
	} {
		header := http.Header{"Content-Type": {c.kind}}
		if got := render(t, "json", header, []byte(c.body)); strings.TrimSpace(got) != c.want {
			t.Errorf("%s: sent %q, want %q", name, got, c.want)
		}
	}
}
