package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
)

const digits = "0123456789"

func fileOf(id string) string { return "/api/messages/media/" + grace.Escaped() + "/" + id }

func tagOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// headersOf are the headers that say what a file is.
func headersOf(got apitest.Response) map[string]string {
	headers := map[string]string{}
	for _, name := range []string{
		"Content-Type", "Content-Length", "Content-Disposition", "X-Messenger-Media-Type", "Content-Security-Policy",
		"ETag", "Last-Modified", "Accept-Ranges", "Content-Range", "X-Content-Type-Options", "Cache-Control",
	} {
		if value := got.Header.Get(name); value != "" {
			headers[name] = value
		}
	}
	return headers
}

func TestMedia_EveryKindHasItsHeaders(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for id, c := range map[string]struct {
		media bridge.Media
		name  string
	}{
		"3EB01": {bridge.Media{Type: bridge.MediaImage, MimeType: "image/jpeg", Caption: "look"}, "image-3EB01.jpg"},
		"3EB02": {bridge.Media{Type: bridge.MediaVideo, MimeType: "video/mp4"}, "video-3EB02.mp4"},
		"3EB03": {bridge.Media{Type: bridge.MediaAudio, MimeType: "audio/mpeg"}, "audio-3EB03.mp3"},
		"3EB04": {bridge.Media{Type: bridge.MediaAudio, MimeType: "audio/ogg; codecs=opus", PTT: true}, "voice-3EB04.ogg"},
		"3EB05": {bridge.Media{Type: bridge.MediaDocument, MimeType: "application/pdf", FileName: "plan.pdf"}, "plan.pdf"},
		"3EB06": {bridge.Media{Type: bridge.MediaDocument, MimeType: "application/zip"}, "document-3EB06.zip"},
		"3EB07": {bridge.Media{Type: bridge.MediaSticker, MimeType: "image/webp"}, "sticker-3EB07.webp"},
	} {
		content := "the bytes of " + id
		s.cdn.send(s, id, c.media, content)
		for _, disposition := range []string{"", "inline", "attachment"} {
			path, want := fileOf(id), "inline"
			if disposition != "" {
				path, want = path+"?disposition="+disposition, disposition
			}
			got := s.Get(path).Want(http.StatusOK)
			if string(got.Body) != content {
				t.Errorf("%s: body %q", id, got.Body)
			}
			if diff := cmp.Diff(map[string]string{
				"Content-Type": c.media.MimeType, "Content-Length": strconv.Itoa(len(content)), "X-Messenger-Media-Type": string(c.media.Type),
				"Content-Disposition": want + `; filename="` + c.name + `"`, "ETag": tagOf(content), "Last-Modified": "Sat, 21 Nov 2026 12:00:00 GMT",
				"Accept-Ranges": "bytes", "X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-cache",
			}, headersOf(got)); diff != "" {
				t.Errorf("%s, disposition %q: headers (-want +got):\n%s", id, disposition, diff)
			}
		}
	}
}

