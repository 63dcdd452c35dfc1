package bridge

import "time"

// CallState names the state of a call to the account.
type CallState string

// The states of calls. The network does not always report the end of a call that was
// answered on another device.
const (
	CallRinging           CallState = "ringing"
	CallMissed            CallState = "missed"
	CallRejected          CallState = "rejected"
	CallEnded             CallState = "ended"
	CallAnsweredElsewhere CallState = "answered_elsewhere"
)

// Call is a call to the account and, as a [Fact], one that begins to ring, or with
// the State [CallMissed] one that rang while the bridge was away. The store sets
// FromLID and EndedAt.
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

// CallChange reports a new state of a call. The store ignores one by anybody but its caller and
// the account, except in a group.
type CallChange struct {
	ID     string
	Caller JID
	By     JID
	State  CallState
	At     Time
}

// CallsMissed marks calls that have been ringing for so long as missed; 0 is all.
type CallsMissed struct{ Ringing time.Duration }

func (Call) fact()        {}
func (CallChange) fact()  {}
func (CallsMissed) fact() {}

// CallQuery asks for a page of the list of calls, the newest first. Since is inclusive. Only,
// unless nil, names the chats whose calls may be shown.
type CallQuery struct {
	Only   []JID
	Chat   JID
	Since  *Time
	Limit  int
	Cursor string
}

// NoCall returns the error of a call that is not stored.
func NoCall(id string) *Error {
	return NotFound("there is no call %s in the store: GET /api/calls lists those that there are", quoted(id))
}
