package bridge

// CatchingUp counts the stanzas (messages, receipts, notifications) that the network stored while
// the account was not connected.
type CatchingUp struct {
	Received int `json:"received"`
	Expected int `json:"expected"` // as the network announced
}

// ClientVersion is the version of WhatsApp Web that the account's client reports.
type ClientVersion struct {
	Current   string `json:"current"`
	ExpiresAt *Time  `json:"expiresAt"` // when the network refuses it, as announced; nil if it did not say
}
