package bridge

import "encoding/json"

// State is the state of the account.
type State string

// The states; docs/architecture.md has the transitions.
const (
	StateIdle       State = "idle"
	StateConnecting State = "connecting"
	StateOpen       State = "open"
	StateClosed     State = "closed"
	StateNeedsPair  State = "needs-pair"
)

// Status is the auth status.
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
	// NewChats is the network's limit of chats that the account may begin; nil if none is known.
	NewChats *NewChatQuota `json:"newChats"`
	// SecurityNotice is nil unless somebody registered the account's number elsewhere in
	// the last 7 days.
	SecurityNotice *SecurityNotice `json:"securityNotice"`
	// CatchingUp is nil unless the network delivers what it queued while the account was not connected.
	CatchingUp    *CatchingUp   `json:"catchingUp"`
	ClientVersion ClientVersion `json:"clientVersion"`
	PausedUntil   *Time         `json:"pausedUntil"` // the next login, after a ban or too many logins; nil for none
}

// SecurityNotice says that somebody registers the account's number on another phone.
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

// Passkey holds the network's request for a passkey.
type Passkey struct {
	PublicKey json.RawMessage `json:"publicKey"` // WebAuthn request options
	Code      *string         `json:"code"`      // to be compared with the phone's, once known
}

// QuotaStatus says how close the account is to the network's limit of new chats.
type QuotaStatus string

// The statuses of a quota, in the network's order.
const (
	QuotaFree          QuotaStatus = "none"
	QuotaFirstWarning  QuotaStatus = "first_warning"
	QuotaSecondWarning QuotaStatus = "second_warning"
	QuotaCapped        QuotaStatus = "capped"
)

// NewChatQuota is how many chats the network lets the account begin in a cycle. Fields that
// the network did not name are nil.
type NewChatQuota struct {
	Status        QuotaStatus `json:"status"`
	Total         *int        `json:"total"`
	Used          *int        `json:"used"`
	CycleStartsAt *Time       `json:"cycleStartsAt"`
	CycleEndsAt   *Time       `json:"cycleEndsAt"`
}

// PairingCode answers a request for a pairing code.
type PairingCode struct {
	Code      string `json:"code"`
	Hint      string `json:"hint"`
	ExpiresAt Time   `json:"expiresAt"`
}

// PasskeyResult answers a step of pairing with a passkey.
type PasskeyResult struct {
	OK        bool    `json:"ok"`
	Code      *string `json:"code"`
	Confirmed bool    `json:"confirmed"`
}

// Traffic counts the account's messages since the program started.
type Traffic struct {
	Received       uint64 // stored, the account's own from other devices included
	Undecryptable  uint64
	Sent           uint64 // accepted by the network
	Failed         uint64 // without those whose outcome is unknown
	SentAgain      uint64 // to devices that the network reported as left out
	LastReceivedAt *Time  // nil before the first
	QueuedReceived uint64 // stanzas of the network's offline queues
	QueueStalls    uint64 // how often the network did not deliver such a queue
}
