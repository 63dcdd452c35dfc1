package download

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// Stored messages may be older than the limits on received ones. Their headers are bounded and
// valid all the same.
func TestDescribe_BoundsHeaders(t *testing.T) {
	for name, media := range map[string]bridge.Media{
		"long type":       {MimeType: "application/" + strings.Repeat("x", 30_000)},
		"long parameter":  {MimeType: "text/plain; charset=" + strings.Repeat("x", 30_000)},
		"no type":         {},
		"not a type":      {MimeType: "/"},
		"half a type":     {MimeType: "image/"},
		"two types":       {MimeType: "image/png, text/html"},
		"spaces":          {MimeType: "image / png"},
		"a quoted type":   {MimeType: `"image/png"`},
		"a newline":       {MimeType: "image/png\r\nX: y"},
		"not ASCII":       {MimeType: "image/pñg"},
		"long name":       {FileName: strings.Repeat("ü", 30_000) + ".pdf", MimeType: "application/pdf"},
		"a negative size": {Size: -1, MimeType: "image/png"},
	} {
		t.Run(name, func(t *testing.T) {
			media.Type = bridge.MediaDocument
			header := http.Header{}
			describe(header, bridge.Message{ID: "3EB0", Media: &media}, Inline)
			got := header.Get("Content-Type")
			if len(got) > maxMIMEType || got != media.MimeType && got != bridge.UnknownMIMEType || strings.ContainsFunc(got, isNotPlain) {
				t.Errorf("type %.100q", got)
			}
			shown, _, _ := strings.Cut(strings.TrimPrefix(header.Get("Content-Disposition"), `inline; filename="`), `"`)
			if n := utf8.RuneCountInString(shown); n == 0 || n > 255 {
				t.Errorf("a name of %d characters", n)
			}
		})
	}
}
