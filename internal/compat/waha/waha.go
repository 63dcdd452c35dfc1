// Package waha answers WAHA's clients, such as n8n's nodes, Uptime Kuma, Peekaping, Home Assistant and
// scripts. It answers as WAHA 2026.7 with the engine GOWS does, for one session, "default".
package waha

import (
	"net/http"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// Prefix is the beginning of the adapter's paths.
const Prefix = "/waha"

// session is the name of the only session.
const session = "default"

// The adapter answers as this version and engine of WAHA.
const (
	version = "2026.7.1"
	engine  = "GOWS"
)

// New returns the adapter.
func New(o compat.Options) http.Handler {
	a := compat.NewAdapter(o, upstream{}, fieldsOf)
	mux := http.NewServeMux() // chi would mistake the API's router, which calls reach, for a part of itself
	mux.HandleFunc("/", a.Refuse(noRoute))
	mux.HandleFunc("GET /ping", a.Open(map[string]string{"message": "pong"}))
	for _, r := range routes {
		mux.HandleFunc(r.Pattern, a.Handler(compat.Route(r)))
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

// routes has the routes that need a key.
var routes = []route{
	{"GET /health", toAll, statusOK, showHealth, ""},
	{"GET /api/version", toAll, statusOK, showVersion, ""},
	{"GET /api/server/version", toAll, statusOK, showVersion, ""},

	{"POST /api/sendText", toSend, statusCreated, compat.Reading(sendText), ""},
	{"GET /api/sendText", toSend, statusOK, sendTextByQuery, ""},
	{"POST /api/reply", toSend, statusCreated, compat.Reading(sendText), ""},
	{"POST /api/sendImage", toSend, statusCreated, sendFile(bridge.MediaImage), fileData},
	{"POST /api/sendFile", toSend, statusCreated, sendFile(bridge.MediaDocument), fileData},
	{"POST /api/sendVideo", toSend, statusCreated, sendFile(bridge.MediaVideo), fileData},
	{"POST /api/sendVoice", toSend, statusCreated, sendFile(bridge.MediaAudio), fileData},
	{"POST /api/sendLocation", toSend, statusCreated, compat.Reading(sendLocation), ""},
	{"POST /api/sendPoll", toSend, statusCreated, compat.Reading(sendPoll), ""},
	{"POST /api/sendContactVcard", toSend, statusCreated, compat.Reading(sendContacts), ""},
	{"POST /api/forwardMessage", toSend, statusCreated, compat.Reading(forward), ""},
	{"POST /api/sendPollVote", toSend, statusCreated, compat.Reading(vote), ""},
	{"PUT /api/star", toSend, statusOK, compat.Reading(star), ""},
	{"PUT /api/reaction", toSend, statusOK, compat.Reading(react), ""},
	{"POST /api/sendSeen", toSend, statusCreated, compat.Reading(sendSeen), ""},
	{"POST /api/startTyping", toSend, statusCreated, showTyping(bridge.TypingText), ""},
	{"POST /api/stopTyping", toSend, statusCreated, showTyping(bridge.TypingPaused), ""},
	{"GET /api/messages", toRead, statusOK, listMessagesByQuery, ""},

	{"GET /api/contacts", toRead, statusOK, ofContact(showContact), ""},
	{"GET /api/contacts/about", toRead, statusOK, ofContact(showAbout), ""},
	{"GET /api/contacts/all", toRead, statusOK, listContacts, ""},
	{"GET /api/contacts/check-exists", toRead, statusOK, checkExists, ""},
	{"GET /api/contacts/profile-picture", toRead, statusOK, ofContact(showPicture), ""},

	{"GET /api/sessions", toRead, statusOK, listSessions, ""},
	{"POST /api/sessions", toRead, statusCreated, compat.Reading(setSession), ""},
	{"GET /api/sessions/{session}", toRead, statusOK, showSession, ""},
	{"PUT /api/sessions/{session}", toManage, statusOK, compat.Reading(setSession), ""},
	{"GET /api/sessions/{session}/me", toAll, statusOK, showMe, ""},
	{"POST /api/sessions/{session}/start", toManage, statusCreated, reconnect, ""},
	{"POST /api/sessions/{session}/restart", toManage, statusCreated, reconnect, ""},
	{"POST /api/sessions/{session}/logout", toManage, statusCreated, logout, ""},
	{"GET /api/files/default/{file}", toRead, statusOK, download, ""},

	{"GET /api/default/auth/qr", toRead, statusOK, showQR, ""},
	{"POST /api/default/auth/request-code", toManage, statusCreated, compat.Reading(requestCode), ""},
	{"GET /api/default/chats", toRead, statusOK, listChats(showChat), ""},
	{"GET /api/default/chats/overview", toRead, statusOK, listChats(showOverview), ""},
	{"GET /api/default/chats/{chat}/messages", toRead, statusOK, listMessages, ""},
	{"POST /api/default/chats/{chat}/messages/read", toSend, statusCreated, markRead, ""},
	{"GET /api/default/chats/{chat}/messages/{message}", toRead, statusOK, ofMessage(showMessage), ""},
	{"PUT /api/default/chats/{chat}/messages/{message}", toSend, statusOK, ofMessage(editMessage), ""},
	{"DELETE /api/default/chats/{chat}/messages/{message}", toSend, statusOK, ofMessage(deleteMessage), ""},
	{"POST /api/default/chats/{chat}/messages/{message}/pin", toSend, statusCreated, ofMessage(pinMessage), ""},
	{"POST /api/default/chats/{chat}/messages/{message}/unpin", toSend, statusCreated, ofMessage(unpinMessage), ""},
	{"PUT /api/default/contacts/{contact}", toSend, statusOK, compat.Reading(saveContact), ""},

	{"GET /api/default/labels", toRead, statusOK, listLabels, ""},
	{"POST /api/default/labels", toSend, statusCreated, compat.Reading(createLabel), ""},
	{"PUT /api/default/labels/{label}", toSend, statusOK, compat.Reading(updateLabel), ""},
	{"DELETE /api/default/labels/{label}", toSend, statusOK, deleteLabel, ""},
	{"GET /api/default/labels/{label}/{chat}", toRead, statusOK, showLabelled, ""},
	{"PUT /api/default/labels/chats/{chat}", toSend, statusOK, compat.Reading(setChatLabels), ""},

	{"GET /api/default/profile", toRead, statusOK, showOwnProfile, ""},
	{"PUT /api/default/profile/name", toManage, statusOK, compat.Reading(setOwnName), ""},
	{"PUT /api/default/profile/status", toManage, statusOK, compat.Reading(setOwnStatus), ""},
	{"PUT /api/default/profile/picture", toManage, statusOK, compat.Reading(setOwnPicture), fileData},
	{"DELETE /api/default/profile/picture", toManage, statusOK, removeOwnPicture, ""},

	{"GET /api/default/groups", toRead, statusOK, listGroups, ""},
	{"POST /api/default/groups", toSend, statusCreated, compat.Reading(createGroup), ""},
	{"POST /api/default/groups/join", toSend, statusCreated, compat.Reading(joinGroup), ""},
	{"GET /api/default/groups/join-info", toRead, statusOK, showInvited, ""},
	{"GET /api/default/groups/{group}", toRead, statusOK, ofGroup(getGroup), ""},
	{"GET /api/default/groups/{group}/participants", toRead, statusOK, ofGroup(listParticipants), ""},
	{"POST /api/default/groups/{group}/participants/add", toSend, statusOK, changeMembers(bridge.ParticipantAdd), ""},
	{"POST /api/default/groups/{group}/participants/remove", toSend, statusOK, changeMembers(bridge.ParticipantRemove), ""},
	{"POST /api/default/groups/{group}/admin/promote", toSend, statusOK, changeMembers(bridge.ParticipantPromote), ""},
	{"POST /api/default/groups/{group}/admin/demote", toSend, statusOK, changeMembers(bridge.ParticipantDemote), ""},
	{"PUT /api/default/groups/{group}/subject", toSend, statusOK, changeGroup(subjectOf), ""},
	{"PUT /api/default/groups/{group}/description", toSend, statusOK, changeGroup(descriptionOf), ""},
	{"PUT /api/default/groups/{group}/picture", toSend, statusOK, inGroup(setPicture), fileData},
	{"DELETE /api/default/groups/{group}/picture", toSend, statusOK, ofGroup(removePicture), ""},
	{"PUT /api/default/groups/{group}/settings/security/info-admin-only", toSend, statusOK, changeGroup(infoAdminsOnly), ""},
	{"PUT /api/default/groups/{group}/settings/security/messages-admin-only", toSend, statusOK, changeGroup(messagesAdminsOnly), ""},
	{"GET /api/default/groups/{group}/invite-code", toRead, statusOK, ofGroup(showInvite), ""},
	{"POST /api/default/groups/{group}/invite-code/revoke", toSend, statusCreated, ofGroup(revokeInvite), ""},
	{"POST /api/default/groups/{group}/leave", toSend, statusCreated, ofGroup(leaveGroup), ""},
}

// fileData is the member of a send that may hold a file in base64.
const fileData = "file.data"

// upstream has the conventions of WAHA.
type upstream struct{}

// Check refuses a session other than ours in the path.
func (upstream) Check(c *compat.Call) error { return checkSession(c.PathValue("session")) }

// Key returns the header X-Api-Key, or the bearer token.
func (upstream) Key(r *http.Request) string {
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	key, _ := bridge.Bearer(r.Header.Get("Authorization"))
	return key
}

// The name of an unknown session is between these texts in its error.
const (
	beforeSession = `Session "`
	afterSession  = `" does not exist`
)

// These are the codes of errors for which WAHA has a special form.
const (
	codeNoRoute   bridge.Code = "waha_no_route"
	codeNoSession bridge.Code = "waha_no_session"
	codeNoQR      bridge.Code = "waha_no_qr"
)

// noRoute refuses a path that the adapter does not have. Most paths name their session first.
func noRoute(r *http.Request) error {
	if words := strings.Split(r.URL.Path, "/"); len(words) > 3 && slices.Contains([]string{"chats", "groups", "auth", "contacts", "labels", "profile"}, words[3]) {
		if err := checkSession(words[2]); err != nil {
			return err
		}
	}
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return bridge.NotFound("Cannot %s %s", r.Method, bridge.Beginning(r.URL.Path, 100))
	}
	return bridge.Fail(codeNoRoute, "bridged does not do this: its WAHA API has no %s %s", r.Method, bridge.Beginning(r.URL.Path, 100))
}

// Refusal returns WAHA's answer for an error. Some clients read message, which must be a text; others read the
// whole body.
func (upstream) Refusal(_ *http.Request, c *compat.Call, err *bridge.Error) (int, any) {
	switch err.Code {
	case bridge.CodeUnauthorized:
		return http.StatusUnauthorized, map[string]any{"message": "Unauthorized", "statusCode": http.StatusUnauthorized}
	case codeNoSession:
		return http.StatusUnprocessableEntity, map[string]any{"error": err.Msg, "session": strings.TrimSuffix(strings.TrimPrefix(err.Msg, beforeSession), afterSession)}
	case bridge.CodeNotConnected, codeNoQR:
		expected := "WORKING"
		if err.Code == codeNoQR {
			expected = "SCAN_QR_CODE"
		}
		return http.StatusUnprocessableEntity, map[string]any{
			"error": "Session status is not as expected. Try again later or restart the session", "session": session, "status": currentState(c),
			"expected": []string{expected}, "message": err.Msg,
		}
	}
	status := compat.Status(err.Code)
	if err.Code == codeNoRoute {
		status = http.StatusNotImplemented
	}
	return status, map[string]any{"statusCode": status, "message": err.Msg, "error": http.StatusText(status)}
}
