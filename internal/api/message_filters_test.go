package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

// gallery returns a server with messages of many kinds in the club and with grace. V is pinned, and W was.
func gallery(t *testing.T) *server {
	s := chatty(t)
	picture, video, link, mine := say(club, grace, "P", "at the gate", 5), say(grace, grace, "V", "", 6), say(club, alan, "L", "see https://example.com", 7), say(grace, me, "O", "a link? http://", 8)
	picture.MessageType, picture.Media = "imageMessage", &bridge.Media{Type: bridge.MediaImage, MimeType: "image/jpeg", Caption: "at the gate"}
	video.MessageType, video.Media = "ptvMessage", &bridge.Media{Type: bridge.MediaVideo, MimeType: "video/mp4"}
	preview := say(grace, grace, "W", "example dot com", 9)
	preview.MessageType, preview.LinkPreview = "extendedTextMessage", &bridge.LinkPreview{Title: "Example"}
	mine.FromMe = true
	s.know(picture, video, link, mine, preview)
	for id, until := range map[string]bridge.Time{"V": bridge.At(time.Now().Add(time.Hour)), "W": bridge.At(time.Now().Add(-time.Hour))} {
		s.know(bridge.Pin{Chat: grace, Target: id, By: grace, Until: until, Timestamp: bridge.At(time.Now().Add(-24 * time.Hour))})
	}
	return s
}

func TestSearch_FindsByKindAndSenderAndChat(t *testing.T) {
	t.Parallel()
	s := gallery(t)
	for query, want := range map[string]string{
		"?type=media":                                    "V P",
		"?type=image":                                    "P",
		"?type=video":                                    "V",
		"?type=audio":                                    "",
		"?type=document":                                 "",
		"?type=sticker":                                  "",
		"?type=link":                                     "W L",
		"?type=imageMessage":                             "P",
		"?type=ptvMessage":                               "V",
		"?type=extendedTextMessage":                      "W",
		"?type=aKindOfTomorrow":                          "",
		"?hasMedia=true":                                 "V P",
		"?hasMedia=false&type=media":                     "",
		"?hasMedia=false&limit=2":                        "W O",
		"?fromMe=true":                                   "O",
		"?pinned=true":                                   "V",
		"?pinned=true&type=link":                         "",
		"?pinned=false&chat=" + string(grace):            "W O",
		"?fromMe=false&limit=3":                          "W L V",
		"?chat=" + string(grace):                         "W O V",
		"?chat=" + string(graceLID) + "&fromMe=false":    "W V",
		"?chat=" + string(club) + "&type=link":           "L",
		"?chat=" + string(club) + "&chatType=individual": "",
		"?sender=" + string(graceLID):                    "W V P E C A",
		"?sender=" + string(alan) + "&type=link":         "L",
		"?q=GATE&type=image":                             "P",
		"?q=GATE&type=video":                             "",
		"?q=e&type=link":                                 "W L",
		"?q=e&sender=" + string(alan):                    "L B",
		"?q=%20&type=image":                              "P",
		"?q=g%C3%A1t%C3%A9":                              "",
		"?q=g%C3%A1t%C3%A9&fold=accents":                 "P",
		"?type=media&since=2026-11-21T12:06:00Z":         "V",
		"?type=media&until=2026-11-21T12:05:00Z":         "P",
		"?type=media&limit=1":                            "V",
	} {
		if got, result := s.search(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		} else if isText := strings.Contains(query, "q=") && !strings.Contains(query, "q=%20"); isText != (result.Query != nil) {
			t.Errorf("%s: query %v", query, result.Query)
		}
	}
}

func TestSearch_HasNoOffsetWithFilters(t *testing.T) {
	t.Parallel()
	s := gallery(t)
	for _, filter := range []string{"type=link", "fromMe=false", "hasMedia=true", "pinned=true", "sender=" + string(grace), "chat=" + string(club)} {
		got := s.Get("/api/messages/search?q=e&offset=1&" + filter)
		if got.Status != http.StatusBadRequest || !strings.Contains(got.Error(), "offset does not go with filters") {
			t.Errorf("%s: %d %s", filter, got.Status, got.Body)
		}
		s.Get("/api/messages/search?q=e&offset=0&" + filter).Want(http.StatusOK)
	}
}

