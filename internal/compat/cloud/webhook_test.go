package cloud

import (
	"bytes"
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/webhook/format"
)

var (
	own    = format.Account{User: &bridge.User{JID: ada, LID: "111111111111111@lid", Phone: ada.User(), PushName: "Ada"}, State: bridge.StateOpen}
	moment = bridge.At(time.Unix(1795249530, 0))
)

// delivery returns what is posted of an event to a webhook with options.
func delivery(e bridge.Event, o bridge.FormatOptions) format.Delivery {
	o.VerifyToken = "known"
	if e.ChatJID == "" {
		e.ChatJID = sofia
	}
	e.At = moment
	return format.Delivery{Webhook: bridge.Webhook{URL: "https://receiver.example/hook", Secret: "app secret", Options: o}, ID: "evt", Event: e, Own: own, Now: moment.Time}
}

// received returns the event of a message in a chat.
func received(chat bridge.JID, m bridge.Message) bridge.Event {
	if m.ID == "" {
		m.ID = "3EB0A"
	}
	if m.SenderJID == "" {
		m.SenderJID, m.PushName = sofia, "Sofía"
	}
	m.Timestamp = moment
	if m.MessageType == "" {
		m.MessageType = bridge.TypeText
	}
	return bridge.Event{Type: bridge.EventMessageCreated, ChatJID: chat, Message: &m}
}

// sent returns the event of a status of an own message.
func sent(chat bridge.JID, status bridge.Delivery) bridge.Event {
	e := received(chat, bridge.Message{FromMe: true, SenderJID: ada, Content: "hi", Status: &status})
	e.Type = bridge.EventMessageStatus
	return e
}

func reacted(chat bridge.JID, reactions ...bridge.MessageReaction) bridge.Event {
	e := received(chat, bridge.Message{ID: "Q", FromMe: true, SenderJID: ada})
	e.Type, e.Changes.Fields, e.Reactions = bridge.EventMessageUpdated, []bridge.MessageField{bridge.ChangedReactions}, reactions
	return e
}

func idOf(chat bridge.JID, id string) string { return messageRef{Chat: chat, ID: id}.messageID() }

// The posts of every kind of message, each with the part that differs; MESSAGE stands for
// the usual rest.
const quotedGroup bridge.JID = "120363000000000000@g.us"

