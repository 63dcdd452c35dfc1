package compat

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// evolution is a bridge's compatibility API for Evolution's clients, with a key.
type evolution struct {
	CompatScene
	key string
}

// call makes a request of a route, whose instance is added, and returns the answer of a
// wanted status.
func (e evolution) call(t *testing.T, status int, method, route, query, body string, headers ...string) any {
	t.Helper()
	header := map[string]string{"apikey": e.key, "Content-Type": "application/json"}
	for i := 0; i+1 < len(headers); i += 2 {
		header[headers[i]] = headers[i+1]
	}
	resp, answer := e.Ask(t, CompatRequest{Method: method, Address: e.Address + "/evolution/" + route + "/bridged" + query, Header: header, Body: body})
	if resp.StatusCode != status {
		t.Fatalf("%s %s%s: %d %v, want %d", method, route, query, resp.StatusCode, answer, status)
	}
	return answer
}

// send makes a send, and returns what arrives on the friend's phone.
func (e evolution) send(t *testing.T, route, body string, headers ...string) *waE2E.Message {
	t.Helper()
	answer := e.call(t, http.StatusCreated, "POST", "message/"+route, "", body, headers...)
	id, _ := At(answer, "key.id").(string)
	if At(answer, "key.fromMe") != true || At(answer, "status") != "PENDING" || At(answer, "messageType") == nil || At(answer, "messageTimestamp") == nil || At(answer, "instanceId") == "" {
		t.Errorf("%s is answered %v", route, answer)
	}
	return Must(e.Friend.ReceivedID(Within(t), id))(t).Message.Message
}

