// Package evolution answers the clients of Evolution API v2, such as n8n's node, Uptime Kuma, Apprise and
// scripts. It answers as version 2.3 does, for one instance.
package evolution

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// Prefix is the beginning of the adapter's paths.
const Prefix = "/evolution"

// version is the version of Evolution API that the adapter answers as.
const version = "2.3.6"

type adapter struct {
	*compat.Adapter
	instance string // name of the only instance
}

// New returns the adapter.
func New(o compat.Options) http.Handler {
	a := adapter{compat.NewAdapter(o, upstream{o.Instance}, fieldsOf), o.Instance}
	mux := http.NewServeMux() // chi would mistake the API's router, which calls reach, for a part of itself
	mux.HandleFunc("/", a.Refuse(noRoute))
	mux.HandleFunc("GET /{$}", a.Open(map[string]any{"status": http.StatusOK, "message": "Welcome to the Evolution API, it is working!", "version": version, "clientName": a.instance}))
	for _, r := range a.routes() {
		handler := a.Handler(compat.Route(r))
		mux.HandleFunc(r.Pattern, handler)
		if path, isPost := strings.CutPrefix(r.Pattern, http.MethodPost); isPost { // some clients send PUT
			mux.HandleFunc(http.MethodPut+path, handler)
		}
	}
	return mux
}

// The columns of the table of routes: required scopes and statuses.
const (
	toRead, toSend, toManage = bridge.ScopeRead, bridge.ScopeSend, bridge.ScopeManage
	toAll                    = bridge.Scope("")

	statusOK, statusCreated = http.StatusOK, http.StatusCreated
)

// route is a row of the table.
type route compat.Route

// routes returns the routes that need a key.
func (a adapter) routes() []route {
	return []route{
		{"POST /message/sendText/{instance}", toSend, statusCreated, compat.Reading(sendText), ""},
		{"POST /message/sendMedia/{instance}", toSend, statusCreated, compat.Reading(sendMedia), "media"},
		{"POST /message/sendWhatsAppAudio/{instance}", toSend, statusCreated, compat.Reading(sendAudio), "audio"},
		{"POST /message/sendSticker/{instance}", toSend, statusCreated, compat.Reading(sendSticker), "sticker"},
		{"POST /message/sendPtv/{instance}", toSend, statusCreated, compat.Reading(sendRoundVideo), "video"},
		{"POST /message/sendLocation/{instance}", toSend, statusCreated, compat.Reading(sendLocation), ""},
		{"POST /message/sendContact/{instance}", toSend, statusCreated, compat.Reading(sendContact), ""},
		{"POST /message/sendPoll/{instance}", toSend, statusCreated, compat.Reading(sendPoll), ""},
		{"POST /message/sendReaction/{instance}", toSend, statusCreated, compat.Reading(sendReaction), ""},

		{"POST /chat/whatsappNumbers/{instance}", toRead, statusOK, compat.Reading(checkNumbers), ""},
		{"POST /chat/markMessageAsRead/{instance}", toSend, statusCreated, compat.Reading(markRead), ""},
		{"POST /chat/sendPresence/{instance}", toSend, statusCreated, compat.Reading(showPresence), ""},
		{"DELETE /chat/deleteMessageForEveryone/{instance}", toSend, statusCreated, compat.Reading(deleteMessage), ""},
		{"POST /chat/updateMessage/{instance}", toSend, statusOK, compat.Reading(updateMessage), ""},
		{"POST /chat/findMessages/{instance}", toRead, statusOK, compat.Reading(findMessages), ""},
		{"POST /chat/findChats/{instance}", toRead, statusOK, findChats, ""},
		{"POST /chat/findContacts/{instance}", toRead, statusOK, findContacts, ""},
		{"POST /chat/getBase64FromMediaMessage/{instance}", toRead, statusCreated, compat.Reading(downloadMedia), ""},
		{"POST /chat/fetchProfilePictureUrl/{instance}", toRead, statusOK, compat.Reading(showPicture), ""},
		{"POST /chat/fetchProfile/{instance}", toRead, statusOK, showProfile, ""},
		{"POST /chat/archiveChat/{instance}", toSend, statusCreated, compat.Reading(archiveChat), ""},
		{"POST /chat/markChatUnread/{instance}", toSend, statusCreated, compat.Reading(markUnread), ""},
		{"POST /chat/updateBlockStatus/{instance}", toSend, statusCreated, compat.Reading(setBlocked), ""},
		{"POST /chat/updateProfileName/{instance}", toManage, statusOK, compat.Reading(updateProfileName), ""},
		{"POST /chat/updateProfileStatus/{instance}", toManage, statusOK, compat.Reading(updateProfileStatus), ""},
		{"POST /chat/updateProfilePicture/{instance}", toManage, statusOK, compat.Reading(updateProfilePicture), "picture"},
		{"DELETE /chat/removeProfilePicture/{instance}", toManage, statusOK, removeProfilePicture, ""},
		{"GET /chat/fetchPrivacySettings/{instance}", toRead, statusOK, fetchPrivacy, ""},
		{"POST /chat/updatePrivacySettings/{instance}", toManage, statusCreated, compat.Reading(updatePrivacy), ""},

		{"GET /label/findLabels/{instance}", toRead, statusOK, findLabels, ""},
		{"POST /label/handleLabel/{instance}", toSend, statusOK, compat.Reading(handleLabel), ""},

		{"GET /instance/fetchInstances", toRead, statusOK, a.listInstances, ""},
		{"GET /instance/connectionState/{instance}", toRead, statusOK, a.showState, ""},
		{"GET /instance/connect/{instance}", toRead, statusOK, a.connect, ""},
		{"POST /instance/restart/{instance}", toManage, statusOK, a.restart, ""},
		{"DELETE /instance/logout/{instance}", toManage, statusOK, logout, ""},
		{"POST /instance/create", toAll, statusCreated, compat.Reading(a.createInstance), ""},
		{"GET /settings/find/{instance}", toAll, statusOK, showSettings, ""},
		{"POST /webhook/set/{instance}", toManage, statusCreated, compat.Reading(setWebhook), ""},
		{"GET /webhook/find/{instance}", toManage, statusOK, findWebhook, ""},

		{"GET /group/fetchAllGroups/{instance}", toRead, statusOK, listGroups, ""},
		{"GET /group/findGroupInfos/{instance}", toRead, statusOK, ofGroup(showGroup), ""},
		{"GET /group/participants/{instance}", toRead, statusOK, ofGroup(listParticipants), ""},
		{"GET /group/inviteCode/{instance}", toRead, statusOK, ofGroup(showInvite), ""},
		{"POST /group/revokeInviteCode/{instance}", toSend, statusCreated, ofGroup(revokeInvite), ""},
		{"GET /group/acceptInviteCode/{instance}", toSend, statusOK, joinGroup, ""},
		{"POST /group/create/{instance}", toSend, statusCreated, compat.Reading(createGroup), ""},
		{"POST /group/updateParticipant/{instance}", toSend, statusCreated, inGroup(changeParticipants), ""},
		{"POST /group/updateGroupSubject/{instance}", toSend, statusCreated, changeGroup(subjectOf), ""},
		{"POST /group/updateGroupDescription/{instance}", toSend, statusCreated, changeGroup(descriptionOf), ""},
		{"POST /group/updateGroupPicture/{instance}", toSend, statusCreated, inGroup(setGroupPicture), "image"},
		{"POST /group/updateSetting/{instance}", toSend, statusCreated, changeGroup(settingOf), ""},
		{"POST /group/toggleEphemeral/{instance}", toSend, statusCreated, changeGroup(timerOf), ""},
		{"DELETE /group/leaveGroup/{instance}", toSend, statusOK, ofGroup(leaveGroup), ""},
	}
}

