package bridge

import (
	"strconv"
	"strings"
)

// HistoryImport says how much of the phone's history is imported: one of the choices below,
// or a [HistoryOfDays]. The empty one is unknown.
type HistoryImport string

// The choices of the operator. Recent is some months, as the phone chooses; full is all.
const (
	HistoryOff    HistoryImport = "off"
	HistoryRecent HistoryImport = "recent"
	HistoryFull   HistoryImport = "full"
)

const (
	// MaxHistoryDays bounds what a phone is asked for; full asks for as many.
	MaxHistoryDays = 3650
	recentDays     = 90 // about what phones send as recent
)

// HistoryOfDays returns the choice of messages of the last days, such as 365d.
func HistoryOfDays(days int) HistoryImport { return HistoryImport(strconv.Itoa(days) + "d") }

// IsOn reports whether any messages are imported.
func (i HistoryImport) IsOn() bool { return i != "" && i != HistoryOff }

// IsDeep reports whether the phone is asked for more than recent messages.
func (i HistoryImport) IsDeep() bool { return i == HistoryFull || i.Bound() > 0 }

// Bound returns after how many days messages are too old; 0 is never.
func (i HistoryImport) Bound() int {
	digits, bounded := strings.CutSuffix(string(i), "d")
	days, err := strconv.Atoi(digits)
	if !bounded || err != nil {
		return 0
	}
	return days
}

// Exceeds reports whether i reaches further back than the choice at the pairing. An unknown
// one was recent at most: deeper ones are stored.
func (i HistoryImport) Exceeds(paired HistoryImport) bool {
	if paired == "" {
		paired = HistoryRecent
	}
	return i.days() > paired.days()
}

// days returns about how far back messages are imported.
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

// HistoryOnDemand names the kind of requested parts, any number of which may be under way.
const HistoryOnDemand = "ON_DEMAND"

// HistoryShared names the kind of parts that members of groups share with the account. Any
// number may be under way; the Notification is the whole message.
const HistoryShared = "GROUP_SHARED"

// HistoryPart describes a part of the history that the phone has announced.
type HistoryPart struct {
	HistoryStep
	Kind         string // the network's name for it, such as INITIAL_BOOTSTRAP
	Chunk        int    // its number among those of its kind
	Notification []byte // the announcement, in protobuf
}

// HistoryState says how far a part of the history is.
type HistoryState int

// The states of a part. They are stored: their numbers never change.
const (
	HistoryWaiting   HistoryState = iota
	HistoryTakenOver              // but the network still has it
	HistoryDone
	HistoryGivenUp
	HistoryReplaced // by one that the phone has uploaded again
)

// HistoryStep reports the progress of a part of the history.
type HistoryStep struct {
	ID       string // of the message that announced the part
	State    HistoryState
	Position int  // how many of its messages were taken over
	Tries    int  // how often that failed
	NextAt   Time // when it is to be tried
}

// HistoryForgotten removes all parts of the history: their session is over.
type HistoryForgotten struct{}

// ChatName holds the phone's name for a chat, used where no other is known.
type ChatName struct {
	JID  JID
	Name string `bound:"name"`
}

// HistoryEnd says what the phone has of a chat from before the messages that it has sent.
type HistoryEnd int

// The ends of a history. They are stored: their numbers never change.
const (
	HistoryOpen    HistoryEnd = iota // the phone may have older messages, and sends them
	HistoryNoMore                    // the phone has no older message
	HistoryOnPhone                   // the phone has older messages, and sends them to no linked device
)

// ChatHistoryEnd reports the end of a chat's history. The store ignores it if the chat is not
// stored.
type ChatHistoryEnd struct {
	Chat JID
	End  HistoryEnd
}

// Refusal returns why the phone is not asked for older messages; nil if it may be asked.
func (e HistoryEnd) Refusal() error {
	switch e {
	case HistoryNoMore:
		return Fail(CodeNoMoreHistory, "the phone has no older messages of this chat: all that it had are stored")
	case HistoryOnPhone:
		return Fail(CodeOnlyOnPhone, "the phone has older messages of this chat, but WhatsApp shows them on the phone only: "+
			"export the chat there and import it with bridged import-chat or POST /api/imports")
	}
	return nil
}

// Imported holds a message from the phone's history with its changes, or changes alone. It
// causes no events, and a message that is stored already stays as it is.
type Imported struct {
	Message *Message
	Changes []Fact
	// Shared says that a member of the group vouches for the message, and not the account's own
	// phone: it fills no placeholder, and Changes apply only to a message that was not stored.
	Shared bool
}

// HistoryCount counts the parts of the history by their state.
type HistoryCount struct{ Waiting, Done, GivenUp int }

func (HistoryStep) fact()      {}
func (HistoryForgotten) fact() {}
func (ChatName) fact()         {}
func (ChatHistoryEnd) fact()   {}
func (Imported) fact()         {}
