package bridge

// KnownContact is a person as the routes of contacts show them. Name is the one
// in the account's address book, which is empty for people who are not in it.
type KnownContact struct {
	JID          JID     `json:"jid"`
	LID          JID     `json:"lid"`
	Phone        *string `json:"phone"`    // E.164 digits; nil where only the LID is known
	Username     *string `json:"username"` // as the network writes it; nil where none is known
	Name         string  `json:"name"`
	PushName     string  `json:"pushName"`
	BusinessName string  `json:"businessName"`
	IsSaved      bool    `json:"isSaved"`
	ChatJID      JID     `json:"chatJid"` // empty where no chat with them is stored
}

// ContactQuery is a page of the list of contacts. Q is a part of a name, folded
// by the store, of the username, or of the phone number as people write it; an
// empty Q is no filter. Only, unless it is nil, names the people who may be shown.
type ContactQuery struct {
	Only   []JID
	Q      string
	Limit  int
	Cursor string
}

// NoContact returns the error of a person who is not in the store.
func NoContact(jid JID) *Error {
	return NotFound("there is no contact %s in the store: it holds the address book, and whoever the account met in a chat or a group", jid)
}
