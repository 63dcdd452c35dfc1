package chats

import (
	"net/url"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/console/names"
)

// TestQuote_MarksClaims: a quoted message that is not stored is a claim of the sender, without a link.
func TestQuote_MarksClaims(t *testing.T) {
	const chat, alan, club bridge.JID = "15550100101@s.whatsapp.net", "15550100102@s.whatsapp.net", "120363000000000000@g.us"
	for want, quoted := range map[quote]bridge.Quoted{
		{JID: alan, Sender: "Alan", Text: "hello", Path: jump(chat, "Q")}:                               {Origin: bridge.QuoteStored, ChatJID: chat},
		{JID: alan, Sender: "Alan", Text: "hello", Claim: "Original message isn’t available"}:           {Origin: bridge.QuoteEmbedded, ChatJID: chat},
		{JID: alan, Sender: "Alan", Text: "hello", Claim: "From a group, as the sender quotes it"}:      {Origin: bridge.QuoteEmbedded, ChatJID: club},
		{JID: alan, Sender: "Alan", Text: "hello", Claim: "From a status, as the sender quotes it"}:     {Origin: bridge.QuoteEmbedded, ChatJID: "status@broadcast"},
		{JID: alan, Sender: "Alan", Text: "hello", Claim: "From another chat, as the sender quotes it"}: {Origin: bridge.QuoteEmbedded},
	} {
		quoted.MsgID, quoted.SenderJID, quoted.PushName, quoted.MessageType, quoted.Content = "Q", alan, "Alan", bridge.TypeText, "hello"
		if got := quoteOf(chat, bridge.Message{Quoted: &quoted}, names.Names{Known: map[bridge.JID]string{}}); *got != want {
			t.Errorf("got %+v, want %+v", *got, want)
		}
	}
	empty := bridge.Quoted{MsgID: "Q", MessageType: bridge.TypeUnknown, Origin: bridge.QuoteEmbedded}
	if got := quoteOf(chat, bridge.Message{Quoted: &empty}, names.Names{Known: map[bridge.JID]string{}}); got.Text != "Original message isn’t available" || got.Sender != "" {
		t.Errorf("without a copy: %+v", *got)
	}
}

func TestUnread_BeginsAtTheFirstOfOthers(t *testing.T) {
	of := func(id string, fromMe bool) bridge.Message { return bridge.Message{ID: id, FromMe: fromMe} }
	messages := []bridge.Message{of("A", false), of("B", false), of("C", true), of("D", false)}
	for count, want := range map[int]unread{0: {}, 1: {First: "D"}, 2: {First: "B"}, 3: {First: "A"}, 5: {Before: 2}} {
		if got := unreadAmong(messages, count); got != want {
			t.Errorf("%d unread: %+v, want %+v", count, got, want)
		}
	}
}

// Earlier pages continue the count of unread messages.
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

// A changed chat stays in the lists that the API would have it in.
func TestChatList_Has(t *testing.T) {
	for _, test := range []struct {
		shows string
		chat  bridge.Chat
		want  bool
	}{
		{"", bridge.Chat{}, true},
		{"", bridge.Chat{Archived: true}, false},
		{"archived", bridge.Chat{Archived: true}, true},
		{"archived", bridge.Chat{}, false},
		{"unread", bridge.Chat{UnreadCount: 1}, true},
		{"unread", bridge.Chat{}, false},
		{"unread", bridge.Chat{UnreadCount: 1, Archived: true}, false},
		{"group", bridge.Chat{IsGroup: true}, true},
		{"group", bridge.Chat{}, false},
		{"individual", bridge.Chat{}, true},
		{"individual", bridge.Chat{IsGroup: true}, false},
		{"individual", bridge.Chat{Archived: true}, false},
	} {
		if got := (chatList{Shows: test.shows}).has(test.chat); got != test.want {
			t.Errorf("the list %q has %+v: %v", test.shows, test.chat, got)
		}
	}
}
