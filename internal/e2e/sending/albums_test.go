package sending

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// anAlbum returns the items of an album of two pictures and a video.
func anAlbum(t *testing.T, web *Website) []Object {
	return []Object{
		{"url": web.Has("/1.jpg", Photo(t, 64, 48)), "type": "image", "caption": "the first"}, {"url": web.Has("/2.mp4", Film()), "type": "video"}, {"url": web.Has("/3.png", demo.Picture(40, 30)), "type": "image"},
	}
}

type sentAlbum struct {
	MsgID   string
	ChatJID bridge.JID
	Items   []struct{ MsgID string }
}

// shown checks that a phone shows the items of an album together, each once and in order.
func (a sentAlbum) shown(t *testing.T, phone *simnet.Phone, captions ...string) {
	t.Helper()
	items := Must(phone.Album(Within(t), a.MsgID))(t)
	if len(items) != len(a.Items) || len(items) != len(captions) {
		t.Fatalf("the phone shows %d items of %d", len(items), len(a.Items))
	}
	for i, item := range items {
		if item.Info.ID != a.Items[i].MsgID || item.Text() != captions[i] {
			t.Errorf("item %d is %s %q, not %s %q", i, item.Info.ID, item.Text(), a.Items[i].MsgID, captions[i])
		}
		Must(phone.Show(Within(t), item))(t)
	}
}

// TestAlbum_IsShownTogether sends an album to a person and, with a quote, to a group; by URL and as a form.
func TestAlbum_IsShownTogether(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	annas, _, hike, _ := c.Conversations(t)
	items := anAlbum(t, NewWebsite(t))
	send := func(body Object) (a sentAlbum) {
		c.Bridge.Post("/api/messages/send-album", body).Want(http.StatusOK).Decode(&a)
		return a
	}
	byURL := send(Object{"jid": annas.In.String(), "items": items})
	byURL.shown(t, c.Anna, "the first", "", "")

	question := Say(t, hike.By, hike.In, "how was it?")
	c.Stored(t, question)
	quoting := send(Object{"jid": hike.In.String(), "items": items, "quotedMsgId": question})
	for _, member := range []*simnet.Phone{hike.By, hike.Witness} {
		quoting.shown(t, member, "the first", "", "")
		parent := Must(member.ReceivedID(Within(t), quoting.MsgID))(t).Message.Message.GetAlbumMessage()
		if parent.GetContextInfo().GetStanzaID() != question {
			t.Errorf("the quote is %v", parent.GetContextInfo())
		}
	}

	form := Must(c.Bridge.API.SendAlbum(Within(t), client.Album{To: bridge.JID(annas.In.String()), Items: []client.AlbumItem{
		{Part: "front", Type: bridge.MediaImage, Caption: "by form", File: bytes.NewReader(Photo(t, 64, 48))}, {Part: "film", Type: bridge.MediaVideo, File: bytes.NewReader(Film())},
	}}, ""))(t)
	sentAlbum{MsgID: form.ID, Items: []struct{ MsgID string }{{form.Items[0].ID}, {form.Items[1].ID}}}.shown(t, c.Anna, "by form", "")

	parent := Must(c.Bridge.API.Message(Within(t), byURL.ChatJID, byURL.MsgID))(t)
	if parent.Album == nil || *parent.Album != (bridge.Album{Images: 2, Videos: 1, Arrived: 3}) {
		t.Errorf("stored as %+v", parent.Album)
	}
	for _, item := range byURL.Items {
		if m := Must(c.Bridge.API.Message(Within(t), byURL.ChatJID, item.MsgID))(t); m.AlbumID == nil || *m.AlbumID != byURL.MsgID || m.Media == nil {
			t.Errorf("an item is stored as %+v", m)
		}
	}
	c.Bridge.LeavesNoFile()
}

