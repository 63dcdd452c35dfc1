package read

import (
	"bridged/internal/search"
	"bridged/internal/sqlite"
)

// The lists that cursors belong to.
const (
	ListMessages = "m"
	ListChats    = "c"
	ListContacts = "p"
	ListCalls    = "t"
	ListImports  = "i"
	ListLater    = "s"
)

// Position is the sort key of a message in every list.
type Position = search.Position

func MessageCursor(p Position) *string { return new(sqlite.Cursor(ListMessages, p.Timestamp, p.Seq)) }

// positionAt returns the position that a message's cursor names; nil if none.
func (r *Snapshot) positionAt(cursor string) *Position {
	var at Position
	if !r.After(ListMessages, cursor, &at.Timestamp, &at.Seq) {
		return nil
	}
	return &at
}
