package compat

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image/color"
	"io"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// What n8n's node, waha-mcp, openclaw's plugin and scripts ask of WAHA beside a text, and
// what they read of the answers.
func TestCompat_WAHAWhole(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t)
	base := s.Address + "/waha/api"
	key := map[string]string{"X-Api-Key": s.Full, "Content-Type": "application/json", "Accept": "application/json"}
	sam := "15550100301@c.us"
	sent := map[string]any{"id": `true_15550100301@c\.us_[0-9A-F]+`, "fromMe": true, "ackName": "PENDING", "hasMedia": true}
	picture := base64.StdEncoding.EncodeToString(Portrait(t, 40, 90))
	ask := func(name, method, path, body string, status int, reads map[string]any) compatCase {
		return compatCase{name, CompatRequest{Method: method, Address: base + path, Header: key, Body: body}, status, reads}
	}
	check(s, t, []compatCase{
		ask("n8n's image, which has the wrong type", "POST", "/sendImage", `{"session":"default","chatId":"`+sam+`","file":{"mimetype":"image/png","filename":"filename.png","data":"`+picture+`"},"reply_to":"","caption":"a chart"}`, 201, sent),
		ask("n8n's file", "POST", "/sendFile", `{"chatId":"`+sam+`","file":{"mimetype":"image/jpeg","filename":"notes.txt","data":"data:text/plain;base64,aGVsbG8="},"caption":""}`, 201, sent),
		ask("a voice note that is none", "POST", "/sendVoice", `{"chatId":"`+sam+`","file":{"mimetype":"audio/ogg; codecs=opus","data":"`+base64.StdEncoding.EncodeToString(Song())+`"},"convert":true}`, 201, sent),
		ask("an image to view once", "POST", "/sendImage", `{"chatId":"`+sam+`","viewOnce":true,"file":{"data":"`+picture+`"}}`, 201, sent),
		ask("a document to view once", "POST", "/sendFile", `{"chatId":"`+sam+`","viewOnce":true,"file":{"data":"`+picture+`"}}`, 400, map[string]any{"message": "viewOnce is for.*"}),
		ask("a file that is none", "POST", "/sendImage", `{"chatId":"`+sam+`","file":{"data":"%%%"}}`, 400, map[string]any{"message": ".*base64.*"}),
		ask("no file", "POST", "/sendImage", `{"chatId":"`+sam+`"}`, 400, map[string]any{"message": "the file is missing.*"}),
		ask("a file inside the network", "POST", "/sendImage", `{"chatId":"`+sam+`","file":{"url":"http://127.0.0.1:1/a.png"}}`, 400, map[string]any{"message": ".*"}),
		ask("a place", "POST", "/sendLocation", `{"chatId":"`+sam+`","latitude":"52.5","longitude":13.4,"title":"Office"}`, 201, map[string]any{"location.latitude": "52.5", "location.name": "Office"}),
		ask("a poll", "POST", "/sendPoll", `{"chatId":"`+sam+`","poll":{"name":"When?","options":["now","later"],"multipleAnswers":false}}`, 201, map[string]any{"body": "When\\?"}),
		ask("a contact", "POST", "/sendContactVcard", `{"chatId":"`+sam+`","contacts":[{"fullName":"Jonas Weber","phoneNumber":"+49 1510 0100102","whatsappId":"4915100100102","organization":"ACME"}]}`, 201, nil),
		ask("a contact as waha-mcp names it", "POST", "/sendContactVcard", `{"chatId":"`+sam+`","contactsId":[{"fullName":"Ada"}]}`, 201, nil),
		ask("seen", "POST", "/sendSeen", `{"chatId":"`+sam+`","messageId":"","participant":"11111111111@c.us"}`, 201, nil),
		ask("typing", "POST", "/startTyping", `{"chatId":"`+sam+`","session":"default"}`, 201, map[string]any{"result": true}),
		ask("no longer", "POST", "/stopTyping", `{"chatId":"`+sam+`"}`, 201, map[string]any{"result": true}),
		ask("a number on WhatsApp", "GET", "/contacts/check-exists?session=default&phone=15550100301", "", 200, map[string]any{"numberExists": true, "chatId": `15550100301@c\.us`}),
		ask("one that is not", "GET", "/contacts/check-exists?phone=15550109999", "", 200, map[string]any{"numberExists": false, "chatId": nil}),
		ask("contacts", "GET", "/contacts/all?session=default&limit=0&offset=0", "", 200, map[string]any{"0.id": `.*@(c\.us|lid)`, "0.isGroup": false}),
		ask("a contact's names", "GET", "/contacts?contactId="+sam, "", 200, map[string]any{"pushname": "Sam", "number": "15550100301"}),
		ask("a picture that is none", "GET", "/contacts/profile-picture?contactId="+sam+"&refresh=false", "", 200, map[string]any{"profilePictureURL": nil}),
		ask("chats, with n8n's limit of 0", "GET", "/default/chats?limit=0&offset=0", "", 200, map[string]any{"0.id": `15550100301@c\.us`, "0.name": "Sam", "0.archived": false}),
		ask("an overview", "GET", "/default/chats/overview?limit=10", "", 200, map[string]any{"0.lastMessage.fromMe": true, "0._chat.pinned": false}),
		ask("an overview of others", "GET", "/default/chats/overview?ids=15550100302@c.us", "", 200, map[string]any{"0": nil}),
		ask("messages, newest first", "GET", "/default/chats/"+sam+"/messages?downloadMedia=true&limit=100", "", 200, map[string]any{"0.fromMe": true}),
		ask("the oldest", "GET", "/default/chats/15550100301%40c.us/messages?limit=1&sortOrder=asc", "", 200, map[string]any{"0.body": "hello", "0.from": `15550100301@c\.us`, "0._data.Info.PushName": "Sam", "1": nil}),
		ask("others' messages", "GET", "/default/chats/"+sam+"/messages?filter.fromMe=false&filter.timestamp.gte=1", "", 200, map[string]any{"0.body": "hello", "1": nil}),
		ask("none of the future", "GET", "/default/chats/"+sam+"/messages?filter.timestamp.gte=4000000000", "", 200, map[string]any{"0": nil}),
		ask("a limit that is none", "GET", "/default/chats?limit=-1", "", 400, map[string]any{"message": "limit must be.*"}),
		ask("old clients' messages", "GET", "/messages?session=default&chatId="+sam+"&limit=0", "", 200, map[string]any{"0.fromMe": true}),
		ask("a linked account has no QR code", "GET", "/default/auth/qr?format=image", "", 422, map[string]any{"status": "WORKING", "expected.0": "SCAN_QR_CODE"}),
		ask("another session's chats", "GET", "/mine/chats", "", 422, map[string]any{"error": `Session "mine" does not exist`}),
		{"health", CompatRequest{Method: "GET", Address: s.Address + "/waha/health", Header: key, Body: ""}, 200, map[string]any{"status": "ok"}},
	})

	// One message's life: read, edited, reacted to, forwarded and deleted by its whole name.
	_, text := s.Ask(t, CompatRequest{Method: "POST", Address: base + "/sendText", Header: key, Body: `{"chatId":"` + sam + `","text":"by hand"}`})
	id := At(text, "id").(string)
	one := "/default/chats/" + sam + "/messages/" + id
	check(s, t, []compatCase{
		ask("one message", "GET", one, "", 200, map[string]any{"id": id, "body": "by hand"}),
		ask("edited", "PUT", one, `{"text":"by hand, twice"}`, 200, map[string]any{"body": "by hand, twice"}),
		ask("reacted to", "PUT", "/reaction", `{"session":"default","messageId":"`+id+`","reaction":"👍"}`, 200, map[string]any{"id": "true_.*"}),
		ask("forwarded", "POST", "/forwardMessage", `{"chatId":"`+sam+`","messageId":"`+id+`"}`, 201, map[string]any{"fromMe": true}),
		ask("deleted", "DELETE", one, "", 200, nil),
		ask("no message", "GET", one+"0", "", 404, map[string]any{"statusCode": 404.0}),
	})

	// A file that came comes back byte for byte, in parts too.
	_, list := s.Ask(t, CompatRequest{Method: "GET", Address: base + "/default/chats/" + sam + "/messages?limit=100", Header: key, Body: ""})
	link := ""
	for _, m := range list.([]any) {
		if url, _ := At(m, "media.url").(string); At(m, "media.mimetype") == "image/jpeg" {
			link = url
		}
	}
	req := Must(http.NewRequestWithContext(Within(t), http.MethodGet, link, nil))(t)
	req.Header.Set("X-Api-Key", s.Full)
	req.Header.Set("Range", "bytes=0-2")
	resp := Must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	if part := Must(io.ReadAll(resp.Body))(t); resp.StatusCode != http.StatusPartialContent || !bytes.Equal(part, []byte{0xff, 0xd8, 0xff}) || resp.Header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("the file's beginning: %d %x %v", resp.StatusCode, part, resp.Header)
	}
}

