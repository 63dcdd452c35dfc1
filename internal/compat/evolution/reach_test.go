package evolution

import (
	"os"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/compat/compattest"
	"bridged/internal/webhook/format"
)

const (
	inClub = `{"number":"120363025246125486@g.us"`
	asKey  = `{"remoteJid":"120363025246125486@g.us","id":"G1","fromMe":true}`
	ofClub = "?groupJid=120363025246125486@g.us"
)

// reaches names every route; a new one fails the test until it is named here.
var reaches = []compattest.Try{
	{Route: "POST /message/sendText/{instance}", Body: inClub + `,"text":"x"}`, Scope: toSend},
	{Route: "POST /message/sendText/{instance}", Body: inClub + `,"text":"x","delay":1}`, Scope: toSend},
	{Route: "POST /message/sendText/{instance}", Body: inClub + `,"text":"x","mentionsEveryOne":true}`, Scope: toSend},
	{Route: "POST /message/sendMedia/{instance}", Body: inClub + `,"mediatype":"image","media":"aGVsbG8="}`, Scope: toSend},
	{Route: "POST /message/sendMedia/{instance}", Body: inClub + `,"mediatype":"image","media":"https://example.org/a.png"}`, Scope: toSend},
	{Route: "POST /message/sendWhatsAppAudio/{instance}", Body: inClub + `,"audio":"aGVsbG8="}`, Scope: toSend},
	{Route: "POST /message/sendSticker/{instance}", Body: inClub + `,"sticker":"aGVsbG8="}`, Scope: toSend},
	{Route: "POST /message/sendPtv/{instance}", Body: inClub + `,"video":"aGVsbG8="}`, Scope: toSend},
	{Route: "POST /message/sendLocation/{instance}", Body: inClub + `,"latitude":1,"longitude":2}`, Scope: toSend},
	{Route: "POST /message/sendContact/{instance}", Body: inClub + `,"contact":[{"fullName":"Sam"}]}`, Scope: toSend},
	{Route: "POST /message/sendPoll/{instance}", Body: inClub + `,"name":"When?","values":["a","b"]}`, Scope: toSend},
	{Route: "POST /message/sendReaction/{instance}", Body: `{"key":` + asKey + `,"reaction":"👍"}`, Scope: toSend},

	{Route: "POST /chat/whatsappNumbers/{instance}", Body: `{"numbers":["15550100301"]}`, Scope: toRead},
	{Route: "POST /chat/markMessageAsRead/{instance}", Body: `{"readMessages":[` + asKey + `]}`, Scope: toSend},
	{Route: "POST /chat/sendPresence/{instance}", Body: inClub + `,"presence":"composing","delay":1}`, Scope: toSend},
	{Route: "DELETE /chat/deleteMessageForEveryone/{instance}", Body: asKey, Scope: toSend},
	{Route: "POST /chat/updateMessage/{instance}", Body: `{"text":"x","key":` + asKey + `}`, Scope: toSend},
	{Route: "POST /chat/findMessages/{instance}", Body: `{"where":{"key":{"remoteJid":"120363025246125486@g.us"}}}`, Scope: toRead},
	{Route: "POST /chat/findMessages/{instance}", Body: `{"where":{"key":{"id":"G1"}}}`, Scope: toRead},
	{Route: "POST /chat/findChats/{instance}", Scope: toRead},
	{Route: "POST /chat/findContacts/{instance}", Body: `{}`, Scope: toRead},
	{Route: "POST /chat/getBase64FromMediaMessage/{instance}", Body: `{"message":{"key":{"id":"G1"}}}`, Scope: toRead},
	{Route: "POST /chat/fetchProfilePictureUrl/{instance}", Body: `{"number":"15550100399"}`, Scope: toRead},
	{Route: "POST /chat/fetchProfile/{instance}", Body: `{"number":"15550100301"}`, Scope: toRead},
	{Route: "POST /chat/fetchProfile/{instance}", Scope: toRead},
	{Route: "POST /chat/updateProfileName/{instance}", Body: `{"name":"Ada"}`, Scope: toManage, Whole: true},
	{Route: "POST /chat/updateProfileStatus/{instance}", Body: `{"status":"at work"}`, Scope: toManage, Whole: true},
	{Route: "POST /chat/updateProfilePicture/{instance}", Body: `{"picture":"` + compattest.Picture + `"}`, Scope: toManage, Whole: true},
	{Route: "DELETE /chat/removeProfilePicture/{instance}", Scope: toManage, Whole: true},
	{Route: "GET /chat/fetchPrivacySettings/{instance}", Scope: toRead, Whole: true},
	{Route: "POST /chat/updatePrivacySettings/{instance}", Body: `{"readreceipts":"all","profile":"all","status":"all","online":"all","last":"all","groupadd":"all"}`, Scope: toManage, Also: toRead, Whole: true},
	{Route: "GET /label/findLabels/{instance}", Scope: toRead},
	{Route: "POST /label/handleLabel/{instance}", Body: inClub + `,"labelId":"1","action":"add"}`, Scope: toSend},
	{Route: "POST /chat/archiveChat/{instance}", Body: `{"chat":"120363025246125486@g.us","archive":true}`, Scope: toSend},
	{Route: "POST /chat/markChatUnread/{instance}", Body: `{"lastMessage":{"key":` + asKey + `}}`, Scope: toSend},
	{Route: "POST /chat/updateBlockStatus/{instance}", Body: `{"number":"15550100301","status":"block"}`, Scope: toSend},

	{Route: "GET /instance/fetchInstances", Scope: toRead, Whole: true},
	{Route: "GET /instance/connectionState/{instance}", Scope: toRead, Whole: true},
	{Route: "GET /instance/connect/{instance}", Scope: toRead, Whole: true},
	{Route: "GET /instance/connect/{instance}", Query: "?number=15550100200", Scope: toManage, Also: toRead, Whole: true},
	{Route: "POST /instance/restart/{instance}", Scope: toManage, Whole: true},
	{Route: "DELETE /instance/logout/{instance}", Scope: toManage, Whole: true},
	{Route: "POST /instance/create", Body: `{"instanceName":"another"}`},
	{Route: "GET /settings/find/{instance}"},
	{Route: "POST /webhook/set/{instance}", Body: `{"webhook":{"url":"https://example.org/x","events":["MESSAGES_UPSERT"]}}`, Scope: toManage, Also: toRead},
	{Route: "GET /webhook/find/{instance}", Scope: toManage},

	{Route: "GET /group/fetchAllGroups/{instance}", Scope: toRead},
	{Route: "GET /group/fetchAllGroups/{instance}", Query: "?getParticipants=true", Scope: toRead},
	{Route: "GET /group/findGroupInfos/{instance}", Query: ofClub, Scope: toRead},
	{Route: "GET /group/participants/{instance}", Query: ofClub, Scope: toRead},
	{Route: "GET /group/inviteCode/{instance}", Query: ofClub, Scope: toRead},
	{Route: "POST /group/revokeInviteCode/{instance}", Query: ofClub, Scope: toSend},
	{Route: "GET /group/acceptInviteCode/{instance}", Query: "?inviteCode=AbCdEfGhIjKlMnOp", Scope: toSend, Whole: true},
	{Route: "POST /group/create/{instance}", Body: `{"subject":"x","description":"y","participants":["15550100301"]}`, Scope: toSend, Whole: true},
	{Route: "POST /group/updateParticipant/{instance}", Query: ofClub, Body: `{"action":"add","participants":["15550100301"]}`, Scope: toSend},
	{Route: "POST /group/updateGroupSubject/{instance}", Query: ofClub, Body: `{"subject":"x"}`, Scope: toSend},
	{Route: "POST /group/updateGroupDescription/{instance}", Query: ofClub, Body: `{"description":"x"}`, Scope: toSend},
	{Route: "POST /group/updateGroupPicture/{instance}", Query: ofClub, Body: `{"image":"` + compattest.Picture + `"}`, Scope: toSend},
	{Route: "POST /group/updateSetting/{instance}", Query: ofClub, Body: `{"action":"locked"}`, Scope: toSend},
	{Route: "POST /group/toggleEphemeral/{instance}", Query: ofClub, Body: `{"expiration":86400}`, Scope: toSend},
	{Route: "DELETE /group/leaveGroup/{instance}", Query: ofClub, Scope: toSend},
}

