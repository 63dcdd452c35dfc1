package waha

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/compat/compattest"
	"bridged/internal/webhook/format"
)

const (
	owner = bridge.JID("15550001111@s.whatsapp.net")
	sofia = bridge.JID("34600100101@s.whatsapp.net")
	walks = bridge.JID("120363000000000000@g.us")
)

var morning = bridge.At(time.Date(2026, 11, 21, 8, 25, 30, 0, time.UTC))

// posted returns the payload of each post of an event, by the event's name.
func posted(t *testing.T, w bridge.Webhook, e bridge.Event) map[string]string {
	t.Helper()
	e.At = morning
	own := format.Account{User: &bridge.User{JID: owner, PushName: "Ada"}, State: bridge.StateOpen}
	posts, err := Format{Base: "https://bridge.example/waha"}.Posts(format.Delivery{Webhook: w, ID: "evt_1", Event: e, Own: own, Now: time.Unix(1000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	payloads, ids := map[string]string{}, map[string]bool{}
	for _, p := range posts {
		var shown struct {
			ID, Event string
			Payload   json.RawMessage
		}
		if err := json.Unmarshal(p.Body, &shown); err != nil {
			t.Fatal(err)
		}
		payloads[shown.Event] = string(shown.Payload)
		if ids[shown.ID] || p.Header.Get("X-Webhook-Request-Id") != shown.ID || p.Header.Get("X-Webhook-Timestamp") != "1000000" {
			t.Errorf("%s: headers %v", shown.ID, p.Header)
		}
		ids[shown.ID] = true
	}
	return payloads
}

// Messages of each kind have what receivers read of WAHA's.
func TestFormat_PostsWhatReceiversRead(t *testing.T) {
	all := bridge.Webhook{Options: bridge.FormatOptions{Events: []string{"*"}}}
	message := bridge.Message{Chat: walks, ID: "3EB0B1", SenderJID: sofia, SenderLID: "222@lid", PushName: "Sofía", MessageType: bridge.TypeText, Content: "Hi!", Timestamp: morning}
	with := func(change func(*bridge.Message)) bridge.Message {
		m := message
		change(&m)
		return m
	}
	for name, test := range map[string]struct {
		m    bridge.Message
		want []string
	}{
		"in a group": {message, []string{`"id":"false_120363000000000000@g.us_3EB0B1_34600100101@c.us"`, `"from":"120363000000000000@g.us"`, `"participant":"34600100101@c.us"`, `"to":"34600100101@c.us"`, `"IsGroup":true`}},
		"a picture that answers": {with(func(m *bridge.Message) {
			m.MessageType, m.Content = "imageMessage", "the caption"
			m.Media = &bridge.Media{Type: bridge.MediaImage, MimeType: "image/jpeg", Caption: "the caption"}
			m.ContextInfo, m.Quoted = &bridge.ContextInfo{QuotedMsgID: new("3EB0AAAA"), QuotedSenderJID: owner}, &bridge.Quoted{Content: "the quoted text"}
		}), []string{`"hasMedia":true`, `"media":{"url":"https://bridge.example/waha/api/files/default/false_120363000000000000@g.us_3EB0B1.jpeg","mimetype":"image/jpeg","filename":null`, `"replyTo":{"id":"3EB0AAAA","participant":"15550001111@c.us","body":"the quoted text"`, `"imageMessage":{"caption":"the caption","mimetype":"image/jpeg"}`}},
		"an answer to a status": {with(func(m *bridge.Message) {
			m.ContextInfo = &bridge.ContextInfo{QuotedMsgID: new("3EB0S")}
			m.Quoted = &bridge.Quoted{MsgID: "3EB0S", ChatJID: "status@broadcast", MessageType: bridge.TypeText, Content: "on holiday", Origin: bridge.QuoteEmbedded}
		}), []string{`"replyTo":{"id":"3EB0S","participant":null,"body":"on holiday","_data":{"msgId":"3EB0S","chatJid":"status@broadcast","fromMe":null,"senderJid":null`, `"origin":"embedded"}`}},
		"a document": {with(func(m *bridge.Message) {
			m.MessageType, m.Media = "documentMessage", &bridge.Media{Type: bridge.MediaDocument, MimeType: "application/pdf", FileName: "a.pdf"}
		}), []string{`"filename":"a.pdf"`, `3EB0B1.pdf"`}},
		"a voice note": {with(func(m *bridge.Message) {
			m.MessageType, m.Media = "audioMessage", &bridge.Media{Type: bridge.MediaAudio, MimeType: "audio/ogg; codecs=opus", PTT: true}
		}), []string{`"MediaType":"ptt"`, `.ogg"`}},
		"a place":   {with(func(m *bridge.Message) { m.Location = &bridge.Place{Latitude: 52.5, Longitude: 13.4, Name: "n"} }), []string{`"location":{"live":false,"latitude":"52.5","longitude":"13.4","name":"n","address":null`}},
		"a contact": {with(func(m *bridge.Message) { m.Contacts = []bridge.SharedContact{{VCard: "BEGIN:VCARD"}} }), []string{`"vCards":["BEGIN:VCARD"]`}},
		"a poll": {with(func(m *bridge.Message) {
			m.MessageType, m.Poll = "pollCreationMessageV3", &bridge.PollTally{Name: "When?", Options: []bridge.PollOption{{Name: "now"}}}
		}), []string{`"options":[{"optionName":"now"}]`}},
	} {
		got := posted(t, all, bridge.Event{Type: bridge.EventMessageCreated, ChatJID: walks, Message: &test.m})
		for _, part := range test.want {
			if !strings.Contains(got["message"], part) {
				t.Errorf("%s has no %s: %s", name, part, got["message"])
			}
		}
		if got["message"] != got["message.any"] {
			t.Errorf("%s: message.any is another: %s", name, got["message.any"])
		}
	}
}

// A webhook without a list of events gets all but the repetitions of message.any, and one
// with a list only what is on it.
func TestFormat_PostsTheEventsThatAreWanted(t *testing.T) {
	mine := bridge.Message{Chat: sofia, ID: "3EB0A1", FromMe: true, SenderJID: owner, Timestamp: morning, Status: new(bridge.DeliveryPlayed)}
	group := mine
	group.Chat = walks
	lost, found := bridge.Message{Chat: sofia, ID: "3EB0A2", SenderJID: sofia, MessageType: bridge.TypeUndecryptable}, bridge.Message{Chat: sofia, ID: "3EB0A2", SenderJID: sofia, MessageType: bridge.TypeText}
	gone := found
	gone.DeletedAt = &morning
	for name, test := range map[string]struct {
		event  bridge.Event
		events []string
		want   []string
	}{
		"own, by default":     {bridge.Event{Type: bridge.EventMessageCreated, Message: &mine}, nil, nil},
		"own":                 {bridge.Event{Type: bridge.EventMessageCreated, Message: &mine}, []string{"message", "message.any"}, []string{"message.any"}},
		"a status":            {bridge.Event{Type: bridge.EventMessageStatus, Message: &mine}, nil, []string{"message.ack"}},
		"a status in a group": {bridge.Event{Type: bridge.EventMessageStatus, Message: &group}, nil, []string{"message.ack.group"}},
		"not on the list":     {bridge.Event{Type: bridge.EventMessageStatus, Message: &mine}, []string{"message"}, nil},
		"not decrypted":       {bridge.Event{Type: bridge.EventMessageCreated, Message: &lost}, nil, nil},
		"decrypted later":     {bridge.Event{Type: bridge.EventMessageUpdated, Message: &found, Changes: bridge.EventChanges{Fields: []bridge.MessageField{bridge.ChangedContent, bridge.ChangedType}}}, nil, []string{"message"}},
		"deleted meanwhile":   {bridge.Event{Type: bridge.EventMessageCreated, Message: &gone}, nil, nil},
		"edited and deleted":  {bridge.Event{Type: bridge.EventMessageUpdated, Message: &gone, Changes: bridge.EventChanges{Fields: []bridge.MessageField{bridge.ChangedContent, bridge.ChangedEdited}}}, nil, nil},
		"a deletion":          {bridge.Event{Type: bridge.EventMessageUpdated, Message: &gone, Changes: bridge.EventChanges{Fields: []bridge.MessageField{bridge.ChangedContent, bridge.ChangedDeleted}}}, nil, []string{"message.revoked"}},
		"a pin":               {bridge.Event{Type: bridge.EventMessageUpdated, Message: &mine, Changes: bridge.EventChanges{Fields: []bridge.MessageField{bridge.ChangedPinned}}}, nil, nil},
		"lost events":         {bridge.Event{Type: bridge.EventReset}, nil, nil},
		"a test":              {bridge.Event{Type: format.Test}, []string{"message"}, []string{"session.status"}},
	} {
		got := posted(t, bridge.Webhook{Options: bridge.FormatOptions{Events: test.events}}, test.event)
		names := []string(nil)
		for name := range got {
			names = append(names, name)
		}
		if slices.Sort(names); !slices.Equal(names, test.want) {
			t.Errorf("%s: %v, want %v", name, names, test.want)
		}
	}
	if got := posted(t, bridge.Webhook{}, bridge.Event{Type: bridge.EventMessageStatus, Message: &mine})["message.ack"]; !strings.Contains(got, `"ack":4,"ackName":"PLAYED"`) {
		t.Errorf("played: %s", got)
	}
	if got := posted(t, bridge.Webhook{Only: []bridge.JID{sofia}}, bridge.Event{Type: format.Test}); len(got) != 0 {
		t.Errorf("a token that is limited to chats is told the account's state: %v", got)
	}
	typed := mine
	typed.ID = "AC0102"
	for source, m := range map[string]bridge.Message{"api": mine, "app": typed} { // flows that answer pass over what they sent
		got := posted(t, bridge.Webhook{Options: bridge.FormatOptions{Events: []string{"*"}}}, bridge.Event{Type: bridge.EventMessageCreated, Message: &m})["message.any"]
		if !strings.Contains(got, `"source":"`+source+`"`) {
			t.Errorf("%s has not the source %s: %s", m.ID, source, got)
		}
	}
	if types := typesOf([]string{"message", "session.status", "call.received"}); !slices.Equal(types, []bridge.EventType{bridge.EventAccountStatus, bridge.EventMessageCreated}) {
		t.Errorf("types %v", types)
	}
}

// The address of a file leads to that file, whatever id and type the sender of its message
// has made up: a receiver follows it with its key.
func TestMedia_AddressStaysAtTheFile(t *testing.T) {
	const files = "https://bridge.example/waha/api/files/default/"
	var asked []string
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.EscapedPath())
		w.Header().Set("Content-Type", "image/jpeg")
	})
	adapter := New(compat.Options{Client: client.InProcess(api, ""), Token: compattest.AnyToken, Log: zerolog.Nop()})
	for _, id := range []string{"3EB0B1", "x/../../../sendText?phone=34600100101&text=spam#", "A.B_2@c.us", "%2e%2e%2f"} {
		m := bridge.Message{Chat: sofia, ID: id, MessageType: "imageMessage", Media: &bridge.Media{Type: bridge.MediaImage, MimeType: "image/jp#eg?"}}
		address := messageOf(m, strings.TrimSuffix(files, "/api/files/default/")).Media.URL
		name, isFile := strings.CutPrefix(address, files)
		if !isFile || strings.ContainsAny(name, "/?#%") || !strings.HasSuffix(name, ".bin") {
			t.Errorf("the file of %q is at %s", id, address)
			continue
		}
		r := httptest.NewRequest(http.MethodGet, "/api/files/default/"+name, http.NoBody)
		r.Header.Set("X-Api-Key", "key")
		adapter.ServeHTTP(httptest.NewRecorder(), r)
		if want := "GET " + bridge.DownloadPath(sofia, id); len(asked) == 0 || asked[len(asked)-1] != want {
			t.Errorf("%s asks for %v, want %s", address, asked, want)
		}
	}
}

