// Package evolution is the door for clients of Evolution API v2: n8n's node, Uptime Kuma,
// Apprise, scripts. It answers as version 2.3 does, for one instance.
package evolution

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// Prefix begins the paths of the door.
const Prefix = "/evolution"

// version is that of Evolution API whose answers these are.
const version = "2.3.6"

type door struct {
	*compat.Door
	instance string // the name of the only instance
}

// New returns the door.
func New(o compat.Options) http.Handler {
	d := door{compat.NewDoor(o, peer{}), o.Instance}
	mux := http.NewServeMux() // chi would take the API's router, which calls reach, for a part of itself
	mux.HandleFunc("/", d.Refuse(noRoute))
	mux.HandleFunc("GET /{$}", d.Open(map[string]any{"status": http.StatusOK, "message": "Welcome to the Evolution API, it is working!", "version": version, "clientName": d.instance}))
	for _, r := range d.routes() {
		handle := r.handle
		if strings.HasSuffix(r.pattern, "{instance}") {
			handle = d.of(handle)
		}
		answer := d.Handle(r.scope, fieldsOf[r.pattern].Of(handle), r.file)
		mux.HandleFunc(r.pattern, answer)
		if path, isPost := strings.CutPrefix(r.pattern, http.MethodPost); isPost { // which some clients send
			mux.HandleFunc(http.MethodPut+path, answer)
		}
	}
	return mux
}

// reading returns a route that reads its body, a JSON object, before.
func reading[T any](route func(*compat.Call, T) (compat.Answer, error)) func(*compat.Call) (compat.Answer, error) {
	return func(c *compat.Call) (compat.Answer, error) {
		var in T
		if err := c.Decode(&in); err != nil {
			return compat.Answer{}, err
		}
		return route(c, in)
	}
}

// The scopes that routes need.
const (
	toRead, toSend, toManage = bridge.ScopeRead, bridge.ScopeSend, bridge.ScopeManage
	toAll                    = bridge.Scope("")
)

// route binds a method and a path to what the door does there.
type route struct {
	pattern string
	scope   bridge.Scope // that a token needs for any call of it; empty for none
	handle  func(*compat.Call) (compat.Answer, error)
	file    string // member of the body that may hold one in base64; empty for none
}

// routes lists all that need a key.
func (d door) routes() []route {
	return []route{
		{"POST /message/sendText/{instance}", toSend, reading(sendText), ""},
		{"POST /message/sendMedia/{instance}", toSend, reading(sendMedia), "media"},
		{"POST /message/sendWhatsAppAudio/{instance}", toSend, reading(sendAudio), "audio"},
		{"POST /message/sendSticker/{instance}", toSend, reading(sendSticker), "sticker"},
		{"POST /message/sendPtv/{instance}", toSend, reading(sendRoundVideo), "video"},
		{"POST /message/sendLocation/{instance}", toSend, reading(sendLocation), ""},
		{"POST /message/sendContact/{instance}", toSend, reading(sendContact), ""},
		{"POST /message/sendPoll/{instance}", toSend, reading(sendPoll), ""},
		{"POST /message/sendReaction/{instance}", toSend, reading(sendReaction), ""},

		{"POST /chat/whatsappNumbers/{instance}", toRead, reading(checkNumbers), ""},
		{"POST /chat/markMessageAsRead/{instance}", toSend, reading(markRead), ""},
		{"POST /chat/sendPresence/{instance}", toSend, reading(showPresence), ""},
		{"DELETE /chat/deleteMessageForEveryone/{instance}", toSend, reading(deleteMessage), ""},
		{"POST /chat/updateMessage/{instance}", toSend, reading(updateMessage), ""},
		{"POST /chat/findMessages/{instance}", toRead, reading(findMessages), ""},
		{"POST /chat/findChats/{instance}", toRead, findChats, ""},
		{"POST /chat/findContacts/{instance}", toRead, findContacts, ""},
		{"POST /chat/getBase64FromMediaMessage/{instance}", toRead, reading(downloadMedia), ""},
		{"POST /chat/fetchProfilePictureUrl/{instance}", toRead, reading(showPicture), ""},
		{"POST /chat/fetchProfile/{instance}", toRead, reading(showProfile), ""},
		{"POST /chat/archiveChat/{instance}", toSend, reading(archiveChat), ""},
		{"POST /chat/markChatUnread/{instance}", toSend, reading(markUnread), ""},
		{"POST /chat/updateBlockStatus/{instance}", toSend, reading(setBlocked), ""},

		{"GET /instance/fetchInstances", toRead, d.listInstances, ""},
		{"GET /instance/connectionState/{instance}", toRead, d.showState, ""},
		{"GET /instance/connect/{instance}", toRead, d.connect, ""},
		{"POST /instance/restart/{instance}", toManage, d.restart, ""},
		{"DELETE /instance/logout/{instance}", toManage, logout, ""},
		{"POST /instance/create", toAll, reading(d.createInstance), ""},
		{"GET /settings/find/{instance}", toAll, showSettings, ""},
		{"POST /webhook/set/{instance}", toManage, setWebhook, ""},
		{"GET /webhook/find/{instance}", toManage, findWebhook, ""},

		{"GET /group/fetchAllGroups/{instance}", toRead, listGroups, ""},
		{"GET /group/findGroupInfos/{instance}", toRead, showGroup, ""},
		{"GET /group/participants/{instance}", toRead, listParticipants, ""},
		{"GET /group/inviteCode/{instance}", toRead, showInvite, ""},
		{"POST /group/revokeInviteCode/{instance}", toSend, revokeInvite, ""},
		{"GET /group/acceptInviteCode/{instance}", toSend, joinGroup, ""},
		{"POST /group/create/{instance}", toSend, reading(createGroup), ""},
		{"POST /group/updateParticipant/{instance}", toSend, reading(changeParticipants), ""},
		{"POST /group/updateGroupSubject/{instance}", toSend, changeGroup(subjectOf), ""},
		{"POST /group/updateGroupDescription/{instance}", toSend, changeGroup(descriptionOf), ""},
		{"POST /group/updateGroupPicture/{instance}", toSend, setGroupPicture, "image"},
		{"POST /group/updateSetting/{instance}", toSend, changeGroup(settingOf), ""},
		{"POST /group/toggleEphemeral/{instance}", toSend, changeGroup(timerOf), ""},
		{"DELETE /group/leaveGroup/{instance}", toSend, leaveGroup, ""},
	}
}

