package bridge

// KeyedRequest is a change at the network that is no message, asked for under an
// Idempotency-Key. It is saved before it begins, and again with its answer.
// The [SendKey] has its ID as the message's.
type KeyedRequest struct {
	ID     string
	Plan   []byte // JSON: how things were before
	Chat   JID    // the group that it made, once the network has told of it
	Answer []byte // JSON; nil until the call has ended well
	// Refused means that the last try has ended, and changed nothing more.
	Refused bool
}

// GroupMade tells of a group that the account made, and the key that it was
// made with: the ID of a [KeyedRequest], if it was one.
type GroupMade struct {
	Key string
	JID JID
}

func (KeyedRequest) fact() {}
func (GroupMade) fact()    {}
