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
	// CatchingUp is nil unless the network delivers what it queued while the account was not connected.
	CatchingUp    *CatchingUp   `json:"catchingUp"`
	ClientVersion ClientVersion `json:"clientVersion"`
	PausedUntil   *Time         `json:"pausedUntil"` // the next login, after a ban or too many logins; nil for none
}

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
