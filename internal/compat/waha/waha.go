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
		mux.HandleFunc(r.pattern, d.Handle(r.scope, fieldsOf[r.pattern].Of(r.handle), r.files...))
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
	files   []string // members of the body that may hold a file
}

// routes lists all that need a key.
var routes = []route{
	{"GET /health", toAll, showHealth, nil},
	{"GET /api/version", toAll, showVersion, nil},
	{"GET /api/server/version", toAll, showVersion, nil},

	{"POST /api/sendText", toSend, sendText, nil},
	{"GET /api/sendText", toSend, sendTextByAddress, nil},
	{"POST /api/reply", toSend, sendText, nil},
	{"POST /api/sendImage", toSend, sendFile(bridge.MediaImage, "imageMessage"), fileData},
	{"POST /api/sendFile", toSend, sendFile(bridge.MediaDocument, "documentMessage"), fileData},
	{"POST /api/sendVideo", toSend, sendFile(bridge.MediaVideo, "videoMessage"), fileData},
	{"POST /api/sendVoice", toSend, sendFile(bridge.MediaAudio, "audioMessage"), fileData},
	{"POST /api/sendLocation", toSend, sendLocation, nil},
	{"POST /api/sendPoll", toSend, sendPoll, nil},
	{"POST /api/sendContactVcard", toSend, sendContacts, nil},
	{"POST /api/forwardMessage", toSend, forward, nil},
	{"PUT /api/reaction", toSend, react, nil},
	{"POST /api/sendSeen", toSend, sendSeen, nil},
	{"POST /api/startTyping", toSend, showTyping(bridge.TypingText), nil},
	{"POST /api/stopTyping", toSend, showTyping(bridge.TypingPaused), nil},
	{"GET /api/messages", toRead, listMessagesByQuery, nil},

	{"GET /api/contacts", toRead, showContact, nil},
	{"GET /api/contacts/all", toRead, listContacts, nil},
	{"GET /api/contacts/check-exists", toRead, checkExists, nil},
	{"GET /api/contacts/profile-picture", toRead, showPicture, nil},

	{"GET /api/sessions", toRead, listSessions, nil},
	{"POST /api/sessions", toRead, createSession, nil},
	{"GET /api/sessions/{session}", toRead, showSession, nil},
	{"PUT /api/sessions/{session}", toManage, updateSession, nil},
	{"GET /api/sessions/{session}/me", toAll, showMe, nil},
	{"POST /api/sessions/{session}/start", toManage, reconnect, nil},
	{"POST /api/sessions/{session}/restart", toManage, reconnect, nil},
	{"POST /api/sessions/{session}/logout", toManage, logout, nil},
	{"GET /api/files/default/{file}", toRead, download, nil},

	{"GET /api/default/auth/qr", toRead, showQR, nil},
	{"POST /api/default/auth/request-code", toManage, requestCode, nil},
	{"GET /api/default/chats", toRead, listChats(showChat), nil},
	{"GET /api/default/chats/overview", toRead, listChats(showOverview), nil},
	{"GET /api/default/chats/{chat}/messages", toRead, listMessages, nil},
	{"POST /api/default/chats/{chat}/messages/read", toSend, markRead, nil},
	{"GET /api/default/chats/{chat}/messages/{message}", toRead, showMessage, nil},
	{"PUT /api/default/chats/{chat}/messages/{message}", toSend, editMessage, nil},
	{"DELETE /api/default/chats/{chat}/messages/{message}", toSend, deleteMessage, nil},

	{"GET /api/default/groups", toRead, listGroups, nil},
	{"POST /api/default/groups", toSend, createGroup, nil},
	{"POST /api/default/groups/join", toSend, joinGroup, nil},
	{"GET /api/default/groups/{group}", toRead, getGroup, nil},
	{"GET /api/default/groups/{group}/participants", toRead, listParticipants, nil},
	{"POST /api/default/groups/{group}/participants/add", toSend, changeMembers(bridge.ParticipantAdd), nil},
	{"POST /api/default/groups/{group}/participants/remove", toSend, changeMembers(bridge.ParticipantRemove), nil},
	{"POST /api/default/groups/{group}/admin/promote", toSend, changeMembers(bridge.ParticipantPromote), nil},
	{"POST /api/default/groups/{group}/admin/demote", toSend, changeMembers(bridge.ParticipantDemote), nil},
	{"PUT /api/default/groups/{group}/subject", toSend, changeGroup(subjectOf), nil},
	{"PUT /api/default/groups/{group}/description", toSend, changeGroup(descriptionOf), nil},
	{"PUT /api/default/groups/{group}/picture", toSend, setPicture, fileData},
	{"DELETE /api/default/groups/{group}/picture", toSend, removePicture, nil},
	{"PUT /api/default/groups/{group}/settings/security/info-admin-only", toSend, changeGroup(infoAdminsOnly), nil},
	{"PUT /api/default/groups/{group}/settings/security/messages-admin-only", toSend, changeGroup(messagesAdminsOnly), nil},
	{"GET /api/default/groups/{group}/invite-code", toRead, showInvite, nil},
	{"POST /api/default/groups/{group}/invite-code/revoke", toSend, revokeInvite, nil},
	{"POST /api/default/groups/{group}/leave", toSend, leaveGroup, nil},
}

// fileData names the member of a send that may hold a file in base64.
var fileData = []string{"file.data"}

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
