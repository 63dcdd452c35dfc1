package bridge_test

import (
	"fmt"
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

// filled sets every field of a value, so that one that is not counted
// shows.
func filled(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), depth)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			filled(v.Index(i), depth+i)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[bridge.Time]() {
			v.Set(reflect.ValueOf(bridge.At(time.Date(2026, 11, 21, 8, 15, 30, depth*1e6, time.UTC))))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				filled(v.Field(i), depth+1)
			}
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[bridge.JID]() {
			v.SetString(fmt.Sprint(15550100000+depth, "@s.whatsapp.net"))
			return
		}
		v.SetString(fmt.Sprint("text <", depth, "> & „so“\n"))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(depth))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(depth))
	case reflect.Float64:
		v.SetFloat(float64(depth) / 3)
	}
}
