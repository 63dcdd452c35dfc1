package cloud

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// These are Meta's codes of errors.
const (
	codeInvalid       = 100
	codePermission    = 10
	codeKey           = 190
	codeRate          = 130429
	codeSomething     = 131000
	codeUnavailable   = 131016
	codeUndeliverable = 131026
	codeSpamRate      = 131048
	codeUnsupported   = 131051
	codeMediaDownload = 131052
	codeMediaUpload   = 131053
	codeTemplate      = 132001
)

// titles has Meta's titles of errors.
var titles = map[int]string{
	codeInvalid: "Invalid parameter", codePermission: "Application does not have permission for this action", codeKey: "Invalid OAuth access token",
	codeRate: "Rate limit hit", codeSomething: "Something went wrong", codeUnavailable: "Service unavailable", codeUndeliverable: "Message undeliverable",
	codeSpamRate: "Spam rate limit hit", codeUnsupported: "Message type unknown", codeMediaDownload: "Media download error", codeMediaUpload: "Media upload error",
	codeTemplate: "Template name does not exist in the translation",
}

// These are the adapter's own codes of errors.
const (
	noObject   bridge.Code = "cloud_no_object"   // the path names nothing that exists
	noTemplate bridge.Code = "cloud_no_template" // there are no templates
)

// refusal is Meta's status and code of an error.
type refusal struct{ status, code int }

var (
	invalid     = refusal{http.StatusBadRequest, codeInvalid}
	unavailable = refusal{http.StatusServiceUnavailable, codeUnavailable}
)

// refusals has Meta's statuses and codes for the API's codes; for all other codes it is invalid. Clients may repeat a
// call that is unavailable. Only a wrong key is 401, because some clients then give up the account forever.
var refusals = map[bridge.Code]refusal{
	bridge.CodeUnauthorized: {http.StatusUnauthorized, codeKey},
	bridge.CodeForbidden:    {http.StatusForbidden, codePermission}, bridge.CodeSendDisabled: {http.StatusForbidden, codePermission},
	bridge.CodeNotOnNetwork: {http.StatusBadRequest, codeUndeliverable}, bridge.CodeSendRefused: {http.StatusBadRequest, codeUndeliverable},
	bridge.CodeNotInGroup: {http.StatusBadRequest, codeUndeliverable}, noTemplate: {http.StatusBadRequest, codeTemplate},
	bridge.CodeFetchFailed: {http.StatusBadRequest, codeMediaDownload}, bridge.CodeMediaGone: {http.StatusBadRequest, codeMediaDownload},
	bridge.CodeMediaTooLarge: {http.StatusBadRequest, codeMediaDownload}, bridge.CodeMediaInvalid: {http.StatusBadRequest, codeMediaDownload},
	bridge.CodeUnsupportedMedia: {http.StatusBadRequest, codeMediaUpload},
	bridge.CodeRateLimited:      {http.StatusTooManyRequests, codeRate}, bridge.CodeLookUpsLimited: {http.StatusTooManyRequests, codeRate},
	bridge.CodeNewChatsLimited: {http.StatusTooManyRequests, codeSpamRate}, bridge.CodeNewChatsCapped: {http.StatusTooManyRequests, codeSpamRate}, bridge.CodeReachoutRestricted: {http.StatusTooManyRequests, codeSpamRate},
	bridge.CodeNotConnected: unavailable, bridge.CodeSendTimeout: unavailable, bridge.CodeMediaUnavailable: unavailable, bridge.CodeStorageUnavailable: unavailable,
	bridge.CodeTooManyConnections: unavailable, bridge.CodeRequestInProgress: unavailable,
	bridge.CodeInternal: {http.StatusInternalServerError, codeSomething},
}

// Refusal returns Meta's answer for an error, with the bridge's own sentence in details.
func (p upstream) Refusal(r *http.Request, _ *compat.Call, err *bridge.Error) (int, any) {
	how, known := refusals[err.Code]
	if !known {
		how = invalid
	}
	fault := object{
		"message": fmt.Sprintf("(#%d) %s", how.code, titles[how.code]), "type": "OAuthException", "code": how.code,
		"error_data": object{"messaging_product": "whatsapp", "details": err.Msg}, "error_subcode": nil, "fbtrace_id": requestID(r),
	}
	if err.Code == noObject {
		fault["type"], fault["message"] = "GraphMethodException", err.Msg
	}
	if how.code == codeKey && !p.urlToken && r.URL.Query().Has("access_token") {
		fault["error_data"] = object{"messaging_product": "whatsapp", "details": "a key in the address is only accepted with COMPAT_URL_TOKEN=true"}
	}
	return how.status, object{"error": fault}
}

// requestID returns the id of a request in the log.
func requestID(r *http.Request) string {
	id, ok := hlog.IDFromRequest(r)
	if !ok {
		return ""
	}
	return id.String()
}

// missing returns the error for an id that does not exist.
func missing(r *http.Request, id string) error {
	return bridge.Fail(noObject, "Unsupported %s request. Object with ID '%s' does not exist", strings.ToLower(bridge.Beginning(r.Method, 10)), bridge.Beginning(id, 100))
}
