package answer_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"bridged/internal/api/answer"
	"bridged/internal/bridge"
)

// fill sets every field of a value to something.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[bridge.JID]() {
			v.SetString("15557654321@s.whatsapp.net")
			return
		}
		v.SetString("a\"b\\c\n<é>\u202e\u2028\xff")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1_763_712_930_123)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(-1.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[bridge.Time]() {
			v.Set(reflect.ValueOf(bridge.Millis(1_763_712_930_123)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	}
}

// TestAppendMessage_WritesWhatEncodingJSONWrites shows it for an empty message, for a full one,
// and for those that have one field only: a field that is added to messages must be written.
func TestAppendMessage_WritesWhatEncodingJSONWrites(t *testing.T) {
	t.Parallel()
	var full bridge.Message
	fill(reflect.ValueOf(&full).Elem())
	messages := []bridge.Message{{}, full, {Content: "plain"}, {Reactions: []bridge.MessageReaction{}}}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[bridge.Message]()) {
		if field.IsExported() {
			var m bridge.Message
			fill(reflect.ValueOf(&m).Elem().FieldByIndex(field.Index))
			messages = append(messages, m)
		}
	}
	for _, m := range messages {
		want, err := bridge.EncodeJSON(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := answer.AppendMessage(nil, &m)
		if err != nil || string(got) != string(want) || !json.Valid(got) {
			t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
		}
	}
}
