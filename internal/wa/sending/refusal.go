package sending

import (
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// These are the network's refusals of a message, as observed.
const (
	codeReachout    = 463 // the account may not start new chats for now
	codeCapped      = 475 // the account has used up the new chats of its cycle
	codeRateLimited = 429
	codeWrongMode   = 421 // the group is addressed by LIDs and was addressed by numbers, or the reverse
	codeStale       = 479 // the server found the stanza invalid: devices were added or removed
	codeForbidden   = 403
	codeNotAllowed  = 405
	codeBlocked     = 406
)

// RefusalOf maps an error of whatsmeow to an error with a code, and records that new chats are
// refused (code 475). Trying again unchanged does not help with any of them.
func (s *Sender) RefusalOf(err error, chat bridge.JID) error {
	var iq *whatsmeow.IQError
	var known *bridge.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errNoKeys):
		return bridge.NotConnected("the network did not send the recipient's keys, so the message was not delivered: try again in a moment").Because(err)
	case errors.Is(err, whatsmeow.ErrServerReturnedError):
		return s.serverRefusal(err, chat)
	case errors.Is(err, whatsmeow.ErrNotInGroup), errors.Is(err, whatsmeow.ErrGroupNotFound):
		return bridge.Fail(bridge.CodeNotInGroup, "the account is not in that group").Because(err)
	case session.IsNumberUnknown(err):
		return notOnNetwork().Because(err)
	case errors.As(err, &iq) && iq.Code == codeRateLimited:
		return rateLimited(err)
	case errors.As(err, &iq) && iq.Code >= 400 && iq.Code < 500:
		return bridge.Fail(bridge.CodeSendRefused, "the network refused a query for this recipient (code %d)", iq.Code).Because(err)
	case errors.As(err, &iq), errors.Is(err, whatsmeow.ErrIQTimedOut), errors.Is(err, session.ErrHeldTooLong):
		return bridge.NotConnected("the network did not answer: try again in a moment").Because(err)
	}
	if again, _ := Uncertain(err); again {
		return bridge.NotConnected("the connection was lost: try again in a moment").Because(err)
	}
	return fmt.Errorf("send: %w", err)
}

// AccountRefusal returns the error for a refused query if the reason is the account itself, and
// nil otherwise.
func (s *Sender) AccountRefusal(err error) error {
	var iq *whatsmeow.IQError
	switch {
	case !errors.As(err, &iq):
	case iq.Code == codeReachout:
		return reachoutRestricted(s.o.Timelock()).Because(err)
	case iq.Code == codeRateLimited:
		return rateLimited(err)
	}
	return nil
}

func (s *Sender) serverRefusal(err error, chat bridge.JID) error {
	code := session.ServerCode(err)
	switch code {
	case codeReachout:
		return reachoutRestricted(s.o.Timelock()).Because(err)
	case codeCapped:
		s.o.NewChatRefused()
		return newChatsCapped(s.o.Capped()).Because(err)
	case codeRateLimited:
		return rateLimited(err)
	case codeForbidden, codeNotAllowed:
		if chat.IsGroup() {
			return bridge.Fail(bridge.CodeNotInGroup, "the account may not write in that group (not a member, or only admins may)").Because(err)
		}
	case codeBlocked:
		return bridge.Fail(bridge.CodeSendRefused, "the recipient does not accept messages of this account (code 406)").Because(err)
	case codeStale:
		return bridge.Fail(bridge.CodeSendRefused, "the network refused the message as invalid (code 479): update bridged if this persists").Because(err)
	}
	return bridge.Fail(bridge.CodeSendRefused, "the network refused the message (code %d)", code).Because(err)
}

func rateLimited(err error) error {
	return &bridge.Error{Code: bridge.CodeRateLimited, Err: err, RetryAfter: time.Minute, Msg: "the network limits this account's messages for now: slow down"}
}