// A name is the sender's: it reaches every reader, and hurts none.
func TestMedia_NamesOfDocuments(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i, c := range []struct{ name, want string }{
		{"plan & costs.pdf", `filename="plan & costs.pdf"`},
		{"Übersicht.pdf", `filename="_bersicht.pdf"; filename*=UTF-8''%C3%9Cbersicht.pdf`},
		{"計画 🥾.pdf", `filename="__ _.pdf"; filename*=UTF-8''%E8%A8%88%E7%94%BB%20%F0%9F%A5%BE.pdf`},
		{`say "no".pdf`, `filename="say _no_.pdf"; filename*=UTF-8''say%20%22no%22.pdf`},
		{"100%25.pdf", `filename="100_25.pdf"; filename*=UTF-8''100%2525.pdf`},
		{"it's (a) *copy*; really.pdf", `filename="it's (a) *copy*; really.pdf"`},
		{"it's (ä) *copy*; a,b:c=d@e.pdf", `filename="it's (_) *copy*; a,b:c=d@e.pdf"; filename*=UTF-8''it%27s%20%28%C3%A4%29%20%2Acopy%2A%3B%20a%2Cb%3Ac%3Dd%40e.pdf`},
		{"../../etc/passwd", `filename="_.._etc_passwd"`},
		{`C:\boot.ini`, `filename="C:_boot.ini"`},
		{"a\r\nSet-Cookie: x=y", `filename="aSet-Cookie: x=y"`},
		{"gpj\u202efdp.exe", `filename="gpjfdp.exe"`},
		{"...", `filename="document-N7.pdf"`},
		{" \x00 ", `filename="document-N8.pdf"`},
		{strings.Repeat("x", 300) + ".pdf", `filename="` + strings.Repeat("x", 251) + `.pdf"`},
	} {
		id := fmt.Sprint("N", i)
		s.cdn.send(s, id, bridge.Media{Type: bridge.MediaDocument, MimeType: "application/pdf", FileName: c.name}, "x")
		want := strings.NewReplacer("N7", id, "N8", id).Replace(c.want)
		if got := s.Get(fileOf(id)).Want(200).Header.Get("Content-Disposition"); got != "inline; "+want {
			t.Errorf("%q:\n got %s\nwant inline; %s", c.name, got, want)
		}
		if _, params, err := mime.ParseMediaType("inline; " + want); err != nil || params["filename"] == "" {
			t.Errorf("%q: Go reads %v: %v", c.name, params, err)
		}
	}
}

// What a browser would run is never shown by it.
func TestMedia_ActiveTypesAreAttachmentsInASandbox(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i, c := range []struct {
		mimeType, served string
		active           bool
	}{
		{"text/html", "text/html", true},
		{"TEXT/HTML; charset=utf-8", "TEXT/HTML; charset=utf-8", true},
		{"image/svg+xml", "image/svg+xml", true},
		{"text/xml", "text/xml", true},
		{"application/xml", "application/xml", true},
		{"application/xhtml+xml", "application/xhtml+xml", true},
		{"application/atom+xml", "application/atom+xml", true},
		{"text/javascript", "text/javascript", true},
		{"application/javascript", "application/javascript", true},
		{"application/wasm", "application/wasm", true},
		{"multipart/x-mixed-replace; boundary=x", "multipart/x-mixed-replace; boundary=x", true},
		{"message/rfc822", "message/rfc822", true},
		{"multipart/related", "multipart/related", true},
		{"text/plain", "text/plain", false},
		{"application/pdf", "application/pdf", false},
		{"image/png", "image/png", false},
		{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", false},
		{"", "application/octet-stream", false},
		{"nonsense", "application/octet-stream", false},
		{"image/png\r\nX-Evil: 1", "application/octet-stream", false},
		{"text/html;;;", "application/octet-stream", false},
	} {
		id := fmt.Sprint("T", i)
		s.cdn.send(s, id, bridge.Media{Type: bridge.MediaDocument, MimeType: c.mimeType, FileName: "f"}, "x")
		wantDisposition, wantPolicy := "inline", ""
		if c.active {
			wantDisposition, wantPolicy = "attachment", "default-src 'none'; sandbox"
		}
		for _, query := range []string{"", "?disposition=inline"} {
			got := s.Get(fileOf(id) + query).Want(http.StatusOK)
			disposition, _, _ := strings.Cut(got.Header.Get("Content-Disposition"), ";")
			if disposition != wantDisposition || got.Header.Get("Content-Security-Policy") != wantPolicy || got.Header.Get("Content-Type") != c.served {
				t.Errorf("%q: %v", c.mimeType, headersOf(got))
			}
		}
	}
}

// Every JavaScript MIME type of the WHATWG's standard, and XML's ways to be written.
func TestMedia_ScriptsAreNeverInline(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i, mimeType := range []string{
		"application/ecmascript", "application/javascript", "application/x-ecmascript", "application/x-javascript", "text/ecmascript", "text/javascript",
		"text/javascript1.0", "text/javascript1.1", "text/javascript1.2", "text/javascript1.3", "text/javascript1.4", "text/javascript1.5",
		"text/jscript", "text/livescript", "text/x-ecmascript", "text/x-javascript", "TEXT/JavaScript1.5; charset=utf-8", "text/javascript ; a=b",
		"application/rss+xml", "application/mathml+xml", "image/SVG+XML", "application/vnd.x+XML;q=1", "text/x-server-parsed-html", "application/xhtml+xml; charset=x",
	} {
		id := fmt.Sprint("J", i)
		s.cdn.send(s, id, bridge.Media{Type: bridge.MediaDocument, MimeType: mimeType, FileName: "f"}, "alert(1)")
		got := s.Get(fileOf(id) + "?disposition=inline").Want(http.StatusOK)
		if !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment;") || got.Header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
			t.Errorf("%q: %v", mimeType, headersOf(got))
		}
	}
}

