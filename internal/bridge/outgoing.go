package bridge

// Outgoing is a message to be sent. Whatever its content, it takes one path
// through the socket manager.
type Outgoing struct {
	To       JID
	Content  Content
	Quote    *Message // the stored message that is answered, with Chat and Raw
	Mentions []JID
	// Strangers are those of Mentions of whom the caller knows nothing: they are
	// named as they are given, whatever is known of them.
	Strangers []JID
	Key       *SendKey // Route, Key and BodyHash of an Idempotency-Key; nil without
}

// Content is what an outgoing message carries: [Text], [Location],
// [Poll], [Contacts], [File], [Reaction], [Forward], [TextEdit] or [Revocation].
type Content interface{ content() }

// Text is a text message.
type Text struct{ Text string }

// Location is a place; latitude and longitude in degrees.
type Location struct {
	Latitude  float64
	Longitude float64
	Name      string
	Address   string
}

// Poll is a new poll; Selectable 0 is any number of choices.
type Poll struct {
	Name       string
	Values     []string
	Selectable int
}

// Contacts is one contact or a list of them.
type Contacts struct {
	Contacts []ContactCard `json:"contacts"`
}

// ContactCard is a contact to be sent (the document's section 2.8).
type ContactCard struct {
	DisplayName  string `json:"displayName"`
	FirstName    string `json:"firstName"`
	LastName     string `json:"lastName"`
	Phone        string `json:"phone"`
	PhoneDisplay string `json:"phoneDisplay"`
	Email        string `json:"email"`
	Organization string `json:"organization"`
	Title        string `json:"title"`
	VCard        string `json:"vcard"`
}

// File is a prepared file: it lies at Path until it is closed by its maker.
type File struct {
	Type      MediaType
	Path      string
	Size      int64
	MimeType  string
	FileName  string
	Caption   string
	PTT       bool
	Animated  bool // of a sticker
	Seconds   int
	Width     int
	Height    int
	Thumbnail []byte // JPEG; nil when there is none
	Waveform  []byte // 64 values of 0 to 100; voice notes only
}

// Reaction sets or, with an empty emoji, removes the account's reaction.
type Reaction struct {
	Target Message
	Emoji  string
}

// Forward sends a stored message on.
type Forward struct{ Source Message }

// TextEdit replaces the text or the caption of an own message, and whom it
// mentions.
type TextEdit struct {
	Target   Message
	Text     string
	Mentions []JID
	// Strangers are as in [Outgoing].
	Strangers []JID
}

// Revocation deletes a message for everybody: an own one, or as an admin
// somebody else's in a group.
type Revocation struct{ Target Message }

func (Text) content()       {}
func (Location) content()   {}
func (Poll) content()       {}
func (Contacts) content()   {}
func (File) content()       {}
func (Reaction) content()   {}
func (Forward) content()    {}
func (TextEdit) content()   {}
func (Revocation) content() {}

// Sent is a message that the network accepted.
type Sent struct {
	ID        string
	Chat      JID
	Timestamp Time
}
