package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// history is the answer of both histories.
type history struct {
	JID        bridge.JID
	Count      int
	Filters    map[string]any
	Messages   []bridge.Message
	NextCursor *string
}

func (s *server) history(path string) (h history) {
	s.t.Helper()
	s.Get(path).Want(http.StatusOK).Decode(&h)
	if h.Count != len(h.Messages) {
		s.t.Errorf("%s: count %d of %d messages", path, h.Count, len(h.Messages))
	}
	return h
}

func (h history) ids() string {
	var ids []string
	for _, m := range h.Messages {
		ids = append(ids, m.ID)
	}
	return strings.Join(ids, " ")
}

const (
	clubHistory  = "/api/groups/" + string(club) + "/messages"
	graceHistory = "/api/messages/individual/" + string(grace)
)

// chatty returns a server with five messages in the club at 12:00 to 12:04.
func chatty(t *testing.T) *server {
	s := newServer(t)
	s.know(members(club, "Readers", grace, me, alan), bridge.Identity{PN: grace, LID: graceLID},
		say(club, grace, "A", "Straße", 0), say(club, alan, "B", "100% sure", 1), say(club, graceLID, "C", "ΟΔΟΣ", 2),
		say(club, alan, "D", "снег_и_лёд", 3), say(club, grace, "E", "👍", 4))
	return s
}

func TestHistory_Filters(t *testing.T) {
	t.Parallel()
	s := chatty(t)
	for query, want := range map[string]string{
		"":                            "E D C B A",
		"?order=desc":                 "E D C B A",
		"?order=asc":                  "A B C D E",
		"?order=asc&limit=2":          "A B",
		"?order=asc&limit=2&offset=2": "C D",
		"?limit=1000&offset=5":        "",
		"?sender=" + grace.User() + "@s.whatsapp.net":            "E C A",
		"?sender=81234567890123%40lid":                           "E C A",
		"?sender=447700900123%40s.whatsapp.net":                  "D B",
		"?sender=1%40s.whatsapp.net":                             "",
		"?q=STRASSE":                                             "A",
		"?q=%25":                                                 "B",
		"?q=_":                                                   "D",
		"?q=%CE%BF%CE%B4%CE%BF%CF%82":                            "C",
		"?q=%D0%A1%D0%9D%D0%95%D0%93":                            "D",
		"?q=%F0%9F%91%8D":                                        "E",
		"?q=%20":                                                 "E D C B A",
		"?q=s&sender=447700900123@s.whatsapp.net":                "B",
		"?since=2026-11-21T12:02:00Z":                            "E D C",
		"?since=2026-11-21T12:02:00.0001Z":                       "E D",
		"?since=2026-11-21T13:02:00%2B01:00":                     "E D C",
		"?since=2026-11-21T13:02:00+01:00":                       "E D C",
		"?until=2026-11-21T12:02:00Z":                            "C B A",
		"?until=2026-11-21T12:01:59.999Z":                        "B A",
		"?since=2026-11-21":                                      "E D C B A",
		"?until=2026-11-21":                                      "E D C B A",
		"?until=2026-11-20":                                      "",
		"?since=2026-11-22":                                      "",
		"?since=2026-11-21T12:03:00Z&until=2026-11-21T12:01:00Z": "",
		"?since=2026-11-21T12:01:00Z&until=2026-11-21T12:03:00Z": "D C B",
	} {
		for _, list := range []string{clubHistory, "/api/chats/" + string(club) + "/messages"} {
			if got := s.history(list + query).ids(); got != want {
				t.Errorf("%s: %q, want %q", list+query, got, want)
			}
		}
	}
}