// upstream has the conventions of Evolution API.
type upstream struct{ instance string }

// Key returns the header apikey.
func (upstream) Key(r *http.Request) string { return r.Header.Get("apikey") }

// Check refuses an instance other than ours in the path.
func (u upstream) Check(c *compat.Call) error {
	if name := c.PathValue("instance"); name != "" {
		return checkInstance(u.instance, name)
	}
	return nil
}

// checkInstance refuses an instance other than the one with the name own.
func checkInstance(own, name string) error {
	if plain, err := url.PathUnescape(name); err == nil && plain == own {
		return nil
	}
	return bridge.NotFound("The %q instance does not exist; it is %q here", bridge.Beginning(name, 100), own)
}

// groups has the first words of Evolution's routes. Clients have buttons for routes of them that the
// adapter does not have.
var groups = []string{
	"message", "chat", "instance", "group", "settings", "webhook", "proxy", "label", "call", "template", "business", "websocket", "rabbitmq", "sqs", "nats",
	"kafka", "pusher", "chatwoot", "typebot", "openai", "dify", "flowise", "n8n", "evoai", "evolutionBot", "s3", "baileys",
}

// noRoute refuses a path that the adapter does not have.
func noRoute(r *http.Request) error {
	group, _, isRoute := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	what := r.Method + " " + bridge.Beginning(r.URL.Path, 100)
	if isRoute && slices.Contains(groups, group) {
		return bridge.Invalid("bridged does not do this, and nothing was changed: its Evolution API has no %s", what)
	}
	return bridge.NotFound("Cannot %s: bridged does not do this", what)
}

// Refusal returns Evolution's answer for an error. Clients print its message.
func (upstream) Refusal(_ *http.Request, c *compat.Call, err *bridge.Error) (int, any) {
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
