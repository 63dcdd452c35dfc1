package bridge

import "encoding/json"

// State is the state of the account.
type State string

// docs/operations.md says what these states mean, docs/reliability.md what ends them.
const (
	StateIdle       State = "idle"
	StateConnecting State = "connecting"
	StateOpen       State = "open"
	StateClosed     State = "closed"
	StateNeedsPair  State = "needs-pair"
)

// Status is the account's status (GET /api/auth/status).
type Status struct {
	Status               State    `json:"status"`
	HasSession           bool     `json:"hasSession"`
	User                 *User    `json:"user"`
	PairingCode          *string  `json:"pairingCode"`
	PairingCodeExpiresAt *Time    `json:"pairingCodeExpiresAt"`
	LastError            *string  `json:"lastError"`
	Since                Time     `json:"since"`
	QR                   *string  `json:"qr"`
	Passkey              *Passkey `json:"passkey"`
	// NewChats is the network's limit of chats that the account may start, or nil if it is not
	// known.
	NewChats *NewChatQuota `json:"newChats"`
	// SecurityNotice is nil unless the account's number was registered elsewhere in the last 7
	// days.
	SecurityNotice *SecurityNotice `json:"securityNotice"`
	// CatchingUp is nil unless the network is delivering the stanzas that it stored while the
	// account was not connected.
	CatchingUp    *CatchingUp   `json:"catchingUp"`
	ClientVersion ClientVersion `json:"clientVersion"`
	PausedUntil   *Time         `json:"pausedUntil"` // when the account may log in again after a ban or too many logins; nil unless logins are paused
}

// SecurityNotice says that the account's number is being registered on another phone.
type SecurityNotice struct {
	Kind    SecurityKind `json:"kind"`
	At      Time         `json:"at"`
	Message string       `json:"message"` // a sentence that a person can act on
}

// SecurityKind is the kind of a [SecurityNotice].
type SecurityKind string

// The kinds of notices.
const (
	SecurityCodeRequested SecurityKind = "registration_code" // a code was requested
	SecurityTakenOver     SecurityKind = "device_logout"     // another phone has the number
)

// User describes the paired account.
type User struct {
	JID      JID    `json:"jid"`
	LID      JID    `json:"lid"`
	Phone    string `json:"phone"`
	PushName string `json:"pushName"`
	Platform string `json:"platform"`
}

// Passkey is the network's request for a passkey.
type Passkey struct {
	PublicKey json.RawMessage `json:"publicKey"` // WebAuthn request options
	ExpiresAt Time            `json:"expiresAt"` // when the pairing starts again
	Code      *string         `json:"code"`      // to be compared with the phone's, once known
}

// QuotaStatus says how close the account is to the network's limit of new chats.
type QuotaStatus string

// These are the statuses of a quota, in the network's order.
const (
	QuotaFree          QuotaStatus = "none"
	QuotaFirstWarning  QuotaStatus = "first_warning"
	QuotaSecondWarning QuotaStatus = "second_warning"
	QuotaCapped        QuotaStatus = "capped"
)

// NewChatQuota is the number of chats that the network lets the account start in a cycle. Fields
// that the network did not send are nil.
type NewChatQuota struct {
	Status        QuotaStatus `json:"status"`
	Total         *int        `json:"total"`
	Used          *int        `json:"used"`
	CycleStartsAt *Time       `json:"cycleStartsAt"`
	CycleEndsAt   *Time       `json:"cycleEndsAt"`
}

// PairingCode is the answer to a request for a pairing code.
type PairingCode struct {
	Code      string `json:"code"`
	Hint      string `json:"hint"`
	ExpiresAt Time   `json:"expiresAt"`
}

// PasskeyResult is the answer to a step of pairing with a passkey.
type PasskeyResult struct {
	OK        bool    `json:"ok"`
	Code      *string `json:"code"`
	Confirmed bool    `json:"confirmed"`
}

// Traffic counts the account's messages since the program started.
type Traffic struct {
	Received       uint64 // stored, including the account's own from other devices
	Undecryptable  uint64
	Sent           uint64 // accepted by the network
	Failed         uint64 // does not count messages whose outcome is unknown
	SentAgain      uint64 // to devices that had not received a message, as the network reported
	LastReceivedAt *Time  // nil before the first
	PhoneSeenAt    *Time  // when the phone was last seen, also before the start; nil if unknown
	QueuedReceived uint64 // stanzas of the network's offline queues
	QueueStalls    uint64 // how often the network did not deliver such a queue
}

// AccountPatch changes what the account shows about itself. Nil fields stay unchanged.
type AccountPatch struct {
	Name  *string `json:"name,omitempty"`
	About *string `json:"about,omitempty"` // empty if none
}

// Fields returns the names of the fields that are set.
func (p AccountPatch) Fields() (names []string) {
	if p.Name != nil {
		names = append(names, "name")
	}
	if p.About != nil {
		names = append(names, "about")
	}
	return names
}

// Privacy has the account's privacy settings, with the network's words for their values. In a
// change, nil fields stay unchanged; otherwise the network did not send them.
type Privacy struct {
	LastSeen     *string `json:"lastSeen"`
	Online       *string `json:"online"`
	About        *string `json:"about"`
	Picture      *string `json:"picture"`
	ReadReceipts *string `json:"readReceipts"`
	GroupAdd     *string `json:"groupAdd"`
	CallAdd      *string `json:"callAdd"`
	Messages     *string `json:"messages"`
	Stickers     *string `json:"stickers"`
	Defense      *string `json:"defense"` // the protection from strangers
}

// PrivacySetting is a setting of a [Privacy]: the name of the field, and the field.
type PrivacySetting struct {
	Name  string
	Value **string
}

// All returns all settings of p, in the order of its fields.
func (p *Privacy) All() []PrivacySetting {
	return []PrivacySetting{
		{"lastSeen", &p.LastSeen},
		{"online", &p.Online},
		{"about", &p.About},
		{"picture", &p.Picture},
		{"readReceipts", &p.ReadReceipts},
		{"groupAdd", &p.GroupAdd},
		{"callAdd", &p.CallAdd},
		{"messages", &p.Messages},
		{"stickers", &p.Stickers},
		{"defense", &p.Defense},
	}
}

// Fields returns the names of the fields that are set.
func (p Privacy) Fields() (names []string) {
	for _, setting := range p.All() {
		if *setting.Value != nil {
			names = append(names, setting.Name)
		}
	}
	return names
}
