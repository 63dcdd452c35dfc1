package compat

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// A webhook that n8n's node sets gets what flows read, each event at an address of its own,
// with the files of messages in base64.
func TestCompat_EvolutionWebhook(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t, "WEBHOOK_ALLOW_PRIVATE=127.0.0.0/8")
	receiver := newReceiver(t, func(p post) error {
		if event, _ := At(p.json, "event").(string); p.path != "/evo/"+strings.ReplaceAll(event, ".", "-") || p.header.Get("X-Flow") != "7" || At(p.json, "apikey") != nil {
			return fmt.Errorf("event %s with %v", event, p.header)
		}
		return nil
	})
	manager := Must(s.API.CreateToken(Within(t), client.NewToken{Name: "manager", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeManage}}))(t)
	s.Secrets = append(s.Secrets, manager.Secret)
	e := evolution{s, manager.Secret}
	if found := e.call(t, http.StatusOK, "GET", "webhook/find", "", ""); found != nil {
		t.Errorf("there is a webhook already: %v", found)
	}
	e.call(t, http.StatusBadRequest, "POST", "webhook/set", "", `{"webhook":{"enabled":true,"events":[]}}`)
	const events = `"events":["MESSAGES_UPSERT","MESSAGES_UPDATE","MESSAGES_DELETE","MESSAGES_EDITED","SEND_MESSAGE","CONNECTION_UPDATE","QRCODE_UPDATED"]`
	made := e.call(t, http.StatusCreated, "POST", "webhook/set", "", `{"webhook":{"enabled":true,"url":"`+receiver.URL+`/evo","webhookByEvents":true,"webhookBase64":true,"headers":{"X-Flow":"7"},`+events+`}}`)
	if At(made, "webhookByEvents") != true || At(made, "webhookBase64") != true || At(made, "events.0") != "MESSAGES_UPSERT" {
		t.Errorf("made %v", made)
	}
	again := e.call(t, http.StatusCreated, "POST", "webhook/set", "", `{"enabled":true,"url":"`+receiver.URL+`/evo","byEvents":true,"base64":true,"headers":{"X-Flow":"7"},`+events+`}`)
	if count := len(Must(s.API.Webhooks(Within(t)))(t)); count != 1 || At(again, "id") != At(made, "id") {
		t.Errorf("%d webhooks after the second, which is %v", count, again)
	}

	me := Must(s.API.Status(Within(t)))(t).User.JID
	owner := simnet.JID{User: me.User(), Server: "s.whatsapp.net"}
	hi := Must(s.Friend.SendText(Within(t), owner, "Hi!"))(t)
	receiver.wait(map[string]any{
		"event": "messages.upsert", "instance": "bridged", "data.message.conversation": "Hi!", "data.key.remoteJid": `15550100301@s\.whatsapp\.net`, "data.key.fromMe": false,
		"data.key.id": hi, "data.pushName": "Sam", "data.messageType": "conversation", "sender": string(me), "destination": ".*/evo",
	})
	picture := Portrait(t, 30, 70)
	Must(s.Friend.SendImage(Within(t), owner, simnet.Media{Data: picture, Mimetype: "image/jpeg", Caption: "a view"}))(t)
	receiver.wait(map[string]any{"event": "messages.upsert", "data.message.imageMessage.caption": "a view", "data.message.base64": regexp.QuoteMeta(InBase64(picture))})
	Must(s.Friend.ReactTo(Within(t), owner, s.Friend.PN(), hi, "🙏"))(t)
	Must(s.Friend.ReactTo(Within(t), owner, s.Friend.PN(), hi, ""))(t)
	for _, emoji := range []string{"🙏", ""} {
		receiver.wait(map[string]any{"event": "messages.upsert", "data.messageType": "reactionMessage", "data.message.reactionMessage.text": emoji, "data.message.reactionMessage.key.id": hi})
	}
	Must(s.Friend.Edit(Within(t), owner, hi, "Hi there!"))(t)
	receiver.wait(map[string]any{"event": "messages.edited", "data.editedMessage.conversation": "Hi there!"})
	Must(s.Friend.Revoke(Within(t), owner, hi))(t)
	receiver.wait(map[string]any{"event": "messages.delete", "data.id": hi})

	sender := evolution{s, s.Full}
	sent := sender.call(t, http.StatusCreated, "POST", "message/sendText", "", `{"number":"15550100301","text":"from a flow"}`)
	receiver.wait(map[string]any{"event": "send.message", "data.message.conversation": "from a flow", "data.key.id": At(sent, "key.id")})
	receiver.wait(map[string]any{"event": "messages.update", "data.keyId": At(sent, "key.id"), "data.status": "DELIVERY_ACK|READ"})
	for _, w := range Must(s.API.Webhooks(Within(t)))(t) {
		if tried := Must(s.API.TestWebhook(Within(t), w.ID))(t); !tried.OK {
			t.Errorf("%+v", tried)
		}
	}
	receiver.wait(map[string]any{"event": "connection.update", "data.state": "open"})

	for _, url := range []string{"", `"url":"vazio",`} { // n8n's node says vazio
		e.call(t, http.StatusCreated, "POST", "webhook/set", "", `{"webhook":{"enabled":true,`+events+`}}`)
		off := e.call(t, http.StatusCreated, "POST", "webhook/set", "", `{"webhook":{"enabled":false,`+url+events+`}}`)
		if found := e.call(t, http.StatusOK, "GET", "webhook/find", "", ""); At(off, "enabled") != false || At(found, "enabled") != false || At(found, "url") != receiver.URL+"/evo" {
			t.Errorf("switched off with %s it is %v, found %v", url, off, found)
		}
	}
	e.call(t, http.StatusBadRequest, "POST", "webhook/set", "", `{"webhook":{"enabled":true,"url":"vazio","events":[]}}`)
}
