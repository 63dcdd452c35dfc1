// Package chatexport reads the files of "Export chat" in the apps on Android and iPhone: a text with
// messages, alone or in a zip with their files.
//
// [Open] refuses a harmful archive. [Archive.DetectFormat] reads the whole text to detect its format of
// dates, and [Archive.Messages] reads it message by message, in memory that does not grow with it. The
// text does not name the language of the app, so the package knows the words of all languages.
//
// The package does not know where messages are stored, or who the senders are.
package chatexport

import (
	"time"

	"bridged/internal/bridge"
)

// Kind is the kind of a message.
type Kind int

// The kinds of messages.
const (
	Text     Kind = iota
	Attached      // with a file, which the archive may have
	Omitted       // with a file that was left out of the export
	Deleted
	ViewOnce // which the app does not export
	Location
)

// Message is one message of an export.
type Message struct {
	Line   int // in the text, from 1
	At     time.Time
	Sender string // as the phone shows them: a name or a number
	Text   string // or the caption, or the words about the location
	Kind   Kind
	Edited bool
	Place  *bridge.Place

	// File names the attached file. Name is its title, if it is known. Type is empty if the export does
	// not say what kind of file was omitted.
	File string
	Name string
	Type bridge.MediaType
	PTT  bool
}

// Order is the order of day, month and year in dates.
type Order = bridge.DateOrder

// The orders that there are.
const (
	DMY = bridge.DMY
	MDY = bridge.MDY
	YMD = bridge.YMD
)

// Orders lists them.
var Orders = bridge.DateOrders

// Warning is a line that may be interpreted wrongly, and the reason.
type Warning = bridge.AmbiguousLine

// Example is a date that can be read in several ways.
type Example = bridge.DateExample

// Options says how an export is read.
type Options struct {
	Zone  *time.Location // of the phone
	Now   time.Time      // no message is younger
	Order Order          // of its dates; empty to find out
	// IsName reports whether a name with colons belongs to a person; it may be nil.
	IsName func(name string) bool
}

// Ambiguous reports that two orders fit the dates of an export equally well.
type Ambiguous struct {
	Orders   []Order
	Examples []Example
}

func (a *Ambiguous) Error() string {
	return "the dates can be read in more than one order: " + bridge.Join(a.Orders, ", ")
}
