package bridge

import (
	"strconv"
	"strings"
)

// HistoryImport is how much of the phone's messages is imported: one of the
// choices below, or what [HistoryOfDays] returns. The empty one is unknown.
type HistoryImport string

// The choices of the operator. Recent is what the phone calls so, some months;
// full is all that it gives.
const (
	HistoryOff    HistoryImport = "off"
	HistoryRecent HistoryImport = "recent"
	HistoryFull   HistoryImport = "full"
)

const (
	// MaxHistoryDays is the most that a phone is asked for, and what full asks for.
	MaxHistoryDays = 3650
	// recentDays is about what phones send as recent.
	recentDays = 90
)

// HistoryOfDays returns the choice of all messages that are no older than so many
// days, such as 365d.
func HistoryOfDays(days int) HistoryImport { return HistoryImport(strconv.Itoa(days) + "d") }

// IsOn reports whether any messages are imported.
func (i HistoryImport) IsOn() bool { return i != "" && i != HistoryOff }

// IsDeep reports whether the phone is asked for more than what it calls recent.
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

// Exceeds reports whether i reaches further back than what was in force at the
// pairing, where that is known. What is unknown was as deep as recent at most:
// deeper pairings are remembered.
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

// HistoryOnDemand is the kind of parts that were asked for, any number of which
// may be under way.
const HistoryOnDemand = "ON_DEMAND"

// HistoryPart is a part of the phone's history of which the phone has told. As
// a [Fact] it is one to be taken over; its later fields are for reading.
type HistoryPart struct {
	ID    string // of the message that told of it
	Kind  string // the network's name for it, such as INITIAL_BOOTSTRAP
	Chunk int    // its number among those of its kind
	// Notification says where it is and how to read it; only who wrote it down
	// understands it.
	Notification []byte

	State    HistoryState
	Position int  // how many of its messages were taken over
	Tries    int  // how often that failed
	NextAt   Time // when it is to be tried
}

// HistoryState is how far a part of the history is.
type HistoryState int

// The states of a part. They are stored: their numbers never change.
const (
	HistoryWaiting   HistoryState = iota
	HistoryTakenOver              // but the network still has it
	HistoryDone
	HistoryGivenUp
	HistoryReplaced // by one that the phone has uploaded again
)

// HistoryStep is what has become of a part of the history.
type HistoryStep struct {
	ID       string
	State    HistoryState
	Position int
	Tries    int
	NextAt   Time
}

// HistoryForgotten removes what is known of the history: the session that it
// belongs to is over.
type HistoryForgotten struct{}

// ChatName is what the phone calls a chat. It counts where no name is known.
type ChatName struct {
	JID  JID
	Name string `bound:"name"`
}

// Imported is a message from the phone's history with what became of it, or
// changes of such a message alone. Nothing tells of it, and a message that is
// stored already stays as it is.
type Imported struct {
	Message *Message
	Changes []Fact
}

// HistoryCount is how many parts of the history are in a state.
type HistoryCount struct{ Waiting, Done, GivenUp int }

func (HistoryPart) fact()      {}
func (HistoryStep) fact()      {}
func (HistoryForgotten) fact() {}
func (ChatName) fact()         {}
func (Imported) fact()         {}
