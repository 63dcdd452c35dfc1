package bridge

// Fact is something that the network told and the store keeps. The facts of
// one stanza are saved in one transaction before the stanza is acknowledged.
// JIDs in facts may be in either form of a person's identity: the store knows
// which belong together.
//
// The facts are [Message], [Group], [Status], those in this file and those of
// the history. Whatever changes a message that is not stored yet, or is encrypted with
// its secret, waits for it.
type Fact interface{ fact() }

// Identity joins a phone number and a LID of the same person.
type Identity struct{ PN, LID JID }

// Contact is what is known of a person's names; nil fields stay as they are.
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

// Edit replaces the content of a message. Only the author may edit: an edit
// by anybody else is ignored by the store.
type Edit struct {
	Chat      JID
	Target    string
	Editor    JID
	Timestamp Time
	// New carries the fields that an edit replaces: MessageType, Content,
	// ContextInfo, Media and Raw. Media without a key, or none, is the edit of
	// a caption where the message has a file: the file stays.
	New Message
	// Upload makes it no edit but an HD upload, whose file replaces that of the
	// target silently: the message is not marked as edited. It is stored as a
	// message of its own where the target is not in the store, or not the
	// editor's; and its id stands for the target from then on. Nil for edits.
	Upload *Message
}

// Deletion empties a message. Only the author, or an admin of the group, may
// delete: a deletion by anybody else is ignored by the store.
type Deletion struct {
	Chat      JID
	Target    string
	By        JID
	Timestamp Time
}

// RemovedElsewhere is what another own device deleted for itself: a message, or
// all of a chat. The store is no mirror of the phone and keeps everything; the
// log tells that the chat has changed.
type RemovedElsewhere struct{ Chat JID }

// NoMessage says that what came under an id is no message: a reaction, an edit, a
// setting of the chat. A placeholder that was stored for it goes, and the log tells
// of it for a last time.
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

// Encrypted is a change of a message, or a comment on it, that is encrypted with
// that message's secret, which is not known yet. It is opened and applied when
// the message comes.
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

// Receipt is another person's delivery, read or played receipt for own
// messages: it only ever moves their status forward.
type Receipt struct {
	Chat      JID
	IDs       []string
	From      JID
	Status    Delivery
	Timestamp Time
}

// SendResult is the end of a try to send an own message: sent with the
// network's timestamp, or failed.
type SendResult struct {
	Chat      JID
	ID        string
	Status    Delivery
	Timestamp Time // the network's; zero keeps the message's
}

// GroupChange is what a notification changed in a group; nil and empty fields
// stay as they are. A change of a group that is not stored makes it known
// under its JID.
type GroupChange struct {
	JID          JID
	Name         *string `bound:"name"`
	Topic        *string `bound:"topic"`
	IsAnnounce   *bool
	IsLocked     *bool
	JoinApproval *bool // see [Group]
	Expiration   *uint32
	Joined       []Participant `bound:"members"`
	Left         []JID
	Promoted     []JID
	Demoted      []JID
	// Asked are people who want to be let in; AskNoMore have taken that back, or
	// were rejected.
	Asked     []Participant `bound:"asking"`
	AskNoMore []Participant `bound:"asking"`
	Timestamp Time
}

// MemberLabel is how a member of a group describes themselves in it; empty for no
// more. One that is older than the one that is known does not count.
type MemberLabel struct {
	Chat   JID
	Member JID
	Label  string `bound:"label"`
	SetAt  Time
}

// ChatTimer is the disappearing-messages timer of a chat, in seconds. One that
// was set before the one that is known does not count.
type ChatTimer struct {
	Chat    JID
	Seconds uint32
	SetAt   Time // when somebody set it; zero for not known
	// FromHistory does not list a chat that is not stored.
	FromHistory bool
}

// Owner names the account that the store holds. A store belongs to one account
// for good: another owner is refused with [CodeOtherAccount].
type Owner struct{ PN, LID JID }

// SameAccount reports whether two owners are one account: a LID or a number is
// equal, in whichever spelling.
func (o Owner) SameAccount(other Owner) bool {
	if o.LID != "" && o.LID == other.LID {
		return true
	}
	return o.PN != "" && other.PN != "" && SamePhone(o.PN.User(), other.PN.User())
}

// MediaMoved is the new place of a file that the phone uploaded again.
type MediaMoved struct {
	Chat       JID
	ID         string
	DirectPath string `bound:"path"`
}

// SendKey binds an Idempotency-Key to the message that it sends. It is saved
// together with the message, before the message leaves. What has no row of its
// own (an edit, a deletion) is saved once more when the network has taken it.
type SendKey struct {
	Key      string
	Route    string
	BodyHash []byte
	Chat     JID
	MsgID    string
	At       Time // when it was stored; zero for now, by the store's clock
	// ChangedAt is the time that an edit claims, with which it is repeated.
	ChangedAt Time
	// TakenAt is when the network took what has no row of its own; zero until
	// then, and for messages.
	TakenAt Time
}

func (Message) fact()          {}
func (Group) fact()            {}
func (Identity) fact()         {}
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
