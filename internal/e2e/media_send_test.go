package e2e

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
	c := pairedCast(t, fetchesLoopback)
	web := newWebsite(t)
	picture, movie, sound, voice, paper, odd := photo(t, 640, 400), film(), song(), demo.Voice(3), demo.PDF(), []byte{}
	odd = append(odd, noise(70_000)...)
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
		body  object
		want  *waE2E.Message
		shown object
	}{
		"picture": {
			picture,
			object{"type": "image", "caption": "Grüße 🏔️"},
			&waE2E.Message{ImageMessage: &waE2E.ImageMessage{Mimetype: proto.String("image/jpeg"), Caption: proto.String("Grüße 🏔️"), Width: proto.Uint32(640), Height: proto.Uint32(400), FileLength: length(picture)}},
			object{"type": "image", "mimetype": "image/jpeg", "caption": "Grüße 🏔️", "width": 640, "height": 400},
		},
		"picture without caption": {
			picture,
			object{"type": "image"},
			&waE2E.Message{ImageMessage: &waE2E.ImageMessage{Mimetype: proto.String("image/jpeg"), Width: proto.Uint32(640), Height: proto.Uint32(400), FileLength: length(picture)}},
			object{"type": "image", "mimetype": "image/jpeg", "caption": "", "width": 640, "height": 400},
		},
		"video": {
			movie,
			object{"type": "video", "caption": "waves"},
			&waE2E.Message{VideoMessage: &waE2E.VideoMessage{Mimetype: proto.String("video/mp4"), Caption: proto.String("waves"), Width: proto.Uint32(320), Height: proto.Uint32(240), Seconds: proto.Uint32(7), FileLength: length(movie)}},
			object{"type": "video", "mimetype": "video/mp4", "caption": "waves", "width": 320, "height": 240, "durationSec": 7},
		},
		"sound": {
			sound,
			object{"type": "audio", "ptt": false},
			&waE2E.Message{AudioMessage: &waE2E.AudioMessage{Mimetype: proto.String("audio/mpeg"), Seconds: proto.Uint32(3), PTT: proto.Bool(false), FileLength: length(sound)}},
			object{"type": "audio", "mimetype": "audio/mpeg", "durationSec": 3, "ptt": false},
		},
		"voice note": {
			voice,
			object{"type": "audio", "ptt": true},
			&waE2E.Message{AudioMessage: &waE2E.AudioMessage{Mimetype: proto.String("audio/ogg; codecs=opus"), Seconds: proto.Uint32(3), PTT: proto.Bool(true), FileLength: length(voice)}},
			object{"type": "audio", "mimetype": "audio/ogg; codecs=opus", "durationSec": 3, "ptt": true},
		},
		"document with caption": {
			paper,
			object{"type": "document", "caption": "the plan", "fileName": "Übersicht.pdf"},
			document(paper, "application/pdf", "Übersicht.pdf", "the plan"),
			object{"type": "document", "mimetype": "application/pdf", "caption": "the plan", "fileName": "Übersicht.pdf", "pages": 0},
		},
		"document named by its URL": {
			paper,
			object{"type": "document"},
			document(paper, "application/pdf", "document-named-by-its-URL.pdf", ""),
			object{"type": "document", "mimetype": "application/pdf", "caption": "", "fileName": "document-named-by-its-URL.pdf", "pages": 0},
		},
		"document of a named type": {
			odd,
			object{"type": "document", "mimetype": "application/x-engine", "fileName": "engine.bin"},
			document(odd, "application/x-engine", "engine.bin", ""),
			object{"type": "document", "mimetype": "application/x-engine", "caption": "", "fileName": "engine.bin", "pages": 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "/" + strings.ReplaceAll(name, " ", "-")
			id := c.sendsMedia(t, with(k.body, object{"jid": c.anna.PN().String(), "url": web.has(path, k.file)}))
			got := must(c.anna.ReceivedID(within(t), id))(t)
			raw := got.RawMessage
			if diff := cmp.Diff(k.want, raw, comparingFiles()...); diff != "" {
				t.Errorf("arrived (-want +got):\n%s", diff)
			}
			if file := must(c.anna.Show(within(t), got))(t); !bytes.Equal(file, k.file) {
				t.Errorf("%d bytes arrived, not the %d sent", len(file), len(k.file))
			}
			if key := raw.GetMessageContextInfo().GetMessageSecret(); len(key) != 32 {
				t.Errorf("message secret of %d bytes", len(key))
			}
			hasMeasures(t, got.Message.Message)
			download := bridge.DownloadPath(bridge.JID(c.anna.PN().String()), id)
			c.bridge.answers("/api/messages/media-info/"+strings.TrimPrefix(download, "/api/messages/media/"), object{
				"chatJid": c.anna.PN().String(), "msgId": id, "media": with(k.shown, object{"size": len(k.file), "downloadUrl": download}),
			})
			if served := c.bridge.Get(download).Want(http.StatusOK); !bytes.Equal(served.Body, k.file) {
				t.Errorf("the bridge serves %d other bytes of its own message", len(served.Body))
			}
		})
	}
	t.Cleanup(c.bridge.leavesNoFile)
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

