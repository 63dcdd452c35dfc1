package evolution

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/compat/compattest"
	"bridged/internal/fuzzbudget"
)

const (
	club     = compattest.Club
	owner    = bridge.JID("15550001111@s.whatsapp.net")
	sofia    = bridge.JID("34600100101@s.whatsapp.net")
	sofiaLID = bridge.JID("222222222222222@lid")
)

var morning = bridge.At(time.Date(2026, 11, 21, 8, 25, 30, 0, time.UTC))

// said is a message of Sofía's of some kind.
func said(kind, content string) bridge.Message {
	return bridge.Message{
		Chat: sofia, ID: "3EB0A1", SenderJID: sofia, SenderLID: sofiaLID, PushName: "Sofía", MessageType: kind, Content: content, Timestamp: morning,
	}
}

func with(m bridge.Message, change func(*bridge.Message)) bridge.Message {
	change(&m)
	return m
}

// decoded returns a value as its reader gets it.
func decoded(t *testing.T, value any) (object map[string]any) {
	t.Helper()
	encoded, err := bridge.EncodeJSON(value)
	if err == nil {
		err = json.Unmarshal(encoded, &object)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func TestRecord_OfEachKind(t *testing.T) {
	for name, c := range map[string]struct {
		message             bridge.Message
		kind, content, info string
	}{
		"a text":           {said("conversation", "Hi!"), "conversation", `{"conversation":"Hi!"}`, `null`},
		"a text with more": {said("extendedTextMessage", "Hi!"), "conversation", `{"conversation":"Hi!"}`, `null`},
		"a picture": {
			with(said("imageMessage", "c"), func(m *bridge.Message) {
				m.Media = &bridge.Media{Type: bridge.MediaImage, MimeType: "image/jpeg", Size: 1234, Caption: "c", Width: 3, Height: 2, DownloadURL: "/x"}
			}), "imageMessage",
			`{"imageMessage":{"url":"/x","mimetype":"image/jpeg","caption":"c","fileLength":"1234","height":2,"width":3,"jpegThumbnail":""}}`, `null`,
		},
		"a video": {
			with(said("videoMessage", ""), func(m *bridge.Message) {
				m.Media = &bridge.Media{Type: bridge.MediaVideo, MimeType: "video/mp4", DurationSec: 7}
			}), "videoMessage",
			`{"videoMessage":{"url":"","mimetype":"video/mp4","caption":"","fileLength":"0","height":0,"width":0,"jpegThumbnail":"","seconds":7}}`, `null`,
		},
		"a voice note": {
			with(said("audioMessage", ""), func(m *bridge.Message) {
				m.Media = &bridge.Media{Type: bridge.MediaAudio, MimeType: "audio/ogg; codecs=opus", Size: 9, PTT: true, DurationSec: 4}
			}), "audioMessage", `{"audioMessage":{"url":"","mimetype":"audio/ogg; codecs=opus","fileLength":"9","ptt":true,"seconds":4}}`, `null`,
		},
		"a document": {
			with(said("documentMessage", "read"), func(m *bridge.Message) {
				m.Media = &bridge.Media{Type: bridge.MediaDocument, MimeType: "application/pdf", FileName: "a.pdf", Caption: "read", Pages: 2}
			}), "documentMessage",
			`{"documentMessage":{"url":"","mimetype":"application/pdf","fileLength":"0","fileName":"a.pdf","title":"a.pdf","caption":"read","pageCount":2}}`, `null`,
		},
		"a sticker": {
			with(said("stickerMessage", ""), func(m *bridge.Message) {
				m.Media = &bridge.Media{Type: bridge.MediaSticker, MimeType: "image/webp", IsAnimated: true, Width: 512, Height: 512}
			}), "stickerMessage", `{"stickerMessage":{"url":"","mimetype":"image/webp","fileLength":"0","isAnimated":true,"height":512,"width":512}}`, `null`,
		},
		"a picture in a list of chats": {said("imageMessage", "c"), "imageMessage", `{"imageMessage":{"caption":"c"}}`, `null`},
		"a place": {
			with(said("locationMessage", "n"), func(m *bridge.Message) {
				m.Location = &bridge.Place{Latitude: 52.5, Longitude: 13.4, Name: "n", Address: "a"}
			}),
			"locationMessage", `{"locationMessage":{"degreesLatitude":52.5,"degreesLongitude":13.4,"name":"n","address":"a","url":""}}`, `null`,
		},
		"a contact": {
			with(said("contactMessage", "Ben"), func(m *bridge.Message) { m.Contacts = []bridge.SharedContact{{DisplayName: "Ben", VCard: "BEGIN"}} }),
			"contactMessage", `{"contactMessage":{"displayName":"Ben","vcard":"BEGIN"}}`, `null`,
		},
		"contacts": {
			with(said("contactsArrayMessage", "Ben, Eva"), func(m *bridge.Message) {
				m.Contacts = []bridge.SharedContact{{DisplayName: "Ben"}, {DisplayName: "Eva"}}
			}),
			"contactsArrayMessage", `{"contactsArrayMessage":{"displayName":"Ben, Eva","contacts":[{"displayName":"Ben","vcard":""},{"displayName":"Eva","vcard":""}]}}`, `null`,
		},
		"a poll": {
			with(said("pollCreationMessage", "When?"), func(m *bridge.Message) {
				m.Poll = &bridge.PollTally{Name: "When?", Options: []bridge.PollOption{{Name: "now"}, {Name: "later"}}, SelectableCount: 1}
			}), "pollCreationMessageV3",
			`{"pollCreationMessageV3":{"name":"When?","options":[{"optionName":"now"},{"optionName":"later"}],"selectableOptionsCount":1}}`, `null`,
		},
		"a chosen button": {
			with(said("buttonsResponseMessage", "Yes"), func(m *bridge.Message) {
				m.Interactive = &bridge.Interactive{Selected: &bridge.Choice{ID: "b1", Text: "Yes"}}
			}),
			"buttonsResponseMessage", `{"buttonsResponseMessage":{"selectedButtonId":"b1","selectedDisplayText":"Yes"}}`, `null`,
		},
		"a chosen row": {
			with(said("listResponseMessage", "Row"), func(m *bridge.Message) {
				m.Interactive = &bridge.Interactive{Selected: &bridge.Choice{ID: "r1", Text: "Row"}}
			}),
			"listResponseMessage", `{"listResponseMessage":{"title":"Row","singleSelectReply":{"selectedRowId":"r1"}}}`, `null`,
		},
		"an invitation": {
			with(said("groupInviteMessage", "come"), func(m *bridge.Message) { m.GroupInvite = &bridge.GroupInvite{JID: club, Name: "Readers", Code: "AbC"} }),
			"groupInviteMessage", `{"groupInviteMessage":{"groupJid":"120363025246125486@g.us","groupName":"Readers","inviteCode":"AbC","caption":"come"}}`, `null`,
		},
		"another kind":      {said("orderMessage", "two cups"), "orderMessage", `{"orderMessage":{"text":"two cups"}}`, `null`},
		"not decrypted yet": {said("undecryptable", ""), "undecryptable", `{}`, `null`},
		"a deleted one": {
			with(said("conversation", ""), func(m *bridge.Message) { m.DeletedAt = &morning }), "protocolMessage",
			`{"protocolMessage":{"type":"REVOKE","key":{"remoteJid":"34600100101@s.whatsapp.net","remoteJidAlt":"222222222222222@lid","fromMe":false,"id":"3EB0A1","participant":"","addressingMode":"pn"}}}`, `null`,
		},
		"a reply": {
			with(said("extendedTextMessage", "Yes"), func(m *bridge.Message) {
				m.ContextInfo = &bridge.ContextInfo{QuotedMsgID: new("3EB0Q"), QuotedSenderJID: owner, MentionedJID: []bridge.JID{owner}}
				m.Quoted, m.IsForwarded = &bridge.Quoted{MessageType: "conversation", Content: "Coming?"}, true
			}), "conversation", `{"conversation":"Yes"}`,
			`{"stanzaId":"3EB0Q","participant":"15550001111@s.whatsapp.net","quotedMessage":{"conversation":"Coming?"},"mentionedJid":["15550001111@s.whatsapp.net"],"isForwarded":true}`,
		},
		"a private reply to a group's message": {
			with(said("conversation", "Yes"), func(m *bridge.Message) {
				m.ContextInfo = &bridge.ContextInfo{QuotedMsgID: new("3EB0Q"), QuotedSenderJID: owner}
				m.Quoted = &bridge.Quoted{MsgID: "3EB0Q", ChatJID: club, MessageType: "conversation", Content: "Coming?", Origin: bridge.QuoteEmbedded}
			}), "conversation", `{"conversation":"Yes"}`,
			`{"stanzaId":"3EB0Q","participant":"15550001111@s.whatsapp.net","remoteJid":"120363025246125486@g.us","quotedMessage":{"conversation":"Coming?"}}`,
		},
		"a reply without a copy": {
			with(said("conversation", "Yes"), func(m *bridge.Message) {
				m.ContextInfo = &bridge.ContextInfo{QuotedMsgID: new("3EB0Q"), QuotedSenderJID: owner}
				m.Quoted = &bridge.Quoted{MsgID: "3EB0Q", ChatJID: m.Chat, MessageType: bridge.TypeUnknown, Origin: bridge.QuoteEmbedded}
			}), "conversation", `{"conversation":"Yes"}`, `{"stanzaId":"3EB0Q","participant":"15550001111@s.whatsapp.net"}`,
		},
	} {
		record := decoded(t, RecordOf(owner, c.message))
		var content, info any
		if json.Unmarshal([]byte(c.content), &content) != nil || json.Unmarshal([]byte(c.info), &info) != nil {
			t.Fatal(name)
		}
		if diff := cmp.Diff(content, record["message"]); diff != "" || record["messageType"] != c.kind {
			t.Errorf("%s is %v: %s", name, record["messageType"], diff)
		}
		if diff := cmp.Diff(info, record["contextInfo"]); diff != "" {
			t.Errorf("%s refers to: %s", name, diff)
		}
		if record["messageTimestamp"] != 1795249530.0 || record["pushName"] != "Sofía" || len(record["instanceId"].(string)) != 36 || len(record["id"].(string)) != 25 {
			t.Errorf("%s: %v", name, record)
		}
	}
}

func TestRecord_NamesItsMessage(t *testing.T) {
	inGroup := with(said("conversation", "x"), func(m *bridge.Message) { m.Chat = club })
	for name, c := range map[string]struct {
		message bridge.Message
		want    Key
	}{
		"of a person":            {said("conversation", "x"), Key{RemoteJID: sofia, RemoteJIDAlt: sofiaLID, ID: "3EB0A1", AddressingMode: "pn"}},
		"to a person":            {with(said("conversation", "x"), func(m *bridge.Message) { m.FromMe, m.SenderJID, m.SenderLID = true, owner, "1@lid" }), Key{RemoteJID: sofia, FromMe: true, ID: "3EB0A1", AddressingMode: "pn"}},
		"of a hidden person":     {with(said("conversation", "x"), func(m *bridge.Message) { m.Chat, m.SenderJID = sofiaLID, sofiaLID }), Key{RemoteJID: sofiaLID, ID: "3EB0A1", AddressingMode: "lid"}},
		"in a group":             {inGroup, Key{RemoteJID: club, ID: "3EB0A1", Participant: string(sofia), ParticipantAlt: sofiaLID, AddressingMode: "pn"}},
		"of a hidden one in one": {with(inGroup, func(m *bridge.Message) { m.SenderJID = sofiaLID }), Key{RemoteJID: club, ID: "3EB0A1", Participant: string(sofiaLID), AddressingMode: "lid"}},
	} {
		if diff := cmp.Diff(c.want, RecordOf(owner, c.message).Key); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestRecord_OfWhatHappensToAMessage(t *testing.T) {
	status := func(delivery bridge.Delivery) bridge.Message {
		return with(said("conversation", "x"), func(m *bridge.Message) { m.FromMe, m.Status = true, &delivery })
	}
	var got []string
	for _, delivery := range []bridge.Delivery{"pending", "sent", "delivered", "read", "played", "failed"} {
		record := RecordOf(owner, status(delivery))
		if change := ChangeOf(owner, status(delivery)); change.Status != record.Status || change.MessageID != record.ID || change.KeyID != "3EB0A1" || change.Participant != nil {
			t.Errorf("%s: %+v", delivery, change)
		}
		got = append(got, record.Status)
	}
	if want := []string{"PENDING", "SERVER_ACK", "DELIVERY_ACK", "READ", "PLAYED", "ERROR"}; !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
	edit := decoded(t, EditOf(with(said("conversation", "new"), func(m *bridge.Message) { m.EditedAt = &morning })))
	if edit["type"] != "MESSAGE_EDIT" || edit["timestampMs"] != "1795249530000" || edit["editedMessage"].(map[string]any)["conversation"] != "new" {
		t.Errorf("an edit: %v", edit)
	}
	for _, emoji := range []string{"👍", ""} {
		reaction := ReactionOf(owner, with(said("conversation", "x"), func(m *bridge.Message) { m.Chat = club }), bridge.MessageReaction{SenderJID: owner, Emoji: emoji, Timestamp: morning})
		content := reaction.Message["reactionMessage"].(map[string]any)
		if key := reaction.Key; !key.FromMe || key.RemoteJID != club || key.Participant != string(owner) || !strings.HasPrefix(key.ID, "3EB0") || len(key.ID) != 22 {
			t.Errorf("a reaction's own key: %+v", key)
		}
		if on := content["key"].(Key); content["text"] != emoji || on.ID != "3EB0A1" || on.Participant != string(sofia) || reaction.MessageType != "reactionMessage" {
			t.Errorf("a reaction: %+v", reaction)
		}
	}
}

// A record's key leads back to its message, and any message has a record.
func FuzzRecord(f *testing.F) {
	f.Add("34600100101", "3EB0A1", "conversation", "Hi!", byte(0))
	f.Add("120363025246125486", "A/B\x00", "imageMessage", "\xff", byte(7))
	f.Fuzz(func(t *testing.T, user, id, kind, content string, forms byte) {
		fuzzbudget.Usual.Check(t, len(user)+len(id)+len(kind)+len(content), func() {
			server := []string{"@s.whatsapp.net", "@lid", "@g.us"}[int(forms)%3]
			chat, err := bridge.ParseJID(user + server)
			if err != nil || id == "" {
				return
			}
			m := said(kind, content)
			if m.Chat, m.ID = chat, id; forms&8 != 0 {
				m.Media, m.Location, m.Poll = &bridge.Media{FileName: content}, &bridge.Place{Name: content}, &bridge.PollTally{Name: content}
			}
			encoded, err := json.Marshal(RecordOf(owner, m))
			var read struct{ Key messageKey }
			if err != nil || json.Unmarshal(encoded, &read) != nil {
				t.Fatalf("%s, %v", encoded, err)
			}
			got, gotID, err := read.Key.target()
			if err != nil || got != chat || gotID != strings.ToValidUTF8(id, "\ufffd") && gotID != validated(id) {
				t.Errorf("%s %q came back as %s %q, %v", chat, id, got, gotID, err)
			}
		})
	})
}

// validated returns a text as encoding/json writes it: each byte that is not UTF-8 replaced.
func validated(text string) string { return string([]rune(text)) }

// A key as clients write it never leads to two messages, and what it leads to has the same
// key again.
func FuzzKey(f *testing.F) {
	f.Add(`{"remoteJid":"34600100101@s.whatsapp.net","id":"3EB0A1","fromMe":"true"}`)
	f.Add(`{"remoteJid":34600100101,"id":"3EB0A1"}`)
	f.Fuzz(func(t *testing.T, text string) {
		fuzzbudget.Usual.Check(t, len(text), func() {
			var key, again messageKey
			if json.Unmarshal([]byte(text), &key) != nil {
				return
			}
			chat, id, err := key.target()
			if err != nil {
				return
			}
			encoded, err := json.Marshal(keyOf(bridge.Message{Chat: chat, ID: id, FromMe: bool(key.FromMe)}))
			if err != nil || json.Unmarshal(encoded, &again) != nil {
				t.Fatalf("%s: %v", encoded, err)
			}
			if sameChat, sameID, err := again.target(); err != nil || sameChat != chat || sameID != id || again.FromMe != key.FromMe {
				t.Errorf("%s is %s %q, then %s %q, %v", text, chat, id, sameChat, sameID, err)
			}
		})
	})
}

// A file without a name is named by its message, whose sender has chosen the id: it is no path.
func TestFileName_IsNoPath(t *testing.T) {
	m := bridge.Message{ID: "3EB0A1", Media: &bridge.Media{MimeType: "image/jpeg"}}
	if name := fileNameOf(m); name != "3EB0A1.jpeg" {
		t.Errorf("named %s", name)
	}
	if m.ID = "../../etc/x"; strings.ContainsAny(fileNameOf(m), "/\\") {
		t.Errorf("named %s", fileNameOf(m))
	}
}
