package bridge

// Hook is an address at which another service's posts become messages to a chat.
type Hook struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	Chat      JID    `json:"chatJid"`
	Template  string `json:"template"` // the name of a shipped one, or its source
	HasSecret bool   `json:"hasSecret"`
	Enabled   bool   `json:"enabled"`

	LastDeliveryAt *Time   `json:"lastDeliveryAt"` // the last that was accepted, to the minute
	LastFailedAt   *Time   `json:"lastFailedAt"`
	LastError      *string `json:"lastError"` // of the last delivery, null if it was accepted
	CreatedAt      Time    `json:"createdAt"`
	UpdatedAt      Time    `json:"updatedAt"`

	// Secret signs what is posted; empty for none. It is never shown.
	Secret string `json:"-"`
	// KeyHash is the SHA-256 of the key in the hook's address.
	KeyHash []byte `json:"-"`
	// Token is the token that made it, 0 for BRIDGE_TOKEN.
	Token int64 `json:"-"`
}