// sendsMedia sends a file through the API and returns the message's id.
func (c *cast) sendsMedia(t testing.TB, body object) simnet.MessageID {
	t.Helper()
	return sentID(t, c.bridge.Post("/api/messages/send-media", body))
}

// A file with a quote to a group is a single upload, however many members it has.
func TestMediaSend_ToAGroupWithAQuote(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, fetchesLoopback)
	_, _, hike, _ := c.conversations(t)
	question := say(t, hike.by, hike.in, "do you have the map?")
	eventually(t, func() error {
		if got := c.bridge.Get(hike.list() + "?limit=1"); !strings.Contains(string(got.Body), question) {
			return fmt.Errorf("the question has not come")
		}
		return nil
	})
	picture, uploads := photo(t, 64, 64), c.network.CDN().Uploads()
	id := c.sendsMedia(t, object{"jid": hike.in.String(), "url": newWebsite(t).has("/map.jpg", picture), "type": "image", "caption": "here", "quotedMsgId": question})
	for _, member := range []*simnet.Phone{hike.by, hike.witness} {
		got := must(member.ReceivedID(within(t), id))(t)
		info := got.Message.Message.GetImageMessage().GetContextInfo()
		if info.GetStanzaID() != question || info.GetQuotedMessage().GetConversation() != "do you have the map?" {
			t.Errorf("%s sees the quote %v", member.Name(), info)
		}
		if file := must(member.Download(within(t), got))(t); !bytes.Equal(file, picture) {
			t.Errorf("%s got other bytes", member.Name())
		}
	}
	if n := c.network.CDN().Uploads() - uploads; n != 1 {
		t.Errorf("%d uploads, want 1", n)
	}
}

// One key means one fetch, one upload and one message.
func TestMediaSend_Once(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, fetchesLoopback)
	web := newWebsite(t)
	body := object{"jid": c.anna.PN().String(), "url": web.has("/once.pdf", demo.PDF()), "type": "document"}
	uploads := c.network.CDN().Uploads()
	id := sentID(t, c.bridge.Post("/api/messages/send-media", body, "Idempotency-Key", "once"))
	c.bridge.restart()
	again := c.bridge.Post("/api/messages/send-media", body, "Idempotency-Key", "once")
	if sentID(t, again) != id || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the repeated call was answered %s", again.Body)
	}
	refused(t, c.bridge.Post("/api/messages/send-media", with(body, object{"caption": "x"}), "Idempotency-Key", "once"), 422, bridge.CodeIdempotencyMismatch)
	if fetches, uploads := web.fetches("/once.pdf"), c.network.CDN().Uploads()-uploads; fetches != 1 || uploads != 1 {
		t.Errorf("%d fetches and %d uploads, want one each", fetches, uploads)
	}
	must(c.anna.ReceivedID(within(t), id))(t)
}

// A caller that hangs up during the fetch does not abort the send, and can use its
// key to learn the outcome.
func TestMediaSend_OutlivesItsCaller(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, fetchesLoopback)
	fetching, goOn := make(chan struct{}), make(chan struct{})
	url := newWebsite(t).serves("/slow.pdf", func(w http.ResponseWriter, _ *http.Request) {
		close(fetching)
		<-goOn
		_, _ = w.Write(demo.PDF())
	})
	body := fmt.Sprintf(`{"jid":"%s","url":"%s","type":"document"}`, c.anna.PN(), url)
	ctx, hangUp := context.WithCancel(within(t))
	gone := make(chan error, 1)
	go func() {
		_, err := c.bridge.rawPost(ctx, "/api/messages/send-media", body, "patient")
		gone <- err
	}()
	<-fetching
	hangUp()
	if err := <-gone; err == nil {
		t.Fatal("the call was answered before the fetch ended")
	}
	refused(t, c.bridge.Post("/api/messages/send-media", body, "Idempotency-Key", "patient"), 409, bridge.CodeRequestInProgress)
	close(goOn)
	var id simnet.MessageID
	eventually(t, func() error {
		resp := c.bridge.Post("/api/messages/send-media", body, "Idempotency-Key", "patient")
		if resp.Status == http.StatusConflict {
			return fmt.Errorf("still in progress")
		}
		id = sentID(t, resp)
		return nil
	})
	got := must(c.anna.ReceivedID(within(t), id))(t)
	if file := must(c.anna.Download(within(t), got))(t); !bytes.Equal(file, demo.PDF()) {
		t.Error("other bytes arrived")
	}
	c.bridge.leavesNoFile()
}

