package bridge

// HistoryImport is how much of the phone's messages is imported.
type HistoryImport string

// The choices of the operator. Recent is what the phone calls so, some months.
const (
	HistoryOff    HistoryImport = "off"
	HistoryRecent HistoryImport = "recent"
	HistoryFull   HistoryImport = "full"
)

// IsOn reports whether any messages are imported.
func (i HistoryImport) IsOn() bool { return i == HistoryRecent || i == HistoryFull }

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
	Name string
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