func newScene(t *testing.T) compattest.Scene {
	t.Helper()
	return compattest.NewScene(t, New, "apikey", map[bridge.WebhookFormat]format.Format{bridge.FormatEvolution: Format{Instance: "bridged"}})
}

func TestTokens_EveryRouteWithEveryScope(t *testing.T) {
	var routes []string
	for _, r := range (adapter{}).routes() {
		routes = append(routes, r.Pattern)
	}
	for i, r := range reaches {
		_, path, _ := strings.Cut(r.Route, " ")
		reaches[i].Path = strings.Replace(path, "{instance}", "bridged", 1)
	}
	newScene(t).EveryScope(routes, reaches)
}

// What is one click away in clients does nothing, and is refused in a form that they read.
func TestRoutes_RefusesWhatBridgedDoesNotDo(t *testing.T) {
	s := newScene(t)
	for route, status := range map[string]int{
		"POST /message/sendButtons/bridged": 400, "POST /message/sendList/bridged": 400, "POST /message/sendTemplate/bridged": 400,
		"POST /message/sendStatus/bridged": 400, "DELETE /instance/delete/bridged": 400, "POST /settings/set/bridged": 400, "POST /proxy/set/bridged": 400,
		"POST /rabbitmq/set/bridged": 400, "POST /chatwoot/set/bridged": 400, "POST /typebot/create/bridged": 400, "GET /group/inviteInfo/bridged": 400,
		"POST /instance/setPresence/bridged": 400, "GET /erro": 404, "GET /manager": 404,
	} {
		got := s.Ask(compattest.Try{Route: route, Body: `{"number":"15550100301"}`}, compattest.Operator)
		if got.Code != status || !strings.Contains(got.Body.String(), "bridged does not do this") || !strings.HasPrefix(got.Header().Get("Content-Type"), "application/json") {
			t.Errorf("%s: %d %s", route, got.Code, got.Body)
		}
	}
	if got := s.Ask(compattest.Try{Route: "PUT /chat/sendPresence/bridged", Body: inClub + `,"presence":"available"}`}, compattest.Operator); !strings.Contains(got.Body.String(), "presence must be") {
		t.Errorf("a route by PUT: %d %s", got.Code, got.Body)
	}
	for body, want := range map[string]int{`{"instanceName":"bridged"}`: 403, `{"instanceName":"x"}`: 400, `x`: 400} {
		if got := s.Ask(compattest.Try{Route: "POST /instance/create", Body: body}, compattest.Operator); got.Code != want {
			t.Errorf("create %s: %d %s", body, got.Code, got.Body)
		}
	}
}

