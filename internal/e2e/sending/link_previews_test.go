package sending

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// hasPage puts a page with Open Graph tags at a path.
func hasPage(w *Website, path, title string) (url string) {
	w.Has("/picture.png", demo.Picture(600, 400))
	return w.Serves(path, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(rw, `<!DOCTYPE html><head><title>other</title><meta property="og:title" content="%s">
			<meta property="og:description" content="What it is about"><meta property="og:image" content="/picture.png"></head>`, title)
	})
}

// textWithPreview checks what a phone got of a text with a page's preview.
func textWithPreview(t *testing.T, got *waE2E.Message, text, url, title string) {
	t.Helper()
	shown := got.GetExtendedTextMessage()
	if shown.GetText() != text || shown.GetMatchedText() != url || shown.GetTitle() != title || shown.GetDescription() != "What it is about" ||
		shown.PreviewType == nil || shown.GetPreviewType() != waE2E.ExtendedTextMessage_NONE {
		t.Errorf("arrived as %v", got)
	}
	size, err := jpeg.DecodeConfig(bytes.NewReader(shown.GetJPEGThumbnail()))
	if err != nil || size.Width != 300 || size.Height != 200 {
		t.Errorf("with a picture of %d by %d: %v", size.Width, size.Height, err)
	}
}

// A text shows the page of its link on the phones and in the API. It is fetched once under
// one key, goes along with forwards, and ends with an edit.
func TestLinkPreviews_AreSent(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	web := NewWebsite(t)
	url := hasPage(web, "/page", "A Grüße page")
	to := bridge.JID(c.Anna.PN().String())
	text := "see " + url + ", it is good"
	body := Object{"jid": to, "text": text, "linkPreview": true}
	id := SentID(t, c.Bridge.Post("/api/messages/send", body, "Idempotency-Key", "once"))
	textWithPreview(t, Must(c.Anna.ReceivedID(Within(t), id))(t).Message.Message, text, url, "A Grüße page")

	stored := Must(c.Bridge.API.Message(Within(t), to, id))(t)
	want := &bridge.LinkPreview{URL: url, Title: "A Grüße page", Description: "What it is about"}
	if diff := cmp.Diff(want, stored.LinkPreview); diff != "" || stored.Content != text || stored.MessageType != "extendedTextMessage" {
		t.Errorf("stored as %s %q (-want +got):\n%s", stored.MessageType, stored.Content, diff)
	}
	c.Bridge.Restart()
	c.Bridge.Becomes(bridge.StateOpen)
	if again := SentID(t, c.Bridge.Post("/api/messages/send", body, "Idempotency-Key", "once")); again != id || web.Fetches("/page") != 1 {
		t.Errorf("the repeated call sent %s and fetched %d times", again, web.Fetches("/page"))
	}
	Refused(t, c.Bridge.Post("/api/messages/send", With(body, Object{"linkPreview": false}), "Idempotency-Key", "once"), 422, bridge.CodeIdempotencyMismatch)

	quoting := SentID(t, c.Bridge.Post("/api/messages/send", With(body, Object{"quotedMsgId": id})))
	got := Must(c.Anna.ReceivedID(Within(t), quoting))(t).Message.Message
	textWithPreview(t, got, text, url, "A Grüße page")
	if got.GetExtendedTextMessage().GetContextInfo().GetStanzaID() != id {
		t.Errorf("the quote is missing: %v", got)
	}
	forwarded := Must(c.Bridge.API.Send(Within(t), client.Forward{SourceChat: to, SourceMsgID: id, To: bridge.JID(c.Ben.PN().String())}, ""))(t)
	textWithPreview(t, Must(c.Ben.ReceivedID(Within(t), forwarded.ID))(t).Message.Message, text, url, "A Grüße page")

	Must(c.Bridge.API.Edit(Within(t), to, id, "no link", nil, ""))(t)
	if edited := Must(c.Bridge.API.Message(Within(t), to, id))(t); edited.Content != "no link" || edited.LinkPreview != nil {
		t.Errorf("edited, it is %q with %+v", edited.Content, edited.LinkPreview)
	}
	if n := web.Fetches("/page"); n != 2 {
		t.Errorf("fetched %d times", n)
	}
	c.Bridge.LeavesNoFile()
}

