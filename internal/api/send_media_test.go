package api_test

import (
	"context"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func TestSendMedia_HandsOverTheFile(t *testing.T) {
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
	s.Post("/api/messages/send-media", map[string]any{
		"jid": grace, "url": web.URL + "/paper.txt", "type": "document", "caption": "read this", "fileName": "Aufsatz.txt", "mimetype": "text/plain; charset=utf-8", "quotedMsgId": "M1", "ptt": nil,
	}).Want(http.StatusOK)
	out := s.account.sent()[0]
	file := out.Content.(bridge.File)
	if string(lay) != "the words of a paper" || out.To != grace || out.Quote == nil || out.Quote.ID != "M1" {
		t.Errorf("file %q, message %+v", lay, out)
	}
	file.Path = ""
	if diff := cmp.Diff(bridge.File{
		Type: bridge.MediaDocument, Size: 20, MimeType: "text/plain; charset=utf-8", FileName: "Aufsatz.txt", Caption: "read this",
	}, file); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	s.leavesNothing()
}

// leavesNothing looks for fetched files that nobody removed.
func (s *server) leavesNothing() {
	s.t.Helper()
	left, err := os.ReadDir(s.tmp)
	if err != nil || len(left) > 0 {
		s.t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestSendMedia_RefusesBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.account.closed()
	for name, c := range map[string]struct {
		change map[string]any
		code   string
		says   string
	}{
		"no jid":                     {map[string]any{"jid": nil}, "invalid_request", "jid"},
		"status as destination":      {map[string]any{"jid": "status@broadcast"}, "invalid_request", "jid"},
		"no url":                     {map[string]any{"url": nil}, "invalid_request", "url"},
		"empty url":                  {map[string]any{"url": ""}, "invalid_request", "url"},
		"url of another type":        {map[string]any{"url": 1}, "invalid_request", "url"},
		"no type":                    {map[string]any{"type": nil}, "invalid_request", "type"},
		"sticker":                    {map[string]any{"type": "sticker"}, "invalid_request", "type"},
		"type in capitals":           {map[string]any{"type": "Image"}, "invalid_request", "type"},
		"caption of a sound":         {map[string]any{"type": "audio", "caption": "x"}, "invalid_request", "caption"},
		"name of a picture":          {map[string]any{"type": "image", "fileName": "x.png"}, "invalid_request", "fileName"},
		"name of a video":            {map[string]any{"type": "video", "fileName": "x.mp4"}, "invalid_request", "fileName"},
		"name of a sound":            {map[string]any{"type": "audio", "fileName": "x.mp3"}, "invalid_request", "fileName"},
		"ptt picture":                {map[string]any{"type": "image", "ptt": true}, "invalid_request", "ptt"},
		"convert a sound":            {map[string]any{"type": "audio", "convert": true}, "invalid_request", "convert is for video only"},
		"a document to view once":    {map[string]any{"viewOnce": true}, "invalid_request", "viewOnce is for"},
		"a sound to view once":       {map[string]any{"type": "audio", "viewOnce": true}, "invalid_request", "viewOnce is for"},
		"ptt document":               {map[string]any{"ptt": true}, "invalid_request", "ptt"},
		"ptt of another type":        {map[string]any{"type": "audio", "ptt": "yes"}, "invalid_request", "ptt must be true or false"},
		"name with directories":      {map[string]any{"fileName": "../x"}, "invalid_request", "fileName"},
		"name with a line break":     {map[string]any{"fileName": "a\nb"}, "invalid_request", "fileName"},
		"name of dots":               {map[string]any{"fileName": ".."}, "invalid_request", "fileName"},
		"long name":                  {map[string]any{"fileName": strings.Repeat("x", 256)}, "invalid_request", "fileName"},
		"long caption":               {map[string]any{"caption": strings.Repeat("x", 65537)}, "invalid_request", "caption"},
		"no MIME type":               {map[string]any{"mimetype": "pdf"}, "invalid_request", "mimetype"},
		"MIME type of another type":  {map[string]any{"type": "image", "mimetype": "video/mp4"}, "unsupported_media", "mimetype"},
		"quote without message":      {map[string]any{"quotedChatJid": grace}, "invalid_request", "quotedMsgId"},
		"private address":            {map[string]any{"url": "http://10.0.0.1/x"}, "fetch_failed", "fetch failed:"},
		"localhost":                  {map[string]any{"url": "http://localhost/x"}, "fetch_failed", "fetch failed:"},
		"other scheme":               {map[string]any{"url": "file:///etc/passwd"}, "fetch_failed", "fetch failed:"},
		"not a URL":                  {map[string]any{"url": "picture.png"}, "fetch_failed", "fetch failed:"},
		"private address as a quote": {map[string]any{"url": "http://192.168.1.1/x", "quotedMsgId": "NONE"}, "fetch_failed", "fetch failed:"},
	} {
		body := map[string]any{"jid": grace, "url": web.URL + "/refused.txt", "type": "document"}
		maps.Copy(body, c.change)
		got := s.Post("/api/messages/send-media", body).Want(http.StatusBadRequest)
		if got.Code() != c.code || !strings.Contains(got.Error(), c.says) {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	for _, field := range []string{"caption", "fileName", "mimetype"} {
		s.Post("/api/messages/send-media", map[string]any{"jid": grace, "url": web.URL + "/refused.txt", "type": "audio", "ptt": false, field: ""}).Want(http.StatusServiceUnavailable)
	}
	if n := webAsked.of("/refused.txt"); n != 0 {
		t.Errorf("fetched %d times", n)
	}
}

func TestSendMedia_FetchesThatFail(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for path, code := range map[string]string{"/empty": "fetch_failed", "/page": "fetch_failed", "/missing": "fetch_failed", "/paper.txt": "unsupported_media"} {
		got := s.Post("/api/messages/send-media", map[string]any{"jid": grace, "url": web.URL + path, "type": "image"}).Want(http.StatusBadRequest)
		if got.Code() != code || code == "fetch_failed" && !strings.HasPrefix(got.Error(), "fetch failed:") {
			t.Errorf("%s: %s", path, got.Body)
		}
	}
	if n := len(s.account.sent()); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
	s.leavesNothing()
}

func TestSendMedia_FailedSendsLeaveNothing(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.account.refuseAll(bridge.Fail(bridge.CodeNotOnNetwork, "nobody there"))
	s.Post("/api/messages/send-media", map[string]any{"jid": grace, "url": web.URL + "/paper.txt", "type": "document"}).Want(http.StatusBadRequest)
	s.leavesNothing()
}

// A repeated call neither fetches nor sends again.
func TestSendMedia_ReplayFetchesNothing(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	body := `{"jid":"15557654321@s.whatsapp.net","url":"` + web.URL + `/paper.txt?once","type":"document"}`
	before := webAsked.of("/paper.txt?once")
	for _, replayed := range []bool{false, true, true} {
		if status, _, got := s.keyed("k", "send-media", body); status != 200 || got != replayed {
			t.Errorf("%d, replayed %v, want %v", status, got, replayed)
		}
	}
	if fetched := webAsked.of("/paper.txt?once") - before; fetched != 1 || len(s.account.sent()) != 1 {
		t.Errorf("%d fetches, %d messages", fetched, len(s.account.sent()))
	}
}

// A caller that goes away does not abort a send.
func TestSendMedia_OutlivesItsCaller(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	caller, hangUp := context.WithCancel(t.Context())
	accept := s.account.send
	s.account.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
		hangUp()
		if ctx.Err() != nil {
			t.Error("the send ended with its caller")
		}
		return accept(ctx, out)
	}
	s.inProcess(caller, "/api/messages/send-media", `{"jid":"15557654321@s.whatsapp.net","url":"`+web.URL+`/paper.txt","type":"document"}`)
	if n := len(s.account.sent()); n != 1 {
		t.Errorf("%d messages were sent", n)
	}
	s.leavesNothing()
}
