package cloud

import (
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/compat/compattest"
)

// Digits stand for a group both ways. No person and no group of the old kind is taken for one.
func TestStandIn_BothWays(t *testing.T) {
	if digits := groupContact("120363025246125486@g.us"); digits != "999025246125486" || groupOf(digits) != "120363025246125486@g.us" || groupOf("+"+digits) != "120363025246125486@g.us" {
		t.Errorf("%s, %s", digits, groupOf(digits))
	}
	for _, group := range []bridge.JID{"15551234567-1600000000@g.us", "12036302524612548@g.us", "1203630252461254860@g.us", "120364025246125486@g.us"} {
		if digits := groupContact(group); digits != "" {
			t.Errorf("%s is %s", group, digits)
		}
	}
	for _, to := range []string{"", "15551234567", "999", "99902524612548", "9990252461254860", "99902524612548x", "120363025246125486", "999025246125486@g.us"} {
		if group := groupOf(to); group != "" {
			t.Errorf("%s is %s", to, group)
		}
	}
}

// A chat that clients cannot address has no id as a contact.
func TestContactID_OfChats(t *testing.T) {
	for chat, want := range map[bridge.JID]string{
		"15551234567@s.whatsapp.net": "15551234567", "123456789012345@lid": "123456789012345", "120363025246125486@g.us": "999025246125486",
		"15551234567-1600000000@g.us": "", "1234567890123456@lid": "", "status@broadcast": "", "a-name@import": "", "u1@interop": "",
	} {
		if got := ContactID(chat); got != want {
			t.Errorf("%s is %q, want %q", chat, got, want)
		}
	}
}

// Digits that a person's hidden identity has, too, lead to neither that person nor the group.
func TestStandIn_NeverAPersonInsteadOfAGroup(t *testing.T) {
	s := newScene(t)
	sendsTo := func(recipient string) any {
		_, answer := ask(t, s, sends(`{"messaging_product":"whatsapp",`+recipient+`,"type":"text","text":{"body":"x"}}`, "", ""), compattest.Operator)
		return codeOf(answer)
	}
	const asGroup, asContact = `"recipient_type":"group","to":"999025246125486"`, `"to":"999025246125486"`
	const notConnected, invalid = 131016.0, 100.0
	if a, b := sendsTo(asGroup), sendsTo(asContact); a != notConnected || b != notConnected {
		t.Errorf("to the group: %v, %v", a, b)
	}
	s.Save(bridge.Message{Chat: "999025246125486@lid", ID: "H1", SenderJID: "999025246125486@lid", MessageType: "conversation", Content: "hi"})
	if a, b := sendsTo(asGroup), sendsTo(asContact); a != notConnected || b != invalid {
		t.Errorf("where a person has the digits: %v, %v", a, b)
	}
}

// A group that is shown as a contact is one in every post, and what has text begins with who
// wrote it.
func TestWebhook_GroupsAsContacts(t *testing.T) {
	options := bridge.FormatOptions{GroupChats: true, OwnMessages: true}
	id := messageRef{Chat: club, Sender: sofia, ID: "3EB0A"}.messageID()
	by := func(kind, content string) string {
		return `{"contacts":[{"profile":{"name":"Book club"},"wa_id":"999000000000000"}],"messages":[{"from":"999000000000000","id":"` + id + `","timestamp":"1795249530","type":"` + kind + `","` + kind + `":` + content + `}]}`
	}
	file := messageRef{Chat: club, Sender: sofia, ID: "3EB0A"}.fileID()
	picture, voice := bridge.Media{Type: bridge.MediaImage, MimeType: "image/png"}, bridge.Media{Type: bridge.MediaAudio, MimeType: "audio/ogg", PTT: true}
	for name, c := range map[string]struct {
		event       bridge.Event
		field, want string
	}{
		"a text":            {received(club, bridge.Message{Content: "hi"}), "messages", by("text", `{"body":"Sofía: hi"}`)},
		"without a name":    {received(club, bridge.Message{SenderJID: sofia, Content: "hi"}), "messages", by("text", `{"body":"+34600100101: hi"}`)},
		"without a number":  {received(club, bridge.Message{SenderJID: "422319102884547@lid", Content: "hi"}), "messages", strings.ReplaceAll(by("text", `{"body":"~422319102884547: hi"}`), id, messageRef{Chat: club, Sender: "422319102884547@lid", ID: "3EB0A"}.messageID())},
		"a picture":         {received(club, bridge.Message{Media: &picture, Content: "look"}), "messages", by("image", `{"id":"`+file+`","mime_type":"image/png","caption":"Sofía: look"}`)},
		"one without words": {received(club, bridge.Message{Media: &picture}), "messages", by("image", `{"id":"`+file+`","mime_type":"image/png","caption":"Sofía"}`)},
		"a voice note":      {received(club, bridge.Message{Media: &voice}), "messages", by("audio", `{"id":"`+file+`","mime_type":"audio/ogg","voice":true}`)},
		"a status":          {sent(club, bridge.DeliveryRead), "messages", `{"statuses":[{"id":"` + idOf(club, "3EB0A") + `","timestamp":"1795249530","recipient_id":"999000000000000","status":"read"}]}`},
		"an own message": {
			received(club, bridge.Message{FromMe: true, SenderJID: ada, Content: "hi"}), "smb_message_echoes",
			`{"message_echoes":[{"from":"15550001111","to":"999000000000000","id":"` + idOf(club, "3EB0A") + `","timestamp":"1795249530","type":"text","text":{"body":"hi"}}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := delivery(c.event, options)
			d.GroupName = "Book club"
			wantPosts(t, d, c.field, c.want)
		})
	}
	wantPosts(t, delivery(received("15551234567-1600000000@g.us", bridge.Message{Content: "hi"}), options), "")
	wantPosts(t, delivery(received(club, bridge.Message{Content: "hi"}), bridge.FormatOptions{}), "")
	private := received(sofia, bridge.Message{Content: "hi"})
	wantPosts(t, delivery(private, options), "messages", `{"contacts":[{"profile":{"name":"Sofía"},"wa_id":"34600100101"}],"messages":[{"from":"34600100101","id":"`+idOf(sofia, "3EB0A")+`","timestamp":"1795249530","type":"text","text":{"body":"hi"}}]}`)
}
