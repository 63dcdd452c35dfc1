package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/demo"
)

// form builds a body of multipart/form-data. Parts are name, value pairs; the
// value of the part "file" is a name, a type and the bytes, with lines between.
func form(t *testing.T, parts ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		header := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=%q`, parts[i])}}
		value := parts[i+1]
		if parts[i] == "file" {
			name, rest, _ := strings.Cut(value, "\n")
			kind, data, _ := strings.Cut(rest, "\n")
			header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="file"; filename=%q`, name))
			header.Set("Content-Type", kind)
			value = data
		}
		part, err := w.CreatePart(header)
		if err == nil {
			_, err = io.WriteString(part, value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

const sendFile = "/api/messages/send-file"

// upload sends a form.
func (s *server) upload(parts []string, headers ...string) apitest.Response {
	s.t.Helper()
	body, contentType := form(s.t, parts...)
	return s.Do(http.MethodPost, sendFile, body, append(headers, "Content-Type", contentType)...)
}

const paper = "paper.txt\ntext/plain\nthe words of a paper"

func TestSendFile_HandsOverTheFile(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	var lay []byte
	accept := s.account.send
	s.account.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
		var err error
		if lay, err = os.ReadFile(out.Content.(bridge.File).Path); err != nil {
			t.Error(err)
		}
		return accept(ctx, out)
	}
	s.upload([]string{"jid", string(grace), "caption", "read *this*", "file", paper, "quotedMsgId", "M1"}).Want(http.StatusOK)
	out := s.account.sent()[0]
	file := out.Content.(bridge.File)
	if string(lay) != "the words of a paper" || out.To != grace || out.Quote == nil || out.Quote.ID != "M1" {
		t.Errorf("file %q, message %+v", lay, out)
	}
	file.Path = ""
	if diff := cmp.Diff(bridge.File{Type: bridge.MediaDocument, Size: 20, MimeType: "text/plain", FileName: "paper.txt", Caption: "read *this*"}, file); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	s.leavesNothing()
}

func TestSendFile_BytesDecideWhatItIs(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for name, c := range map[string]struct {
		parts []string
		want  bridge.MediaType
		mime  string
	}{
		"a picture":             {[]string{"file", "x.bin\napplication/octet-stream\n" + string(demo.Picture(40, 30))}, bridge.MediaImage, "image/jpeg"},
		"a sound":               {[]string{"file", "x\naudio/ogg\n" + string(demo.Voice(1))}, bridge.MediaAudio, "audio/ogg; codecs=opus"},
		"a voice note":          {[]string{"ptt", "true", "file", "x\naudio/ogg\n" + string(demo.Voice(1))}, bridge.MediaAudio, "audio/ogg; codecs=opus"},
		"a document":            {[]string{"file", "x.pdf\napplication/pdf\n" + string(demo.PDF())}, bridge.MediaDocument, "application/pdf"},
		"a page":                {[]string{"file", "x.html\ntext/html\n<!DOCTYPE html><script>1</script>"}, bridge.MediaDocument, "text/html"},
		"a drawing":             {[]string{"file", `x.svg` + "\nimage/svg+xml\n" + `<svg xmlns="http://www.w3.org/2000/svg"/>`}, bridge.MediaDocument, "application/octet-stream"},
		"a sticker":             {[]string{"type", "sticker", "file", "x.png\nimage/png\n" + string(demo.Picture(40, 30))}, bridge.MediaSticker, "image/webp"},
		"a picture, if it must": {[]string{"type", "document", "file", "x.png\nimage/png\n" + string(demo.Picture(4, 3))}, bridge.MediaDocument, "image/png"},
	} {
		s.upload(append([]string{"jid", string(grace)}, c.parts...)).Want(http.StatusOK)
		sent := s.account.sent()
		if got := sent[len(sent)-1].Content.(bridge.File); got.Type != c.want || !strings.HasPrefix(got.MimeType, c.mime) || got.PTT != (name == "a voice note") {
			t.Errorf("%s is sent as %s, %s", name, got.Type, got.MimeType)
		}
	}
	s.leavesNothing()
}

func TestSendFile_Refuses(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	to := []string{"jid", string(grace)}
	for name, c := range map[string]struct {
		parts  []string
		status int
		says   string
	}{
		"no file":                  {to, 400, "file is required"},
		"no jid":                   {[]string{"file", paper}, 400, "jid is required"},
		"a bare number":            {[]string{"jid", "15557654321", "file", paper}, 400, "did you mean"},
		"an empty file":            {append(to, "file", "x\ntext/plain\n"), 400, "empty"},
		"a file twice":             {append(to, "file", paper, "file", paper), 400, `"file" is given more than once`},
		"an unknown field":         {append(to, "events", "x", "file", paper), 400, `"events" is not a field`},
		"a url":                    {append(to, "url", "https://example.com", "file", paper), 400, `"url" is not a field`},
		"an unknown type":          {append(to, "type", "sound", "file", paper), 400, "type must be"},
		"words as a sticker":       {append(to, "type", "sticker", "file", paper), 400, "not a sticker"},
		"a caption of a sticker":   {append(to, "type", "sticker", "caption", "x", "file", "x\nimage/png\n"+string(demo.Picture(4, 3))), 400, "caption"},
		"a name of a sticker":      {append(to, "type", "sticker", "fileName", "x", "file", "x\nimage/png\n"+string(demo.Picture(4, 3))), 400, "fileName"},
		"a sticker as voice note":  {append(to, "type", "sticker", "ptt", "true", "file", "x\nimage/png\n"+string(demo.Picture(4, 3))), 400, "ptt"},
		"a sticker's other type":   {append(to, "type", "sticker", "mimetype", "video/mp4", "file", "x\nimage/png\n"+string(demo.Picture(4, 3))), 400, "mimetype"},
		"words as a picture":       {append(to, "type", "image", "file", paper), 400, "not an image"},
		"a caption of a sound":     {append(to, "caption", "x", "file", "x\naudio/ogg\n"+string(demo.Voice(1))), 400, "caption"},
		"a name of a picture":      {append(to, "fileName", "x.png", "file", "x\nimage/png\n"+string(demo.Picture(4, 3))), 400, "fileName"},
		"a document as voice note": {append(to, "ptt", "true", "file", paper), 400, "audio"},
		"a picture to convert":     {append(to, "type", "image", "convert", "true", "file", "x\nimage/png\n"+string(demo.Picture(4, 3))), 400, "convert is for video only"},
		"a document to convert":    {append(to, "convert", "true", "file", paper), 400, "not a video"},
		"no truth":                 {append(to, "ptt", "perhaps", "file", paper), 400, "ptt must be true or false"},
		"no UTF-8":                 {append(to, "caption", "\xff", "file", paper), 400, "UTF-8"},
		"a long field":             {append(to, "caption", strings.Repeat("x", 70000), "file", paper), 400, "65536"},
		"a very long field":        {append(to, "caption", strings.Repeat("x", 300000), "file", paper), 413, "larger"},
		"a quote that is not here": {append(to, "quotedMsgId", "NONE", "file", paper), 404, ""},
		"quote without message":    {append(to, "quotedChatJid", string(grace), "file", paper), 400, "quotedMsgId"},
		"a large file":             {append(to, "file", "x\ntext/plain\n"+strings.Repeat("x", 1<<20+1)), 413, "MEDIA_MAX_BYTES"},
		"a larger one":             {append(to, "file", "x\ntext/plain\n"+strings.Repeat("x", 3<<20)), 413, "MEDIA_MAX_BYTES"},
	} {
		got := s.upload(c.parts)
		if got.Status != c.status || !strings.Contains(got.Error(), c.says) {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	for _, contentType := range []string{"application/json", "multipart/form-data", "multipart/mixed; boundary=x"} {
		s.Do(http.MethodPost, sendFile, "{}", "Content-Type", contentType).Want(http.StatusBadRequest)
	}
	if n := len(s.account.sent()); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
	s.leavesNothing()
}

// What is wrong with a field is said before the file is read.
func TestSendFile_IsRefusedBeforeTheFile(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	body, contentType := form(t, "jid", "15557654321", "file", paper)
	begin, _, _ := strings.Cut(body, "the words")
	s.Do(http.MethodPost, sendFile, begin, "Content-Type", contentType).Want(http.StatusBadRequest)
	if got := s.Do(http.MethodPost, sendFile, begin, "Content-Type", contentType); !strings.Contains(got.Error(), "did you mean") {
		t.Errorf("%s", got.Body)
	}
}

func TestSendFile_ABodyThatBreaksOffLeavesNothing(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	body, contentType := form(t, "jid", string(grace), "file", paper)
	for _, end := range []int{10, strings.Index(body, "of a paper"), len(body) - 20} {
		got := s.Do(http.MethodPost, sendFile, body[:end], "Content-Type", contentType).Want(http.StatusBadRequest)
		if got.Code() != "invalid_request" {
			t.Errorf("%s", got.Body)
		}
	}
	s.leavesNothing()
	if n := len(s.account.sent()); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
}

// The key is bound to what is sent, not to the boundary that a client made up.
func TestSendFile_WithAKeySendsOnce(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	parts := []string{"jid", string(grace), "caption", "one", "file", paper}
	key := []string{"Idempotency-Key", "key-1"}
	first := s.upload(parts, key...).Want(http.StatusOK)
	again := s.upload([]string{"caption", "one", "jid", string(grace), "file", paper}, key...).Want(http.StatusOK)
	var one, two struct{ MsgID string }
	if err := json.Unmarshal(first.Body, &one); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(again.Body, &two); err != nil {
		t.Fatal(err)
	}
	if one != two || again.Header.Get("Idempotency-Replayed") != "true" || len(s.account.sent()) != 1 {
		t.Errorf("%s, then %s", first.Body, again.Body)
	}
	for _, other := range [][]string{
		{"jid", string(grace), "caption", "two", "file", paper},
		{"jid", string(grace), "caption", "one", "file", paper + "!"},
		{"jid", string(club), "caption", "one", "file", paper},
	} {
		s.upload(other, key...).Want(http.StatusUnprocessableEntity)
	}
	s.leavesNothing()
}

func TestSendFile_TakesTheGateAndTheSocket(t *testing.T) {
	t.Parallel()
	closed := stocked(t)
	closed.account.closed()
	closed.upload([]string{"jid", string(grace), "file", paper}).Want(http.StatusServiceUnavailable)
	closed.leavesNothing()
	off := newServer(t, sendDisabled)
	off.upload([]string{"jid", string(grace), "file", paper}).Want(http.StatusForbidden)
}