// TestCompat_EvolutionSends sends what n8n's node, evolution-api-sdk and old flows send, with
// the defaults of their fields, and looks at what arrives on the phone.
func TestCompat_EvolutionSends(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t, FetchesLoopback, "MEDIA_MAX_BYTES=6MiB")
	e := evolution{s, s.Full}
	web := NewWebsite(t)
	serve := func(path, mimeType string, file []byte) string {
		web.Mu.Lock()
		defer web.Mu.Unlock()
		web.Files[path] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mimeType)
			_, _ = w.Write(file)
		}
		return web.URL + path
	}
	const to = `{"number":"15550100301",`

	t.Run("pictures", func(t *testing.T) {
		picture := demo.Picture(40, 30) // a PNG, which n8n calls image.jpg
		for name, body := range map[string]string{
			"in base64":          to + `"mediatype":"image","mimetype":"image/jpeg","caption":"c","media":"` + InBase64(picture) + `","fileName":"image.jpg"}`,
			"as a data: URI":     to + `"media":"data:image/png;base64,` + InBase64(picture) + `","mediatype":"image","caption":"c"}`,
			"URL-safe":           to + `"mediatype":"image","caption":"c","media":"` + base64.RawURLEncoding.EncodeToString(picture) + `"}`,
			"by address":         to + `"mediatype":"image","mimetype":"image/jpeg","caption":"c","media":"` + strings.ReplaceAll(serve("/a.png", "image/png", picture), "/", `\/`) + `","fileName":"image.jpg"}`,
			"with a JID and nil": `{"number":"15550100301@s.whatsapp.net","mediatype":"image","caption":"c","media":"` + InBase64(picture) + `","quoted":null,"mentioned":[],"mentionsEveryOne":false,"delay":"1"}`,
		} {
			if got := e.send(t, "sendMedia", body).GetImageMessage(); got.GetCaption() != "c" || got.GetMimetype() != "image/jpeg" || got.GetWidth() != 40 {
				t.Errorf("%s: %v", name, got)
			}
		}
		once := e.send(t, "sendMedia", to+`"mediatype":"image","viewOnce":true,"media":"`+InBase64(picture)+`"}`).GetImageMessage()
		heard := e.send(t, "sendWhatsAppAudio", to+`"viewOnce":true,"audio":"`+InBase64(demo.Voice(1))+`"}`).GetAudioMessage()
		if !once.GetViewOnce() || !heard.GetViewOnce() {
			t.Errorf("to be viewed once: %v, %v", once, heard)
		}
	})
	t.Run("documents", func(t *testing.T) {
		var form bytes.Buffer
		fields := multipart.NewWriter(&form)
		for _, field := range [][2]string{{"number", "15550100301"}, {"mediatype", "document"}, {"caption", "read"}, {"fileName", "../plan.pdf"}, {"mimetype", "video/mp4"}} {
			if err := fields.WriteField(field[0], field[1]); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Must(fields.CreateFormFile("file", "x.pdf"))(t).Write(demo.PDF())
		if err != nil || fields.Close() != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]*waE2E.Message{
			"a form":    e.send(t, "sendMedia", form.String(), "Content-Type", fields.FormDataContentType()),
			"in base64": e.send(t, "sendMedia", `{"media":"`+InBase64(demo.PDF())+`","number":"15550100301","mediatype":"document","caption":"read","fileName":"_plan.pdf"}`),
		} {
			document := got.GetDocumentMessage()
			if document.GetCaption() != "read" || document.GetFileName() != "_plan.pdf" || document.GetMimetype() != "application/pdf" {
				t.Errorf("%s: %v", name, got)
			}
		}
	})
	t.Run("large files", func(t *testing.T) {
		file := Noise(5 << 20)
		got := e.send(t, "sendMedia", to+`"mediatype":"document","fileName":"large.bin","media":"`+InBase64(file)+`"}`).GetDocumentMessage()
		if got.GetFileLength() != uint64(len(file)) {
			t.Errorf("%v", got)
		}
		answer := e.call(t, http.StatusRequestEntityTooLarge, "POST", "message/sendMedia", "", to+`"mediatype":"document","media":"`+InBase64(Noise(7<<20))+`"}`)
		if text, _ := At(answer, "response.message.0").(string); !strings.Contains(text, "MEDIA_MAX_BYTES") {
			t.Errorf("too large: %v", answer)
		}
		e.call(t, http.StatusRequestEntityTooLarge, "POST", "message/sendMedia", "", to+`"mediatype":"document","media":"`+InBase64(file[:9])+`","x":"`+strings.Repeat("x", 2<<20)+`"}`)
		e.call(t, http.StatusBadRequest, "POST", "message/sendMedia", "", to+`"mediatype":"document","media":"/etc/passwd?"}`)
		e.call(t, http.StatusBadRequest, "POST", "message/sendMedia", "", to+`"mediatype":"document","media":"aGk=","audio":"x","media":"aGk="}`)
		e.LeavesNoFile()
	})
	t.Run("sounds, stickers and videos", func(t *testing.T) {
		voice, sound := demo.Voice(1), Song()
		for name, c := range map[string]struct {
			body  string
			voice bool
		}{
			"n8n":           {to + `"audio":"` + InBase64(voice) + `","mimetype":"audio/mp3","fileName":"audio.mp3"}`, true},
			"no Opus":       {to + `"audio":"` + InBase64(sound) + `","encoding":true}`, false},
			"by address":    {to + `"audio":"` + serve("/voice", "audio/ogg", voice) + `"}`, true},
			"no Opus there": {to + `"audio":"` + serve("/song", "audio/mpeg", sound) + `"}`, false},
		} {
			if got := e.send(t, "sendWhatsAppAudio", c.body).GetAudioMessage(); got == nil || got.GetPTT() != c.voice {
				t.Errorf("%s: %v", name, got)
			}
		}
		for _, name := range []string{"/voice", "/song"} { // which is tried as a voice note first
			body := to + `"audio":"` + web.URL + name + `"}`
			first := e.call(t, 201, "POST", "message/sendWhatsAppAudio", "", body, "Idempotency-Key", name)
			if again := e.call(t, 201, "POST", "message/sendWhatsAppAudio", "", body, "Idempotency-Key", name); At(first, "key.id") != At(again, "key.id") {
				t.Errorf("%s was sent twice: %v, %v", name, first, again)
			}
		}
		if got := e.send(t, "sendSticker", to+`"sticker":"`+InBase64(demo.Picture(40, 30))+`"}`).GetStickerMessage(); got.GetMimetype() != "image/webp" {
			t.Errorf("a sticker: %v", got)
		}
		answer := e.call(t, http.StatusBadRequest, "POST", "message/sendSticker", "", to+`"sticker":"https://example.org/a.webp"}`)
		if text, _ := At(answer, "response.message.0").(string); !strings.Contains(text, "does not fetch stickers") {
			t.Errorf("a sticker's address: %v", answer)
		}
		if got := e.send(t, "sendPtv", to+`"video":"`+InBase64(Film())+`"}`).GetVideoMessage(); got.GetMimetype() != "video/mp4" {
			t.Errorf("a video: %v", got)
		}
	})
	t.Run("places, contacts and polls", func(t *testing.T) {
		for _, body := range []string{
			to + `"name":"n","address":"a","latitude":52.5,"longitude":13.25}`, to + `"name":"n","address":"a","latitude":"52.5","longitude":"13.25"}`,
		} {
			if got := e.send(t, "sendLocation", body).GetLocationMessage(); got.GetDegreesLatitude() != 52.5 || got.GetDegreesLongitude() != 13.25 || got.GetName() != "n" || got.GetAddress() != "a" {
				t.Errorf("%s: %v", body, got)
			}
		}
		const grace = `{"fullName":"Grace","wuid":"15550100302","phoneNumber":"+1 555 010-0302","organization":"Navy","email":"g@example.org","url":""}`
		if got := e.send(t, "sendContact", to+`"contact":[`+grace+`]}`).GetContactMessage(); got.GetDisplayName() != "Grace" || !strings.Contains(got.GetVcard(), "waid=15550100302") || !strings.Contains(got.GetVcard(), "Navy") {
			t.Errorf("a contact: %v", got)
		}
		if got := e.send(t, "sendContact", to+`"contact":[`+grace+`,{"fullName":"Alan","phoneNumber":"15550100303"}]}`).GetContactsArrayMessage(); len(got.GetContacts()) != 2 {
			t.Errorf("contacts: %v", got)
		}
		poll := e.send(t, "sendPoll", to+`"name":"When?","selectableCount":1,"values":["now","later"]}`).GetPollCreationMessage()
		if poll.GetName() != "When?" || len(poll.GetOptions()) != 2 || poll.GetSelectableOptionsCount() != 1 {
			t.Errorf("a poll: %v", poll)
		}
	})
	t.Run("replies and reactions", func(t *testing.T) {
		ask := Say(t, e.Friend, e.Owner.PN(), "coming?")
		if err := e.Device.WaitAcknowledged(Within(t), ask); err != nil {
			t.Fatal(err)
		}
		if got := e.send(t, "sendText", to+`"text":"yes","quoted":{"key":{"id":"`+ask+`"},"message":{"conversation":"coming?"}}}`).GetExtendedTextMessage(); got.GetContextInfo().GetStanzaID() != ask {
			t.Errorf("a reply: %v", got)
		}
		if got := e.send(t, "sendMedia", to+`"mediatype":"image","media":"`+InBase64(demo.Picture(4, 3))+`","quoted":{"key":{"remoteJid":"15550100301@s.whatsapp.net","id":"`+ask+`"}}}`).GetImageMessage(); got.GetContextInfo().GetStanzaID() != ask {
			t.Errorf("a reply with a picture: %v", got)
		}
		for _, emoji := range []string{"🚀", ""} {
			answer := e.call(t, http.StatusCreated, "POST", "message/sendReaction", "", `{"key":{"remoteJid":"15550100301@s.whatsapp.net","fromMe":false,"id":"`+ask+`"},"reaction":"`+emoji+`"}`)
			if At(answer, "messageType") != "reactionMessage" || At(answer, "message.reactionMessage.text") != emoji || At(answer, "message.reactionMessage.key.id") != ask {
				t.Errorf("a reaction: %v", answer)
			}
			Must(e.Friend.Received(Within(t), func(r *simnet.Received) bool {
				got := r.Message.Message.GetReactionMessage()
				return got.GetKey().GetID() == ask && got.GetText() == emoji
			}))(t)
		}
	})
	t.Run("typing and repeating", func(t *testing.T) {
		watched := make(chan error, 1)
		if err := e.Friend.Watch(Within(t), e.Owner); err != nil {
			t.Fatal(err)
		}
		go func() { watched <- e.Friend.WaitTyping(Within(t), e.Owner.PN(), e.Owner, "typing") }()
		e.send(t, "sendText", to+`"text":"thought about","delay":300}`)
		if err := <-watched; err != nil {
			t.Error(err)
		}
		stranger := NewPhone(t, e.Network, simnet.PhoneOptions{Number: "15550100305", Name: "Lou"})
		e.call(t, 201, "POST", "message/sendText", "", `{"number":"15550100305","text":"a first word","delay":1}`)
		Must(stranger.ReceivedText(Within(t), "a first word"))(t)
		first := e.call(t, 201, "POST", "message/sendMedia", "", to+`"mediatype":"image","media":"`+InBase64(demo.Picture(5, 4))+`"}`, "Idempotency-Key", "p1")
		again := e.call(t, 201, "POST", "message/sendMedia", "", to+`"mediatype":"image","media":"`+InBase64(demo.Picture(5, 4))+`"}`, "Idempotency-Key", "p1")
		if At(first, "key.id") != At(again, "key.id") {
			t.Errorf("sent twice: %v, %v", first, again)
		}
	})
	t.Run("everybody in a group", func(t *testing.T) {
		other := NewPhone(t, e.Network, simnet.PhoneOptions{Number: "15550100304", Name: "Eva"})
		group := Must(e.Owner.CreateGroup(Within(t), simnet.GroupOptions{Subject: "Readers", Members: []*simnet.Phone{e.Friend, other}}))(t)
		jid := group.JID().String()
		Eventually(t, func() error { _, err := e.API.Group(Within(t), bridge.JID(jid)); return err })
		mentioned := func(body string) int {
			t.Helper()
			got := e.send(t, "sendText", body).GetExtendedTextMessage().GetContextInfo().GetMentionedJID()
			if slices.ContainsFunc(got, func(jid string) bool {
				return strings.HasPrefix(jid, e.Owner.PN().User+"@") || strings.HasPrefix(jid, e.Owner.LID().User+"@")
			}) {
				t.Errorf("it mentions its sender: %v", got)
			}
			return len(got)
		}
		if got := mentioned(`{"number":"` + jid + `","text":"all of you","mentionsEveryOne":true}`); got != 2 {
			t.Errorf("it mentions %d", got)
		}
		if got := mentioned(`{"number":"` + jid + `","text":"@15550100301","mentioned":["15550100301"]}`); got != 1 {
			t.Errorf("it mentions %d", got)
		}
		e.call(t, http.StatusBadRequest, "POST", "message/sendMedia", "", `{"number":"`+jid+`","mediatype":"image","media":"aGk=","mentionsEveryOne":true}`)
	})
	check(e.CompatScene, t, []compatCase{
		{"not on WhatsApp", CompatRequest{Method: "POST", Address: e.Address + "/evolution/message/sendText/bridged", Header: map[string]string{"apikey": e.key}, Body: `{"number":"15550109999","text":"x"}`}, 400, map[string]any{
			"response.message.0.jid": `15550109999@s\.whatsapp\.net`, "response.message.0.exists": false, "response.message.0.number": "15550109999",
		}},
		{"no kind", CompatRequest{Method: "POST", Address: e.Address + "/evolution/message/sendMedia/bridged", Header: map[string]string{"apikey": e.key}, Body: `{"number":"15550100301","media":"aGk="}`}, 400, map[string]any{"response.message.0": ".*mediatype.*"}},
		{"no file", CompatRequest{Method: "POST", Address: e.Address + "/evolution/message/sendMedia/bridged", Header: map[string]string{"apikey": e.key}, Body: `{"number":"15550100301","mediatype":"image"}`}, 400, map[string]any{"response.message.0": "the file is missing.*"}},
		{"a file without the key", CompatRequest{Method: "POST", Address: e.Address + "/evolution/message/sendMedia/bridged", Header: nil, Body: `{"number":"15550100301","mediatype":"image","media":"aGk="}`}, 401, nil},
	})
}

