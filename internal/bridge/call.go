package bridge

import "time"

// CallState is what has become of a call to the account.
type CallState string

// The states of calls. An answered one was taken on another device; it has
// ended once the network says so, which it does not always do.
const (
	CallRinging           CallState = "ringing"
	CallMissed            CallState = "missed"
	CallRejected          CallState = "rejected"
	CallEnded             CallState = "ended"
	CallAnsweredElsewhere CallState = "answered_elsewhere"
)

// Call is a call to the account and, as a [Fact], one that begins to ring, or with
// the State [CallMissed] one that rang while the bridge was away. The store sets
// FromLID and EndedAt by itself.
type Call struct {
	ID string `json:"id"`
	// ChatJID is the caller's chat, or the group; empty where the network does
	// not say which group it is.
	ChatJID   JID       `json:"chatJid"`
	FromJID   JID       `json:"fromJid"`
	FromLID   JID       `json:"fromLid"`
	IsGroup   bool      `json:"isGroup"`
	IsVideo   bool      `json:"isVideo"`
	State     CallState `json:"state"`
	StartedAt Time      `json:"startedAt"`
	// EndedAt is when it stopped ringing, or ended; nil while it does neither,
	// and where nobody knows.
	EndedAt *Time `json:"endedAt"`

	// WireID is the ID as the caller wrote it, by which the network knows it.
	WireID string `json:"-"`
}

// CallChange tells what became of a call. What somebody tells who is neither its
// caller nor the account is ignored by the store, except in a group.
type CallChange struct {
	ID     string
	Caller JID
	By     JID
	State  CallState
	At     Time
}

// CallsMissed makes missed calls of those that have been ringing for so long, by
// the store's clock; 0 is all.
type CallsMissed struct{ Ringing time.Duration }

func (Call) fact()        {}
func (CallChange) fact()  {}
func (CallsMissed) fact() {}

// CallQuery is a page of the list of calls, the newest first. Since is
// inclusive; Chat and Since are no filter where they are empty. Only, unless it
// is nil, names the chats whose calls may be shown.
type CallQuery struct {
	Only   []JID
	Chat   JID
	Since  *Time
	Limit  int
	Cursor string
}

// NoCall returns the error of a call that is not in the store.
func NoCall(id string) *Error {
	return NotFound("there is no call %s in the store: GET /api/calls lists those that there are", quoted(id))
}

// NotRinging returns the error of a call that cannot be rejected any more.
func NotRinging(state CallState) *Error {
	return Fail(CodeNotRinging, "the call does not ring any more (state %s): only a call that rings can be rejected", state)
}