func TestWebhook_MessagesOfEachKind(t *testing.T) {
	sum := []byte("0123456789abcdef0123456789abcdef")
	file := func(kind bridge.MediaType, mimeType string, change func(*bridge.Media)) *bridge.Media {
		f := &bridge.Media{Type: kind, MimeType: mimeType, Ref: bridge.MediaRef{FileSHA256: sum}}
		if change != nil {
			change(f)
		}
		return f
	}
	const (
		sha  = `"sha256":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="`
		none = ""
	)
	id := `"id":"` + messageRef{Chat: sofia, ID: "3EB0A"}.fileID() + `"`
	for name, c := range map[string]struct {
		message bridge.Message
		want    string
	}{
		"text":          {bridge.Message{Content: "hi"}, `"type":"text","text":{"body":"hi"}`},
		"reply":         {bridge.Message{Content: "yes", ContextInfo: &bridge.ContextInfo{QuotedMsgID: new("Q"), QuotedSenderJID: ada}}, `"type":"text","text":{"body":"yes"},"context":{"from":"15550001111","id":"` + idOf(sofia, "Q") + `"}`},
		"reply to hers": {bridge.Message{Content: "and", ContextInfo: &bridge.ContextInfo{QuotedMsgID: new("Q"), QuotedSenderJID: sofia}}, `"type":"text","text":{"body":"and"},"context":{"from":"34600100101","id":"` + idOf(sofia, "Q") + `"}`},
		"private reply": {
			bridge.Message{Content: "yes", ContextInfo: &bridge.ContextInfo{QuotedMsgID: new("Q"), QuotedSenderJID: sofia}, Quoted: &bridge.Quoted{MsgID: "Q", ChatJID: quotedGroup, SenderJID: sofia, Origin: bridge.QuoteEmbedded}},
			`"type":"text","text":{"body":"yes"},"context":{"from":"34600100101","id":"` + messageRef{Chat: quotedGroup, ID: "Q", Sender: sofia}.messageID() + `"}`,
		},
		"forwarded": {bridge.Message{Content: "fw", IsForwarded: true}, `"type":"text","text":{"body":"fw"},"context":{"forwarded":true}`},
		"image":     {bridge.Message{MessageType: "imageMessage", Content: "c", Media: file(bridge.MediaImage, "image/jpeg", nil)}, `"type":"image","image":{"caption":"c","mime_type":"image/jpeg",` + sha + `,` + id + `}`},
		"video":     {bridge.Message{MessageType: "videoMessage", Media: file(bridge.MediaVideo, "video/mp4", nil)}, `"type":"video","video":{"mime_type":"video/mp4",` + sha + `,` + id + `}`},
		"voice note": {
			bridge.Message{MessageType: "audioMessage", Media: file(bridge.MediaAudio, "audio/ogg; codecs=opus", func(f *bridge.Media) { f.PTT = true })},
			`"type":"audio","audio":{"mime_type":"audio/ogg; codecs=opus",` + sha + `,` + id + `,"voice":true}`,
		},
		"document": {
			bridge.Message{MessageType: "documentMessage", Content: "c", Media: file(bridge.MediaDocument, "application/pdf", func(f *bridge.Media) { f.FileName = "a.pdf" })},
			`"type":"document","document":{"caption":"c","filename":"a.pdf","mime_type":"application/pdf",` + sha + `,` + id + `}`,
		},
		"sticker":  {bridge.Message{MessageType: "stickerMessage", Media: file(bridge.MediaSticker, "image/webp", nil)}, `"type":"sticker","sticker":{"mime_type":"image/webp",` + sha + `,` + id + `,"animated":false}`},
		"location": {bridge.Message{MessageType: "locationMessage", Content: "n, a", Parts: bridge.Parts{Location: &bridge.Place{Latitude: 52.5, Longitude: 13.4, Name: "n", Address: "a"}}}, `"type":"location","location":{"latitude":52.5,"longitude":13.4,"name":"n","address":"a"}`},
		"contacts": {bridge.Message{MessageType: "contactMessage", Content: "Jonas Weber", Parts: bridge.Parts{Contacts: []bridge.SharedContact{{
			DisplayName: "Jonas Weber", Phones: []bridge.SharedPhone{{Number: "+49 1510 0100102", JID: "4915100100102@s.whatsapp.net"}}, Emails: []string{"j@example.org"}, Organization: "ACME",
		}}}}, `"type":"contacts","contacts":[{"name":{"formatted_name":"Jonas Weber","first_name":"Jonas","last_name":"Weber"},"phones":[{"phone":"+49 1510 0100102","wa_id":"4915100100102","type":"CELL"}],"emails":[{"email":"j@example.org","type":"WORK"}],"org":{"company":"ACME"}}]`},
		"button": {
			bridge.Message{MessageType: "buttonsResponseMessage", Content: "Yes", Parts: bridge.Parts{Interactive: &bridge.Interactive{Kind: bridge.InteractiveButtons, Selected: &bridge.Choice{ID: "b1", Text: "Yes"}}}},
			`"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"b1","title":"Yes"}}`,
		},
		"row": {
			bridge.Message{MessageType: "listResponseMessage", Content: "Row", Parts: bridge.Parts{Interactive: &bridge.Interactive{Kind: bridge.InteractiveList, Selected: &bridge.Choice{ID: "r1", Text: "Row"}}}},
			`"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"r1","title":"Row"}}`,
		},
		"a business's buttons": {bridge.Message{MessageType: "buttonsMessage", Content: "Pick\n[A]", Parts: bridge.Parts{Interactive: &bridge.Interactive{Kind: bridge.InteractiveButtons}}}, `"type":"text","text":{"body":"Pick\n[A]"}`},
		"a business's place":   {bridge.Message{MessageType: "buttonsMessage", Content: "Come\n[Yes]", Parts: bridge.Parts{Location: &bridge.Place{Latitude: 1}, Interactive: &bridge.Interactive{}}}, `"type":"text","text":{"body":"Come\n[Yes]"}`},
		"an ad's visitor": {
			bridge.Message{Content: "hi", Parts: bridge.Parts{Referral: &bridge.Referral{SourceType: "ad", SourceID: "1", SourceURL: "https://fb.me/1", Headline: "h", Body: "b", CTWAClid: "c"}}},
			`"type":"text","text":{"body":"hi"},"referral":{"source_url":"https://fb.me/1","source_id":"1","source_type":"ad","headline":"h","body":"b","ctwa_clid":"c"}`,
		},
		"poll": {
			bridge.Message{MessageType: "pollCreationMessage", Content: "When?", Poll: &bridge.PollTally{Name: "When?"}},
			`"type":"unsupported","errors":[{"code":131051,"title":"Message type unknown","message":"Message type unknown","error_data":{"details":"Message type is currently not supported."}}]`,
		},
		"call": {
			bridge.Message{MessageType: "callLogMesssage"},
			`"type":"unsupported","errors":[{"code":131051,"title":"Message type unknown","message":"Message type unknown","error_data":{"details":"Message type is currently not supported."}}]`,
		},
		"not decrypted": {bridge.Message{MessageType: bridge.TypeUndecryptable}, none},
		"album":         {bridge.Message{MessageType: "albumMessage", Parts: bridge.Parts{Album: &bridge.Album{Images: 2}}}, none},
		"deleted":       {bridge.Message{DeletedAt: &moment}, none},
		"own":           {bridge.Message{FromMe: true, SenderJID: ada, Content: "hi"}, none},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want != none {
				c.want = `{"contacts":[{"profile":{"name":"Sofía"},"wa_id":"34600100101"}],"messages":[{"from":"34600100101","id":"` + idOf(sofia, "3EB0A") + `","timestamp":"1795249530",` + c.want + `}]}`
			}
			wantPosts(t, delivery(received(sofia, c.message), bridge.FormatOptions{}), "messages", c.want)
		})
	}
}

