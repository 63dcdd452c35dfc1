package store

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/sqlite"
)

// defaultLimit applies where a query names none.
const defaultLimit = 100

func limitOf(limit int) int { return cmp.Or(max(limit, 0), defaultLimit) }

// The lists that cursors belong to.
const (
	listMessages   = "m"
	listChats      = "c"
	listContacts   = "p"
	listCalls      = "t"
	listDeliveries = "d"
	listImports    = "i"
)

// pageOf reads a query that asks for one row more than the limit, which shows whether
// there is another page. scan returns an element and its place in the list.
func pageOf[T any](r *readTx, list string, limit int, query string, args []any, scan func(*sqlite.Row) (T, []any)) bridge.Page[T] {
	page := bridge.Page[T]{Items: []T{}}
	var last []any
	for row := range r.Rows(query, args...) {
		if len(page.Items) == limit {
			page.NextCursor = new(cursorOf(list, last...))
			break
		}
		var item T
		item, last = scan(row)
		page.Items = append(page.Items, item)
	}
	return page
}

// cursorOf returns the cursor of an element: its place is the values by which the list is
// ordered, so that the next page begins behind it whatever is added meanwhile.
func cursorOf(list string, place ...any) string {
	text, _ := json.Marshal(append([]any{list}, place...)) // numbers, texts and booleans
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseCursor reads the place that a cursor of the list names.
func parseCursor(list, cursor string, place ...any) error {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	var parts []json.RawMessage
	if err != nil || json.Unmarshal(text, &parts) != nil || len(parts) != 1+len(place) || string(parts[0]) != strconv.Quote(list) {
		return badCursor()
	}
	for i, part := range parts[1:] {
		if json.Unmarshal(part, place[i]) != nil {
			return badCursor()
		}
	}
	return nil
}

func badCursor() error {
	return bridge.Invalid("cursor must be a nextCursor that an earlier page of the same list answered")
}

// after reads the place of a cursor and reports whether there is one.
func (r *readTx) after(list, cursor string, place ...any) bool {
	if cursor == "" {
		return false
	}
	r.Fail(parseCursor(list, cursor, place...))
	return r.Err() == nil
}

// position is where a message stands in every list of messages.
type position = search.Position

func messageCursor(p position) *string { return new(cursorOf(listMessages, p.Timestamp, p.Seq)) }

// positionAt returns the position that a message's cursor names; nil for none.
func (r *readTx) positionAt(cursor string) *position {
	var at position
	if !r.after(listMessages, cursor, &at.Timestamp, &at.Seq) {
		return nil
	}
	return &at
}