func TestMedia_Ranges(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.cdn.send(s, "F", bridge.Media{Type: bridge.MediaVideo, MimeType: "video/mp4"}, digits)
	for header, want := range map[string]string{
		"bytes=0-0": "0", "bytes=0-": digits, "bytes=0-9": digits, "bytes=0-99": digits, "bytes=9-9": "9", "bytes=9-": "9",
		"bytes=3-5": "345", "bytes=-1": "9", "bytes=-10": digits, "bytes=-99": digits,
	} {
		got := s.Get(fileOf("F"), "Range", header).Want(http.StatusPartialContent)
		from := strings.Index(digits, want)
		span := fmt.Sprintf("bytes %d-%d/10", from, from+len(want)-1)
		if string(got.Body) != want || got.Header.Get("Content-Range") != span || got.Header.Get("Content-Length") != strconv.Itoa(len(want)) {
			t.Errorf("%s: %q, %v", header, got.Body, headersOf(got))
		}
	}
	for _, header := range []string{"bytes=10-", "bytes=10-11", "bytes=99-", "bytes=5-3", "bytes=x", "bytes=-0"} {
		got := s.Get(fileOf("F"), "Range", header).Want(http.StatusRequestedRangeNotSatisfiable)
		if got.Code() != "invalid_range" || !strings.Contains(got.Error(), "10 bytes") || got.Header.Get("Content-Range") != "bytes */10" || got.Header.Get("ETag")+got.Header.Get("Content-Disposition") != "" || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s, %v", header, got.Body, headersOf(got))
		}
	}
	for _, header := range []string{"items=0-1", "0-1", "bytes 0-1"} {
		if got := s.Get(fileOf("F"), "Range", header).Want(http.StatusOK); string(got.Body) != digits {
			t.Errorf("%s: %q", header, got.Body)
		}
	}
	if n := s.cdn.requests(); n != 1 {
		t.Errorf("the CDN was asked %d times, want once", n)
	}
}

func TestMedia_SeveralRanges(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.cdn.send(s, "F", bridge.Media{Type: bridge.MediaVideo, MimeType: "video/mp4"}, digits)
	got := s.Get(fileOf("F"), "Range", "bytes=0-1,8-").Want(http.StatusPartialContent)
	_, params, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(bytes.NewReader(got.Body), params["boundary"])
	for _, want := range []struct{ span, body string }{{"bytes 0-1/10", "01"}, {"bytes 8-9/10", "89"}} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(part)
		if err != nil || string(body) != want.body || part.Header.Get("Content-Range") != want.span || part.Header.Get("Content-Type") != "video/mp4" {
			t.Errorf("%q %v: %v", body, part.Header, err)
		}
	}
}

