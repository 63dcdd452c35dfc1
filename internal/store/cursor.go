package store

import (
	"encoding/base64"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/store/db"
)

// defaultLimit applies where a query names none.
const defaultLimit = 100

func limitOf(limit int) int {
	if limit <= 0 {
		return defaultLimit
	}
	return limit
}

// pageOf reads a query that asks for one more than the limit, which shows whether
// there is another page. scan returns an element and the cursor behind it.
func pageOf[T any](r *readTx, limit int, query string, args []any, scan func(*db.Row) (T, func() string)) bridge.Page[T] {
	page := bridge.Page[T]{Items: []T{}}
	var behind func() string
	for row := range r.Rows(query, args...) {
		if len(page.Items) == limit {
			cursor := behind()
			page.NextCursor = &cursor
			break
		}
		var item T
		item, behind = scan(row)
		page.Items = append(page.Items, item)
	}
	return page
}

// Cursors name the last element of a page, so that the next page begins right
// behind it whatever has been added meanwhile. They are opaque to callers.

// position is where a message stands in every list of messages, and a call among
// the calls.
type position = search.Position

// The lists in which positions stand.
const (
	listMessages = "m"
	listCalls    = "t"
)

// cursorOf returns the cursor of a message, cursorIn that of a place in a list.
func cursorOf(p position) string { return cursorIn(listMessages, p) }

func cursorIn(list string, p position) string {
	return packCursor(list, strconv.FormatInt(p.Timestamp, 36), strconv.FormatInt(p.Seq, 36))
}

// positionAt returns what the cursor of a message names; nil for none.
func (r *readTx) positionAt(cursor string) *position {
	if cursor == "" {
		return nil
	}
	at, err := parsePosition(listMessages, cursor)
	r.Fail(err)
	return &at
}

func parsePosition(list, cursor string) (position, error) {
	parts, err := unpackCursor(cursor, list)
	if err != nil {
		return position{}, err
	}
	timestamp, err1 := strconv.ParseInt(parts[0], 36, 64)
	seq, err2 := strconv.ParseInt(parts[1], 36, 64)
	if err1 != nil || err2 != nil {
		return position{}, badCursor()
	}
	return position{Timestamp: timestamp, Seq: seq}, nil
}

func packCursor(list, a, b string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(list + "." + a + "." + b))
}

func unpackCursor(cursor, list string) ([2]string, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return [2]string{}, badCursor()
	}
	parts := strings.SplitN(string(text), ".", 3)
	if len(parts) != 3 || parts[0] != list {
		return [2]string{}, badCursor()
	}
	return [2]string{parts[1], parts[2]}, nil
}

func badCursor() error {
	return bridge.Invalid("cursor must be a nextCursor that an earlier page of the same list answered")
}
