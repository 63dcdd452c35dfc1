package compat

import (
	"fmt"
	"strings"
	"testing"

	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// formScene is a bridge with all compatibility APIs.
func newFormScene(t *testing.T) CompatScene {
	t.Helper()
	return NewCompatScene(t, "COMPAT=waha,evolution,cloud", FetchesLoopback)
}

// TestCompat_TakeEveryFormThatClientsSend: per route, the bodies of n8n's nodes, of SDKs,
// bots, plugins and old scripts.
func TestCompat_TakeEveryFormThatClientsSend(t *testing.T) {
	t.Parallel()
	s := newFormScene(t)
	const card = `BEGIN:VCARD\nVERSION:3.0\nFN:Jane Doe\nORG:Company Name;\nTEL;type=CELL;type=VOICE;waid=911111111111:+91 11111 11111\nEND:VCARD`
	ask := messageID(s, t)
	waha := map[string][]string{
		"sendText": {
			`"chatId":"15550100301@c.us","text":"a","session":"default"`,                                                                   // n8n
			`"chatId":"15550100301@c.us","reply_to":null,"text":"a","linkPreview":true,"linkPreviewHighQuality":false,"session":"default"`, // swagger
			`"chatId":"15550100301","text":"a","session":"default"`,                                                                        // Uptime Kuma, Peekaping
			`"chatId":"+1 (555) 010-0301","text":"a","reply_to":"","mentions":[]`,
			`"chatId":15550100301,"text":12`, // flows with numbers
		},
		"reply":        {`"chatId":"15550100301@c.us","text":"a","reply_to":"false_15550100301@c.us_` + ask + `"`, `"chatId":"15550100301@c.us","text":"a","reply_to":"` + ask + `"`},
		"sendLocation": {`"chatId":"15550100301@c.us","latitude":38.89,"longitude":-77.05,"title":"Our office","reply_to":null`, `"chatId":"15550100301@c.us","latitude":"38.89","longitude":"-77.05","title":""`},
		"sendPoll":     {`"chatId":"15550100301@c.us","reply_to":null,"poll":{"name":"How?","options":["a","b"],"multipleAnswers":false}`, `"chatId":"15550100301@c.us","poll":{"name":"How?","options":["a","b"],"multipleAnswers":"true"}`},
		"sendContactVcard": {
			`"chatId":"15550100301@c.us","contacts":[{"vcard":"` + card + `"}]`, // n8n
			`"chatId":"15550100301@c.us","contacts":[{"fullName":"John Doe","organization":"Company Name","phoneNumber":"+91 98765 43210","whatsappId":"911234567890","vcard":null},{"vcard":"` + card + `"}],"reply_to":null`, // swagger
			`"chatId":"15550100301@c.us","contactsId":[{"fullName":"Ada","phoneNumber":"+1 555 0100"}]`,                                                                                                                        // waha-mcp
			`"chatId":"15550100301@c.us","contacts":[{"vcard":"BEGIN:VCARD\nVERSION:3.0\nEND:VCARD"}]`,
		},
		"sendSeen":    {`"chatId":"15550100301@c.us","messageId":"false_15550100301@c.us_` + ask + `","participant":"11111111111@c.us"`, `"chatId":"15550100301@c.us","messageIds":["false_15550100301@c.us_` + ask + `"],"participant":null`, `"chatId":"15550100301@c.us"`},
		"startTyping": {`"chatId":"15550100301@c.us","session":"default"`, `"chatId":"15550100301"`},
	}
	key := map[string]string{"X-Api-Key": s.Full, "Content-Type": "application/json"}
	for route, bodies := range waha {
		for i, body := range bodies {
			check(s, t, []compatCase{{fmt.Sprintf("WAHA %s %d", route, i), CompatRequest{Method: "POST", Address: s.Address + "/waha/api/" + route, Header: key, Body: "{" + body + "}"}, 201, nil}})
		}
	}

	evolution := map[string][]string{
		"sendText": {
			`"number":"15550100301","text":"a"`,
			`"number":"15550100301@s.whatsapp.net","text":"a","delay":0,"linkPreview":false,"mentionsEveryOne":false,"mentioned":[]`,                                             // n8n
			`"number":"15550100301","text":"a","quoted":{"key":{"remoteJid":"15550100301@s.whatsapp.net","fromMe":false,"id":"` + ask + `"},"message":{"conversation":"hello"}}`, // Chatwoot's, Typebot's
			`"number":"15550100301","text":"a","quoted":{"key":{"id":"` + ask + `"}}`,
		},
		"sendLocation": {`"number":"15550100301","name":"n","address":"a","latitude":52.5,"longitude":13.4`, `"number":"15550100301","name":"n","address":"a","latitude":"52.5","longitude":"13.4"`},
		"sendContact": {
			`"number":"15550100301","contact":[{"fullName":"Ada","wuid":"15551234567","phoneNumber":"+1 555 123-4567","organization":"ACME","email":"a@example.com","url":"https://example.com"}]`,
			`"number":"15550100301","contact":[{"fullName":"Ada","phoneNumber":"+1 555 123-4567"}]`,
		},
		"sendPoll":     {`"number":"15550100301","name":"How?","selectableCount":1,"values":["a","b"]`, `"number":"15550100301","name":"How?","selectableCount":"2","values":["a","b"]`},
		"sendReaction": {`"key":{"remoteJid":"15550100301@s.whatsapp.net","fromMe":false,"id":"` + ask + `"},"reaction":"👍"`, `"key":{"remoteJid":"15550100301@s.whatsapp.net","fromMe":false,"id":"` + ask + `"},"reaction":""`},
	}
	for route, bodies := range evolution {
		for i, body := range bodies {
			request := CompatRequest{Method: "POST", Address: s.Address + "/evolution/message/" + route + "/bridged", Header: map[string]string{"apikey": s.Full, "Content-Type": "application/json"}, Body: "{" + body + "}"}
			check(s, t, []compatCase{{fmt.Sprintf("Evolution %s %d", route, i), request, 201, nil}})
		}
	}

	for i, body := range []string{
		`"messaging_product":"whatsapp","to":"15550100301","type":"text","text":{"body":"a"}`,
		`"messaging_product":"whatsapp","recipient_type":"individual","to":"+15550100301","type":"text","text":{"preview_url":true,"body":"a"}`,
		`"messaging_product":"whatsapp","to":"15550100301","text":{"body":"a"},"context":null,"biz_opaque_callback_data":"x"`,
		`"messaging_product":"whatsapp","recipient":"15550100301","type":"text","text":{"body":"a","preview_url":"false"}`,
		`"to":"15550100301","type":"location","location":{"latitude":"52.5","longitude":"13.4"}`,
		`"to":"15550100301","type":"contacts","contacts":[{"name":{"first_name":"Ada","last_name":"L"},"phones":[{"phone":"+1 555 123-4567"}]}]`,
		`"to":"15550100301","type":"contacts","contacts":[{"addresses":[],"birthday":"","emails":[],"name":{"formatted_name":"Ada"},"org":{},"phones":[{"wa_id":"15551234567","type":"WORK"}],"urls":[]}]`,
		`"to":"15550100301","type":"interactive","interactive":{"type":"cta_url","body":{"text":"Look"},"action":{"name":"cta_url","parameters":{"display_text":"Open","url":"https://example.com"}}}`,
	} {
		request := CompatRequest{Method: "POST", Address: s.Address + "/cloud/v21.0/" + CloudAccount + "/messages", Header: Bearer(s.Full), Body: "{" + body + "}"}
		check(s, t, []compatCase{{fmt.Sprintf("Cloud %d", i), request, 200, map[string]any{"messages.0.id": "wamid.+"}}})
	}

	names := map[string]bool{}
	Must(s.Friend.Received(Within(t), func(r *simnet.Received) bool {
		for _, c := range append(r.Message.Message.GetContactsArrayMessage().GetContacts(), r.Message.Message.GetContactMessage()) {
			names[c.GetDisplayName()] = true
		}
		return names["Jane Doe"] && names["Contact"]
	}))(t)
}

// messageID returns the id of the newest message of Sam's chat.
func messageID(s CompatScene, t *testing.T) string {
	t.Helper()
	var list struct{ Messages []struct{ MsgID string } }
	s.Get("/api/messages/individual/15550100301@s.whatsapp.net?limit=1").Want(200).Decode(&list)
	return list.Messages[0].MsgID
}

// TestCompat_RefusalsNameTheirOwnFields, not bridged's, which the caller never wrote.
func TestCompat_RefusalsNameTheirOwnFields(t *testing.T) {
	t.Parallel()
	s := newFormScene(t)
	long := strings.Repeat("x", 70000)
	type refused struct{ route, body, field string }
	check := func(api, address string, header map[string]string, path string, cases []refused) {
		for _, c := range cases {
			request := CompatRequest{Method: "POST", Address: s.Address + address + c.route, Header: header, Body: "{" + c.body + "}"}
			check(s, t, []compatCase{{api + " " + c.route + " " + c.field, request, 400, map[string]any{path: `.*\b` + c.field + `\b.*`}}})
		}
	}
	check("WAHA", "/waha/api/", map[string]string{"X-Api-Key": s.Full}, "message", []refused{
		{"sendText", `"chatId":"nobody","text":"a"`, "chatId"},
		{"sendText", `"chatId":"15550100301","text":""`, "text"},
		{"sendText", `"chatId":"15550100301","text":"a","mentions":["nobody"]`, "mentions"},
		{"sendLocation", `"chatId":"15550100301","latitude":99,"longitude":0`, "latitude"},
		{"sendPoll", `"chatId":"15550100301","poll":{"name":"","options":["a","b"]}`, `poll\.name`},
		{"sendPoll", `"chatId":"15550100301","poll":{"name":"a","options":["a"]}`, `poll\.options`},
		{"sendContactVcard", `"chatId":"15550100301","contacts":[{"phoneNumber":"+15551234567"}]`, `contacts\[0\]\.fullName`},
		{"sendContactVcard", `"chatId":"15550100301","contacts":[{"vcard":"FN:Ada"}]`, `contacts\[0\]\.vcard`},
		{"sendImage", `"chatId":"15550100301","file":{"url":"ftp://example.com/a.png"}`, `file\.url`},
		{"sendImage", `"chatId":"15550100301","caption":"` + long + `","file":{"url":"https://example.com/a.png"}`, "caption"},
	})
	check("Evolution", "/evolution/message/", map[string]string{"apikey": s.Full}, "response.message.0", []refused{
		{"sendText/bridged", `"number":"nobody","text":"a"`, "number"},
		{"sendText/bridged", `"number":"15550100301","text":"a","mentioned":["nobody"]`, "mentioned"},
		{"sendMedia/bridged", `"number":"15550100301","mediatype":"image","media":"http://user:pass@example.com/a.png"`, "media"},
		{"sendContact/bridged", `"number":"15550100301","contact":[{"phoneNumber":"+15551234567"}]`, `contact\[0\]\.fullName`},
		{"sendPoll/bridged", `"number":"15550100301","name":"a","values":["a"]`, "values"},
	})
	check("Cloud", "/cloud/v21.0/"+CloudAccount+"/", Bearer(s.Full), "error.error_data.details", []refused{
		{"messages", `"to":"nobody","text":{"body":"a"}`, "to"},
		{"messages", `"to":"15550100301","type":"text","text":{"body":""}`, `text\.body`},
		{"messages", `"to":"15550100301","type":"location","location":{"latitude":99,"longitude":0}`, `location\.latitude`},
		{"messages", `"to":"15550100301","type":"contacts","contacts":[{"phones":[]}]`, `contacts\[0\]\.name\.formatted_name`},
		{"messages", `"to":"15550100301","type":"image","image":{"link":"ftp://example.com/a.png"}`, `image\.link`},
	})
}