func TestMedia_Conditions(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.cdn.send(s, "F", bridge.Media{Type: bridge.MediaImage, MimeType: "image/png"}, digits)
	mine, other := tagOf(digits), tagOf("else")
	const at, before, after = "Sat, 21 Nov 2026 12:00:00 GMT", "Sat, 21 Nov 2026 11:59:59 GMT", "Sat, 21 Nov 2026 12:00:01 GMT"
	for _, c := range []struct {
		headers []string
		want    int
	}{
		{[]string{"If-None-Match", mine}, 304},
		{[]string{"If-None-Match", "W/" + mine}, 304},
		{[]string{"If-None-Match", "*"}, 304},
		{[]string{"If-None-Match", other + ", " + mine}, 304},
		{[]string{"If-None-Match", other}, 200},
		{[]string{"If-None-Match", "garbage"}, 200},
		{[]string{"If-Modified-Since", at}, 304},
		{[]string{"If-Modified-Since", after}, 304},
		{[]string{"If-Modified-Since", before}, 200},
		{[]string{"If-None-Match", other, "If-Modified-Since", after}, 200},
		{[]string{"If-Match", mine}, 200},
		{[]string{"If-Match", "*"}, 200},
		{[]string{"If-Match", other}, 412},
		{[]string{"If-Match", mine, "If-None-Match", mine}, 304},
		{[]string{"If-Unmodified-Since", at}, 200},
		{[]string{"If-Unmodified-Since", before}, 412},
		{[]string{"Range", "bytes=0-1", "If-Range", mine}, 206},
		{[]string{"Range", "bytes=0-1", "If-Range", other}, 200},
		{[]string{"Range", "bytes=0-1", "If-Range", "W/" + mine}, 200},
		{[]string{"Range", "bytes=0-1", "If-Range", at}, 206},
		{[]string{"Range", "bytes=0-1", "If-Range", before}, 200},
		{[]string{"Range", "bytes=0-1", "If-None-Match", mine}, 304},
		{[]string{"Range", "bytes=99-", "If-Match", other}, 412},
	} {
		got := s.Get(fileOf("F"), c.headers...)
		if got.Status != c.want {
			t.Errorf("%v: %d, want %d", c.headers, got.Status, c.want)
		}
		switch {
		case got.Status == 304 && (len(got.Body) != 0 || got.Header.Get("ETag") != mine):
			t.Errorf("%v: %q, %v", c.headers, got.Body, headersOf(got))
		case got.Status == 412 && got.Code() != "precondition_failed":
			t.Errorf("%v: %s", c.headers, got.Body)
		case got.Status == 200 && string(got.Body) != digits, got.Status == 206 && string(got.Body) != "01":
			t.Errorf("%v: %q", c.headers, got.Body)
		}
	}
}

// The tag is that of the bytes, whatever the sender says of them.
func TestMedia_TheTagIsThatOfTheBytes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	claimed := bytes.Repeat([]byte{0xAB}, sha256.Size)
	s.cdn.sendClaiming(s, "F", bridge.Media{Type: bridge.MediaImage, MimeType: "image/png", Size: 3}, digits, claimed)
	got := s.Get(fileOf("F")).Want(http.StatusOK)
	if string(got.Body) != digits || got.Header.Get("ETag") != tagOf(digits) || got.Header.Get("Content-Length") != "10" {
		t.Errorf("%q, %v", got.Body, headersOf(got))
	}
	for _, condition := range []string{tagOf(digits), "*"} {
		if got := s.Get(fileOf("F"), "If-None-Match", condition).Want(http.StatusNotModified); got.Header.Get("ETag") != tagOf(digits) {
			t.Errorf("%s: %v", condition, headersOf(got))
		}
	}
}

// Who has the file needs neither cache nor network.
func TestMedia_NotModifiedNeedsNoFile(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.cdn.send(s, "F", bridge.Media{Type: bridge.MediaImage, MimeType: "image/png"}, digits)
	s.account.closed()
	s.Get(fileOf("F")).Want(http.StatusServiceUnavailable)
	s.Get(fileOf("F"), "If-None-Match", tagOf(digits)).Want(http.StatusNotModified)
	if n := s.cdn.requests(); n != 0 {
		t.Errorf("the CDN was asked %d times", n)
	}
}