func TestHistory_EchoesWhatWasApplied(t *testing.T) {
	t.Parallel()
	s := chatty(t)
	none := map[string]any{"since": nil, "until": nil, "q": nil, "fold": nil, "sender": nil, "type": nil, "fromMe": nil, "hasMedia": nil, "pinned": nil, "starred": nil, "order": "desc", "limit": 100.0, "offset": 0.0}
	if diff := cmp.Diff(none, s.history(clubHistory+"?q=%20%20").Filters); diff != "" {
		t.Error(diff)
	}
	all := map[string]any{
		"since": "2026-11-21T00:00:00.000Z", "until": "2026-11-21T23:59:59.999Z", "q": " s ", "fold": "accents", "sender": string(grace),
		"type": nil, "fromMe": nil, "hasMedia": nil, "pinned": nil, "starred": nil, "order": "asc", "limit": 7.0, "offset": 2.0,
	}
	query := "?since=2026-11-21&until=2026-11-21&q=%20s%20&fold=accents&sender=81234567890123@lid&order=asc&limit=7&offset=2"
	if diff := cmp.Diff(all, s.history(clubHistory+query).Filters); diff != "" {
		t.Error(diff)
	}
	none["type"], none["fromMe"], none["hasMedia"], none["pinned"] = "image", false, true, false
	if diff := cmp.Diff(none, s.history(clubHistory+"?type=image&fromMe=false&hasMedia=true&pinned=false").Filters); diff != "" {
		t.Error(diff)
	}
}

func TestHistory_IndividualTakesEitherIdentityAndNoSender(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(say(graceLID, graceLID, "L", "by LID", 0), bridge.Identity{PN: grace, LID: graceLID}, say(grace, grace, "P", "by number", 1))
	for _, jid := range []bridge.JID{grace, graceLID} {
		got := s.history("/api/messages/individual/" + url.PathEscape(string(jid)) + "?sender=nonsense")
		if got.JID != grace || got.ids() != "P L" || got.Filters["sender"] != nil {
			t.Errorf("%s: jid %s, messages %s, filters %v", jid, got.JID, got.ids(), got.Filters)
		}
	}
}