// TestFormat_PostsChangesOfGroups: an event for each kind of change, those of the account apart.
func TestFormat_PostsChangesOfGroups(t *testing.T) {
	group := bridge.Group{JID: walks, Name: "Walks", Participants: []bridge.Participant{{JID: owner, IsAdmin: true}, {JID: sofia}}}
	people := []bridge.JID{sofia}
	for name, test := range map[string]struct {
		changes bridge.GroupChanges
		event   string
		want    string
	}{
		"join":     {bridge.GroupChanges{By: owner, Added: people}, "group.v2.participants", `{"_data":{"by":"15550001111@s.whatsapp.net"`},
		"members":  {bridge.GroupChanges{Added: people}, "group.v2.participants", `"group":{"id":"120363000000000000@g.us"},"participants":[{"id":"34600100101@c.us","role":"participant"}],"timestamp":1795249530000,"type":"join"}`},
		"removed":  {bridge.GroupChanges{By: owner, Removed: people}, "group.v2.participants", `"role":"left"}],"timestamp":1795249530000,"type":"leave"}`},
		"left":     {bridge.GroupChanges{By: sofia, Left: people}, "group.v2.participants", `"type":"leave"}`},
		"promoted": {bridge.GroupChanges{By: owner, Promoted: people}, "group.v2.participants", `"role":"admin"}],"timestamp":1795249530000,"type":"promote"}`},
		"demoted":  {bridge.GroupChanges{By: owner, Demoted: people}, "group.v2.participants", `"role":"participant"}],"timestamp":1795249530000,"type":"demote"}`},
		"own join": {bridge.GroupChanges{By: sofia, Added: []bridge.JID{owner}}, "group.v2.join", `"participants":[{"id":"15550001111@c.us","role":"admin"},{"id":"34600100101@c.us","role":"participant"}],"subject":"Walks"}`},
		"own end":  {bridge.GroupChanges{By: sofia, Removed: []bridge.JID{owner}}, "group.v2.leave", `"group":{"id":"120363000000000000@g.us"}`},
		"own rank": {bridge.GroupChanges{By: sofia, Promoted: []bridge.JID{owner}}, "group.v2.participants", `"type":"promote"`},
		"settings": {bridge.GroupChanges{By: sofia, Subject: &bridge.Change[string]{New: "Hikes"}, IsAnnounce: &bridge.Change[bool]{New: true}}, "group.v2.update", `"group":{"id":"120363000000000000@g.us","membersCanSendMessages":false,"subject":"Hikes"}`},
	} {
		e := bridge.Event{Type: bridge.EventGroupUpdated, Group: &bridge.StoredGroup{Group: group}, Changes: bridge.EventChanges{Group: &test.changes}}
		got := posted(t, bridge.Webhook{}, e)
		if len(got) != 1 || !strings.Contains(got[test.event], test.want) {
			t.Errorf("%s: %v, want %s with %s", name, got, test.event, test.want)
		}
	}
	if got := posted(t, bridge.Webhook{}, bridge.Event{Type: bridge.EventGroupUpdated, Group: &bridge.StoredGroup{Group: group}}); len(got) != 0 {
		t.Errorf("a change that is not known: %v", got)
	}
	if types := typesOf([]string{"group.v2.join"}); !slices.Equal(types, []bridge.EventType{bridge.EventGroupUpdated}) {
		t.Errorf("types %v", types)
	}
}
