package api

import (
	"slices"

	"bridged/internal/bridge"
)

// messageList is a page of a history.
type messageList struct {
	head historyHead
	page bridge.Page[bridge.Message]
}

type historyHead struct {
	JID     bridge.JID `json:"jid"`
	Count   int        `json:"count"`
	Filters filters    `json:"filters"`
}

// AppendJSON appends the head, messages and nextCursor as one object.
func (l messageList) AppendJSON(dst []byte) ([]byte, error) {
	return appendPage(dst, l.head, "messages", l.page, bridge.AppendMessage)
}

// matchList is a page of a search.
type matchList struct {
	head searchHead
	page bridge.Page[bridge.Match]
}

type searchHead struct {
	Query string `json:"query"`
	Count int    `json:"count"`
}

// AppendJSON appends the head, matches and nextCursor as one object.
func (l matchList) AppendJSON(dst []byte) ([]byte, error) {
	return appendPage(dst, l.head, "matches", l.page, bridge.AppendMatch)
}

// itemSize is what an item of a list takes in JSON, roughly.
const itemSize = 700

// appendPage appends an object with the fields of head, the items under a name,
// and nextCursor.
func appendPage[T any](dst []byte, head any, name string, page bridge.Page[T], item func([]byte, *T) ([]byte, error)) ([]byte, error) {
	first, err := bridge.EncodeJSON(head)
	if err != nil {
		return nil, err
	}
	cursor, err := bridge.EncodeJSON(page.NextCursor)
	if err != nil {
		return nil, err
	}
	dst = slices.Grow(dst, len(first)+len(page.Items)*itemSize+len(cursor)+64)
	dst = append(append(dst, first[:len(first)-1]...), `,"`+name+`":`...)
	if dst, err = bridge.AppendList(dst, page.Items, item); err != nil {
		return nil, err
	}
	return append(append(append(dst, `,"nextCursor":`...), cursor...), '}'), nil
}
