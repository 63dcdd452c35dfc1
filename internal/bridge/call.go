package bridge

import "time"

// CallState is the state of a call to the account.
type CallState string

// These are the states of calls. The network does not always report the end of a call that was
// answered on another device.
const (
	CallRinging           CallState = "ringing"
	CallMissed            CallState = "missed"
	CallRejected          CallState = "rejected"
	CallEnded             CallState = "ended"
	CallAnsweredElsewhere CallState = "answered_elsewhere"
)

// Call is a call to the account. As a [Fact] it is a call that starts to ring or, with the State
// [CallMissed], a call that rang while the bridge was not connected. The store sets FromLID and
// EndedAt.
type Call struct {
	ID        string    `json:"id"`
	ChatJID   JID       `json:"chatJid"` // empty for an unknown group
	FromJID   JID       `json:"fromJid"`
	FromLID   JID       `json:"fromLid"`
	IsGroup   bool      `json:"isGroup"`
	IsVideo   bool      `json:"isVideo"`
	State     CallState `json:"state"`
	StartedAt Time      `json:"startedAt"`
	EndedAt   *Time     `json:"endedAt"` // when it stopped ringing, or ended; nil if unknown

	WireID string `json:"-"` // the ID at the network
}

// CallChange reports a new state of a call. Except in groups, the store ignores changes by
// anybody but the caller and the account.
type CallChange struct {
	ID     string
	Caller JID
	By     JID
	State  CallState
	At     Time
}

// CallsMissed marks calls as missed that have been ringing for at least a duration; 0 means all.
type CallsMissed struct{ Ringing time.Duration }

func (Call) fact()        {}
func (CallChange) fact()  {}
func (CallsMissed) fact() {}

// CallQuery asks for a page of the list of calls, newest first. Since is inclusive. Only, if not
// nil, lists the chats whose calls may be shown.
type CallQuery struct {
	Only   []JID
	Chat   JID
	Since  *Time
	Limit  int
	Cursor string
}

// NoCall returns the error for a call that is not stored.
func NoCall(id string) *Error {
	return NotFound("there is no call %s in the store: GET /api/calls lists the stored calls", quoted(id))
}