// Whatever becomes of a body with a file, no file stays on the disk.
func TestFiles_LeaveNothingBehind(t *testing.T) {
	s := newScene(t)
	const form = "multipart/form-data; boundary=line"
	part := func(head, body string) string {
		return "--line\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n"
	}
	file := part(`name="file"; filename="a.png"`, "hello")
	for name, c := range map[string]struct {
		body, kind string
		status     int
		want       string
	}{
		"what cannot be sent":    {inClub + `,"mediatype":"document","media":"aGVsbG8="}`, "", 400, "Connection Closed"},
		"a body that broke off":  {inClub + `,"mediatype":"document","media":"aGVsbG8`, "", 400, "not valid JSON"},
		"no JSON behind it":      {inClub + `,"media":"aGVsbG8=",}`, "", 400, "not valid JSON"},
		"too large":              {inClub + `,"media":"` + strings.Repeat("A", 3<<20) + `"}`, "", 413, "MEDIA_MAX_BYTES"},
		"two files":              {inClub + `,"media":"aGVsbG8=","media":"aGVsbG8="}`, "", 400, "media is given twice"},
		"too much beside it":     {inClub + `,"media":"aGVsbG8=","x":"` + strings.Repeat("x", 1<<20) + `"}`, "", 413, "without its file"},
		"a form":                 {part(`name="number"`, string(compattest.Club)) + part(`name="mediatype"`, "document") + part(`name="quoted"`, `{"key":{"id":""}}`) + file + "--line--\r\n", form, 400, "Connection Closed"},
		"a form with base64":     {part(`name="number"`, string(compattest.Club)) + part(`name="mediatype"`, "document") + part(`name="media"`, "data:image/png;base64,aGVsbG8=") + "--line--\r\n", form, 400, "Connection Closed"},
		"a form with an address": {part(`name="number"`, string(compattest.Club)) + part(`name="mediatype"`, "document") + part(`name="media"`, "https://example.org") + "--line--\r\n", form, 400, ""},
		"a form with two files":  {file + file + "--line--\r\n", form, 400, "more than one file"},
		"a form that broke off":  {file + part(`name="number"`, "1"), form, 400, "incomplete"},
		"a form without end":     {strings.Repeat(part(`name="x"`, "1"), 40) + "--line--\r\n", form, 400, "more than 32 parts"},
		"a form with long texts": {part(`name="caption"`, strings.Repeat("x", 1<<20)) + part(`name="x"`, "y") + "--line--\r\n", form, 413, "without its file"},
		"a form without a line":  {file, "multipart/form-data", 400, "boundary"},
		"a form with long heads": {part(`name="`+strings.Repeat("x", 64<<10)+`"`, "1") + "--line--\r\n", form, 413, "32 KiB"},
	} {
		got := s.Ask(compattest.Try{Route: "POST /message/sendMedia/bridged", Body: c.body, Type: c.kind}, compattest.Operator)
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.want) {
			t.Errorf("%s: %d %.300s, want %d %s", name, got.Code, got.Body, c.status, c.want)
		}
		if left, err := os.ReadDir(s.Files); err != nil || len(left) > 0 {
			t.Errorf("%s left %v, %v", name, left, err)
		}
	}
}

// No body within 1 MiB takes a multiple of it in memory, on any route and with any token.
func TestBodies_HoldLittleMemory(t *testing.T) { newScene(t).HostileBodies(reaches) }
