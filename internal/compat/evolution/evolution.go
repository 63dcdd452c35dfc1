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
		answer := d.Handle(handle, r.files...)
		mux.HandleFunc(r.pattern, answer)
		if path, isPost := strings.CutPrefix(r.pattern, http.MethodPost); isPost { // as version 1 has some
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

// route binds a method and a path to what the door does there.
type route struct {
	pattern string
	handle  func(*compat.Call) (compat.Answer, error)
	files   []string // members of the body that may hold a file
}

// routes lists all that need a key.
func (d door) routes() []route {
	return []route{
		{"POST /message/sendText/{instance}", reading(sendText), nil},
		{"POST /message/sendMedia/{instance}", reading(sendMedia), []string{"media", "mediaMessage.media"}},
		{"POST /message/sendWhatsAppAudio/{instance}", reading(sendAudio), []string{"audio", "audioMessage.audio"}},
		{"POST /message/sendSticker/{instance}", reading(sendSticker), []string{"sticker", "stickerMessage.image"}},
		{"POST /message/sendPtv/{instance}", reading(sendRoundVideo), []string{"video"}},
		{"POST /message/sendLocation/{instance}", reading(sendLocation), nil},
		{"POST /message/sendContact/{instance}", reading(sendContact), nil},
		{"POST /message/sendPoll/{instance}", reading(sendPoll), nil},
		{"POST /message/sendReaction/{instance}", reading(sendReaction), nil},

		{"POST /chat/whatsappNumbers/{instance}", reading(checkNumbers), nil},
		{"POST /chat/markMessageAsRead/{instance}", reading(markRead), nil},
		{"POST /chat/sendPresence/{instance}", reading(showPresence), nil},
		{"DELETE /chat/deleteMessageForEveryone/{instance}", reading(deleteMessage), nil},
		{"POST /chat/updateMessage/{instance}", reading(updateMessage), nil},
		{"POST /chat/findMessages/{instance}", reading(findMessages), nil},
		{"POST /chat/findChats/{instance}", findChats, nil},
		{"POST /chat/findContacts/{instance}", findContacts, nil},
		{"POST /chat/getBase64FromMediaMessage/{instance}", reading(downloadMedia), nil},
		{"POST /chat/fetchProfilePictureUrl/{instance}", reading(showPicture), nil},
		{"POST /chat/fetchProfile/{instance}", reading(showProfile), nil},
		{"POST /chat/archiveChat/{instance}", reading(archiveChat), nil},
		{"POST /chat/markChatUnread/{instance}", reading(markUnread), nil},
		{"POST /chat/updateBlockStatus/{instance}", reading(setBlocked), nil},

		{"GET /instance/fetchInstances", d.listInstances, nil},
		{"GET /instance/connectionState/{instance}", d.showState, nil},
		{"GET /instance/connect/{instance}", d.connect, nil},
		{"POST /instance/restart/{instance}", d.restart, nil},
		{"DELETE /instance/logout/{instance}", logout, nil},
		{"POST /instance/create", reading(d.createInstance), nil},
		{"GET /settings/find/{instance}", showSettings, nil},
		{"POST /webhook/set/{instance}", setWebhook, nil},
		{"GET /webhook/find/{instance}", findWebhook, nil},

		{"GET /group/fetchAllGroups/{instance}", listGroups, nil},
		{"GET /group/findGroupInfos/{instance}", showGroup, nil},
		{"GET /group/participants/{instance}", listParticipants, nil},
		{"GET /group/inviteCode/{instance}", showInvite, nil},
		{"POST /group/revokeInviteCode/{instance}", revokeInvite, nil},
		{"GET /group/acceptInviteCode/{instance}", joinGroup, nil},
		{"POST /group/create/{instance}", reading(createGroup), nil},
		{"POST /group/updateParticipant/{instance}", reading(changeParticipants), nil},
		{"POST /group/updateGroupSubject/{instance}", changeGroup(subjectOf), nil},
		{"POST /group/updateGroupDescription/{instance}", changeGroup(descriptionOf), nil},
		{"POST /group/updateGroupPicture/{instance}", setGroupPicture, []string{"image"}},
		{"POST /group/updateSetting/{instance}", changeGroup(settingOf), nil},
		{"POST /group/toggleEphemeral/{instance}", changeGroup(timerOf), nil},
		{"DELETE /group/leaveGroup/{instance}", leaveGroup, nil},
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
