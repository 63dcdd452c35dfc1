package bridge

// Fact is something that came from the network and is stored. The facts of one stanza are
// saved in one transaction before the stanza is acknowledged. JIDs may be in either form
// of a person's identity. A change of a message that is not stored yet waits for it.
type Fact interface{ fact() }

// Identity joins a phone number and a LID of the same person.
type Identity struct{ PN, LID JID }

// IdentityChange reports that the network has given a person another number, another LID or
// both. Empty fields are not known.
type IdentityChange struct{ OldPN, OldLID, NewPN, NewLID JID }

// Contact holds names of a person; nil fields stay as they are.
type Contact struct {
	JID          JID
	Name         *string `bound:"name"` // from the account's address book; "" when removed from it
	PushName     *string `bound:"name"` // chosen by the person
	BusinessName *string `bound:"name"` // verified by the network
	Username     *string // "" when it was given up
}

// ReactionChange sets, or with an empty emoji removes, a person's reaction.
type ReactionChange struct {
	Chat      JID
	Target    string // id of the message
	Sender    JID
	Emoji     string `bound:"emoji"`
	Timestamp Time
}

// Edit replaces the content of a message. The store ignores one by anybody but the author.
type Edit struct {
	Chat      JID
	Target    string
	Editor    JID
	Timestamp Time
	// New has the new MessageType, Content, ContextInfo, Media and Raw. Without Media, or
	// a key in it, the file of the message stays.
	New Message
	// Upload is an HD upload in place of an edit; else nil. Its file replaces that of the
	// target, which is not marked as edited, and its id becomes another id of the target.
	// It is a message of its own where the target is not stored, or not the editor's.
	Upload *Message
}

// Deletion empties a message. The store ignores one by others than the author and admins.
type Deletion struct {
	Chat      JID
	Target    string
	By        JID
	Timestamp Time
}

// RemovedElsewhere reports that another own device deleted something for itself. The store
// keeps it; the log notes that the chat has changed.
type RemovedElsewhere struct{ Chat JID }

// NoMessage reports that what came under an id is no message, but a reaction, an edit or a
// setting of the chat. A placeholder that was stored for it is removed.
type NoMessage struct {
	Chat   JID
	ID     string
	FromMe bool
	Sender JID
}

// PollVote replaces a person's votes in a poll.
type PollVote struct {
	Chat      JID
	Target    string // id of the poll's message
	Voter     JID
	Hashes    [][]byte // SHA-256 of the names of the options voted for
	Timestamp Time
}

// Encrypted is a change of a message, or a comment on it, that is encrypted with the
// secret of that message, which is not known yet. It is decrypted when the message comes.
type Encrypted struct {
	Chat      JID
	Target    string // id of the message that has the secret
	ID        string // of the stanza
	Sender    JID
	FromMe    bool
	PushName  string `bound:"name"`
	Timestamp Time
	Payload   []byte // the marshalled waE2E.Message
}

// Receipt is another person's receipt for own messages. It only moves their status forward.
type Receipt struct {
	Chat      JID
	IDs       []string
	From      JID
	Status    Delivery
	Timestamp Time
}

// SendResult reports the outcome of sending an own message: sent or failed.
type SendResult struct {
	Chat      JID
	ID        string
	Status    Delivery
	Timestamp Time // the network's; zero keeps the message's
}

// GroupChange describes a change that a notification reported; nil and empty fields stay as they
// are. A group that is not stored becomes known under its JID.
type GroupChange struct {
	JID          JID
	Name         *string `bound:"name"`
	Topic        *string `bound:"topic"`
	IsAnnounce   *bool
	IsLocked     *bool
	JoinApproval *bool // see [Group]
	Expiration   *uint32
	PictureID    *string       `bound:"id"` // empty where the picture was removed
	Moved        []MovedMember // are applied before the others
	Joined       []Participant `bound:"members"`
	Left         []JID
	Promoted     []JID
	Demoted      []JID
	// Asked request to join; the requests of AskNoMore were withdrawn or rejected.
	Asked     []Participant `bound:"asking"`
	AskNoMore []Participant `bound:"asking"`
	By        JID           // who made the change; empty if the network does not say
	Timestamp Time
}

// MovedMember is a member of a group who has another number or LID.
type MovedMember struct {
	From JID
	To   Participant
}

// MemberLabel says how members of a group describe themselves in it. The latest SetAt counts.
type MemberLabel struct {
	Chat   JID
	Member JID
	Label  string `bound:"label"`
	SetAt  Time
}

// ChatTimer sets the disappearing-messages timer of a chat. The latest SetAt counts.
type ChatTimer struct {
	Chat    JID
	Seconds uint32
	SetAt   Time // when somebody set it; zero for not known
	// FromHistory does not list a chat that is not stored.
	FromHistory bool
}

// Owner names the account of a store. Another one is refused with [CodeOtherAccount].
type Owner struct{ PN, LID JID }

// SameAccount reports whether two owners share a LID, or a number in any spelling.
func (o Owner) SameAccount(other Owner) bool {
	if o.LID != "" && o.LID == other.LID {
		return true
	}
	return o.PN != "" && other.PN != "" && SamePhone(o.PN.User(), other.PN.User())
}

// MediaMoved reports the new place of a file that the phone uploaded again.
type MediaMoved struct {
	Chat       JID
	ID         string
	DirectPath string `bound:"path"`
}

// SendKey binds an Idempotency-Key to a message. It is saved together with the message
// before that leaves; that of a change of a message again when the network accepted it.
type SendKey struct {
	Key       string
	Route     string
	BodyHash  []byte
	Chat      JID
	MsgID     string
	At        Time // when it was stored; zero for now, by the store's clock
	ChangedAt Time // the time in an edit, with which it is repeated
	TakenAt   Time // when the network accepted a change of a message; else zero
}

func (Message) fact()          {}
func (Group) fact()            {}
func (Identity) fact()         {}
func (IdentityChange) fact()   {}
func (Contact) fact()          {}
func (ReactionChange) fact()   {}
func (Edit) fact()             {}
func (Deletion) fact()         {}
func (NoMessage) fact()        {}
func (RemovedElsewhere) fact() {}
func (PollVote) fact()         {}
func (Encrypted) fact()        {}
func (Receipt) fact()          {}
func (SendResult) fact()       {}
func (GroupChange) fact()      {}
func (MemberLabel) fact()      {}
func (ChatTimer) fact()        {}
func (Owner) fact()            {}
func (MediaMoved) fact()       {}
func (SendKey) fact()          {}
func (Status) fact()           {}

// KeyedRequest records a change at the network that is no message, under an Idempotency-Key, whose
// MsgID is its ID. It is saved before it begins, and again with its answer.
type KeyedRequest struct {
	ID      string
	Plan    []byte // JSON: how things were before
	Chat    JID    // the group that it made, once the network has told of it
	Answer  []byte // JSON; nil until the call has ended well
	Refused bool   // the last try has ended, and changed nothing more
}

// GroupMade names a group that the account made. Key is the ID of its [KeyedRequest], if any.
type GroupMade struct {
	Key string
	JID JID
}

func (KeyedRequest) fact() {}
func (GroupMade) fact()    {}
