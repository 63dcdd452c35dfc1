package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

const heidi bridge.JID = "15550009999@s.whatsapp.net"

// TestChat_ShowsMetadataOfMessages: ads, albums, answers to events, added options, pins and kept
// messages.
func TestChat_ShowsMetadataOfMessages(t *testing.T) {
	t.Parallel()
	moment := bridge.At(time.Date(2026, 11, 21, 8, 15, 30, 0, time.UTC))
	until := bridge.At(moment.AddDate(0, 1, 0))
	says := func(id string) bridge.Message {
		return bridge.Message{ID: id, SenderJID: grace, PushName: "Grace", MessageType: "conversation", Timestamp: moment, Reactions: []bridge.MessageReaction{}}
	}
	picture, script, album := "data:image/png;base64,iVBORw0KGgo=", "data:text/html;base64,PHNjcmlwdD4=", "ALBUM"
	ad, evil, whole, one, two, alien, party, poll, pinned := says("AD"), says("EVIL"), says("ALBUM"), says("ONE"), says("TWO"), says("ALIEN"), says("PARTY"), says("POLL"), says("PINNED")
	ad.Referral = &bridge.Referral{SourceType: "ad", Headline: "Boots <half price>", SourceURL: "https://fb.me/abc", Thumbnail: &picture}
	evil.Referral = &bridge.Referral{Headline: "evil", SourceURL: "javascript:alert(1)", Thumbnail: &script}
	whole.Album = &bridge.Album{Images: 2, Videos: 1, Arrived: 2}
	for _, part := range []*bridge.Message{&one, &two, &alien} {
		part.AlbumID, part.Media = &album, &bridge.Media{Type: bridge.MediaImage, MimeType: "image/png"}
	}
	one.Content, alien.SenderJID = "the first one", heidi
	party.Event = &bridge.CalendarEvent{Name: "Party", Responses: &bridge.EventResponses{Going: []bridge.JID{grace, heidi}, NotGoing: []bridge.JID{}, Maybe: []bridge.JID{}, Guests: 3}}
	poll.Poll = &bridge.PollTally{Name: "When?", Options: []bridge.PollOption{{Name: "now", Voters: []bridge.JID{}}, {Name: "later", Voters: []bridge.JID{}, AddedBy: grace}}}
	pinned.Content, pinned.PinnedUntil, pinned.Kept = "remember", &until, true
	list := []bridge.Message{pinned, poll, party, alien, two, one, whole, evil, ad} // the newest first
	items, err := bridge.EncodeJSON(list)
	body := append([]byte(`{"jid":"`+grace+`","count":9,"nextCursor":null,"hasMore":false,"messages":`), items...)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/chats/" + grace:               replies(`{"jid":"` + grace + `","isGroup":false,"name":"Grace","participants":2}`),
		"/api/chats/" + grace + "/messages": replies(string(body) + "}"),
	})
	s.logIn()
	page := s.get("/console/chats/"+grace).want(t, http.StatusOK, "")
	for what, count := range map[string]int{
		"Boots &lt;half price&gt;": 1, "From an ad<": 1, "From an ad or another app": 1, `href="https://fb.me/abc"`: 1, `src="` + strings.ReplaceAll(picture, "+", "&#43;") + `"`: 1, "javascript:": 0, "text/html;base64": 0,
		`class="album-part"`: 2, "Album: 2 photos, 1 video (2 of 3 here)": 1, `<li class="msg in`: 7, `id="m-ONE"`: 1, "the first one": 1, `id="m-ALIEN"`: 1,
		"Going: 2 and 3 guests": 1, "Not going": 0, "added by <bdi>Grace</bdi>": 1, "pinned until": 1, `title="kept"`: 1,
	} {
		if got := strings.Count(page.body, what); got != count {
			t.Errorf("%q stands there %d times, want %d", what, got, count)
		}
	}
	if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self' data:;") || strings.Contains(strings.ReplaceAll(policy, "img-src 'self' data:;", ""), "data:") {
		t.Errorf("the page may load %s", policy)
	}
}
