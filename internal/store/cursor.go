package store

import (
	"encoding/base64"
	"strconv"
	"strings"

	"bridged/internal/bridge"
)

// Cursors name the last element of a page, so that the next page begins right
// behind it whatever has been added meanwhile. They are opaque to callers.

// position is where a message stands in every list of messages, and a call among
// the calls.
type position struct{ timestamp, seq int64 }

// before reports whether p comes before q in ascending order.
func (p position) before(q position) bool {
	return p.timestamp < q.timestamp || p.timestamp == q.timestamp && p.seq < q.seq
}

// The lists in which positions stand.
const (
	listMessages = "m"
	listCalls    = "t"
)

func (p position) cursor() string { return p.in(listMessages) }

// in returns the cursor of p in a list.
func (p position) in(list string) string {
	return packCursor(list, strconv.FormatInt(p.timestamp, 36), strconv.FormatInt(p.seq, 36))
}

func parsePosition(cursor string) (position, error) { return parsePositionIn(listMessages, cursor) }

func parsePositionIn(list, cursor string) (position, error) {
	parts, err := unpackCursor(cursor, list)
	if err != nil {
		return position{}, err
	}
	timestamp, err1 := strconv.ParseInt(parts[0], 36, 64)
	seq, err2 := strconv.ParseInt(parts[1], 36, 64)
	if err1 != nil || err2 != nil {
		return position{}, badCursor()
	}
	return position{timestamp, seq}, nil
}

// chatPosition is where a chat stands in the list of chats.
type chatPosition struct {
	recency int64
	jid     bridge.JID
}

func (p chatPosition) cursor() string {
	return packCursor("c", strconv.FormatInt(p.recency, 36), string(p.jid))
}

func parseChatPosition(cursor string) (chatPosition, error) {
	parts, err := unpackCursor(cursor, "c")
	if err != nil {
		return chatPosition{}, err
	}
	recency, err := strconv.ParseInt(parts[0], 36, 64)
	if err != nil || parts[1] == "" {
		return chatPosition{}, badCursor()
	}
	return chatPosition{recency, bridge.JID(parts[1])}, nil
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