// of returns a route of our instance.
func (d door) of(handle func(*compat.Call) (compat.Answer, error)) func(*compat.Call) (compat.Answer, error) {
	return func(c *compat.Call) (compat.Answer, error) {
		if err := d.checkInstance(c.PathValue("instance")); err != nil {
			return compat.Answer{}, err
		}
		return handle(c)
	}
}

// checkInstance refuses an instance other than ours.
func (d door) checkInstance(name string) error {
	if plain, err := url.PathUnescape(name); err == nil && plain == d.instance {
		return nil
	}
	return bridge.NotFound("The %q instance does not exist; it is %q here", bridge.Beginning(name, 100), d.instance)
}

// peer is Evolution API as its clients know it.
type peer struct{}

// Key returns the header apikey.
func (peer) Key(r *http.Request) string { return r.Header.Get("apikey") }

// groups are the first words of Evolution's routes. What of them the door does not have is
// one click away in clients.
var groups = []string{
	"message", "chat", "instance", "group", "settings", "webhook", "proxy", "label", "call", "template", "business", "websocket", "rabbitmq", "sqs", "nats",
	"kafka", "pusher", "chatwoot", "typebot", "openai", "dify", "flowise", "n8n", "evoai", "evolutionBot", "s3", "baileys",
}

// noRoute refuses what the door does not have.
func noRoute(r *http.Request) error {
	group, _, isRoute := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	what := r.Method + " " + bridge.Beginning(r.URL.Path, 100)
	if isRoute && slices.Contains(groups, group) {
		return bridge.Invalid("bridged does not do this, and nothing was changed: there is no %s behind its Evolution door", what)
	}
	return bridge.NotFound("Cannot %s: bridged does not do this", what)
}

// Refusal returns Evolution's answer for an error. Clients print what is in message.
func (peer) Refusal(_ *http.Request, c *compat.Call, err *bridge.Error) (int, any) {
	status := compat.Status(err.Code)
	var message any = []string{err.Msg}
	switch err.Code {
	case bridge.CodeUnauthorized:
		message = "Unauthorized"
	case bridge.CodeNotOnNetwork:
		if c != nil && c.Recipient != "" {
			message = []any{absent(c.Recipient, c.Recipient.User()), err.Msg}
		}
	case bridge.CodeNotConnected:
		message = []string{"Error: Connection Closed", err.Msg}
	}
	return status, map[string]any{"status": status, "error": http.StatusText(status), "response": map[string]any{"message": message}}
}