// TestAlbum_OnceAsAWhole: a repeated call sends what was not sent, also after a restart, and nothing twice.
func TestAlbum_OnceAsAWhole(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	web := NewWebsite(t)
	body := Object{"jid": c.Anna.PN().String(), "items": anAlbum(t, web)}
	c.Device.FailSends(simnet.SendFault{Code: 400, Skip: 2})
	refused := c.Bridge.Post("/api/messages/send-album", body, "Idempotency-Key", "album")
	Refused(t, refused, http.StatusBadGateway, bridge.CodeSendRefused, "accepted 1 of the 3 pictures and videos")
	c.Bridge.Restart()
	c.Bridge.Becomes(bridge.StateOpen)
	var album, again sentAlbum
	c.Bridge.Post("/api/messages/send-album", body, "Idempotency-Key", "album").Want(http.StatusOK).Decode(&album)
	album.shown(t, c.Anna, "the first", "", "")
	replayed := c.Bridge.Post("/api/messages/send-album", body, "Idempotency-Key", "album")
	replayed.Want(http.StatusOK).Decode(&again)
	if replayed.Header.Get("Idempotency-Replayed") != "true" || fmt.Sprint(again) != fmt.Sprint(album) {
		t.Errorf("the repeated call was answered %s", replayed.Body)
	}
	Refused(t, c.Bridge.Post("/api/messages/send-album", With(body, Object{"items": anAlbum(t, web)[:2]}), "Idempotency-Key", "album"), 422, bridge.CodeIdempotencyMismatch)
	if n := len(c.Anna.Messages()); n != 4 {
		t.Errorf("%d messages arrived, want 4", n)
	}
	if fetches := web.Fetches("/2.mp4"); fetches != 1 {
		t.Errorf("%d fetches", fetches)
	}
}

// TestAlbum_Refusals: nothing of an album is stored or sent if one of its items cannot be, also later.
func TestAlbum_Refusals(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback, "MEDIA_MAX_BYTES=100000")
	items := anAlbum(t, NewWebsite(t))
	for says, bad := range map[string][]Object{
		"items must have 2 to 30": items[:1], "items must have 2 to 30 pictures": make([]Object, 31), "items[1]: type must be": {items[0], With(items[1], Object{"type": "document"})},
		"items[1]: give url or part": {items[0], {"type": "image"}}, "items[1]: part names": {items[0], {"part": "x", "type": "image"}},
		"items[2]: the file is": {items[0], items[1], With(items[1], Object{"type": "image"})}, "items[1]: fetch failed": {items[0], With(items[0], Object{"url": items[0]["url"].(string) + "x"})},
	} {
		for _, sendAt := range []any{nil, time.Now().Add(time.Hour)} {
			got := c.Bridge.Post("/api/messages/send-album", Object{"jid": c.Anna.PN().String(), "items": bad, "sendAt": sendAt})
			if got.Want(http.StatusBadRequest); !strings.Contains(got.Error(), says) {
				t.Errorf("%s: %s", says, got.Body)
			}
		}
	}
	var later struct{ Scheduled []bridge.ScheduledMessage }
	if c.Bridge.Get("/api/scheduled").Decode(&later); len(later.Scheduled) > 0 {
		t.Errorf("scheduled: %+v", later.Scheduled)
	}
	form := func(parts ...string) string {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		_ = w.SetBoundary("line")
		for i := 0; i < len(parts); i += 2 {
			_ = w.WriteField(parts[i], parts[i+1])
		}
		_ = w.Close()
		return body.String()
	}
	two := `[{"part":"a","type":"image"},{"part":"b","type":"image"}]`
	for says, body := range map[string]string{
		"items come before the files": form("jid", c.Anna.PN().String(), "a", "x", "items", two), "the form has no part": form("jid", c.Anna.PN().String(), "items", two, "a", string(Photo(t, 8, 8))),
		"larger than the 100000 bytes": form("jid", c.Anna.PN().String(), "items", two, "a", string(Noise(60_000)), "b", string(Noise(60_000))),
		"named by two items":           form("jid", c.Anna.PN().String(), "items", strings.ReplaceAll(two, `"b"`, `"a"`), "a", "x"),
	} {
		got := c.Bridge.Do(http.MethodPost, "/api/messages/send-album", body, "Content-Type", "multipart/form-data; boundary=line")
		if got.Status < 400 || !strings.Contains(got.Error(), says) {
			t.Errorf("%s: %d %s", says, got.Status, got.Body)
		}
	}
	c.Bridge.LeavesNoFile()
	if n := len(c.Anna.Messages()); n != 0 {
		t.Errorf("%d messages arrived", n)
	}
}