// TestCompat_EvolutionChats reads and changes chats and messages as flows do.
func TestCompat_EvolutionChats(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t)
	e := evolution{s, s.Full}
	const sam = "15550100301@s.whatsapp.net"
	ofSam := func(rest string) string { return `{"where":{"key":{"remoteJid":"` + sam + `"` + rest }
	picture := Photo(t, 64, 48)
	image := Must(e.Friend.SendImage(Within(t), e.Owner.PN(), simnet.Media{Data: picture, Mimetype: "image/jpeg", Caption: "look", Width: 64, Height: 48}))(t)
	if err := e.Device.WaitAcknowledged(Within(t), image); err != nil {
		t.Fatal(err)
	}
	sent := e.call(t, 201, "POST", "message/sendText", "", `{"number":"`+sam+`","text":"firts"}`)
	own := At(sent, "key.id").(string)

	t.Run("histories", func(t *testing.T) {
		for name, c := range map[string]struct {
			body           string
			count          int
			total, pages   float64
			messageType, n string
		}{
			"n8n's page":         {ofSam(`}},"page":1,"offset":10}`), 3, 3, 1, "conversation", own},
			"the first of two":   {ofSam(`}},"page":1,"offset":2}`), 2, 3, 2, "conversation", own},
			"the second of two":  {ofSam(`}},"page":2,"offset":2}`), 1, 3, 2, "conversation", ""},
			"own ones":           {ofSam(`,"fromMe":true}}}`), 1, 1, 1, "conversation", own},
			"others', paged":     {ofSam(`,"fromMe":"false"}},"page":2,"offset":1}`), 1, 2, 2, "conversation", ""},
			"pictures":           {ofSam(`},"messageType":"imageMessage"}}`), 1, 1, 1, "imageMessage", image},
			"one":                {ofSam(`,"id":"` + image + `"}}}`), 1, 1, 1, "imageMessage", image},
			"one, by its id":     {`{"where":{"key":{"id":"` + own + `"}}}`, 1, 1, 1, "conversation", own},
			"since then":         {ofSam(`},"messageTimestamp":{"gte":"2020-01-01T00:00:00Z","lte":4102444800}}}`), 3, 3, 1, "conversation", own},
			"before then":        {ofSam(`},"messageTimestamp":{"lte":"1577836800"}}}`), 0, 0, 1, "", ""},
			"an unknown one":     {`{"where":{"key":{"id":"3EB0NONE"}}}`, 0, 0, 1, "", ""},
			"an unknown chat":    {`{"where":{"key":{"remoteJid":"15550100377@s.whatsapp.net"}}}`, 0, 0, 1, "", ""},
			"a number, no JID":   {`{"where":{"key":{"remoteJid":"15550100301"}}}`, 3, 3, 1, "conversation", own},
			"the same, as a LID": {`{"where":{"key":{"remoteJid":"` + e.Friend.LID().String() + `"}}}`, 3, 3, 1, "conversation", own},
		} {
			answer := e.call(t, 200, "POST", "chat/findMessages", "", c.body)
			records, _ := At(answer, "messages.records").([]any)
			if len(records) != c.count || At(answer, "messages.total") != c.total || At(answer, "messages.pages") != c.pages {
				t.Errorf("%s: %v", name, answer)
				continue
			}
			if c.count > 0 && (At(records, "0.messageType") != c.messageType || c.n != "" && At(records, "0.key.id") != c.n || At(records, "0.id") == nil || At(records, "0.MessageUpdate.0.status") == nil) {
				t.Errorf("%s: %v", name, records[0])
			}
		}
		e.call(t, 400, "POST", "chat/findMessages", "", `{"page":1,"offset":10}`)
	})
	t.Run("files", func(t *testing.T) {
		for _, body := range []string{`{"message":{"key":{"id":"` + image + `"}},"convertToMp4":false}`, `{"message":{"key":{"id":"` + image + `","remoteJid":"` + sam + `","fromMe":false},"message":{}}}`} {
			answer := e.call(t, 201, "POST", "chat/getBase64FromMediaMessage", "", body)
			if At(answer, "base64") != InBase64(picture) || At(answer, "mediaType") != "imageMessage" || At(answer, "mimetype") != "image/jpeg" || At(answer, "caption") != "look" ||
				At(answer, "fileName") != image+".jpeg" || At(answer, "size.fileLength") != fmt.Sprint(len(picture)) || At(answer, "size.width") != 64.0 {
				t.Errorf("%s: %.300v", body, answer)
			}
		}
		e.call(t, 400, "POST", "chat/getBase64FromMediaMessage", "", `{"message":{"key":{"id":"`+own+`","remoteJid":"`+sam+`"}}}`)
		e.call(t, 404, "POST", "chat/getBase64FromMediaMessage", "", `{"message":{"key":{"id":"3EB0NONE"}}}`)
		e.call(t, 400, "POST", "chat/getBase64FromMediaMessage", "", `{}`)
	})
	t.Run("changes of messages", func(t *testing.T) {
		answer := e.call(t, 200, "POST", "chat/updateMessage", "", `{"number":"15550100301","text":"first","key":{"remoteJid":"`+sam+`","fromMe":true,"id":"`+own+`"}}`)
		if At(answer, "message.conversation") != "first" {
			t.Errorf("an edit: %v", answer)
		}
		if err := e.Friend.WaitBubble(Within(t), own, simnet.Bubble{Text: "first", Edited: true}); err != nil {
			t.Error(err)
		}
		answer = e.call(t, 201, "DELETE", "chat/deleteMessageForEveryone", "", `{"id":"`+own+`","remoteJid":"`+sam+`","fromMe":true,"participant":""}`)
		if At(answer, "message.protocolMessage.key.id") != own || At(answer, "message.protocolMessage.type") != "REVOKE" {
			t.Errorf("a deletion: %v", answer)
		}
		records := e.call(t, 200, "POST", "chat/findMessages", "", ofSam(`,"id":"`+own+`"}}}`))
		if At(records, "messages.records.0.status") != "DELETED" {
			t.Errorf("a deleted message: %v", records)
		}
	})
	t.Run("chats", func(t *testing.T) {
		for _, body := range []string{``, `{}`, `{"where":{"remoteJid":"` + sam + `","id":"` + own + `"},"page":1,"offset":10}`, `{"where":{"remoteJid":"` + sam + `"}}`, `{"where":{"remoteJid":"","id":"` + sam + `"}}`} {
			answer := e.call(t, 200, "POST", "chat/findChats", "", body)
			if At(answer, "0.remoteJid") != sam || At(answer, "0.pushName") != "Sam" || At(answer, "0.lastMessage.key.id") != own || At(answer, "0.unreadCount") != 0.0 {
				t.Errorf("%s: %v", body, answer)
			}
		}
		for _, body := range []string{`{"where":{"remoteJid":"15550100377@s.whatsapp.net"}}`, `{"page":2,"offset":10}`, `{"skip":5}`, `{"where":{"id":"another"}}`} {
			if answer := e.call(t, 200, "POST", "chat/findChats", "", body); len(answer.([]any)) != 0 {
				t.Errorf("%s: %v", body, answer)
			}
		}
		e.call(t, 201, "POST", "chat/markMessageAsRead", "", `{"readMessages":[{"remoteJid":"`+sam+`","fromMe":false,"id":"`+image+`"}]}`)
		if _, err := e.Friend.WaitReceipt(Within(t), image, types.ReceiptTypeRead); err != nil {
			t.Error(err)
		}
		e.call(t, 201, "POST", "chat/archiveChat", "", `{"lastMessage":{"key":{"remoteJid":"`+sam+`","fromMe":false,"id":"`+image+`"}},"chat":"`+sam+`","archive":true}`)
		e.call(t, 201, "POST", "chat/markChatUnread", "", `{"lastMessage":{"key":{"remoteJid":"`+sam+`"}},"chat":"`+sam+`"}`)
		if state := Must(e.Owner.ChatState(Within(t), e.Friend.PN()))(t); !state.Archived || !state.Unread {
			t.Errorf("the owner's phone shows %+v", state)
		}
		if err := e.Friend.Watch(Within(t), e.Owner); err != nil {
			t.Fatal(err)
		}
		if answer := e.call(t, 201, "POST", "chat/sendPresence", "", `{"number":"15550100301","presence":"recording","delay":1}`); At(answer, "presence") != "recording" {
			t.Errorf("presence: %v", answer)
		}
		e.call(t, 400, "POST", "chat/sendPresence", "", `{"number":"15550100301","presence":"available"}`)
	})
	t.Run("people", func(t *testing.T) {
		answer := e.call(t, 200, "POST", "chat/whatsappNumbers", "", `{"numbers":["15550100301","+1 555 010-9999","nonsense","120363000000000000@g.us"]}`)
		if At(answer, "0.exists") != true || At(answer, "0.jid") != sam || At(answer, "0.number") != "15550100301" || At(answer, "0.name") != "Sam" ||
			At(answer, "1.exists") != false || At(answer, "1.jid") != "15550109999@s.whatsapp.net" || At(answer, "2.exists") != false || At(answer, "3.exists") != false {
			t.Errorf("numbers: %v", answer)
		}
		for _, body := range []string{`{"where":{"remoteJid":"` + sam + `"}}`, `{"where":{"id":"` + sam + `"}}`, `{}`} {
			if answer := e.call(t, 200, "POST", "chat/findContacts", "", body); At(answer, "0.type") != "contact" || At(answer, "0.instanceId") == nil {
				t.Errorf("contacts %s: %v", body, answer)
			}
		}
		if answer := e.call(t, 200, "POST", "chat/fetchProfilePictureUrl", "", `{"number":"15550100301"}`); At(answer, "wuid") != sam || At(answer, "profilePictureUrl") != nil {
			t.Errorf("no picture: %v", answer)
		}
		small := Portrait(t, 16, 10)
		e.Friend.SetPicture(Portrait(t, 64, 10), small)
		if err := e.Device.WaitQuiet(Within(t)); err != nil {
			t.Fatal(err)
		}
		want := "data:image/jpeg;base64," + InBase64(small)
		Eventually(t, func() error {
			if answer := e.call(t, 200, "POST", "chat/fetchProfilePictureUrl", "", `{"number":"15550100301"}`); At(answer, "profilePictureUrl") != want {
				return fmt.Errorf("a picture: %v", answer)
			}
			return nil
		})
		if answer := e.call(t, 200, "POST", "chat/fetchProfile", "", `{"number":"15550100301"}`); At(answer, "name") != "Sam" || At(answer, "numberExists") != true || At(answer, "picture") != want {
			t.Errorf("a profile: %v", answer)
		}
		for _, status := range []string{"block", "unblock"} {
			if answer := e.call(t, 201, "POST", "chat/updateBlockStatus", "", `{"number":"15550100301","status":"`+status+`"}`); At(answer, status) != "success" {
				t.Errorf("%s: %v", status, answer)
			}
			Eventually(t, func() error {
				if got := Must(e.API.Contact(Within(t), sam))(t); got.IsBlocked != (status == "block") {
					return fmt.Errorf("after %s: %+v", status, got)
				}
				return nil
			})
		}
		e.call(t, 400, "POST", "chat/updateBlockStatus", "", `{"number":"15550100301","status":""}`)
	})
}
