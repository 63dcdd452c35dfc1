package bridge

import "encoding/json"

// State is one of the five states of the account (the document's section 3).
type State string

// The states; docs/architecture.md has the transitions.
const (
	StateIdle       State = "idle"
	StateConnecting State = "connecting"
	StateOpen       State = "open"
	StateClosed     State = "closed"
	StateNeedsPair  State = "needs-pair"
)

// Status is the auth status (the document's section 2.2).
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
}

// User is the paired account.
type User struct {
	JID      JID    `json:"jid"`
	LID      JID    `json:"lid"`
	Phone    string `json:"phone"`
	PushName string `json:"pushName"`
	Platform string `json:"platform"`
}

// Passkey is what the network asks for when linking needs a passkey.
type Passkey struct {
	PublicKey json.RawMessage `json:"publicKey"` // WebAuthn request options
	Code      *string         `json:"code"`      // to be compared with the phone's, once known
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

// Traffic is how many messages went through the account since the program
// started.
type Traffic struct {
	Received       uint64 // stored, the account's own from other devices included
	Undecryptable  uint64 // stored as such, as they could not be read
	Sent           uint64 // accepted by the network
	Failed         uint64 // given up; those of which nobody knows are not among them
	SentAgain      uint64 // to devices that the network says were left out
	LastReceivedAt *Time  // nil before the first
}
