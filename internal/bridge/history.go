package bridge

import (
	"strconv"
	"strings"
)

// HistoryImport says how much of the phone's history is imported: one of the constants, or a
// [HistoryOfDays]. Empty means unknown.
type HistoryImport string

// These are the operator's choices. Recent means some months, as the phone chooses. Full means
// everything.
const (
	HistoryOff    HistoryImport = "off"
	HistoryRecent HistoryImport = "recent"
	HistoryFull   HistoryImport = "full"
)

const (
	// MaxHistoryDays limits what a phone is asked for. Full asks for this many days.
	MaxHistoryDays = 3650
	recentDays     = 90 // about what phones send as recent
)

// HistoryOfDays returns the choice for a number of days, such as 365d.
func HistoryOfDays(days int) HistoryImport { return HistoryImport(strconv.Itoa(days) + "d") }

// IsOn reports whether any messages are imported.
func (i HistoryImport) IsOn() bool { return i != "" && i != HistoryOff }

// IsDeep reports whether the phone is asked for more than recent messages.
func (i HistoryImport) IsDeep() bool { return i == HistoryFull || i.Bound() > 0 }

// Bound returns the age in days at which messages are too old, or 0 for no limit.
func (i HistoryImport) Bound() int {
	digits, bounded := strings.CutSuffix(string(i), "d")
	days, err := strconv.Atoi(digits)
	if !bounded || err != nil {
		return 0
	}
	return days
}

// Exceeds reports whether i reaches further back than the choice at the pairing. An unknown
// choice was recent at most, because deeper choices are stored.
func (i HistoryImport) Exceeds(paired HistoryImport) bool {
	if paired == "" {
		paired = HistoryRecent
	}
	return i.days() > paired.days()
}

// days returns about how many days back messages are imported.
func (i HistoryImport) days() int {
	switch i {
	case "", HistoryOff:
		return 0
	case HistoryRecent:
		return recentDays
	case HistoryFull:
		return MaxHistoryDays + 1
	}
	return i.Bound()
}

// HistoryOnDemand is the kind of requested parts. Any number of them may be pending.
const HistoryOnDemand = "ON_DEMAND"

// HistoryShared is the kind of parts that members of groups share with the account. Any number of
// them may be pending. The Notification is the whole message.
const HistoryShared = "GROUP_SHARED"

// HistoryPart describes a part of the history that the phone has announced.
type HistoryPart struct {
	HistoryStep
	Kind         string // the network's name for it, such as INITIAL_BOOTSTRAP
	Chunk        int    // its number among the parts of its kind
	Notification []byte // the announcement, in protobuf
}

// HistoryState is the state of a part of the history.
type HistoryState int

// These are the states of a part. They are stored, so their numbers never change.
const (
	HistoryWaiting   HistoryState = iota
	HistoryTakenOver              // imported, but the network still has it
	HistoryDone
	HistoryGivenUp
	HistoryReplaced // by a part that the phone has uploaded again
)

// HistoryStep is the progress of a part of the history.
type HistoryStep struct {
	ID       string // of the message that announced the part
	State    HistoryState
	Position int  // number of its imported messages
	Tries    int  // number of failed attempts
	NextAt   Time // time of the next attempt
}

// HistoryForgotten removes all parts of the history after their session has ended.
type HistoryForgotten struct{}

// ChatName is the phone's name for a chat. It is used if no other name is known.
type ChatName struct {
	JID  JID
	Name string `bound:"name"`
}

// HistoryEnd says whether the phone has older messages of a chat than it has sent.
type HistoryEnd int

// These are the ends of a history. They are stored, so their numbers never change.
const (
	HistoryOpen    HistoryEnd = iota // the phone may have older messages and sends them
	HistoryNoMore                    // the phone has no older message
	HistoryOnPhone                   // the phone has older messages but does not send them to linked devices
)

// ChatHistoryEnd is the end of a chat's history. The store ignores it if the chat is not stored.
type ChatHistoryEnd struct {
	Chat JID
	End  HistoryEnd
}

// Refusal returns why the phone is not asked for older messages, or nil.
func (e HistoryEnd) Refusal() error {
	switch e {
	case HistoryNoMore:
		return Fail(CodeNoMoreHistory, "the phone has no older messages of this chat: all of them are stored")
	case HistoryOnPhone:
		return Fail(CodeOnlyOnPhone, "the phone has older messages of this chat, but WhatsApp shows them on the phone only: "+
			"export the chat there and import it with bridged import-chat or POST /api/imports")
	}
	return nil
}

// Imported is a message from the phone's history with its changes, or changes alone. It causes no
// events, and a stored message stays unchanged.
type Imported struct {
	Message *Message
	Changes []Fact
	// Shared means that the message comes from a member of the group, and not from the account's
	// own phone: it does not replace a placeholder, and Changes apply only to a message that was
	// not stored.
	Shared bool
}

// HistoryCount counts the parts of the history by state.
type HistoryCount struct{ Waiting, Done, GivenUp int }

func (HistoryStep) fact()      {}
func (HistoryForgotten) fact() {}
func (ChatName) fact()         {}
func (ChatHistoryEnd) fact()   {}
func (Imported) fact()         {}
