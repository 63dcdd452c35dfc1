package bridge_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// appended checks that a value appends itself as encoding/json would write it.
func appended[T any](t *testing.T, v T, appendTo func([]byte, *T) ([]byte, error)) {
	t.Helper()
	want, err := bridge.EncodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	got, err := appendTo(nil, &v)
	if err != nil || string(got) != string(want) {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

// filled sets every field of a value, so that one that does not append itself
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

func TestAppend_IsWhatEncodingJSONWrites(t *testing.T) {
	t.Parallel()
	var message bridge.Message
	var match bridge.Match
	appended(t, message, bridge.AppendMessage)
	appended(t, match, bridge.AppendMatch)
	filled(reflect.ValueOf(&message).Elem(), 0)
	filled(reflect.ValueOf(&match).Elem(), 0)
	for _, kind := range []bridge.MediaType{bridge.MediaImage, bridge.MediaVideo, bridge.MediaAudio, bridge.MediaDocument, bridge.MediaSticker} {
		message.Media.Type, match.Media.Type = kind, kind
		appended(t, message, bridge.AppendMessage)
		appended(t, match, bridge.AppendMatch)
	}
	// Each part alone, lists that are empty and lists that are missing.
	parts := reflect.TypeFor[bridge.Parts]()
	for i := range parts.NumField() {
		var one bridge.Message
		filled(reflect.ValueOf(&one.Parts).Elem().Field(i), 0)
		appended(t, one, bridge.AppendMessage)
	}
	empty := bridge.Message{Reactions: []bridge.MessageReaction{}}
	empty.Contacts = []bridge.SharedContact{}
	appended(t, empty, bridge.AppendMessage)
	empty.Contacts = nil
	appended(t, empty, bridge.AppendMessage)
}

func TestAppend_EscapesWhatJSONMust(t *testing.T) {
	t.Parallel()
	texts := []string{"", "plain", `"quoted" \ back`, "\x00\x01\b\f\n\r\t\x1f\x7f", "<script>&", "\u2028 and \u2029", "ü€😀", "bad \xff\xc3", "\xe2\x80", "\xed\xa0\x80", "\ufffd", "a\u2028"}
	for b := range 256 {
		texts = append(texts, "x"+string([]byte{byte(b)})+"y")
	}
	for _, text := range texts {
		appended(t, bridge.Match{Content: text}, bridge.AppendMatch)
	}
}

func TestAppend_RefusesWhatJSONCannotSay(t *testing.T) {
	t.Parallel()
	message := bridge.Message{Parts: bridge.Parts{Location: &bridge.Place{Latitude: math.NaN()}}}
	if text, err := bridge.AppendMessage(nil, &message); err == nil {
		t.Errorf("appended %s", text)
	}
}

func FuzzAppend(f *testing.F) {
	f.Add("text", "M1", int64(0), true)
	f.Add("\u2028\xff\"", "", int64(-1), false)
	f.Fuzz(func(t *testing.T, content, id string, ms int64, fromMe bool) {
		fuzzbudget.Usual.Check(t, len(content)+len(id), func() {
			appended(t, bridge.Message{ID: id, Content: content, FromMe: fromMe, Timestamp: bridge.Millis(ms)}, bridge.AppendMessage)
		})
	})
}
