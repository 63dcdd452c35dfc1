package bridge_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

// covers checks that a size covers the JSON of its value, and is not far above it.
func covers(t *testing.T, what string, v any, size int) {
	t.Helper()
	text, err := bridge.EncodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	if size < len(text) || size > 2*len(text)+4000 {
		t.Errorf("%s takes %d bytes, and its size is %d", what, len(text), size)
	}
}

func TestSize_CoversTheJSON(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"nothing": "", "letters": "plain", "controls": "\x00\x01\x1f", "escapes": "\"\\\n\t", "separators": "\u2028\u2029",
		"signs": "ü€😀„“", "bad": "\xff\xc3",
	}
	for name, text := range texts {
		for _, count := range []int{1, 20_000} {
			long := strings.Repeat(text, count)
			m := bridge.Message{ID: "M1", Content: long, Timestamp: bridge.At(time.Now()), Media: &bridge.Media{Type: bridge.MediaImage, Caption: long}}
			match := bridge.Match{MsgID: "M1", Content: long, Timestamp: m.Timestamp, Media: m.Media}
			poll := bridge.Message{Content: long, Poll: &bridge.PollTally{Name: long, Options: []bridge.PollOption{{Name: long, Voters: make([]bridge.JID, 1024)}}}}
			for i := range poll.Poll.Options[0].Voters {
				poll.Poll.Options[0].Voters[i] = "155501000000000@s.whatsapp.net"
			}
			if name == "bad" {
				continue // the store keeps valid text only
			}
			covers(t, name, m, m.Size())
			covers(t, name, match, match.Size())
			covers(t, name, poll, poll.Size())
		}
	}
}

func TestSize_CountsEveryField(t *testing.T) {
	t.Parallel()
	var message bridge.Message
	var match bridge.Match
	var chat bridge.Chat
	var group bridge.StoredGroup
	status := bridge.Status{Status: bridge.StateOpen}
	for _, v := range []any{&message, &match, &chat, &group} {
		filled(reflect.ValueOf(v).Elem(), 0)
	}
	message.Media.Type, match.Media.Type = bridge.MediaDocument, bridge.MediaDocument
	covers(t, "a message", message, message.Size())
	covers(t, "a match", match, match.Size())
	for _, event := range []bridge.Event{{Message: &message}, {Chat: &chat}, {Group: &group}, {Status: &status}} {
		covers(t, "an event", event, event.Size())
	}
}