// Everything else that is posted, and what is not.
func TestWebhook_OtherEvents(t *testing.T) {
	groups, echoed := bridge.FormatOptions{Groups: true}, bridge.FormatOptions{OwnMessages: true}
	status := func(rest string) string {
		return `{"statuses":[{"id":"` + idOf(sofia, "3EB0A") + `","timestamp":"1795249530","recipient_id":"34600100101",` + rest + `}]}`
	}
	reaction := func(chat bridge.JID, by bridge.JID, rest string) string {
		ref := messageRef{Chat: chat, ID: "Q~mwq57us0"}
		if chat == club {
			ref.Sender = by
			rest += `,"group_id":"120363000000000000"`
		}
		return `{"contacts":[{"profile":{"name":"` + by.User() + `"},"wa_id":"` + by.User() + `"}],"messages":[{"from":"` + by.User() + `","id":"` + ref.messageID() + `","timestamp":"1795249530","type":"reaction",` + rest + `}]}`
	}
	like, gone := bridge.MessageReaction{SenderJID: sofia, Emoji: "👍", Timestamp: moment}, bridge.MessageReaction{SenderJID: sofia, Timestamp: moment}
	edited := received(sofia, bridge.Message{Content: "new", EditedAt: &moment})
	edited.Type, edited.Changes.Fields = bridge.EventMessageUpdated, []bridge.MessageField{bridge.ChangedContent, bridge.ChangedEdited}
	decrypted := received(sofia, bridge.Message{Content: "at last"})
	decrypted.Type, decrypted.Changes.Fields = bridge.EventMessageUpdated, []bridge.MessageField{bridge.ChangedContent, bridge.ChangedType}
	edit := decrypted
	edit.Changes.Fields = []bridge.MessageField{bridge.ChangedContent, bridge.ChangedEdited, bridge.ChangedType}
	replaced := received(sofia, bridge.Message{Media: &bridge.Media{Type: bridge.MediaImage}})
	replaced.Type, replaced.Changes.Fields = bridge.EventMessageUpdated, []bridge.MessageField{bridge.ChangedContent}
	atLast := `{"contacts":[{"profile":{"name":"Sofía"},"wa_id":"34600100101"}],"messages":[{"from":"34600100101","id":"` + idOf(sofia, "3EB0A") + `","timestamp":"1795249530","type":"text","text":{"body":"at last"}}]}`
	inGroup := `{"contacts":[{"profile":{"name":"Sofía"},"wa_id":"34600100101"}],"messages":[{"from":"34600100101","group_id":"120363000000000000","id":"` +
		messageRef{Chat: club, Sender: sofia, ID: "3EB0A"}.messageID() + `","timestamp":"1795249530","type":"text","text":{"body":"hi"}}]}`
	hidden := received(shy, bridge.Message{SenderJID: shy, Content: "hi"})
	for name, c := range map[string]struct {
		event   bridge.Event
		options bridge.FormatOptions
		field   string
		want    []string
	}{
		"sent":                                   {sent(sofia, bridge.DeliverySent), bridge.FormatOptions{}, "messages", []string{status(`"status":"sent"`)}},
		"delivered":                              {sent(sofia, bridge.DeliveryDelivered), bridge.FormatOptions{}, "messages", []string{status(`"status":"delivered"`)}},
		"read":                                   {sent(sofia, bridge.DeliveryRead), bridge.FormatOptions{}, "messages", []string{status(`"status":"read"`)}},
		"played":                                 {sent(sofia, bridge.DeliveryPlayed), bridge.FormatOptions{}, "messages", []string{status(`"status":"read"`)}},
		"failed":                                 {sent(sofia, bridge.DeliveryFailed), bridge.FormatOptions{}, "messages", []string{status(`"status":"failed","errors":[{"code":131026,"title":"Message undeliverable","message":"Message undeliverable","error_data":{"details":"the network did not take the message"}}]`)}},
		"pending":                                {sent(sofia, bridge.DeliveryPending), bridge.FormatOptions{}, "", nil},
		"sent in a group":                        {sent(club, bridge.DeliverySent), bridge.FormatOptions{}, "", nil},
		"sent in a group, on":                    {sent(club, bridge.DeliverySent), groups, "messages", []string{`{"statuses":[{"id":"` + idOf(club, "3EB0A") + `","timestamp":"1795249530","recipient_id":"120363000000000000","recipient_type":"group","status":"sent"}]}`}},
		"a reaction":                             {reacted(sofia, like), bridge.FormatOptions{}, "messages", []string{reaction(sofia, sofia, `"reaction":{"message_id":"`+idOf(sofia, "Q")+`","emoji":"👍"}`)}},
		"a reaction removed":                     {reacted(sofia, gone), bridge.FormatOptions{}, "messages", []string{reaction(sofia, sofia, `"reaction":{"message_id":"`+idOf(sofia, "Q")+`"}`)}},
		"two reactions":                          {reacted(club, like, gone), groups, "messages", []string{reaction(club, sofia, `"reaction":{"message_id":"`+idOf(club, "Q")+`","emoji":"👍"}`), reaction(club, sofia, `"reaction":{"message_id":"`+idOf(club, "Q")+`"}`)}},
		"an own reaction":                        {reacted(sofia, bridge.MessageReaction{SenderJID: ada, Emoji: "👍", Timestamp: moment}), bridge.FormatOptions{}, "", nil},
		"an edit":                                {edited, bridge.FormatOptions{}, "", nil},
		"decrypted later":                        {decrypted, bridge.FormatOptions{}, "messages", []string{atLast}},
		"an edit of what could not be decrypted": {edit, bridge.FormatOptions{}, "messages", []string{atLast}},
		"a picture in HD, in place of its first": {replaced, bridge.FormatOptions{}, "", nil},
		"in a group":                             {received(club, bridge.Message{Content: "hi"}), bridge.FormatOptions{}, "", nil},
		"in a group, on":                         {received(club, bridge.Message{Content: "hi"}), groups, "messages", []string{inGroup}},
		"by a hidden person":                     {hidden, bridge.FormatOptions{}, "messages", []string{`{"contacts":[{"profile":{"name":"222222222222222"},"wa_id":"222222222222222"}],"messages":[{"from":"222222222222222","id":"` + idOf(shy, "3EB0A") + `","timestamp":"1795249530","type":"text","text":{"body":"hi"}}]}`}},
		"own, on": {
			received(sofia, bridge.Message{FromMe: true, SenderJID: ada, Content: "hi"}), echoed, "smb_message_echoes",
			[]string{`{"message_echoes":[{"from":"15550001111","to":"34600100101","id":"` + idOf(sofia, "3EB0A") + `","timestamp":"1795249530","type":"text","text":{"body":"hi"}}]}`},
		},
		"the account": {bridge.Event{Type: bridge.EventAccountStatus}, bridge.FormatOptions{}, "", nil},
		"a reset":     {bridge.Event{Type: bridge.EventReset}, bridge.FormatOptions{}, "", nil},
		"the test":    {bridge.Event{Type: format.Test}, bridge.FormatOptions{}, "messages", []string{`{}`}},
	} {
		t.Run(name, func(t *testing.T) { wantPosts(t, delivery(c.event, c.options), c.field, c.want...) })
	}
}

