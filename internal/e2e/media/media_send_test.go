package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"image/jpeg"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// fileFields are the fields that an upload sets in every kind of message.
var fileFields = []string{"URL", "directPath", "mediaKey", "mediaKeyTimestamp", "fileSHA256", "fileEncSHA256", "JPEGThumbnail", "waveform"}

func comparingFiles() []cmp.Option {
	options := []cmp.Option{protocmp.Transform(), protocmp.IgnoreFields(&waE2E.Message{}, "messageContextInfo")}
	for _, m := range []proto.Message{&waE2E.ImageMessage{}, &waE2E.VideoMessage{}, &waE2E.AudioMessage{}, &waE2E.DocumentMessage{}} {
		for _, name := range fileFields {
			if field := m.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name)); field != nil {
				options = append(options, protocmp.IgnoreFields(m, field.Name()))
			}
		}
	}
	return options
}

// TestMediaSend_EveryKindArrives sends files of every kind, and compares every byte
// and field of the phones' decrypted messages. The bridge then serves each file
// itself, as an own message.
func TestMediaSend_EveryKindArrives(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	web := NewWebsite(t)
	picture, movie, sound, voice, paper, odd := Photo(t, 640, 400), Film(), Song(), demo.Voice(3), demo.PDF(), []byte{}
	odd = append(odd, Noise(70_000)...)
	length := func(file []byte) *uint64 { return proto.Uint64(uint64(len(file))) }
	document := func(file []byte, mimeType, name, caption string) *waE2E.Message {
		m := &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Mimetype: &mimeType, FileName: &name, Title: &name, FileLength: length(file)}}
		if caption == "" {
			return m
		}
		m.DocumentMessage.Caption = &caption
		return &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: m}}
	}
	for name, k := range map[string]struct {
		file  []byte
		body  Object
		want  *waE2E.Message
		shown Object
	}{
		"picture": {
			picture,
			Object{"type": "image", "caption": "Grüße 🏔️"},
			&waE2E.Message{ImageMessage: &waE2E.ImageMessage{Mimetype: proto.String("image/jpeg"), Caption: proto.String("Grüße 🏔️"), Width: proto.Uint32(640), Height: proto.Uint32(400), FileLength: length(picture)}},
			Object{"type": "image", "mimetype": "image/jpeg", "caption": "Grüße 🏔️", "width": 640, "height": 400, "viewOnce": false},
		},
		"picture without caption": {
			picture,
			Object{"type": "image"},
			&waE2E.Message{ImageMessage: &waE2E.ImageMessage{Mimetype: proto.String("image/jpeg"), Width: proto.Uint32(640), Height: proto.Uint32(400), FileLength: length(picture)}},
			Object{"type": "image", "mimetype": "image/jpeg", "caption": "", "width": 640, "height": 400, "viewOnce": false},
		},
		"video": {
			movie,
			Object{"type": "video", "caption": "waves"},
			&waE2E.Message{VideoMessage: &waE2E.VideoMessage{Mimetype: proto.String("video/mp4"), Caption: proto.String("waves"), Width: proto.Uint32(320), Height: proto.Uint32(240), Seconds: proto.Uint32(7), FileLength: length(movie)}},
			Object{"type": "video", "mimetype": "video/mp4", "caption": "waves", "width": 320, "height": 240, "durationSec": 7, "gif": false, "viewOnce": false},
		},
		"sound": {
			sound,
			Object{"type": "audio", "ptt": false},
			&waE2E.Message{AudioMessage: &waE2E.AudioMessage{Mimetype: proto.String("audio/mpeg"), Seconds: proto.Uint32(3), PTT: proto.Bool(false), FileLength: length(sound)}},
			Object{"type": "audio", "mimetype": "audio/mpeg", "durationSec": 3, "ptt": false, "viewOnce": false},
		},
		"voice note": {
			voice,
			Object{"type": "audio", "ptt": true},
			&waE2E.Message{AudioMessage: &waE2E.AudioMessage{Mimetype: proto.String("audio/ogg; codecs=opus"), Seconds: proto.Uint32(3), PTT: proto.Bool(true), FileLength: length(voice)}},
			Object{"type": "audio", "mimetype": "audio/ogg; codecs=opus", "durationSec": 3, "ptt": true, "viewOnce": false},
		},
		"document with caption": {
			paper,
			Object{"type": "document", "caption": "the plan", "fileName": "Übersicht.pdf"},
			document(paper, "application/pdf", "Übersicht.pdf", "the plan"),
			Object{"type": "document", "mimetype": "application/pdf", "caption": "the plan", "fileName": "Übersicht.pdf", "pages": 0},
		},
		"document named by its URL": {
			paper,
			Object{"type": "document"},
			document(paper, "application/pdf", "document-named-by-its-URL.pdf", ""),
			Object{"type": "document", "mimetype": "application/pdf", "caption": "", "fileName": "document-named-by-its-URL.pdf", "pages": 0},
		},
		"document of a named type": {
			odd,
			Object{"type": "document", "mimetype": "application/x-engine", "fileName": "engine.bin"},
			document(odd, "application/x-engine", "engine.bin", ""),
			Object{"type": "document", "mimetype": "application/x-engine", "caption": "", "fileName": "engine.bin", "pages": 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "/" + strings.ReplaceAll(name, " ", "-")
			id := c.SendsMedia(t, With(k.body, Object{"jid": c.Anna.PN().String(), "url": web.Has(path, k.file)}))
			got := Must(c.Anna.ReceivedID(Within(t), id))(t)
			raw := got.RawMessage
			if diff := cmp.Diff(k.want, raw, comparingFiles()...); diff != "" {
				t.Errorf("arrived (-want +got):\n%s", diff)
			}
			if file := Must(c.Anna.Show(Within(t), got))(t); !bytes.Equal(file, k.file) {
				t.Errorf("%d bytes arrived, not the %d sent", len(file), len(k.file))
			}
			if key := raw.GetMessageContextInfo().GetMessageSecret(); len(key) != 32 {
				t.Errorf("message secret of %d bytes", len(key))
			}
			hasMeasures(t, got.Message.Message)
			download := bridge.DownloadPath(bridge.JID(c.Anna.PN().String()), id)
			c.Bridge.Answers("/api/messages/media-info/"+strings.TrimPrefix(download, "/api/messages/media/"), Object{
				"chatJid": c.Anna.PN().String(), "msgId": id, "media": With(k.shown, Object{"size": len(k.file), "downloadUrl": download}),
			})
			if served := c.Bridge.Get(download).Want(http.StatusOK); !bytes.Equal(served.Body, k.file) {
				t.Errorf("the bridge serves %d other bytes of its own message", len(served.Body))
			}
		})
	}
	t.Cleanup(c.Bridge.LeavesNoFile)
}