// Lists refuse parameters that they do not know. The oldest ones ignore them, unless the caller asks to be told.
func TestLists_UnknownParameters(t *testing.T) {
	t.Parallel()
	s := gallery(t)
	for path, names := range map[string]string{
		"/api/chats/" + string(club) + "/messages?typ=image": "did you mean type?", "/api/contacts?save=true": "did you mean saved?", "/api/contacts?offset=1": "offset",
		"/api/chats/" + string(club) + "/export?fromat=txt": "did you mean format?", "/api/calls?Limit=1": "did you mean limit?", "/api/scheduled?chats=x": "did you mean chat?",
		"/api/events?type=message.created": "did you mean types?", "/api/imports?q=x": "chat, cursor, limit", "/api/hooks?limit=1": "which has none", "/api/webhooks?limit=1": "none",
		"/api/tokens?cursor=x": "none", "/api/stats?sinse=2026-01-01": "did you mean since?",
	} {
		if got := s.Get(path); got.Status != http.StatusBadRequest || !strings.Contains(got.Error(), names) || got.Code() != string(bridge.CodeInvalid) {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	s = stocked(t)
	oldest := []string{"/api/chats?limti=1", clubHistory + "?limti=1", graceHistory + "?limti=1", "/api/messages/search?q=e&limti=1"}
	for _, r := range everyRoute {
		path := strings.Split(r.path, "?")[0]
		if r.method != http.MethodGet || slices.ContainsFunc(oldest, func(one string) bool { return strings.HasPrefix(one, path+"?") }) {
			continue
		}
		if got := s.Get(path+"?limti=1", r.headers...); got.Status == http.StatusOK && strings.Contains(string(got.Body), `"count":`) {
			t.Errorf("the list %s ignores a parameter: route it to s.exact", path)
		}
	}
	for _, path := range oldest {
		s.Get(path).Want(http.StatusOK)
		if got := s.Get(path, "Prefer", "handling=strict"); got.Status != http.StatusBadRequest || !strings.Contains(got.Error(), "did you mean limit?") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
}

// TestSearch_OfAChatThatIsNotStored is 404, as its history is.
func TestSearch_OfAChatThatIsNotStored(t *testing.T) {
	t.Parallel()
	s := gallery(t)
	if got := s.Get("/api/messages/search?q=x&chat=" + string(alan)); got.Status != http.StatusNotFound || got.Code() != string(bridge.CodeNotFound) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

func TestHistory_FiltersByKind(t *testing.T) {
	t.Parallel()
	s := gallery(t)
	for path, want := range map[string]string{
		clubHistory + "?type=image":                               "P",
		clubHistory + "?type=link":                                "L",
		clubHistory + "?hasMedia=true":                            "P",
		clubHistory + "?hasMedia=false&order=asc":                 "A B C D E L",
		clubHistory + "?fromMe=true":                              "",
		clubHistory + "?q=e&type=link":                            "L",
		clubHistory + "?type=link&sender=" + string(grace):        "",
		graceHistory + "?type=media":                              "V",
		graceHistory + "?fromMe=true":                             "O",
		graceHistory + "?pinned=true":                             "V",
		graceHistory + "?pinned=false&q=e":                        "W",
		graceHistory + "?fromMe=false&order=asc":                  "V W",
		graceHistory + "?type=":                                   "W O V",
		graceHistory + "?fromMe=false&until=2026-11-21T12:06:00Z": "V",
	} {
		if got := s.history(path).ids(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	first := s.history(graceHistory + "?fromMe=false&limit=1")
	if first.ids() != "W" || first.NextCursor == nil {
		t.Fatalf("the first page: %+v", first)
	}
	second := s.history(graceHistory + "?fromMe=false&limit=1&cursor=" + url.QueryEscape(*first.NextCursor))
	if second.ids() != "V" || second.NextCursor != nil {
		t.Errorf("the second page: %+v", second)
	}
}

func TestHistory_RefusesFiltersThatMakeNoSense(t *testing.T) {
	t.Parallel()
	s := gallery(t)
	for query, names := range map[string]string{
		"?q=a&fold=case": "fold must be accents, or left out", "?type=pictures": "type", "?fromMe=me": "fromMe", "?hasMedia=": "hasMedia", "?pinned=yes": "pinned", "?type=image&offset=1": "offset does not go with type", "?fromMe=true&offset=1": "nextCursor",
	} {
		for _, path := range []string{clubHistory, graceHistory} {
			got := s.Get(path + query)
			if got.Status != http.StatusBadRequest || !strings.Contains(got.Error(), names) {
				t.Errorf("%s: %d %s", path+query, got.Status, got.Body)
			}
		}
	}
}

// TestSearch_OfATokenWithChats finds nothing outside of them, whatever is filtered by.
func TestSearch_OfATokenWithChats(t *testing.T) {
	t.Parallel()
	s := gallery(t)
	limited := s.as(s.token(`{"name":"x","scopes":["read"],"chats":["` + string(grace) + `"]}`))
	for query, want := range map[string]string{
		"?type=media": "V", "?fromMe=true": "O", "?sender=" + string(grace): "W V", "?hasMedia=false": "W O", "?sender=" + string(alan): "",
	} {
		if got, _ := limited.search(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if got := limited.Get("/api/messages/search?chat=" + string(club)); got.Status != http.StatusNotFound || got.Code() != string(bridge.CodeNotFound) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

func TestChats_ByKind(t *testing.T) {
	t.Parallel()
	s := gallery(t)
	s.know(bridge.Owner{PN: me, LID: hidden}, bridge.Contact{JID: grace, Name: new("Sofía")}, say(me, me, "N", "a note", 10))
	for query, want := range map[string]bridge.JID{
		"?kind=group": club, "?kind=individual": grace, "?kind=self": me, "?kind=community": "", "?kind=group&type=individual": "", "?kind=self&type=individual": me,
		"?kind=individual&q=sofia": grace, "?q=SOFÍA": grace,
	} {
		got := s.chats(query).jids()
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0] != want) {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	for _, query := range []string{"?kind=", "?kind=all", "?kind=channel", "?kind=group&kind=self"} {
		if got := s.Get("/api/chats" + query); got.Status != http.StatusBadRequest || !strings.Contains(got.Error(), "kind") {
			t.Errorf("%s: %d %s", query, got.Status, got.Body)
		}
	}
}
