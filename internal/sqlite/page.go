package sqlite

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"bridged/internal/bridge"
)

// defaultLimit is the length of a page when the query sets none.
const defaultLimit = 100

// LimitOf returns the length of a page.
func LimitOf(limit int) int { return cmp.Or(max(limit, 0), defaultLimit) }

// Page reads a page of a list. The query must ask for one row more than the limit, which shows
// whether there is another page. scan returns an element and its position in the list.
func Page[T any](c *Conn, list string, limit int, query string, args []any, scan func(*Row) (T, []any)) bridge.Page[T] {
	page := bridge.Page[T]{Items: []T{}}
	var last []any
	for row := range c.Rows(query, args...) {
		if len(page.Items) == limit {
			page.NextCursor = new(Cursor(list, last...))
			break
		}
		var item T
		item, last = scan(row)
		page.Items = append(page.Items, item)
	}
	return page
}

// Cursor returns the cursor of an element of a list. position has the values that the list is sorted
// by, so the next page starts after the element even if others were added.
func Cursor(list string, position ...any) string {
	text, _ := json.Marshal(append([]any{list}, position...)) // numbers, texts and booleans
	return base64.RawURLEncoding.EncodeToString(text)
}

// After reads the position of a cursor of a list, and reports whether there is one.
func (c *Conn) After(list, cursor string, position ...any) bool {
	if cursor == "" {
		return false
	}
	c.Fail(parseCursor(list, cursor, position...))
	return c.err == nil
}

func parseCursor(list, cursor string, position ...any) error {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	var parts []json.RawMessage
	if err != nil || json.Unmarshal(text, &parts) != nil || len(parts) != 1+len(position) || string(parts[0]) != strconv.Quote(list) {
		return badCursor()
	}
	for i, part := range parts[1:] {
		if json.Unmarshal(part, position[i]) != nil {
			return badCursor()
		}
	}
	return nil
}

func badCursor() error {
	return bridge.Invalid("cursor must be a nextCursor that an earlier page of the same list answered")
}