// hasMeasures checks fields whose values the tests cannot predict.
func hasMeasures(t *testing.T, m *waE2E.Message) {
	t.Helper()
	if image := m.GetImageMessage(); image != nil {
		thumbnail, err := jpeg.DecodeConfig(bytes.NewReader(image.GetJPEGThumbnail()))
		if err != nil || thumbnail.Width*400 != thumbnail.Height*640 && max(thumbnail.Width, thumbnail.Height) < 32 {
			t.Errorf("thumbnail %+v: %v", thumbnail, err)
		}
	}
	if voice := m.GetAudioMessage(); voice.GetPTT() && len(voice.GetWaveform()) != 64 {
		t.Errorf("waveform of %d", len(voice.GetWaveform()))
	}
	for _, file := range []interface {
		GetMediaKeyTimestamp() int64
		GetURL() string
		GetDirectPath() string
	}{m.GetImageMessage(), m.GetVideoMessage(), m.GetAudioMessage(), m.GetDocumentMessage()} {
		if file.GetDirectPath() == "" {
			continue // not this kind
		}
		if age := time.Since(time.Unix(file.GetMediaKeyTimestamp(), 0)); age < -time.Minute || age > time.Minute || !strings.HasSuffix(file.GetURL(), file.GetDirectPath()) {
			t.Errorf("key of %s ago, URL %s", age, file.GetURL())
		}
	}
}

// A file with a quote to a group is a single upload, however many members it has.
func TestMediaSend_ToAGroupWithAQuote(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	_, _, hike, _ := c.Conversations(t)
	question := Say(t, hike.By, hike.In, "do you have the map?")
	Eventually(t, func() error {
		if got := c.Bridge.Get(hike.List() + "?limit=1"); !strings.Contains(string(got.Body), question) {
			return fmt.Errorf("the question has not arrived")
		}
		return nil
	})
	picture, uploads := Photo(t, 64, 64), c.Network.CDN().Uploads()
	id := c.SendsMedia(t, Object{"jid": hike.In.String(), "url": NewWebsite(t).Has("/map.jpg", picture), "type": "image", "caption": "here", "quotedMsgId": question})
	for _, member := range []*simnet.Phone{hike.By, hike.Witness} {
		got := Must(member.ReceivedID(Within(t), id))(t)
		info := got.Message.Message.GetImageMessage().GetContextInfo()
		if info.GetStanzaID() != question || info.GetQuotedMessage().GetConversation() != "do you have the map?" {
			t.Errorf("%s sees the quote %v", member.Name(), info)
		}
		if file := Must(member.Download(Within(t), got))(t); !bytes.Equal(file, picture) {
			t.Errorf("%s got other bytes", member.Name())
		}
	}
	if n := c.Network.CDN().Uploads() - uploads; n != 1 {
		t.Errorf("%d uploads, want 1", n)
	}
}

