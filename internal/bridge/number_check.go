package bridge

// NumberCheck is whether the network knows a phone number. As a [Fact] it is kept
// for a day.
type NumberCheck struct {
	Phone      string `json:"phone"` // E.164 digits, as it was asked about
	JID        JID    `json:"jid"`   // empty where nobody on the network has the number
	IsBusiness bool   `json:"isBusiness"`
}

func (NumberCheck) fact() {}
