// Package waha is the door for WAHA's clients: n8n's nodes, Uptime Kuma, Peekaping, Home
// Assistant, scripts. It answers as WAHA 2026.7 with its GOWS engine does, for one
// session, "default".
package waha

import (
	"net/http"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// Prefix begins the paths of the door.
const Prefix = "/waha"

// session is the name of the only session.
const session = "default"

// version is that of WAHA whose answers these are, and engine the part of it.
const (
	version = "2026.7.1"
	engine  = "GOWS"
)

type door struct{ *compat.Door }

// New returns the door.
func New(o compat.Options) http.Handler {
	d := door{compat.NewDoor(o, peer{})}
	mux := http.NewServeMux() // chi would take the API's router, which calls reach, for a part of itself
	mux.HandleFunc("/", d.Refuse(noRoute))
	mux.HandleFunc("GET /ping", d.Open(map[string]string{"message": "pong"}))
	for _, r := range routes {
		mux.HandleFunc(r.pattern, d.Handle(r.scope, fieldsOf[r.pattern].Of(r.handle), r.file))
	}
	return mux
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
var routes = []route{
	{"GET /health", toAll, showHealth, ""},
	{"GET /api/version", toAll, showVersion, ""},
	{"GET /api/server/version", toAll, showVersion, ""},

	{"POST /api/sendText", toSend, sendText, ""},
	{"GET /api/sendText", toSend, sendTextByAddress, ""},
	{"POST /api/reply", toSend, sendText, ""},
	{"POST /api/sendImage", toSend, sendFile(bridge.MediaImage, "imageMessage"), fileData},
	{"POST /api/sendFile", toSend, sendFile(bridge.MediaDocument, "documentMessage"), fileData},
	{"POST /api/sendVideo", toSend, sendFile(bridge.MediaVideo, "videoMessage"), fileData},
	{"POST /api/sendVoice", toSend, sendFile(bridge.MediaAudio, "audioMessage"), fileData},
	{"POST /api/sendLocation", toSend, sendLocation, ""},
	{"POST /api/sendPoll", toSend, sendPoll, ""},
	{"POST /api/sendContactVcard", toSend, sendContacts, ""},
	{"POST /api/forwardMessage", toSend, forward, ""},
	{"PUT /api/reaction", toSend, react, ""},
	{"POST /api/sendSeen", toSend, sendSeen, ""},
	{"POST /api/startTyping", toSend, showTyping(bridge.TypingText), ""},
	{"POST /api/stopTyping", toSend, showTyping(bridge.TypingPaused), ""},
	{"GET /api/messages", toRead, listMessagesByQuery, ""},

	{"GET /api/contacts", toRead, showContact, ""},
	{"GET /api/contacts/all", toRead, listContacts, ""},
	{"GET /api/contacts/check-exists", toRead, checkExists, ""},
	{"GET /api/contacts/profile-picture", toRead, showPicture, ""},

	{"GET /api/sessions", toRead, listSessions, ""},
	{"POST /api/sessions", toRead, createSession, ""},
	{"GET /api/sessions/{session}", toRead, showSession, ""},
	{"PUT /api/sessions/{session}", toManage, updateSession, ""},
	{"GET /api/sessions/{session}/me", toAll, showMe, ""},
	{"POST /api/sessions/{session}/start", toManage, reconnect, ""},
	{"POST /api/sessions/{session}/restart", toManage, reconnect, ""},
	{"POST /api/sessions/{session}/logout", toManage, logout, ""},
	{"GET /api/files/default/{file}", toRead, download, ""},

	{"GET /api/default/auth/qr", toRead, showQR, ""},
	{"POST /api/default/auth/request-code", toManage, requestCode, ""},
	{"GET /api/default/chats", toRead, listChats(showChat), ""},
	{"GET /api/default/chats/overview", toRead, listChats(showOverview), ""},
	{"GET /api/default/chats/{chat}/messages", toRead, listMessages, ""},
	{"POST /api/default/chats/{chat}/messages/read", toSend, markRead, ""},
	{"GET /api/default/chats/{chat}/messages/{message}", toRead, showMessage, ""},
	{"PUT /api/default/chats/{chat}/messages/{message}", toSend, editMessage, ""},
	{"DELETE /api/default/chats/{chat}/messages/{message}", toSend, deleteMessage, ""},

	{"GET /api/default/groups", toRead, listGroups, ""},
	{"POST /api/default/groups", toSend, createGroup, ""},
	{"POST /api/default/groups/join", toSend, joinGroup, ""},
	{"GET /api/default/groups/{group}", toRead, getGroup, ""},
	{"GET /api/default/groups/{group}/participants", toRead, listParticipants, ""},
	{"POST /api/default/groups/{group}/participants/add", toSend, changeMembers(bridge.ParticipantAdd), ""},
	{"POST /api/default/groups/{group}/participants/remove", toSend, changeMembers(bridge.ParticipantRemove), ""},
	{"POST /api/default/groups/{group}/admin/promote", toSend, changeMembers(bridge.ParticipantPromote), ""},
	{"POST /api/default/groups/{group}/admin/demote", toSend, changeMembers(bridge.ParticipantDemote), ""},
	{"PUT /api/default/groups/{group}/subject", toSend, changeGroup(subjectOf), ""},
	{"PUT /api/default/groups/{group}/description", toSend, changeGroup(descriptionOf), ""},
	{"PUT /api/default/groups/{group}/picture", toSend, setPicture, fileData},
	{"DELETE /api/default/groups/{group}/picture", toSend, removePicture, ""},
	{"PUT /api/default/groups/{group}/settings/security/info-admin-only", toSend, changeGroup(infoAdminsOnly), ""},
	{"PUT /api/default/groups/{group}/settings/security/messages-admin-only", toSend, changeGroup(messagesAdminsOnly), ""},
	{"GET /api/default/groups/{group}/invite-code", toRead, showInvite, ""},
	{"POST /api/default/groups/{group}/invite-code/revoke", toSend, revokeInvite, ""},
	{"POST /api/default/groups/{group}/leave", toSend, leaveGroup, ""},
}

// fileData is the member of a send that may hold a file in base64.
const fileData = "file.data"

// peer is WAHA as its clients know it.
type peer struct{}

// Key returns the header X-Api-Key, or a bearer.
func (peer) Key(r *http.Request) string {
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}

// What stands around the name of a session that is not ours, in the error about it.
const (
	beforeSession = `Session "`
	behindSession = `" does not exist`
)

// The codes of errors that WAHA has a form of its own for.
const (
	codeNoRoute   bridge.Code = "waha_no_route"
	codeNoSession bridge.Code = "waha_no_session"
	codeNoQR      bridge.Code = "waha_no_qr"
)

// noRoute refuses what the door does not have. Most routes name their session first.
func noRoute(r *http.Request) error {
	if words := strings.Split(r.URL.Path, "/"); len(words) > 3 && slices.Contains([]string{"chats", "groups", "auth"}, words[3]) {
		if err := checkSession(words[2]); err != nil {
			return err
		}
	}
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return bridge.NotFound("Cannot %s %s", r.Method, bridge.Beginning(r.URL.Path, 100))
	}
	return bridge.Fail(codeNoRoute, "bridged does not do this: there is no %s %s behind its WAHA door", r.Method, bridge.Beginning(r.URL.Path, 100))
}

// Refusal returns WAHA's answer for an error. Some clients read message, which must be a
// text, others the whole body.
func (peer) Refusal(_ *http.Request, c *compat.Call, err *bridge.Error) (int, any) {
	switch err.Code {
	case bridge.CodeUnauthorized:
		return http.StatusUnauthorized, map[string]any{"message": "Unauthorized", "statusCode": http.StatusUnauthorized}
	case codeNoSession:
		return http.StatusUnprocessableEntity, map[string]any{"error": err.Msg, "session": strings.TrimSuffix(strings.TrimPrefix(err.Msg, beforeSession), behindSession)}
	case bridge.CodeNotConnected, codeNoQR:
		expected := "WORKING"
		if err.Code == codeNoQR {
			expected = "SCAN_QR_CODE"
		}
		return http.StatusUnprocessableEntity, map[string]any{
			"error": "Session status is not as expected. Try again later or restart the session", "session": session, "status": presentState(c),
			"expected": []string{expected}, "message": err.Msg,
		}
	}
	status := compat.Status(err.Code)
	if err.Code == codeNoRoute {
		status = http.StatusNotImplemented
	}
	return status, map[string]any{"statusCode": status, "message": err.Msg, "error": http.StatusText(status)}
}
