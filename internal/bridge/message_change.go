package bridge

// EventAnswer is what a person answered to an event.
type EventAnswer int

// The answers. They are stored: their numbers, which are the network's, never
// change. One that is none of these takes an earlier one back.
const (
	EventGoing    EventAnswer = 1
	EventNotGoing EventAnswer = 2
	EventMaybe    EventAnswer = 3
)

// EventResponse replaces a person's answer to an event.
type EventResponse struct {
	Chat      JID
	Target    string // id of the event's message
	Sender    JID
	Answer    EventAnswer
	Guests    int `bound:"guests"` // how many more people come along
	Timestamp Time
}

// PollOptionAdded adds an option to a poll. Only the author may, and where the
// poll says so everybody: one by anybody else is ignored by the store, and so is
// one that the poll has.
type PollOptionAdded struct {
	Chat      JID
	Target    string // id of the poll's message
	By        JID
	Name      string `bound:"option"`
	Timestamp Time
}

// Pin puts a message at the top of its chat until a moment, or with the zero
// moment takes it from there. Everybody in the chat may, in a group that only
// admins may change only they: one by anybody else is ignored by the store.
type Pin struct {
	Chat      JID
	Target    string
	By        JID
	Until     Time
	Timestamp Time
}

// Keep keeps a disappearing message in its chat, or lets it go. Who may is as for
// a [Pin], and the message's author always; what the author lets go nobody else
// can keep again.
type Keep struct {
	Chat      JID
	Target    string
	By        JID
	Kept      bool
	Timestamp Time
}

func (EventResponse) fact()   {}
func (PollOptionAdded) fact() {}
func (Pin) fact()             {}
func (Keep) fact()            {}