// One key means one fetch, one upload and one message.
func TestMediaSend_Once(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	web := NewWebsite(t)
	body := Object{"jid": c.Anna.PN().String(), "url": web.Has("/once.pdf", demo.PDF()), "type": "document"}
	uploads := c.Network.CDN().Uploads()
	id := SentID(t, c.Bridge.Post("/api/messages/send-media", body, "Idempotency-Key", "once"))
	c.Bridge.Restart()
	again := c.Bridge.Post("/api/messages/send-media", body, "Idempotency-Key", "once")
	if SentID(t, again) != id || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the repeated call was answered %s", again.Body)
	}
	Refused(t, c.Bridge.Post("/api/messages/send-media", With(body, Object{"caption": "x"}), "Idempotency-Key", "once"), 422, bridge.CodeIdempotencyMismatch)
	if fetches, uploads := web.Fetches("/once.pdf"), c.Network.CDN().Uploads()-uploads; fetches != 1 || uploads != 1 {
		t.Errorf("%d fetches and %d uploads, want one each", fetches, uploads)
	}
	Must(c.Anna.ReceivedID(Within(t), id))(t)
}

// A caller that hangs up during the fetch does not abort the send, and can use its
// key to learn the outcome.
func TestMediaSend_OutlivesItsCaller(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	fetching, goOn := make(chan struct{}), make(chan struct{})
	url := NewWebsite(t).Serves("/slow.pdf", func(w http.ResponseWriter, _ *http.Request) {
		close(fetching)
		<-goOn
		_, _ = w.Write(demo.PDF())
	})
	body := fmt.Sprintf(`{"jid":"%s","url":"%s","type":"document"}`, c.Anna.PN(), url)
	ctx, hangUp := context.WithCancel(Within(t))
	gone := make(chan error, 1)
	go func() {
		_, err := c.Bridge.RawPost(ctx, "/api/messages/send-media", body, "patient")
		gone <- err
	}()
	<-fetching
	hangUp()
	if err := <-gone; err == nil {
		t.Fatal("the call was answered before the fetch ended")
	}
	Refused(t, c.Bridge.Post("/api/messages/send-media", body, "Idempotency-Key", "patient"), 409, bridge.CodeRequestInProgress)
	close(goOn)
	var id simnet.MessageID
	Eventually(t, func() error {
		resp := c.Bridge.Post("/api/messages/send-media", body, "Idempotency-Key", "patient")
		if resp.Status == http.StatusConflict {
			return fmt.Errorf("still in progress")
		}
		id = SentID(t, resp)
		return nil
	})
	got := Must(c.Anna.ReceivedID(Within(t), id))(t)
	if file := Must(c.Anna.Download(Within(t), got))(t); !bytes.Equal(file, demo.PDF()) {
		t.Error("other bytes arrived")
	}
	c.Bridge.LeavesNoFile()
}

// A stop during a fetch is reported to the caller, leaves no file and takes no
// longer than others.
func TestMediaSend_StopDuringTheFetch(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	fetching, over := make(chan struct{}), make(chan struct{})
	web := NewWebsite(t)
	t.Cleanup(func() { close(over) })
	url := web.Serves("/endless", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(demo.PDF())
		_ = http.NewResponseController(w).Flush()
		close(fetching)
		<-over
	})
	answered := make(chan apitest.Response, 1)
	b := c.Bridge
	go func() {
		answered <- b.Post("/api/messages/send-media", Object{"jid": c.Anna.PN().String(), "url": url, "type": "document"})
	}()
	<-fetching
	b.Stop()
	Refused(t, <-answered, http.StatusServiceUnavailable, bridge.CodeNotConnected, "stopping")
	b.LeavesNoFile()
}

