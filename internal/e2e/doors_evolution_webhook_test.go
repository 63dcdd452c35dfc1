package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// A webhook that n8n's node sets gets what flows read, each event at an address of its own,
// with the files of messages in base64.
func TestDoors_EvolutionWebhook(t *testing.T) {
	t.Parallel()
	s := newDoorScene(t, "WEBHOOK_ALLOW_PRIVATE=127.0.0.0/8")
	receiver := newDoorReceiver(t, func(p doorPost) error {
		if event, _ := at(p.json, "event").(string); p.path != "/evo/"+strings.ReplaceAll(event, ".", "-") || p.header.Get("X-Flow") != "7" || at(p.json, "apikey") != nil {
			return fmt.Errorf("event %s with %v", event, p.header)
		}
		return nil
	})
	manager := must(s.api.CreateToken(within(t), client.NewToken{Name: "manager", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeManage}}))(t)
	s.secrets = append(s.secrets, manager.Secret)
	e := evolution{s, manager.Secret}
	if found := e.call(t, http.StatusOK, "GET", "webhook/find", "", ""); found != nil {
		t.Errorf("there is a webhook already: %v", found)
	}
	e.call(t, http.StatusBadRequest, "POST", "webhook/set", "", `{"webhook":{"enabled":true,"events":[]}}`)
	const events = `"events":["MESSAGES_UPSERT","MESSAGES_UPDATE","MESSAGES_DELETE","MESSAGES_EDITED","SEND_MESSAGE","CONNECTION_UPDATE","QRCODE_UPDATED"]`
	made := e.call(t, http.StatusCreated, "POST", "webhook/set", "", `{"webhook":{"enabled":true,"url":"`+receiver.URL+`/evo","webhookByEvents":true,"webhookBase64":true,"headers":{"X-Flow":"7"},`+events+`}}`)
	if at(made, "webhookByEvents") != true || at(made, "webhookBase64") != true || at(made, "events.0") != "MESSAGES_UPSERT" {
		t.Errorf("made %v", made)
	}
	again := e.call(t, http.StatusCreated, "POST", "webhook/set", "", `{"enabled":true,"url":"`+receiver.URL+`/evo","byEvents":true,"base64":true,"headers":{"X-Flow":"7"},`+events+`}`)
	if count := len(must(s.api.Webhooks(within(t)))(t)); count != 1 || at(again, "id") != at(made, "id") {
		t.Errorf("%d webhooks after the second, which is %v", count, again)
	}

	me := must(s.api.Status(within(t)))(t).User.JID
	owner := simnet.JID{User: me.User(), Server: "s.whatsapp.net"}
	hi := must(s.friend.SendText(within(t), owner, "Hi!"))(t)
	receiver.wait(map[string]any{
		"event": "messages.upsert", "instance": "bridged", "data.message.conversation": "Hi!", "data.key.remoteJid": `15550100301@s\.whatsapp\.net`, "data.key.fromMe": false,
		"data.key.id": hi, "data.pushName": "Sam", "data.messageType": "conversation", "sender": string(me), "destination": ".*/evo",
	})
	picture := portrait(t, 30, 70)
	must(s.friend.SendImage(within(t), owner, simnet.Media{Data: picture, Mimetype: "image/jpeg", Caption: "a view"}))(t)
	receiver.wait(map[string]any{"event": "messages.upsert", "data.message.imageMessage.caption": "a view", "data.message.base64": regexp.QuoteMeta(inBase64(picture))})
	must(s.friend.ReactTo(within(t), owner, s.friend.PN(), hi, "🙏"))(t)
	must(s.friend.ReactTo(within(t), owner, s.friend.PN(), hi, ""))(t)
	for _, emoji := range []string{"🙏", ""} {
		receiver.wait(map[string]any{"event": "messages.upsert", "data.messageType": "reactionMessage", "data.message.reactionMessage.text": emoji, "data.message.reactionMessage.key.id": hi})
	}
	must(s.friend.Edit(within(t), owner, hi, "Hi there!"))(t)
	receiver.wait(map[string]any{"event": "messages.edited", "data.editedMessage.conversation": "Hi there!"})
	must(s.friend.Revoke(within(t), owner, hi))(t)
	receiver.wait(map[string]any{"event": "messages.delete", "data.id": hi})

	sender := evolution{s, s.full}
	sent := sender.call(t, http.StatusCreated, "POST", "message/sendText", "", `{"number":"15550100301","text":"from a flow"}`)
	receiver.wait(map[string]any{"event": "send.message", "data.message.conversation": "from a flow", "data.key.id": at(sent, "key.id")})
	receiver.wait(map[string]any{"event": "messages.update", "data.keyId": at(sent, "key.id"), "data.status": "DELIVERY_ACK|READ"})
	for _, w := range must(s.api.Webhooks(within(t)))(t) {
		if tried := must(s.api.TestWebhook(within(t), w.ID))(t); !tried.OK {
			t.Errorf("%+v", tried)
		}
	}
	receiver.wait(map[string]any{"event": "connection.update", "data.state": "open"})

	for _, url := range []string{"", `"url":"vazio",`} { // n8n's node says vazio
		e.call(t, http.StatusCreated, "POST", "webhook/set", "", `{"webhook":{"enabled":true,`+events+`}}`)
		off := e.call(t, http.StatusCreated, "POST", "webhook/set", "", `{"webhook":{"enabled":false,`+url+events+`}}`)
		if found := e.call(t, http.StatusOK, "GET", "webhook/find", "", ""); at(off, "enabled") != false || at(found, "enabled") != false || at(found, "url") != receiver.URL+"/evo" {
			t.Errorf("switched off with %s it is %v, found %v", url, off, found)
		}
	}
	e.call(t, http.StatusBadRequest, "POST", "webhook/set", "", `{"webhook":{"enabled":true,"url":"vazio","events":[]}}`)
}
