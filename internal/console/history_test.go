package console

import (
	"net/url"
	"testing"

	"bridged/internal/bridge"
)

func TestUnread_BeginsAtTheFirstOfOthers(t *testing.T) {
	of := func(id string, fromMe bool) bridge.Message { return bridge.Message{ID: id, FromMe: fromMe} }
	messages := []bridge.Message{of("A", false), of("B", false), of("C", true), of("D", false)}
	for count, want := range map[int]unread{0: {}, 1: {First: "D"}, 2: {First: "B"}, 3: {First: "A"}, 5: {Before: 2}} {
		if got := unreadAmong(messages, count); got != want {
			t.Errorf("%d unread: %+v, want %+v", count, got, want)
		}
	}
}

// What is unread further back is counted on by the pages that are loaded before.
func TestUnread_IsCountedOverPages(t *testing.T) {
	chat := bridge.Chat{UnreadCount: 7}
	for query, want := range map[string]int{"": 7, "older=c&unread=4": 4, "older=c": 0, "older=c&unread=-1": 0, "older=c&unread=x": 0, "at=M": 0, "newer=c": 0} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := unreadOf(chat, values); got != want {
			t.Errorf("%q: %d unread, want %d", query, got, want)
		}
	}
}

func TestContactCard_NumbersBeginAChat(t *testing.T) {
	for want, phone := range map[string]bridge.SharedPhone{
		"4915100009999": {Number: "+49 (151) 0000-9999"}, "15550100301": {Number: "0301", JID: "15550100301@s.whatsapp.net"}, "": {Number: "0151 00009999"},
	} {
		if got := digitsOf(phone); got != want {
			t.Errorf("%+v begins a chat with %q, want %q", phone, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[int]string{0: "0:00", 7: "0:07", 75: "1:15", 3675: "1:01:15"} {
		if got := duration(seconds); got != want {
			t.Errorf("%d seconds are shown as %q, want %q", seconds, got, want)
		}
	}
}

// The emoji are a file of their own that no page waits for, and small enough to come at once.
func TestScripts_LeaveTheEmojiForLater(t *testing.T) {
	names, err := scripts()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name == "emoji.js" {
			t.Error("pages load the emoji at once")
		}
	}
	all, err := assets()
	if err != nil {
		t.Fatal(err)
	}
	if size := len(all["emoji.js"].content); size == 0 || size > 60_000 {
		t.Errorf("the emoji take %d bytes", size)
	}
}