// wantPosts compares the values of posts, but for the part that names the account.
func wantPosts(t *testing.T, d format.Delivery, field string, want ...string) {
	t.Helper()
	posts, err := Webhook{}.Posts(d)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) == 1 && want[0] == "" {
		want = nil
	}
	if len(posts) != len(want) {
		t.Fatalf("%d posts, want %d", len(posts), len(want))
	}
	for i, post := range posts {
		rest, isWhole := strings.CutPrefix(want[i], "{")
		if rest != "}" {
			rest = "," + rest
		}
		whole := `{"object":"whatsapp_business_account","entry":[{"id":"15550001111","changes":[{"field":"` + field + `","value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550001111","phone_number_id":"15550001111"}` + rest + `}]}]}`
		var got, wanted any
		if err := json.Unmarshal(post.Body, &got); err != nil || !isWhole {
			t.Fatalf("%s: %v", post.Body, err)
		}
		if err := json.Unmarshal([]byte(whole), &wanted); err != nil {
			t.Fatalf("%s: %v", whole, err)
		}
		if !reflect.DeepEqual(got, wanted) {
			t.Errorf("posted\n%s, want\n%s", post.Body, whole)
		}
		if signature := post.Header.Get("X-Hub-Signature-256"); signature != sign("app secret", post.Body) {
			t.Errorf("signed %s", signature)
		}
	}
}

