package front

import (
	"errors"
	"net/http"
	"slices"

	"bridged/internal/bridge"
)

// Statuses is the only table of the HTTP statuses of codes.
var Statuses = map[int][]bridge.Code{
	http.StatusBadRequest: {
		bridge.CodeInvalid, bridge.CodeFetchFailed, bridge.CodeUnsupportedMedia, bridge.CodeNotOnNetwork,
		bridge.CodeNotInGroup, bridge.CodeNotAChat, bridge.CodeNotEditable, bridge.CodeNotDeletable,
		bridge.CodeTemplateFailed, bridge.CodeNotAdmin, bridge.CodeJoinRefused, bridge.CodeUnknownDates,
	},
	http.StatusUnauthorized:     {bridge.CodeUnauthorized, bridge.CodeSignatureInvalid},
	http.StatusForbidden:        {bridge.CodeSendDisabled, bridge.CodeHistoryDisabled, bridge.CodeForbidden},
	http.StatusNotFound:         {bridge.CodeNotFound, bridge.CodeNoPicture, bridge.CodePictureHidden, bridge.CodeInviteInvalid},
	http.StatusMethodNotAllowed: {bridge.CodeMethodNotAllowed},
	http.StatusConflict: {
		bridge.CodeAlreadyPaired, bridge.CodeOtherAccount, bridge.CodeNoSession, bridge.CodeAlreadyInGroup,
		bridge.CodeGroupFull, bridge.CodeGroupChanged, bridge.CodeNotRinging, bridge.CodeRequestInProgress, bridge.CodeAmbiguousDates, bridge.CodeAmbiguousTimezone,
		bridge.CodeNoMoreHistory, bridge.CodeOnlyOnPhone,
		bridge.CodeImportEnded, bridge.CodeAlreadySending, bridge.CodeNoLabels,
	},
	http.StatusPreconditionFailed:           {bridge.CodePreconditionFailed},
	http.StatusRequestEntityTooLarge:        {bridge.CodePayloadTooLarge},
	http.StatusRequestedRangeNotSatisfiable: {bridge.CodeInvalidRange},
	http.StatusUnprocessableEntity:          {bridge.CodeIdempotencyMismatch},
	http.StatusTooManyRequests:              {bridge.CodeRateLimited, bridge.CodeReachoutRestricted, bridge.CodeNewChatsLimited, bridge.CodeNewChatsCapped, bridge.CodeLookUpsLimited},
	http.StatusInternalServerError:          {bridge.CodeInternal, bridge.CodeMediaGone, bridge.CodeMediaTooLarge, bridge.CodeMediaInvalid},
	http.StatusBadGateway:                   {bridge.CodeSendRefused},
	http.StatusServiceUnavailable: {
		bridge.CodeMediaUnavailable, bridge.CodeNotConnected, bridge.CodeStorageUnavailable,
		bridge.CodeTooManyConnections,
	},
	http.StatusGatewayTimeout: {bridge.CodeSendTimeout},
}

// Public returns the error and the status that the caller gets for err.
func Public(err error) (*bridge.Error, int) {
	var e *bridge.Error
	if errors.As(err, &e) && e.Code != bridge.CodeInternal {
		for status, codes := range Statuses {
			if slices.Contains(codes, e.Code) {
				return e, status
			}
		}
	}
	return bridge.Fail(bridge.CodeInternal, "something went wrong inside the service; its log says what"),
		http.StatusInternalServerError
}
