package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

// TestGallery_ShowsItsTabsByMonth: the tabs have pictures, files and links, each with a link to its
// message.
func TestGallery_ShowsItsTabsByMonth(t *testing.T) {
	t.Parallel()
	message := func(id string, month time.Month, kind bridge.MediaType) bridge.Message {
		return bridge.Message{
			ID: id, SenderJID: grace, PushName: "Grace", MessageType: "x", Timestamp: bridge.At(time.Date(2026, month, 3, 8, 0, 0, 0, time.UTC)),
			Media: &bridge.Media{Type: kind, MimeType: "image/png", FileName: id + "<b>.pdf", Size: 1000},
		}
	}
	large, gone, link := message("LARGE", 10, bridge.MediaImage), message("GONE", 10, bridge.MediaImage), message("LINK", 9, "")
	large.Media.Size, gone.DeletedAt, link.Media = 5_000_000, &gone.Timestamp, nil
	link.Content, link.LinkPreview = "read (https://example.org/a) and javascript:alert(1)", &bridge.LinkPreview{Title: "About <a>"}
	lists := map[string][]bridge.Message{
		"media":    {message("NEW", 11, bridge.MediaImage), message("FILM", 11, bridge.MediaVideo), message("SOUND", 11, bridge.MediaAudio), large, gone},
		"document": {message("PLAN", 11, bridge.MediaDocument)}, "link": {link},
	}
	var asked []string
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/chats/" + grace: replies(`{"jid":"` + grace + `","isGroup":false,"name":"Grace","participants":2}`),
		"/api/chats/" + grace + "/messages": func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			asked = append(asked, query.Get("type")+query.Get("cursor"))
			items, next := lists[query.Get("type")], `null`
			if query.Get("type") == "media" && query.Get("cursor") == "" { // the first page is short
				items, next = items[:1], `"second"`
			} else if query.Get("type") == "media" {
				items = items[1:]
			}
			encoded, err := bridge.EncodeJSON(items)
			if err != nil {
				t.Error(err)
			}
			replies(fmt.Sprintf(`{"jid":%q,"count":1,"nextCursor":%s,"hasMore":false,"messages":%s}`, grace, next, encoded))(w, r)
		},
	})
	s.logIn()
	for _, tab := range []struct {
		path  string
		wants map[string]int
	}{
		{"", map[string]int{"<h2>November 2026</h2>": 1, "<h2>October 2026</h2>": 1, `class="tile-view"`: 3, `loading="lazy"`: 3, `data-id="SOUND"`: 0, `data-id="GONE"`: 0, "at=FILM": 2, "data-more": 0}},
		{"?tab=files", map[string]int{"PLAN&lt;b&gt;.pdf": 1, "?save": 1, "at=PLAN": 1}},
		{"?tab=links", map[string]int{`href="https://example.org/a"`: 1, "About &lt;a&gt;": 1, "javascript:": 0, "<h2>September 2026</h2>": 1}},
	} {
		page := s.get("/console/chats/"+grace+"/media"+tab.path).want(t, http.StatusOK, "").body
		for what, count := range tab.wants {
			if got := strings.Count(page, what); got != count {
				t.Errorf("%q: %q stands there %d times, want %d", tab.path, what, got, count)
			}
		}
	}
	if got := strings.Join(asked, " "); got != "media mediasecond document link" {
		t.Errorf("asked for %s", got)
	}
}
