// Package chatexport reads what "Export chat" makes in the apps on Android and iPhone: a
// text of messages, alone or in a zip with their files.
//
// [Open] refuses an archive that could do harm. [Archive.Survey] finds out from the whole
// text how it writes dates, and [Archive.Messages] reads it message by message, in memory that
// does not grow with it. Nothing in the text says in which language the app was, so the
// package knows the words of all of them.
//
// The package does not know where messages are stored, or who anybody is.
package chatexport

import (
	"time"

	"bridged/internal/bridge"
)

// Kind says what a message is.
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
	Text   string // or the caption, or what is said of the place
	Kind   Kind
	Edited bool
	Place  *bridge.Place

	// File names the attached file, and Name what it was called, if that is known. Type is
	// empty where the export does not say what was left out.
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

// Doubt is a line that may have been read wrongly.
type Doubt = bridge.Doubt

// Example is a date that can be read in several ways.
type Example = bridge.DateExample

// Options says how an export is read.
type Options struct {
	Zone  *time.Location // of the phone
	Now   time.Time      // no message is younger
	Order Order          // of its dates; empty to find out
	// IsName reports whether somebody has a name that has colons in it; nil knows none.
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