// Uploads survive the faults of media servers.
func TestMediaSend_UploadsThatFail(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	url := NewWebsite(t).Has("/paper.pdf", demo.PDF())
	send := func() apitest.Response {
		return c.Bridge.Post("/api/messages/send-media", Object{"jid": c.Anna.PN().String(), "url": url, "type": "document"})
	}
	for name, fault := range map[string]simnet.CDNFault{
		"busy": {Status: 503, Times: 1}, "broken": {Status: 500, Times: 2}, "credentials ran out": {Status: 401, Times: 1}, "forbidden": {Status: 403, Times: 1},
	} {
		fault.Method = http.MethodPost
		c.Network.CDN().Fail(fault)
		if got := send(); got.Status != http.StatusOK {
			t.Errorf("%s: %s", name, got.Body)
		}
		c.Network.CDN().ClearFaults()
	}
	c.Network.CDN().Fail(simnet.CDNFault{Method: http.MethodPost, Status: 500})
	Refused(t, send(), http.StatusServiceUnavailable, bridge.CodeNotConnected, "uploaded")
	c.Network.CDN().ClearFaults()
	c.Network.CDN().Fail(simnet.CDNFault{Method: http.MethodPost, Status: 413})
	Refused(t, send(), http.StatusBadGateway, bridge.CodeSendRefused, "413")
	c.Network.CDN().ClearFaults()
	SentID(t, send())
	c.Bridge.LeavesNoFile()
}

// These files are refused.
func TestMediaSend_BadFiles(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback, "MEDIA_MAX_BYTES=100000", "FETCH_TIMEOUT=8s")
	web := NewWebsite(t)
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	uploads := c.Network.CDN().Uploads()
	text := []byte("just words")
	for name, f := range map[string]struct {
		url  string
		body Object
		code bridge.Code
		says string
	}{
		"missing":             {web.URL + "/nothing", Object{"type": "image"}, bridge.CodeFetchFailed, "404"},
		"empty":               {web.Has("/empty", nil), Object{"type": "document"}, bridge.CodeFetchFailed, "empty"},
		"larger than allowed": {web.Has("/large", Noise(100_001)), Object{"type": "document"}, bridge.CodeFetchFailed, "larger than"},
		"web page as picture": {web.Has("/page", []byte("<!DOCTYPE html><html><body>Sorry</body></html>")), Object{"type": "image"}, bridge.CodeFetchFailed, "HTML"},
		"web page as paper":   {web.Has("/login", []byte("<!DOCTYPE html><html><body>Sorry</body></html>")), Object{"type": "document", "fileName": "paper.pdf"}, bridge.CodeFetchFailed, "HTML"},
		"words as picture":    {web.Has("/words", text), Object{"type": "image"}, bridge.CodeUnsupportedMedia, "image"},
		"sound as video":      {web.Has("/song", Song()), Object{"type": "video"}, bridge.CodeUnsupportedMedia, "audio"},
		"film as picture":     {web.Has("/film", Film()), Object{"type": "image"}, bridge.CodeUnsupportedMedia, "image"},
		"picture as sound":    {web.Has("/picture", demo.Picture(8, 8)), Object{"type": "audio"}, bridge.CodeUnsupportedMedia, "audio"},
		"song as voice note":  {web.Has("/tune", Song()), Object{"type": "audio", "ptt": true}, bridge.CodeUnsupportedMedia, "Opus"},
		"breaks off": {web.Serves("/short", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write(text)
		}), Object{"type": "document"}, bridge.CodeFetchFailed, ""},
		"never ends": {web.Serves("/stalls", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(text)
			_ = http.NewResponseController(w).Flush()
			<-over
		}), Object{"type": "document"}, bridge.CodeFetchFailed, ""},
		"goes in circles": {web.Serves("/circle", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/circle", http.StatusFound)
		}), Object{"type": "document"}, bridge.CodeFetchFailed, "redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.Bridge.Post("/api/messages/send-media", With(f.body, Object{"jid": c.Anna.PN().String(), "url": f.url}))
			Refused(t, got, http.StatusBadRequest, f.code, f.says)
			if f.code == bridge.CodeFetchFailed && !strings.HasPrefix(got.Error(), "fetch failed:") {
				t.Errorf("the sentence is %q", got.Error())
			}
		})
	}
	t.Cleanup(func() {
		if n := c.Network.CDN().Uploads() - uploads; n != 0 {
			t.Errorf("%d uploads", n)
		}
		c.Bridge.LeavesNoFile()
	})
}

