package bridge

// Fact is information from the network that is stored. The facts of one stanza are saved in one
// transaction before the stanza is acknowledged. JIDs may be a person's number or LID. A change
// of a message that is not stored yet waits for the message.
type Fact interface{ fact() }

// Identity links a phone number and a LID of the same person.
type Identity struct{ PN, LID JID }

// IdentityChange reports that a person has a new number, a new LID or both. Empty fields are
// unknown.
type IdentityChange struct{ OldPN, OldLID, NewPN, NewLID JID }

// Contact has names of a person. Nil fields stay unchanged.
type Contact struct {
	JID          JID
	Name         *string `bound:"name"` // from the account's address book; "" when removed from it
	PushName     *string `bound:"name"` // chosen by the person
	BusinessName *string `bound:"name"` // verified by the network
	Username     *string // "" if the person has removed it
}

// ReactionChange sets a person's reaction, or removes it if the emoji is empty.
type ReactionChange struct {
	Chat      JID
	Target    string // id of the message
	Sender    JID
	Emoji     string `bound:"emoji"`
	Timestamp Time
}

// Edit replaces the content of a message. The store ignores edits by anybody but the author.
type Edit struct {
	Chat      JID
	Target    string
	Editor    JID
	Timestamp Time
	// New has the new MessageType, Content, ContextInfo, Media and Raw. If it has no Media, or no
	// key in it, the file of the message stays.
	New Message
	// Upload is set if this is an HD upload instead of an edit. Its file replaces the target's
	// file, and its id becomes another id of the target, which is not marked as edited. If the
	// target is not stored or is not the editor's, Upload is stored as a separate message.
	Upload *Message
}

// Deletion empties a message. The store ignores deletions by anybody but the author and admins.
type Deletion struct {
	Chat      JID
	Target    string
	By        JID
	Timestamp Time
}

// DeletionForMe erases a message that the account has deleted for its own devices only.
type DeletionForMe struct {
	Chat      JID
	Target    string
	Timestamp Time
}

// RemovedElsewhere reports that another of the account's devices deleted something for itself
// only: the message Target or, if it is empty, messages of the chat. The store does not delete it;
// the log records that the chat has changed, unless the store has deleted it already.
type RemovedElsewhere struct {
	Chat   JID
	Target string
}

// NoMessage reports that a stanza is not a message but a reaction, an edit or a setting of the
// chat. If a placeholder was stored for it, it is removed.
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
	Hashes    [][]byte // SHA-256 of the names of the chosen options
	Timestamp Time
}

// Encrypted is a change of a message, or a comment on it, that is encrypted with the secret of a
// message. The secret is not known yet; the change is decrypted when the message is received.
type Encrypted struct {
	Chat      JID
	Target    string // id of the message with the secret
	ID        string // of the stanza
	Sender    JID
	FromMe    bool
	PushName  string `bound:"name"`
	Timestamp Time
	Payload   []byte // the marshalled waE2E.Message
}

// Receipt is another person's receipt for own messages. It never moves their status back.
type Receipt struct {
	Chat      JID
	IDs       []string
	From      JID
	Status    Delivery
	Timestamp Time
}

// SendResult is the outcome of sending an own message: sent or failed.
type SendResult struct {
	Chat      JID
	ID        string
	Status    Delivery
	Timestamp Time // the network's; zero leaves the message's
}

// GroupChange is a change from a notification. Nil and empty fields stay unchanged. If the group
// is not stored, it is stored with its JID only.
type GroupChange struct {
	JID           JID
	Name          *string `bound:"name"`
	Topic         *string `bound:"topic"`
	IsAnnounce    *bool
	IsLocked      *bool
	JoinApproval  *bool // see [Group]
	MemberAddMode *MemberAddMode
	Expiration    *uint32
	PictureID     *string       `bound:"id"` // empty if the picture was removed
	Moved         []MovedMember // applied before the others
	Joined        []Participant `bound:"members"`
	Left          []JID
	Promoted      []JID
	Demoted       []JID
	// Asked are new join requests. The requests of AskNoMore were withdrawn or rejected.
	Asked     []Participant `bound:"asking"`
	AskNoMore []Participant `bound:"asking"`
	By        JID           // who made the change; empty if the network does not say
	Timestamp Time
}

// MovedMember is a member of a group who has a new number or LID.
type MovedMember struct {
	From JID
	To   Participant
}

// MemberLabel is a member's description of themselves in a group. The one with the latest SetAt
// counts.
type MemberLabel struct {
	Chat   JID
	Member JID
	Label  string `bound:"label"`
	SetAt  Time
}

// ChatTimer sets the disappearing-messages timer of a chat. The one with the latest SetAt counts.
type ChatTimer struct {
	Chat    JID
	Seconds uint32
	SetAt   Time // when it was set; zero if unknown
	// FromHistory means that a chat that is not stored is not added to the list.
	FromHistory bool
}

// Owner is the account that a store belongs to. Another account is refused with
// [CodeOtherAccount].
type Owner struct{ PN, LID JID }

// SameAccount reports whether two owners have the same LID or the same number, in any spelling.
func (o Owner) SameAccount(other Owner) bool {
	if o.LID != "" && o.LID == other.LID {
		return true
	}
	return o.PN != "" && other.PN != "" && SamePhone(o.PN.User(), other.PN.User())
}

// MediaMoved is the new location of a file that the phone uploaded again.
type MediaMoved struct {
	Chat       JID
	ID         string
	DirectPath string `bound:"path"`
}

// SendKey links an Idempotency-Key to a message. It is saved together with the message before
// that is sent. For a change of a message it is saved again when the network has accepted the
// change.
type SendKey struct {
	Key       string
	Route     string
	BodyHash  []byte
	Chat      JID
	MsgID     string
	At        Time // when it was stored; zero means now, by the store's clock
	ChangedAt Time // the time in an edit, which a repeated edit must have, too
	TakenAt   Time // when the network accepted a change of a message; zero otherwise
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
func (DeletionForMe) fact()    {}
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

// KeyedRequest records a change on the network other than a message, under an Idempotency-Key
// whose MsgID is its ID. It is saved before the change is requested, and again with the answer.
type KeyedRequest struct {
	ID      string
	Plan    []byte // JSON: the state before the change
	Chat    JID    // the group that it created, after the network has announced the group
	Answer  []byte // JSON; nil until the call has succeeded
	Refused bool   // the last attempt has ended without further changes
}

// GroupMade is a group that the account created. Key is the ID of its [KeyedRequest], if there is
// one.
type GroupMade struct {
	Key string
	JID JID
}

func (KeyedRequest) fact() {}
func (GroupMade) fact()    {}