// Receivers that escape what they have read check the signature of ASCII alone.
func TestWebhook_IsASCII(t *testing.T) {
	posts, err := Webhook{}.Posts(delivery(received(sofia, bridge.Message{Content: "é 👍 \u2028 / <b> & \x7f \xff \"\\"}), bridge.FormatOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `"text":{"body":"\u00e9 \ud83d\udc4d \u2028 / <b> & \u007f \ufffd \"\\"}`
	if !bytes.Contains(posts[0].Body, []byte(want)) {
		t.Errorf("%s has no %s", posts[0].Body, want)
	}
	if signature := sign("app secret", []byte("body")); signature != "sha256=82a1ea13eea20aaa3f6f6130ed7c5253cf9889647bbe072071be1d404811cac3" { // openssl's
		t.Errorf("the signature of a body is %s", signature)
	}
}

// A body means to JSON what it meant before it became ASCII.
func FuzzEncode(f *testing.F) {
	f.Add("é 👍 \u2028 / <b> & \x7f \xff")
	f.Fuzz(func(t *testing.T, text string) {
		ascii, err := encode(object{"text": text})
		plain, _ := bridge.EncodeJSON(object{"text": text})
		var got, want any
		if err != nil || json.Unmarshal(ascii, &got) != nil || json.Unmarshal(plain, &want) != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %s, %v", text, ascii, err)
		}
		if bytes.ContainsFunc(ascii, func(r rune) bool { return r >= 0x7f }) {
			t.Errorf("%q is %s", text, ascii)
		}
	})
}

func TestWebhook_IsChecked(t *testing.T) {
	known := bridge.FormatOptions{VerifyToken: "known"}
	for name, c := range map[string]struct {
		secret  string
		options bridge.FormatOptions
		fine    bool
	}{
		"usual":             {"an app secret", known, true},
		"subscribed":        {"s", bridge.FormatOptions{VerifyToken: "known", Events: []string{"messages"}, Groups: true, OwnMessages: true}, true},
		"without a secret":  {"", known, false},
		"without a token":   {"s", bridge.FormatOptions{}, false},
		"WAHA's events":     {"s", bridge.FormatOptions{VerifyToken: "known", Events: []string{"message"}}, false},
		"Evolution's files": {"s", bridge.FormatOptions{VerifyToken: "known", Base64: true}, false},
	} {
		if err := (Webhook{}).Check(bridge.Webhook{Secret: c.secret, Options: c.options}); (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWebhook_AsksTheReceiver(t *testing.T) {
	w := bridge.Webhook{URL: "https://receiver.example/hook?inbox=a%20b", Options: bridge.FormatOptions{VerifyToken: "a&b"}}
	address, answer := Webhook{}.Challenge(w)
	query := must(url.ParseQuery(strings.SplitN(address, "?", 2)[1]))
	if query.Get("hub.mode") != "subscribe" || query.Get("hub.verify_token") != "a&b" || query.Get("hub.challenge") != answer || query.Get("inbox") != "a b" {
		t.Errorf("asked %s", address)
	}
	if len(answer) != 10 || strings.Trim(answer, "0123456789") != "" || answer[0] == '0' {
		t.Errorf("the answer would be %q", answer)
	}
	if _, other := (Webhook{}).Challenge(w); other == answer {
		t.Errorf("%s twice", answer)
	}
}