// No request goes to a private address, in whatever spelling, after a redirect, or through a
// proxy in the environment.
func TestMediaSend_GuardHolds(t *testing.T) {
	t.Parallel()
	bird := NewCanary(t)
	proxy := "http://127.0.0.1:" + bird.Port
	c := PairedCast(t, FetchesLoopback, "HTTP_PROXY="+proxy, "http_proxy="+proxy, "ALL_PROXY="+proxy)
	web := NewWebsite(t)
	redirects := func(path, to string) string {
		return web.Serves(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
	}
	send := func(url string) apitest.Response {
		return c.Bridge.Post("/api/messages/send-media", Object{"jid": c.Anna.PN().String(), "url": url, "type": "document"})
	}
	at := func(host string) string { return "http://" + host + ":" + bird.Port + "/secret" }
	urls := []string{
		"http://10.0.0.1/", "http://192.168.0.1/", "http://172.16.0.1/", "http://172.31.255.255/", "http://169.254.169.254/latest/meta-data/", "http://100.64.0.1/", "http://[fd00::1]/", "http://[fe80::1%25eth0]/",
		"ftp://example.org/x", "file:///etc/passwd", "gopher://127.0.0.1/", "//example.org/x", "http://", "javascript:alert(1)", "data:text/plain,x",
		"http://user:password@example.org/", "http://example.org:0/",
	}
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST.", "a.localhost", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "0.0.0.0", "0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "127.0.0.1.", "１２７.０.０.１", "127。0。0。1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
	} {
		urls = append(urls, at(host))
	}
	for _, url := range urls {
		Refused(t, send(url), http.StatusBadRequest, bridge.CodeFetchFailed)
	}
	for i, to := range []string{at("127.0.0.1"), at("localhost"), at("[::1]"), "http://10.0.0.1/", "file:///etc/passwd"} {
		Refused(t, send(redirects(fmt.Sprint("/redirect/", i), to)), http.StatusBadRequest, bridge.CodeFetchFailed)
	}
	// A public URL is fetched, redirects included, without the proxy.
	SentID(t, send(redirects("/moved", web.Has("/paper.pdf", demo.PDF()))))
}

// A URL with a literal private address is refused before the account's state is
// checked; a fetch needs an open account.
func TestMediaSend_RefusalsComeInOrder(t *testing.T) {
	t.Parallel()
	b := StartBridge(t, NewNetwork(t), FetchesLoopback)
	b.Becomes(bridge.StateNeedsPair)
	web := NewWebsite(t)
	body := Object{"jid": "491510000002@s.whatsapp.net", "url": web.Has("/paper.pdf", demo.PDF()), "type": "document"}
	Refused(t, b.Post("/api/messages/send-media", With(body, Object{"url": "http://10.0.0.1/"})), 400, bridge.CodeFetchFailed, "fetch failed:")
	Refused(t, b.Post("/api/messages/send-media", With(body, Object{"ptt": true})), 400, bridge.CodeInvalid, "ptt")
	Refused(t, b.Post("/api/messages/send-media", With(body, Object{"quotedMsgId": "NONE"})), 404, bridge.CodeNotFound)
	Refused(t, b.Post("/api/messages/send-media", body), 503, bridge.CodeNotConnected)
	if n := web.Fetches("/paper.pdf"); n != 0 {
		t.Errorf("fetched %d times", n)
	}
	b.Stop()
	b.Set("ENABLE_SEND=false")
	b.Start()
	Refused(t, b.Post("/api/messages/send-media", With(body, Object{"url": "http://10.0.0.1/"})), 403, bridge.CodeSendDisabled)
}

// A killed bridge removes fetched files on its next start.
func TestMediaSend_KilledDuringTheFetch(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	fetching, over := make(chan struct{}), make(chan struct{})
	web := NewWebsite(t)
	t.Cleanup(func() { close(over) })
	url := web.Serves("/endless", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(Noise(1 << 20))
		_ = http.NewResponseController(w).Flush()
		close(fetching)
		<-over
	})
	ctx, hangUp := context.WithCancel(Within(t))
	defer hangUp()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Bridge.RawPost(ctx, "/api/messages/send-media", fmt.Sprintf(`{"jid":"%s","url":"%s","type":"document"}`, c.Anna.PN(), url), "k")
		ended <- err
	}()
	<-fetching
	c.Bridge.Signal(syscall.SIGKILL)
	<-c.Bridge.Exited
	if err := <-ended; err == nil {
		t.Error("a killed bridge answered")
	}
	c.Bridge.Start()
	c.Bridge.LeavesNoFile()
}

// tagOf returns a file's entity tag.
func tagOf(file []byte) string { return fmt.Sprintf(`"%x"`, sha256.Sum256(file)) }