// Without a page that can be shown the text is sent as it is, and in time.
func TestLinkPreviews_AreLeftOut(t *testing.T) {
	t.Parallel()
	bird := NewCanary(t)
	c := PairedCast(t, FetchesLoopback)
	web := NewWebsite(t)
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	for name, text := range map[string]string{
		"no link":    "hello",
		"not there":  web.URL + "/a-secret-path",
		"not a page": web.Has("/data", []byte("<title>no</title>")),
		"private":    "http://127.0.0.1:" + bird.Port + "/",
		"moved inside": web.Serves("/moved", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://127.0.0.1:"+bird.Port+"/", http.StatusFound)
		}),
		"never answered": web.Serves("/slow", func(http.ResponseWriter, *http.Request) { <-over }),
		"drips": web.Serves("/drips", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "text/html")
			_, _ = rw.Write([]byte("<title>slow</title>"))
			_ = http.NewResponseController(rw).Flush()
			<-over
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			id := SentID(t, c.Bridge.Post("/api/messages/send", Object{"jid": c.Anna.PN().String(), "text": text, "linkPreview": true}))
			if took := time.Since(began); took > 3*time.Second+TestTimeout/6 {
				t.Errorf("it took %v", took)
			}
			got := Must(c.Anna.ReceivedID(Within(t), id))(t)
			if got.Message.Message.GetConversation() != text {
				t.Errorf("arrived as %v", got.Message.Message)
			}
		})
	}
	t.Cleanup(func() {
		c.Bridge.WaitForLog(t, "sending without a link preview")
		if strings.Contains(c.Bridge.Log.String(), "a-secret-path") {
			t.Error("the log shows an address")
		}
	})
}

// LINK_PREVIEWS makes them the default, and what a client of a compatibility API asks for has precedence.
func TestLinkPreviews_DefaultAndCompatibilityAPIs(t *testing.T) {
	t.Parallel()
	for _, byDefault := range []bool{false, true} {
		t.Run(fmt.Sprint(byDefault), func(t *testing.T) {
			t.Parallel()
			s := NewCompatScene(t, "COMPAT=waha,evolution,cloud", FetchesLoopback, fmt.Sprint("LINK_PREVIEWS=", byDefault))
			url := hasPage(NewWebsite(t), "/page", "Title")
			header := map[string]string{"X-Api-Key": s.Full, "apikey": s.Full, "Authorization": "Bearer " + s.Full, "Content-Type": "application/json"}
			for path, body := range map[string]string{
				"/api/messages/send":                         `{"jid":"15550100301@s.whatsapp.net","text":"%s"}, "linkPreview":`,
				"/waha/api/sendText":                         `{"chatId":"15550100301@c.us","text":"%s"}, "linkPreview":`,
				"/evolution/message/sendText/bridged":        `{"number":"15550100301","text":"%s"}, "linkPreview":`,
				"/cloud/v21.0/" + CloudAccount + "/messages": `{"to":"15550100301","type":"text","text":{"body":"%s"}}, "preview_url":`,
			} {
				plain, field, _ := strings.Cut(fmt.Sprintf(body, url), ", ")
				end := len(plain) - 1
				if strings.HasPrefix(path, "/cloud") {
					end--
				}
				for asked, body := range map[string]string{
					"": plain, "true": plain[:end] + ", " + field + "true" + plain[end:], "false": plain[:end] + ", " + field + "false" + plain[end:],
				} {
					s.Friend.Forget()
					if resp, answer := s.Ask(t, CompatRequest{Method: "POST", Address: s.Address + path, Header: header, Body: body}); resp.StatusCode > 201 {
						t.Fatalf("%s: %d %v", path, resp.StatusCode, answer)
					}
					got := Must(s.Friend.Received(Within(t), func(got *simnet.Received) bool { return strings.Contains(got.Text(), url) }))(t)
					if shows := got.Message.Message.GetExtendedTextMessage().GetTitle() == "Title"; shows != (asked == "true" || asked == "" && byDefault) {
						t.Errorf("%s, asked %q: %v", path, asked, got.Message.Message)
					}
				}
			}
		})
	}
}