func TestMedia_HeadAnswersTheHeadersOfGet(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.cdn.send(s, "F", bridge.Media{Type: bridge.MediaDocument, MimeType: "text/html", FileName: "ä.html"}, digits)
	get := s.Get(fileOf("F")).Want(http.StatusOK)
	for _, headers := range [][]string{nil, {"Range", "bytes=0-1"}} {
		head := s.Do(http.MethodHead, fileOf("F"), "", headers...).Want(http.StatusOK)
		if diff := cmp.Diff(headersOf(get), headersOf(head)); diff != "" || len(head.Body) != 0 {
			t.Errorf("HEAD %v (-GET +HEAD):\n%s", headers, diff)
		}
	}
	s.Do(http.MethodHead, fileOf("NONE"), "").Want(http.StatusNotFound)
}

func TestMedia_EmptyFile(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.cdn.send(s, "F", bridge.Media{Type: bridge.MediaDocument, MimeType: "text/plain", FileName: "nothing.txt"}, "")
	for _, headers := range [][]string{nil, {"Range", "bytes=0-"}} {
		if got := s.Get(fileOf("F"), headers...).Want(http.StatusOK); len(got.Body) != 0 || got.Header.Get("Content-Length") != "0" {
			t.Errorf("%q, %v", got.Body, headersOf(got))
		}
	}
}

func TestMedia_WhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Deletion{Chat: grace, Target: "F1", By: grace, Timestamp: bridge.At(noon)})
	for _, route := range []string{"media", "media-info"} {
		for path, want := range map[string]int{
			"/" + grace.Escaped() + "/M1": 404, "/" + grace.Escaped() + "/NONE": 404, "/" + grace.Escaped() + "/F1": 404, "/" + alan.Escaped() + "/F1": 404, "/" + string(club) + "/F1": 404,
			"/nobody/F1": 400, "/status@broadcast/F1": 400, "/15557654321:3@s.whatsapp.net/F1": 400, "/" + grace.Escaped() + "/": 404, "/" + grace.Escaped(): 404,
		} {
			s.Get("/api/messages/" + route + path).Want(want)
		}
	}
	if n := s.cdn.requests(); n != 0 {
		t.Errorf("the CDN was asked %d times", n)
	}
}

// Either name of a person leads to the file, encoded or not.
func TestMedia_ByAnyNameOfTheChat(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Identity{PN: grace, LID: graceLID})
	for _, chat := range []string{string(grace), grace.Escaped(), string(graceLID), graceLID.Escaped()} {
		s.Get("/api/messages/media/" + chat + "/F1").Want(http.StatusOK)
		var info struct {
			ChatJID bridge.JID
			MsgID   string
			Media   struct{ DownloadURL string }
		}
		s.Get("/api/messages/media-info/" + chat + "/F1").Want(http.StatusOK).Decode(&info)
		if info.ChatJID != grace || info.MsgID != "F1" || info.Media.DownloadURL != fileOf("F1") {
			t.Errorf("%s: %+v", chat, info)
		}
	}
}

// A failure is a whole answer of its own; no byte of a file comes before it.
func TestMedia_Failures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		media  bridge.Media
		answer http.HandlerFunc
		status int
		code   string
	}{
		"lost":      {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, status: 500, code: "media_gone"},
		"tampered":  {answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte("x"), 26)) }, status: 500, code: "media_invalid"},
		"no answer": {answer: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, status: 503, code: "media_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.cdn.send(s, "F", bridge.Media{Type: bridge.MediaImage, MimeType: "image/png"}, digits)
			s.cdn.answers(c.answer)
			got := s.Get(fileOf("F")).Want(c.status)
			if got.Code() != c.code || got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("ETag") != "" {
				t.Errorf("%s, %v", got.Body, headersOf(got))
			}
			s.cdn.answers(nil)
			if got := s.Get(fileOf("F")).Want(http.StatusOK); string(got.Body) != digits {
				t.Errorf("afterwards: %q", got.Body)
			}
		})
	}
}

func TestMedia_TooLargeIsNotFetched(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.cdn.send(s, "F", bridge.Media{Type: bridge.MediaVideo, MimeType: "video/mp4"}, strings.Repeat("x", 1<<20+1))
	if got := s.Get(fileOf("F")).Want(http.StatusInternalServerError); got.Code() != "media_too_large" || s.cdn.requests() != 0 {
		t.Errorf("%s after %d requests", got.Body, s.cdn.requests())
	}
}

