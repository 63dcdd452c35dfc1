package bridge

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code is the stable identifier of an error, the "code" of every error response.
type Code string

// Callers may rely on these codes.
const (
	CodeUnauthorized        Code = "unauthorized"
	CodeSendDisabled        Code = "send_disabled"
	CodeForbidden           Code = "forbidden"
	CodeHistoryDisabled     Code = "history_disabled"
	CodeInvalid             Code = "invalid_request"
	CodeFetchFailed         Code = "fetch_failed"
	CodeUnsupportedMedia    Code = "unsupported_media"
	CodeNotOnNetwork        Code = "not_on_network"
	CodeNotInGroup          Code = "not_in_group"
	CodeNotAChat            Code = "not_a_chat"
	CodeNotEditable         Code = "not_editable"
	CodeNotDeletable        Code = "not_deletable"
	CodeNotFound            Code = "not_found"
	CodeNoPicture           Code = "no_picture"
	CodePictureHidden       Code = "picture_hidden"
	CodeMethodNotAllowed    Code = "method_not_allowed"
	CodeAlreadyPaired       Code = "already_paired"
	CodeOtherAccount        Code = "other_account"
	CodeNoSession           Code = "no_session"
	CodeNotRinging          Code = "not_ringing"
	CodeRequestInProgress   Code = "request_in_progress"
	CodePreconditionFailed  Code = "precondition_failed"
	CodePayloadTooLarge     Code = "payload_too_large"
	CodeInvalidRange        Code = "invalid_range"
	CodeIdempotencyMismatch Code = "idempotency_mismatch"
	CodeRateLimited         Code = "rate_limited"
	CodeReachoutRestricted  Code = "reachout_restricted"
	CodeNewChatsLimited     Code = "new_chats_limited"
	CodeNewChatsCapped      Code = "new_chats_capped"
	CodeLookUpsLimited      Code = "look_ups_limited"
	CodeNotAdmin            Code = "not_admin"
	CodeAlreadyInGroup      Code = "already_in_group"
	CodeInviteInvalid       Code = "invite_invalid"
	CodeJoinRefused         Code = "join_refused"
	CodeGroupFull           Code = "group_full"
	CodeGroupChanged        Code = "group_changed"
	CodeSendRefused         Code = "send_refused"
	CodeInternal            Code = "internal"
	CodeMediaGone           Code = "media_gone"
	CodeMediaTooLarge       Code = "media_too_large"
	CodeMediaInvalid        Code = "media_invalid"
	CodeMediaUnavailable    Code = "media_unavailable"
	CodeNotConnected        Code = "not_connected"
	CodeSendTimeout         Code = "send_timeout"
	CodeStorageUnavailable  Code = "storage_unavailable"
	CodeTooManyConnections  Code = "too_many_connections"
	CodeSignatureInvalid    Code = "signature_invalid"
	CodeTemplateFailed      Code = "template_failed"
	CodeAmbiguousDates      Code = "ambiguous_dates"
	CodeAmbiguousTimezone   Code = "ambiguous_timezone"
	CodeUnknownDates        Code = "unknown_dates"
	CodeNoMoreHistory       Code = "no_more_history"
	CodeOnlyOnPhone         Code = "only_on_phone"
	CodeImportEnded         Code = "import_ended"
	CodeAlreadySending      Code = "already_sending"
	CodeNoLabels            Code = "no_labels"
)

// Error is an error that callers may see. Msg is a sentence that says what to change. Err is the
// cause and only for the log.
type Error struct {
	Code       Code
	Msg        string
	Err        error
	RetryAfter time.Duration // how long to wait before trying again; 0 if unknown
	Changed    []string      // the fields that were changed before the error
	Dates      *AmbiguousDates
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Msg
	}
	return e.Msg + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Within returns an error whose sentence names the part of a request that it is about.
func Within(part string, err error) error {
	var known *Error
	if !errors.As(err, &known) {
		return err
	}
	named := *known
	named.Msg = part + ": " + known.Msg
	return named.Because(err)
}

// Because sets the cause of e, for the log.
func (e *Error) Because(cause error) *Error {
	e.Err = cause
	return e
}

// Fail returns an error with a code.
func Fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// Invalid returns the error for a request that cannot succeed unless it is changed.
func Invalid(format string, args ...any) *Error { return Fail(CodeInvalid, format, args...) }

// NotFound returns the error for an object that is not stored.
func NotFound(format string, args ...any) *Error { return Fail(CodeNotFound, format, args...) }

// NoChat returns the error for a chat that is not stored.
func NoChat(jid JID) *Error {
	return NotFound("there is no chat %s in the store: it has the chats whose messages were received while the account was connected", jid)
}

// AfterChanges adds to an error the fields that were changed before it.
func AfterChanges(changed []string, field string, err error) error {
	e, named := err.(*Error)
	if len(changed) == 0 || !named {
		return err
	}
	failed := *e
	failed.Changed = changed
	failed.Msg = "changed " + strings.Join(changed, ", ") + "; then " + field + " was not: " + e.Msg
	return &failed
}

// NotConnected returns the error for an operation that needs the connection.
func NotConnected(format string, args ...any) *Error { return Fail(CodeNotConnected, format, args...) }

// CodeOf returns the code of err, or [CodeInternal] if err is not an [Error].
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// ErrLeaseUnknown means that it is not known yet whether another process runs the account.
var ErrLeaseUnknown = errors.New("still asking whether another process runs this account")