// rawPost makes a call whose caller may hang up.
func (p *process) rawPost(ctx context.Context, path, body, key string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+p.env["BRIDGE_TOKEN"])
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// A stop during a fetch is reported to the caller, leaves no file and takes no
// longer than others.
func TestMediaSend_StopDuringTheFetch(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, fetchesLoopback)
	fetching, over := make(chan struct{}), make(chan struct{})
	web := newWebsite(t)
	t.Cleanup(func() { close(over) })
	url := web.serves("/endless", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(demo.PDF())
		_ = http.NewResponseController(w).Flush()
		close(fetching)
		<-over
	})
	answered := make(chan apitest.Response, 1)
	b := c.bridge
	go func() {
		answered <- b.Post("/api/messages/send-media", object{"jid": c.anna.PN().String(), "url": url, "type": "document"})
	}()
	<-fetching
	b.stop()
	refused(t, <-answered, http.StatusServiceUnavailable, bridge.CodeNotConnected, "stopping")
	b.leavesNoFile()
}

// Uploads survive the faults of media servers.
func TestMediaSend_UploadsThatFail(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, fetchesLoopback)
	url := newWebsite(t).has("/paper.pdf", demo.PDF())
	send := func() apitest.Response {
		return c.bridge.Post("/api/messages/send-media", object{"jid": c.anna.PN().String(), "url": url, "type": "document"})
	}
	for name, fault := range map[string]simnet.CDNFault{
		"busy": {Status: 503, Times: 1}, "broken": {Status: 500, Times: 2}, "credentials ran out": {Status: 401, Times: 1}, "forbidden": {Status: 403, Times: 1},
	} {
		fault.Method = http.MethodPost
		c.network.CDN().Fail(fault)
		if got := send(); got.Status != http.StatusOK {
			t.Errorf("%s: %s", name, got.Body)
		}
		c.network.CDN().ClearFaults()
	}
	c.network.CDN().Fail(simnet.CDNFault{Method: http.MethodPost, Status: 500})
	refused(t, send(), http.StatusServiceUnavailable, bridge.CodeNotConnected, "uploaded")
	c.network.CDN().ClearFaults()
	c.network.CDN().Fail(simnet.CDNFault{Method: http.MethodPost, Status: 413})
	refused(t, send(), http.StatusBadGateway, bridge.CodeSendRefused, "413")
	c.network.CDN().ClearFaults()
	sentID(t, send())
	c.bridge.leavesNoFile()
}

// Files that cannot be sent at all.
func TestMediaSend_BadFiles(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, fetchesLoopback, "MEDIA_MAX_BYTES=100000", "FETCH_TIMEOUT=8s")
	web := newWebsite(t)
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	uploads := c.network.CDN().Uploads()
	text := []byte("just words")
	for name, f := range map[string]struct {
		url  string
		body object
		code bridge.Code
		says string
	}{
		"missing":             {web.URL + "/nothing", object{"type": "image"}, bridge.CodeFetchFailed, "404"},
		"empty":               {web.has("/empty", nil), object{"type": "document"}, bridge.CodeFetchFailed, "empty"},
		"larger than allowed": {web.has("/large", noise(100_001)), object{"type": "document"}, bridge.CodeFetchFailed, "larger than"},
		"web page as picture": {web.has("/page", []byte("<!DOCTYPE html><html><body>Sorry</body></html>")), object{"type": "image"}, bridge.CodeFetchFailed, "HTML"},
		"web page as paper":   {web.has("/login", []byte("<!DOCTYPE html><html><body>Sorry</body></html>")), object{"type": "document", "fileName": "paper.pdf"}, bridge.CodeFetchFailed, "HTML"},
		"words as picture":    {web.has("/words", text), object{"type": "image"}, bridge.CodeUnsupportedMedia, "image"},
		"sound as video":      {web.has("/song", song()), object{"type": "video"}, bridge.CodeUnsupportedMedia, "audio"},
		"film as picture":     {web.has("/film", film()), object{"type": "image"}, bridge.CodeUnsupportedMedia, "image"},
		"picture as sound":    {web.has("/picture", demo.Picture(8, 8)), object{"type": "audio"}, bridge.CodeUnsupportedMedia, "audio"},
		"song as voice note":  {web.has("/tune", song()), object{"type": "audio", "ptt": true}, bridge.CodeUnsupportedMedia, "Opus"},
		"breaks off": {web.serves("/short", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write(text)
		}), object{"type": "document"}, bridge.CodeFetchFailed, ""},
		"never ends": {web.serves("/stalls", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(text)
			_ = http.NewResponseController(w).Flush()
			<-over
		}), object{"type": "document"}, bridge.CodeFetchFailed, ""},
		"goes in circles": {web.serves("/circle", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/circle", http.StatusFound)
		}), object{"type": "document"}, bridge.CodeFetchFailed, "redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.bridge.Post("/api/messages/send-media", with(f.body, object{"jid": c.anna.PN().String(), "url": f.url}))
			refused(t, got, http.StatusBadRequest, f.code, f.says)
			if f.code == bridge.CodeFetchFailed && !strings.HasPrefix(got.Error(), "fetch failed:") {
				t.Errorf("the sentence is %q", got.Error())
			}
		})
	}
	t.Cleanup(func() {
		if n := c.network.CDN().Uploads() - uploads; n != 0 {
			t.Errorf("%d uploads", n)
		}
		c.bridge.leavesNoFile()
	})
}

