package bridge

// KnownContact describes a person as the routes of contacts show them.
type KnownContact struct {
	JID          JID     `json:"jid"`
	LID          JID     `json:"lid"`
	Phone        *string `json:"phone"` // E.164 digits; nil where only the LID is known
	Username     *string `json:"username"`
	Name         string  `json:"name"` // in the account's address book
	PushName     string  `json:"pushName"`
	BusinessName string  `json:"businessName"`
	IsSaved      bool    `json:"isSaved"`
	IsBlocked    bool    `json:"isBlocked"`
	ChatJID      JID     `json:"chatJid"` // empty where no chat with them is stored
}

// Block reports that the account has blocked a person, or unblocked them.
type Block struct {
	JID       JID
	IsBlocked bool
}

// Blocklist names all people whom the account blocks.
type Blocklist struct{ JIDs []JID }

func (Block) fact()     {}
func (Blocklist) fact() {}

// ContactQuery asks for a page of the list of contacts. Q is a part of a name, of the username,
// or of the phone number as people write it. Among, unless nil, names who is looked for; Only,
// unless nil, who may be shown.
type ContactQuery struct {
	Only   []JID
	Among  []JID
	Q      string
	Limit  int
	Cursor string
}

// NoContact returns the error of a person who is not stored.
func NoContact(jid JID) *Error {
	return NotFound("there is no contact %s in the store: it holds the address book, and whoever the account met in a chat or a group", jid)
}

// NumberCheck says whether the network knows a phone number. As a [Fact] it is kept
// for a day.
type NumberCheck struct {
	Phone      string `json:"phone"` // E.164 digits, as it was asked about
	JID        JID    `json:"jid"`   // empty where nobody on the network has the number
	IsBusiness bool   `json:"isBusiness"`
}

func (NumberCheck) fact() {}

// PictureSize names one of the two files of a picture.
type PictureSize string

const (
	PicturePreview PictureSize = "preview"
	PictureFull    PictureSize = "full"
)

// Picture says where the network has the picture of a person or a group.
type Picture struct{ DirectPath string }
