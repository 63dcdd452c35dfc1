package store

import (
	"bridged/internal/search"
	"bridged/internal/sqlite"
)

// The lists that cursors belong to.
const (
	listMessages = "m"
	listChats    = "c"
	listContacts = "p"
	listCalls    = "t"
	listImports  = "i"
)

// position is where a message stands in every list of messages.
type position = search.Position

func messageCursor(p position) *string { return new(sqlite.Cursor(listMessages, p.Timestamp, p.Seq)) }

// positionAt returns the position that a message's cursor names; nil for none.
func (r *readTx) positionAt(cursor string) *position {
	var at position
	if !r.After(listMessages, cursor, &at.Timestamp, &at.Seq) {
		return nil
	}
	return &at
}
