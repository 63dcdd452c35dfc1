package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
)

// unzipped returns the body of an answer as it was before it was compressed.
func unzipped(t *testing.T, got apitest.Response) string {
	t.Helper()
	if got.Header.Get("Content-Encoding") != "gzip" {
		return string(got.Body)
	}
	from, err := gzip.NewReader(bytes.NewReader(got.Body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Long answers are compressed for those who accept it, and short ones, files, streams and answers beside a
// secret never are.
func TestAnswers_AreCompressed(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for i := range 30 {
		s.know(say(grace, grace, fmt.Sprint("LONG", i), strings.Repeat("¿Nos vemos el sábado? ", 300), 10+i))
	}
	s.know(say(alan, alan, "A1", strings.Repeat("the last message ", 40), 0))
	for range 10 { // their list has more than 1 KiB
		s.token(`{"name":"` + strings.Repeat("long", 20) + `","scopes":["read"]}`)
	}
	for path, want := range map[string]bool{
		"/api/chats": true, graceHistory: true, "/api/chats/" + string(grace) + "/messages?limit=5": true, "/api/messages/search?q=vemos": true,
		"/api/events?after=0": true, "/api/chats/" + string(grace) + "/messages/LONG1": true, "/openapi.yaml": true, "/openapi.json": true,
		"/api/contacts/" + string(grace): false, "/api/chats?q=nobody": false, "/api/tokens": false, "/api/auth/status": false,
		"/api/chats/" + string(grace) + "/export": false, "/api/messages/media/" + string(grace) + "/F1": false, "/healthz": false,
	} {
		plain, zipped := s.Get(path, "Accept-Encoding", "identity"), s.Get(path, "Accept-Encoding", "gzip, br")
		if is := zipped.Header.Get("Content-Encoding") == "gzip"; is != want || plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: compressed %v", path, is)
		}
		if text := unzipped(t, zipped); path != "/healthz" && text != string(plain.Body) {
			t.Errorf("%s: %d bytes, want %d", path, len(text), len(plain.Body))
		}
		if want && (len(zipped.Body) > len(plain.Body)/2 || zipped.Header.Get("Vary") != "Accept-Encoding" || plain.Header.Get("Vary") != "Accept-Encoding") {
			t.Errorf("%s: %d of %d bytes, Vary %q", path, len(zipped.Body), len(plain.Body), zipped.Header["Vary"])
		}
		if refused := s.Get(path, "Accept-Encoding", "gzip;q=0"); refused.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed for a caller that refuses it", path)
		}
	}
}

// Single things and the document have a tag, by which an unchanged one is not sent again.
func TestAnswers_UnchangedAreNotSentAgain(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, path := range []string{
		"/openapi.yaml", "/openapi.json", "/api/chats/" + string(grace), "/api/chats/" + string(grace) + "/messages/M1", "/api/groups/" + string(club), "/api/contacts/" + string(grace),
	} {
		first := s.Get(path).Want(http.StatusOK)
		tag := first.Header.Get("ETag")
		if !strings.HasPrefix(tag, `W/"`) || first.Header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s: %q, %q", path, tag, first.Header.Get("Cache-Control"))
		}
		for _, has := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag, "*"} {
			if again := s.Get(path, "If-None-Match", has, "Accept-Encoding", "gzip"); again.Status != http.StatusNotModified || len(again.Body) > 0 || again.Header.Get("ETag") != tag || again.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s with %s: %d %v", path, has, again.Status, again.Header)
			}
		}
		s.Get(path, "If-None-Match", `W/"other"`).Want(http.StatusOK)
	}
	path := "/api/chats/" + string(grace) + "/messages/M1"
	tag := s.Get(path).Header.Get("ETag")
	s.know(bridge.Edit{Chat: grace, Target: "M1", Editor: grace, Timestamp: bridge.At(noon), New: say(grace, grace, "E1", "changed", 9)})
	if changed := s.Get(path, "If-None-Match", tag).Want(http.StatusOK); changed.Header.Get("ETag") == tag {
		t.Error("a changed message has the same tag")
	}
	s.Get("/api/chats/999@s.whatsapp.net", "If-None-Match", "*").Want(http.StatusNotFound)
}