// Groups as the GOWS engine shows them: made, changed, left.
func TestCompat_WAHAGroups(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t)
	base := s.Address + "/waha/api/default/groups"
	key := map[string]string{"X-Api-Key": s.Full, "Content-Type": "application/json"}
	resp, made := s.Ask(t, CompatRequest{Method: "POST", Address: base, Header: key, Body: `{"name":"Walks","participants":[{"id":"15550100301@c.us"}]}`})
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("%d %v", resp.StatusCode, made)
	}
	group := base + "/" + At(made, "JID").(string)
	member := `{"participants":[{"id":"15550100301@c.us"}]}`
	check(s, t, []compatCase{
		{"one", CompatRequest{Method: "GET", Address: group, Header: key, Body: ""}, 200, map[string]any{"Name": "Walks", "Participants.1.JID": ".*"}},
		{"all", CompatRequest{Method: "GET", Address: base, Header: key, Body: ""}, 200, map[string]any{"0.Name": "Walks"}},
		{"subject", CompatRequest{Method: "PUT", Address: group + "/subject", Header: key, Body: `{"subject":"Long walks"}`}, 200, nil},
		{"picture", CompatRequest{Method: "PUT", Address: group + "/picture", Header: key, Body: `{"file":{"mimetype":"image/png","data":"` + InBase64(Banner(t, color.Black)) + `"}}`}, 200, map[string]any{"success": true}},
		{"picture by address", CompatRequest{Method: "PUT", Address: group + "/picture", Header: key, Body: `{"file":{"url":"https://example.com/a.png"}}`}, 400, map[string]any{"message": ".*does not fetch pictures.*"}},
		{"no picture", CompatRequest{Method: "DELETE", Address: group + "/picture", Header: key, Body: ""}, 200, map[string]any{"success": true}},
		{"description", CompatRequest{Method: "PUT", Address: group + "/description", Header: key, Body: `{"description":"On Sundays"}`}, 200, nil},
		{"promote", CompatRequest{Method: "POST", Address: group + "/admin/promote", Header: key, Body: member}, 200, map[string]any{"0.Error": 0.0}},
		{"demote", CompatRequest{Method: "POST", Address: group + "/admin/demote", Header: key, Body: member}, 200, nil},
		{"members alone", CompatRequest{Method: "GET", Address: group + "/participants", Header: key, Body: ""}, 200, map[string]any{"0.JID": ".*"}},
		{"everybody is mentioned", CompatRequest{Method: "POST", Address: s.Address + "/waha/api/sendText", Header: key, Body: `{"chatId":"` + At(made, "JID").(string) + `","text":"Hello @15550100301","mentions":["all"]}`}, 201, nil},
		{"remove", CompatRequest{Method: "POST", Address: group + "/participants/remove", Header: key, Body: member}, 200, nil},
		{"leave", CompatRequest{Method: "POST", Address: group + "/leave", Header: key, Body: ""}, 201, nil},
		{"no group", CompatRequest{Method: "GET", Address: base + "/15550100301@c.us", Header: key, Body: ""}, 400, map[string]any{"message": ".*is not a group"}},
	})
}