// One list shows any chat, and narrows all of them by sender.
func TestHistory_OfAnyChatUnderOneName(t *testing.T) {
	t.Parallel()
	s := gallery(t)
	for path, want := range map[string]string{
		string(grace): "W O V", string(graceLID): "W O V", url.PathEscape(string(grace)): "W O V",
		string(graceLID) + "/messages?sender=" + string(graceLID): "W V", string(grace) + "/messages?sender=" + string(me): "O",
		string(grace) + "/messages?sender=" + string(alan): "", string(club) + "/messages?sender=" + string(alan) + "&type=link": "L",
	} {
		if !strings.Contains(path, "?") {
			path += "/messages"
		}
		if got := s.history("/api/chats/" + path).ids(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for path, status := range map[string]int{
		string(alan): http.StatusNotFound, "status@broadcast": http.StatusBadRequest, string(me): http.StatusNotFound,
	} {
		s.Get("/api/chats/" + path + "/messages").Want(status)
	}
}

func TestHistory_CursorWalksItAll(t *testing.T) {
	t.Parallel()
	s := chatty(t)
	for _, order := range []string{"asc", "desc"} {
		var got []string
		cursor := ""
		for range 3 {
			page := s.history(clubHistory + "?limit=2&order=" + order + cursor)
			got = append(got, page.ids())
			if page.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(*page.NextCursor)
		}
		want := map[string]string{"asc": "A B|C D|E", "desc": "E D|C B|A"}[order]
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", order, got, want)
		}
	}
}

func TestHistory_RefusesBadParameters(t *testing.T) {
	t.Parallel()
	s := chatty(t)
	s.know(say(grace, grace, "M1", "x", 0))
	for query, names := range map[string]string{
		"?limit=0": "limit", "?limit=1001": "limit", "?limit=x": "limit", "?offset=-1": "offset", "?order=": "order", "?order=DESC": "order",
		"?since=": "since", "?since=yesterday": "since", "?since=1763726400": "since", "?since=2026-13-01": "since", "?since=2026-11-21T12:00:00": "since",
		"?since=2026-02-30": "since", "?until=2026-11-21T25:00:00Z": "until", "?until=21.11.2026": "until", "?until=a&until=b": "until",
		"?q=%C3%28": "q", "?cursor=!": "cursor",
	} {
		for _, path := range []string{clubHistory, graceHistory} {
			got := s.Get(path + query)
			if got.Status != http.StatusBadRequest || got.Code() != "invalid_request" || !strings.Contains(got.Error(), names) {
				t.Errorf("%s%s: %d %s", path, query, got.Status, got.Body)
			}
		}
	}
	for _, sender := range []string{"", "grace", "15557654321", "15557654321:2@s.whatsapp.net", string(club), "status@broadcast"} {
		got := s.Get(clubHistory + "?sender=" + url.QueryEscape(sender))
		if got.Status != http.StatusBadRequest || !strings.Contains(got.Error(), "sender") {
			t.Errorf("sender %q: %d %s", sender, got.Status, got.Body)
		}
	}
}

// One message with everything that a message can have, as it leaves.
func TestHistory_ShowsEveryField(t *testing.T) {
	t.Parallel()
	s := chatty(t)
	quoted := "A"
	delivered := bridge.DeliveryPending
	poll := say(club, me, "P", "When?", 10)
	poll.FromMe, poll.Status, poll.MessageType = true, &delivered, "pollCreationMessage"
	poll.ContextInfo = &bridge.ContextInfo{QuotedMsgID: &quoted, QuotedSenderJID: graceLID, MentionedJID: []bridge.JID{graceLID, alan}}
	poll.Poll = &bridge.PollTally{Name: "When?", Options: []bridge.PollOption{{Name: "now"}, {Name: "then"}}, SelectableCount: 1}
	voice := say(club, alan, "V", "", 11)
	voice.MessageType = "audioMessage"
	voice.Media = &bridge.Media{Type: bridge.MediaAudio, MimeType: "audio/ogg; codecs=opus", Size: 1234, DurationSec: 3, PTT: true}
	s.know(poll, voice, bridge.ReactionChange{Chat: club, Target: "P", Sender: graceLID, Emoji: "👍", Timestamp: bridge.At(noon)},
		bridge.SendResult{Chat: club, ID: "P", Status: bridge.DeliverySent})
	var got struct{ Messages []map[string]any }
	s.Get(clubHistory + "?limit=2").Want(http.StatusOK).Decode(&got)
	want := []map[string]any{
		{
			"msgId": "V", "fromMe": false, "senderJid": string(alan), "senderLid": nil, "senderUsername": nil, "pushName": "~447700900123", "messageType": "audioMessage",
			"content": "", "contextInfo": nil, "quoted": nil, "timestamp": "2026-11-21T12:11:00.000Z", "poll": nil, "reactions": []any{},
			"media": map[string]any{
				"type": "audio", "mimetype": "audio/ogg; codecs=opus", "size": 1234.0, "durationSec": 3.0, "ptt": true, "viewOnce": false,
				"downloadUrl": bridge.DownloadPath(club, "V"),
			},
			"transcript": nil, "editedAt": nil, "deletedAt": nil, "status": nil, "imported": false,
		},
		{
			"msgId": "P", "fromMe": true, "senderJid": string(me), "senderLid": nil, "senderUsername": nil, "pushName": "~15551234567", "messageType": "pollCreationMessage",
			"content": "When?", "timestamp": "2026-11-21T12:10:00.000Z", "media": nil,
			"quoted": map[string]any{
				"msgId": "A", "chatJid": string(club), "origin": "stored", "fromMe": false, "senderJid": string(grace), "pushName": "~15557654321", "messageType": "conversation",
				"content": "Straße", "timestamp": "2026-11-21T12:00:00.000Z", "deletedAt": nil,
			},
			"contextInfo": map[string]any{"quotedMsgId": "A", "quotedSenderJid": string(grace), "mentionedJid": []any{string(grace), string(alan)}, "mentionsAll": false, "mentions": []any{
				map[string]any{"jid": string(grace), "lid": string(graceLID), "name": "~15557654321", "token": nil},
				map[string]any{"jid": string(alan), "lid": nil, "name": "~447700900123", "token": nil},
			}},
			"poll": map[string]any{"name": "When?", "selectableCount": 1.0, "options": []any{
				map[string]any{"name": "now", "votes": 0.0, "voters": []any{}, "addedBy": nil}, map[string]any{"name": "then", "votes": 0.0, "voters": []any{}, "addedBy": nil},
			}},
			"reactions":  []any{map[string]any{"senderJid": string(grace), "emoji": "👍", "timestamp": "2026-11-21T12:00:00.000Z"}},
			"transcript": nil, "editedAt": nil, "deletedAt": nil, "status": "sent", "imported": false,
		},
	}
	for _, m := range want {
		for _, part := range []string{"location", "contacts", "interactive", "event", "groupInvite", "order", "product", "linkPreview", "referral", "album", "albumId", "expiresAt", "pinnedUntil"} {
			m[part] = nil
		}
		m["isForwarded"], m["viewOnce"], m["kept"], m["starred"] = false, false, false, false
	}
	if diff := cmp.Diff(want, got.Messages); diff != "" {
		t.Error(diff)
	}
}

// The parts beside the text, each where it belongs.
func TestHistory_ShowsEveryPart(t *testing.T) {
	t.Parallel()
	s := chatty(t)
	at := bridge.At(noon)
	thumbnail, album, tomorrow := "data:image/png;base64,iVBORw0KGgo=", "ALBUM", time.Now().Add(24*time.Hour).Truncate(time.Second)
	place := bridge.Place{Latitude: 52.5, Longitude: 13.4, Name: "Gate", Address: "Platz 1", URL: "https://example.com/gate", IsLive: true}
	shop := say(club, alan, "S", "", 12)
	shop.IsForwarded, shop.Expiration = true, 3600
	shop.Parts = bridge.Parts{
		Location: &place,
		Contacts: []bridge.SharedContact{{
			DisplayName: "Eve", Phones: []bridge.SharedPhone{{Number: "+44 7700 900123", JID: alan}, {Number: "112"}},
			Emails: []string{"eve@example.com"}, Organization: "Shop", Title: "Owner", VCard: "BEGIN:VCARD",
		}},
		Interactive: &bridge.Interactive{
			Kind: bridge.InteractiveButtons, Title: "T", Body: "B", Footer: "F",
			Buttons: []bridge.Button{{ID: "1", Text: "yes", URL: "https://example.com", Phone: "112"}}, Selected: &bridge.Choice{ID: "1", Text: "yes"},
		},
		Event:       &bridge.CalendarEvent{Name: "Fair", Description: "all day", Location: &place, StartAt: &at, Cancelled: true},
		GroupInvite: &bridge.GroupInvite{JID: club, Name: "Club", Code: "abc", ExpiresAt: &at},
		Order:       &bridge.ShopOrder{Title: "Shoes", ID: "7", SellerJID: alan, ItemCount: 2, Total: "12.50", Currency: "EUR", Status: "accepted"},
		Product: &bridge.Product{
			Title: "Shoe", Description: "left", ID: "8", RetailerID: "sku", URL: "https://example.com/8",
			Price: "6.25", SalePrice: "5.00", Currency: "EUR", SellerJID: alan,
		},
		LinkPreview: &bridge.LinkPreview{URL: "https://example.com", Title: "Example", Description: "of a page"},
		Referral: &bridge.Referral{
			SourceType: "ad", SourceID: "120", SourceURL: "https://fb.me/1", Headline: "Shoes", Body: "half price", MediaType: "image",
			Thumbnail: &thumbnail, CTWAClid: "click", EntryPoint: "ctwa_ad", Payload: "AAEC", ConversionSource: "FB_Ads",
		},
		Album: &bridge.Album{Images: 2, Videos: 1}, AlbumID: &album,
	}
	s.know(shop, bridge.Pin{Chat: club, Target: "S", By: alan, Until: bridge.At(tomorrow), Timestamp: at}, bridge.Keep{Chat: club, Target: "S", By: alan, Kept: true, Timestamp: at},
		bridge.EventResponse{Chat: club, Target: "S", Sender: alan, Answer: bridge.EventGoing, Guests: 2, Timestamp: at},
		bridge.EventResponse{Chat: club, Target: "S", Sender: grace, Answer: bridge.EventMaybe, Timestamp: at})
	var got struct{ Messages []map[string]any }
	s.Get(clubHistory + "?limit=1").Want(http.StatusOK).Decode(&got)
	wantPlace := map[string]any{"latitude": 52.5, "longitude": 13.4, "name": "Gate", "address": "Platz 1", "url": "https://example.com/gate", "isLive": true}
	for field, want := range map[string]any{
		"location": wantPlace,
		"contacts": []any{map[string]any{
			"displayName": "Eve", "emails": []any{"eve@example.com"}, "organization": "Shop", "title": "Owner", "vcard": "BEGIN:VCARD",
			"phones": []any{map[string]any{"number": "+44 7700 900123", "jid": string(alan)}, map[string]any{"number": "112", "jid": nil}},
		}},
		"interactive": map[string]any{
			"kind": "buttons", "title": "T", "body": "B", "footer": "F", "selected": map[string]any{"id": "1", "text": "yes"},
			"buttons": []any{map[string]any{"id": "1", "text": "yes", "url": "https://example.com", "phone": "112"}},
		},
		"event": map[string]any{
			"name": "Fair", "description": "all day", "location": wantPlace, "startAt": "2026-11-21T12:00:00.000Z", "endAt": nil, "cancelled": true,
			"responses": map[string]any{"going": []any{string(alan)}, "maybe": []any{string(grace)}, "notGoing": []any{}, "guests": 2.0},
		},
		"groupInvite": map[string]any{"jid": string(club), "name": "Club", "code": "abc", "expiresAt": "2026-11-21T12:00:00.000Z"},
		"order":       map[string]any{"title": "Shoes", "id": "7", "sellerJid": string(alan), "itemCount": 2.0, "total": "12.50", "currency": "EUR", "status": "accepted"},
		"product": map[string]any{
			"title": "Shoe", "description": "left", "id": "8", "retailerId": "sku", "url": "https://example.com/8",
			"price": "6.25", "salePrice": "5.00", "currency": "EUR", "sellerJid": string(alan),
		},
		"linkPreview": map[string]any{"url": "https://example.com", "title": "Example", "description": "of a page"},
		"referral": map[string]any{
			"sourceType": "ad", "sourceId": "120", "sourceUrl": "https://fb.me/1", "headline": "Shoes", "body": "half price", "mediaType": "image",
			"thumbnail": thumbnail, "ctwaClid": "click", "entryPoint": "ctwa_ad", "payload": "AAEC", "conversionSource": "FB_Ads",
		},
		"album":       map[string]any{"images": 2.0, "videos": 1.0, "arrived": 0.0},
		"albumId":     album,
		"isForwarded": true,
		"expiresAt":   nil, // it is kept
		"pinnedUntil": bridge.At(tomorrow).String(),
		"kept":        true,
	} {
		if diff := cmp.Diff(want, got.Messages[0][field]); diff != "" {
			t.Errorf("%s: %s", field, diff)
		}
	}
}

// searchResult is the answer of the search.
type searchResult struct {
	Query      *string
	Count      int
	Matches    []bridge.Match
	NextCursor *string
}

func TestHistory_QuotedDocumentHasItsFileName(t *testing.T) {
	t.Parallel()
	s := chatty(t)
	id := "DOC"
	paper, answer := say(club, alan, id, "", 11), say(club, grace, "ANSWER", "thanks", 12)
	paper.MessageType, paper.Media = "documentMessage", &bridge.Media{Type: bridge.MediaDocument, FileName: "plan.pdf"}
	answer.ContextInfo = &bridge.ContextInfo{QuotedMsgID: &id}
	s.know(paper, answer)
	var got struct{ Messages []bridge.Message }
	s.Get(clubHistory + "?limit=1").Want(http.StatusOK).Decode(&got)
	if q := got.Messages[0].Quoted; q == nil || q.FileName != "plan.pdf" {
		t.Errorf("quoted: %+v", q)
	}
}

func (s *server) search(query string) (ids string, result searchResult) {
	s.t.Helper()
	s.Get("/api/messages/search" + query).Want(http.StatusOK).Decode(&result)
	if result.Count != len(result.Matches) {
		s.t.Errorf("%s: count %d of %d matches", query, result.Count, len(result.Matches))
	}
	var all []string
	for _, m := range result.Matches {
		all = append(all, m.MsgID)
	}
	return strings.Join(all, " "), result
}

func TestSearch_Filters(t *testing.T) {
	t.Parallel()
	s := chatty(t)
	s.know(say(grace, grace, "M", "what a Strasse", 5))
	for query, want := range map[string]string{
		"?q=stra%C3%9Fe":                        "M A",
		"?q=STRASSE&chatType=group":             "A",
		"?q=STRASSE&chatType=individual":        "M",
		"?q=STRASSE&chatType=all":               "M A",
		"?q=STRASSE&limit=1":                    "M",
		"?q=STRASSE&since=2026-11-21T12:01:00Z": "M",
		"?q=STRASSE&until=2026-11-21T12:01:00Z": "A",
		"?q=STRASSE&since=2026-11-22":           "",
		"?q=%25":                                "B",
		"?q=_":                                  "D",
		"?q=%F0%9F%91%8D":                       "E",
		"?q=nowhere":                            "",
		"?q=STRASSE&offset=1&kind=x":            "M A", // not parameters of the search
	} {
		if got, _ := s.search(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

func TestSearch_ShowsEveryFieldAndPages(t *testing.T) {
	t.Parallel()
	s := chatty(t)
	s.know(say(grace, grace, "M", "what a Strasse", 5))
	first, result := s.search("?q=%20a%20&limit=1")
	if first != "M" || *result.Query != " a " || result.NextCursor != nil {
		t.Errorf("%s %+v", first, result)
	}
	want := bridge.Match{
		ChatJID: grace, ChatName: "~15557654321", MsgID: "M", SenderJID: grace, SenderLID: graceLID, PushName: "~15557654321",
		MessageType: "conversation", Content: "what a Strasse", Timestamp: say(grace, grace, "M", "", 5).Timestamp,
	}
	if diff := cmp.Diff(want, result.Matches[0]); diff != "" {
		t.Error(diff)
	}
	first, result = s.search("?q=strasse&limit=1")
	if first != "M" || result.NextCursor == nil {
		t.Fatalf("%s %+v", first, result)
	}
	second, result := s.search("?q=strasse&limit=1&cursor=" + url.QueryEscape(*result.NextCursor))
	if second != "A" || result.NextCursor != nil || !result.Matches[0].IsGroup {
		t.Errorf("%s %+v", second, result)
	}
}

func TestSearch_RefusesBadParameters(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for query, names := range map[string]string{
		"": "q", "?q=": "q", "?q=%20%09": "q", "?q=%FF": "q", "?q=a&q=b": "q", "?q=a&limit=0": "limit", "?q=a&limit=501": "limit", "?q=a&chatType=channel": "chatType",
		"?q=a&since=x": "since", "?q=a&until=x": "until", "?q=a&cursor=!": "cursor",
		"?chat=": "q is required", "?type=": "q is required", "?chatType=group": "q is required", "?since=2026-11-21": "q is required",
		"?chat=x": "chat", "?chat=status@broadcast": "chat", "?sender=x": "sender", "?sender=": "sender", "?type=images": "type must be a messageType",
		"?type=Image": "type", "?type=image&type=video": "type", "?fromMe=1": "fromMe", "?fromMe=": "fromMe", "?hasMedia=yes": "hasMedia",
	} {
		got := s.Get("/api/messages/search" + query)
		if got.Status != http.StatusBadRequest || got.Code() != "invalid_request" || !strings.Contains(got.Error(), names) {
			t.Errorf("%s: %d %s", query, got.Status, got.Body)
		}
	}
}