// No request goes to an address that is not public: not by any spelling, not after
// a redirect, not through a proxy in the environment.
func TestMediaSend_GuardHolds(t *testing.T) {
	t.Parallel()
	bird := newCanary(t)
	proxy := "http://127.0.0.1:" + bird.port
	c := pairedCast(t, fetchesLoopback, "HTTP_PROXY="+proxy, "http_proxy="+proxy, "ALL_PROXY="+proxy)
	web := newWebsite(t)
	redirects := func(path, to string) string {
		return web.serves(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
	}
	send := func(url string) apitest.Response {
		return c.bridge.Post("/api/messages/send-media", object{"jid": c.anna.PN().String(), "url": url, "type": "document"})
	}
	at := func(host string) string { return "http://" + host + ":" + bird.port + "/secret" }
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
		refused(t, send(url), http.StatusBadRequest, bridge.CodeFetchFailed)
	}
	for i, to := range []string{at("127.0.0.1"), at("localhost"), at("[::1]"), "http://10.0.0.1/", "file:///etc/passwd"} {
		refused(t, send(redirects(fmt.Sprint("/redirect/", i), to)), http.StatusBadRequest, bridge.CodeFetchFailed)
	}
	// A public URL is fetched, redirects included, without the proxy.
	sentID(t, send(redirects("/moved", web.has("/paper.pdf", demo.PDF()))))
}

// A URL with a literal private address is refused before the account's state is
// checked; a fetch needs an open account.
func TestMediaSend_RefusalsComeInOrder(t *testing.T) {
	t.Parallel()
	b := startBridge(t, newNetwork(t), fetchesLoopback)
	b.becomes(bridge.StateNeedsPair)
	web := newWebsite(t)
	body := object{"jid": "491510000002@s.whatsapp.net", "url": web.has("/paper.pdf", demo.PDF()), "type": "document"}
	refused(t, b.Post("/api/messages/send-media", with(body, object{"url": "http://10.0.0.1/"})), 400, bridge.CodeFetchFailed, "fetch failed:")
	refused(t, b.Post("/api/messages/send-media", with(body, object{"ptt": true})), 400, bridge.CodeInvalid, "ptt")
	refused(t, b.Post("/api/messages/send-media", with(body, object{"quotedMsgId": "NONE"})), 404, bridge.CodeNotFound)
	refused(t, b.Post("/api/messages/send-media", body), 503, bridge.CodeNotConnected)
	if n := web.fetches("/paper.pdf"); n != 0 {
		t.Errorf("fetched %d times", n)
	}
	b.stop()
	b.set("ENABLE_SEND=false")
	b.start()
	refused(t, b.Post("/api/messages/send-media", with(body, object{"url": "http://10.0.0.1/"})), 403, bridge.CodeSendDisabled)
}

// A killed bridge removes fetched files on its next start.
func TestMediaSend_KilledDuringTheFetch(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, fetchesLoopback)
	fetching, over := make(chan struct{}), make(chan struct{})
	web := newWebsite(t)
	t.Cleanup(func() { close(over) })
	url := web.serves("/endless", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(noise(1 << 20))
		_ = http.NewResponseController(w).Flush()
		close(fetching)
		<-over
	})
	ctx, hangUp := context.WithCancel(within(t))
	defer hangUp()
	ended := make(chan error, 1)
	go func() {
		_, err := c.bridge.rawPost(ctx, "/api/messages/send-media", fmt.Sprintf(`{"jid":"%s","url":"%s","type":"document"}`, c.anna.PN(), url), "k")
		ended <- err
	}()
	<-fetching
	c.bridge.signal(syscall.SIGKILL)
	<-c.bridge.exited
	if err := <-ended; err == nil {
		t.Error("a killed bridge answered")
	}
	c.bridge.start()
	c.bridge.leavesNoFile()
}

// tagOf returns a file's entity tag.
func tagOf(file []byte) string { return fmt.Sprintf(`"%x"`, sha256.Sum256(file)) }