// A session's webhook, made as WAHA's clients make it, gets each event in WAHA's form,
// signed with its key; links of the API lead to files of messages.
func TestCompat_WAHAWebhook(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t, "WEBHOOK_ALLOW_PRIVATE=127.0.0.0/8", "PUBLIC_URL=https://bridge.example")
	receiver := newReceiver(t, func(p post) error {
		mac := hmac.New(sha512.New, []byte("a key of mine"))
		mac.Write(p.body)
		if got := p.header.Get("X-Webhook-Hmac"); got != hex.EncodeToString(mac.Sum(nil)) || p.header.Get("X-Webhook-Hmac-Algorithm") != "sha512" {
			return fmt.Errorf("the signature %q does not hold", got)
		}
		if p.header.Get("X-Webhook-Request-Id") != At(p.json, "id") || p.header.Get("X-Flow") != "7" {
			return fmt.Errorf("headers %v", p.header)
		}
		return nil
	})
	manager := Must(s.API.CreateToken(Within(t), client.NewToken{Name: "manager", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeManage}}))(t)
	s.Secrets = append(s.Secrets, manager.Secret)
	key := map[string]string{"X-Api-Key": manager.Secret, "Content-Type": "application/json"}
	hook := `{"url":"` + receiver.URL + `/webhook/7/waha","events":["message","message.any","message.ack","message.reaction","message.edited","message.revoked","poll.vote","session.status"],"hmac":{"key":"a key of mine"},"retries":{"policy":"linear","delaySeconds":2,"attempts":15},"customHeaders":[{"name":"X-Flow","value":"7"}]}`
	check(s, t, []compatCase{
		{"made", CompatRequest{Method: "POST", Address: s.Address + "/waha/api/sessions", Header: key, Body: `{"name":"default","start":true,"config":{"webhooks":[` + hook + `]}}`}, 201, map[string]any{"config.webhooks.0.url": ".*/webhook/7/waha", "config.webhooks.0.hmac": nil}},
		{"and made again", CompatRequest{Method: "PUT", Address: s.Address + "/waha/api/sessions/default", Header: key, Body: `{"config":{"webhooks":[` + hook + `]}}`}, 200, map[string]any{"config.webhooks.0.events.0": "message", "config.webhooks.1": nil}},
		{"by others", CompatRequest{Method: "POST", Address: s.Address + "/waha/api/sessions", Header: map[string]string{"X-Api-Key": s.Full}, Body: `{"config":{"webhooks":[` + hook + `]}}`}, 403, nil},
	})

	me := Must(s.API.Status(Within(t)))(t).User.JID
	owner := simnet.JID{User: me.User(), Server: "s.whatsapp.net"}
	hi := Must(s.Friend.SendText(Within(t), owner, "Hi!"))(t)
	whole := receiver.wait(map[string]any{"event": "message", "payload.body": "Hi!"})
	for path, want := range map[string]any{
		"session": "default", "engine": "GOWS", "me.pushName": "Olga", "payload.id": `false_15550100301@c\.us_` + hi, "payload.from": `15550100301@c\.us`, "payload.fromMe": false,
		"payload.hasMedia": false, "payload.ackName": "DEVICE", "payload._data.Info.PushName": "Sam", "payload._data.notifyName": "Sam", "payload._data.Info.SenderAlt": `\d+@lid`, "payload.replyTo": nil,
	} {
		if got := At(whole.json, path); !isValue(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	Must(s.Friend.SendImage(Within(t), owner, simnet.Media{Data: Portrait(t, 20, 9), Mimetype: "image/jpeg", Caption: "a view"}))(t)
	receiver.wait(map[string]any{"event": "message", "payload.media.url": `https://bridge\.example/waha/api/files/default/false_.*`, "payload.body": "a view", "payload.hasMedia": true})
	Must(s.Friend.ReactTo(Within(t), owner, s.Friend.PN(), hi, "🙏"))(t)
	receiver.wait(map[string]any{"event": "message.reaction", "payload.reaction.text": "🙏", "payload.reaction.messageId": `false_15550100301@c\.us_` + hi, "payload.fromMe": false})
	Must(s.Friend.ReactTo(Within(t), owner, s.Friend.PN(), hi, ""))(t)
	receiver.wait(map[string]any{"event": "message.reaction", "payload.reaction.text": ""})
	Must(s.Friend.Edit(Within(t), owner, hi, "Hi there!"))(t)
	receiver.wait(map[string]any{"event": "message.edited", "payload.body": "Hi there!", "payload.editedMessageId": hi})
	Must(s.Friend.Revoke(Within(t), owner, hi))(t)
	receiver.wait(map[string]any{"event": "message.revoked", "payload.revokedMessageId": hi, "payload.after.fromMe": false})

	_, made := s.Ask(t, CompatRequest{Method: "POST", Address: s.Address + "/waha/api/sendPoll", Header: map[string]string{"X-Api-Key": s.Full}, Body: `{"chatId":"15550100301","poll":{"name":"When?","options":["now","later"]}}`})
	poll := Must(s.Friend.ReceivedID(Within(t), At(made, "_data.Info.ID").(string)))(t)
	receiver.wait(map[string]any{"event": "message.any", "payload.body": "When\\?", "payload.fromMe": true})
	receiver.wait(map[string]any{"event": "message.ack", "payload.ackName": "DEVICE|READ", "payload.fromMe": true})
	Must(s.Friend.Vote(Within(t), poll, []string{"later"}))(t)
	receiver.wait(map[string]any{"event": "poll.vote", "payload.vote.selectedOptions.0": "later", "payload.vote.from": `15550100301@c\.us`})
	if n := receiver.count("event", "message.any"); n < 3 {
		t.Errorf("%d message.any", n)
	}

	// A test posts the session's state; removed from the list, the webhook is gone.
	for _, w := range Must(s.API.Webhooks(Within(t)))(t) {
		if tried := Must(s.API.TestWebhook(Within(t), w.ID))(t); !tried.OK {
			t.Errorf("%+v", tried)
		}
	}
	receiver.wait(map[string]any{"event": "session.status", "payload.status": "WORKING"})
	check(s, t, []compatCase{{"removed", CompatRequest{Method: "PUT", Address: s.Address + "/waha/api/sessions/default", Header: key, Body: `{"config":{"webhooks":[]}}`}, 200, map[string]any{"config.webhooks.0": nil}}})
}
