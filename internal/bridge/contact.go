package bridge

import (
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// KnownContact is a person in the routes of contacts.
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
	ChatJID      JID     `json:"chatJid"` // empty if there is no chat with them
}

// ContactName is a person's entry in the account's address book. An empty Full means no entry.
type ContactName struct {
	Full, First string
	Username    *string // the person's username, which entries of people without a number repeat
}

// maxContactName limits a name in the address book, in characters.
const maxContactName = 100

// Check returns an error of [CodeInvalid] if no address book has such an entry.
func (n ContactName) Check() error {
	for field, text := range map[string]string{"name": n.Full, "firstName": n.First} {
		if utf8.RuneCountInString(text) > maxContactName || strings.ContainsFunc(text, unicode.IsControl) {
			return Invalid("%s must have at most %d characters, in one line", field, maxContactName)
		}
	}
	if n.Full == "" && n.First != "" {
		return Invalid("firstName needs a name: leave firstName out to remove the person from the address book")
	}
	return nil
}

// Block reports that the account has blocked a person, or unblocked them.
type Block struct {
	JID       JID
	IsBlocked bool
}

// Blocklist is the complete list of people whom the account blocks.
type Blocklist struct{ JIDs []JID }

func (Block) fact()     {}
func (Blocklist) fact() {}

// ContactQuery asks for a page of the list of contacts. Q is part of a name, of the username, or
// of the phone number in any common spelling. Among, if not nil, lists the people to search.
// Only, if not nil, lists the people who may be shown. Saved and Blocked, if not nil, select people
// who are in the address book, who are blocked, or the others.
type ContactQuery struct {
	Only    []JID
	Among   []JID
	Q       string
	Saved   *bool
	Blocked *bool
	Limit   int
	Cursor  string
}

// NoContact returns the error for a person who is not stored.
func NoContact(jid JID) *Error {
	return NotFound("there is no contact %s in the store: it has the people of the address book, the chats and the groups", jid)
}

// NumberCheck says whether a phone number is on WhatsApp. As a [Fact] it is stored for 24 hours.
type NumberCheck struct {
	Phone      string `json:"phone"` // E.164 digits, as it was asked about
	JID        JID    `json:"jid"`   // empty if the number is not on WhatsApp
	IsBusiness bool   `json:"isBusiness"`
}

func (NumberCheck) fact() {}

// PictureSize is one of the two sizes of a picture.
type PictureSize string

const (
	PicturePreview PictureSize = "preview"
	PictureFull    PictureSize = "full"
)

// Picture is the network's location of the picture of a person or a group.
type Picture struct{ DirectPath string }

// Profile is what a person shows about themselves to the account.
type Profile struct {
	JID   JID     `json:"jid"`
	LID   JID     `json:"lid"`
	About *string `json:"about" bound:"topic"` // nil if there is none, or the account may not see it
	// Verified reports whether the network has confirmed who the business is: apps show a tick.
	Verified bool             `json:"verified"`
	Business *BusinessProfile `json:"business"` // nil for ordinary people
	AskedAt  Time             `json:"askedAt"`  // when the network sent it
}

// BusinessProfile is what a business account shows about itself.
type BusinessProfile struct {
	Name        string         `json:"name" bound:"name"`
	Description string         `json:"description" bound:"topic"`
	Address     string         `json:"address" bound:"topic"`
	Email       string         `json:"email" bound:"name"`
	Websites    []string       `json:"websites" bound:"emails"`
	Categories  []string       `json:"categories" bound:"emails"`
	Hours       *BusinessHours `json:"hours"` // nil if they are not given
}

// BusinessHours are the opening hours of a business. A day may have several entries, and is closed if it has none.
type BusinessHours struct {
	Timezone string        `json:"timezone" bound:"name"`
	Days     []BusinessDay `json:"days" bound:"phones"`
}

// BusinessDay is a part of the opening hours. Opens and Closes, as "09:00", are set for fixed hours.
type BusinessDay struct {
	Day    string       `json:"day" bound:"name"` // mon, tue, wed, thu, fri, sat or sun
	Mode   BusinessMode `json:"mode" bound:"name"`
	Opens  *string      `json:"opens"`
	Closes *string      `json:"closes"`
}

// BusinessMode says how a business is open on a day.
type BusinessMode string

const (
	OpenAllDay        BusinessMode = "open_24h"
	OpenHours         BusinessMode = "specific_hours"
	OpenByAppointment BusinessMode = "appointment_only"
)

// Bound applies the limits to p.
func (p *Profile) Bound() { bound(reflect.ValueOf(p).Elem()) }