func TestMedia_CachedWithoutTheSocket(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.Get(fileOf("F1")).Want(http.StatusOK)
	s.account.closed()
	s.Get(fileOf("F1")).Want(http.StatusOK)
	s.cdn.send(s, "F2", bridge.Media{Type: bridge.MediaImage, MimeType: "image/png"}, digits)
	if got := s.Get(fileOf("F2")).Want(http.StatusServiceUnavailable); got.Code() != "not_connected" {
		t.Errorf("%s", got.Body)
	}
	s.Get("/api/messages/media-info/" + grace.Escaped() + "/F2").Want(http.StatusOK)
}

func TestMedia_ManyAtOnceAreOneDownload(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	content := strings.Repeat(digits, 60_000) // several pieces
	s.cdn.send(s, "F", bridge.Media{Type: bridge.MediaVideo, MimeType: "video/mp4"}, content)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := s.Get(fileOf("F")); got.Status != http.StatusOK || string(got.Body) != content {
				t.Errorf("%d, %d bytes", got.Status, len(got.Body))
			}
		})
	}
	all.Wait()
	if n := s.cdn.requests(); n != 1 {
		t.Errorf("the CDN was asked %d times, want once", n)
	}
}

// A stop answers those who wait for a download.
func TestMedia_StopEndsTheWaiting(t *testing.T) {
	t.Parallel()
	lifetime, stop := context.WithCancel(context.Background())
	s := newServer(t, func(o *api.Options) { o.Lifetime = lifetime })
	s.cdn.send(s, "F", bridge.Media{Type: bridge.MediaImage, MimeType: "image/png"}, digits)
	s.cdn.answers(func(w http.ResponseWriter, r *http.Request) {
		stop()
		<-r.Context().Done()
	})
	caller, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	context.AfterFunc(lifetime, hangUp) // as the program's server does with its requests
	got := serve(caller, s.handler, http.MethodGet, fileOf("F"), "")
	if got.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// Whatever id a sender chose, downloadUrl leads to the file, through a client
// that normalises paths as all do.
func TestMedia_HostileIDsHaveWorkingPaths(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ids := []string{".", "..", "%2e%2e", "a/b", "../../../healthz", "%", "?x", "#x", "~", "~Li4", "\x1b[2J", " ", "日本", strings.Repeat("../", 333)}
	for _, id := range ids {
		s.cdn.send(s, id, bridge.Media{Type: bridge.MediaImage, MimeType: "image/png"}, "the bytes of "+id)
	}
	var history struct {
		Messages []struct {
			MsgID string
			Media struct{ DownloadURL string }
		}
	}
	s.Get("/api/messages/individual/" + grace.Escaped()).Want(http.StatusOK).Decode(&history)
	if len(history.Messages) != len(ids) {
		t.Fatalf("%d messages", len(history.Messages))
	}
	base, err := url.Parse(s.url + "/console/")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range history.Messages {
		ref, err := base.Parse(m.Media.DownloadURL)
		if err != nil {
			t.Errorf("%q: %v", m.MsgID, err)
			continue
		}
		if got := s.Get(ref.EscapedPath()).Want(http.StatusOK); string(got.Body) != "the bytes of "+m.MsgID {
			t.Errorf("%q: %q", m.MsgID, got.Body)
		}
		info := s.Get(strings.Replace(ref.EscapedPath(), "/media/", "/media-info/", 1)).Want(http.StatusOK)
		var named struct{ MsgID string }
		if info.Decode(&named); named.MsgID != m.MsgID {
			t.Errorf("%q is described as %q", m.MsgID, named.MsgID)
		}
	}
	s.Get(fileOf("a%2Fb")).Want(http.StatusOK) // as callers write it themselves
	s.Get(fileOf("~Li4=")).Want(http.StatusBadRequest)
}
