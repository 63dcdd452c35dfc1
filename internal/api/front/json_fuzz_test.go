package front

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// What is accepted means what encoding/json takes it for, once the names that
// do not match exactly are left out.
func FuzzBodyMeansTheSame(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a","latitude":1e5,"selectableCount":null,"values":["a",null],"contacts":[{"displayName":"Alan","Phone":"1"},null],"quotedMsgId":"x","after":{"a":[1]}}`,
		"{\"t\\u0065xt\":\"\\ud800\",\"values\":[],\"VALUES\":[\"x\"],\"x\":{\"y\":[true,false,null,-0.5e-7,\"\\\"\\\\\"]}}\r\n", `{"values":null,"after":null}`, ` { } `,
	} {
		f.Add([]byte(seed))
	}
	type address struct {
		JID         string `json:"jid"`
		QuotedMsgID string `json:"quotedMsgId"`
	}
	type request struct {
		Text     string               `json:"text"`
		Latitude *float64             `json:"latitude"`
		Count    *int                 `json:"selectableCount"`
		Values   []string             `json:"values"`
		Contacts []bridge.ContactCard `json:"contacts"`
		After    json.RawMessage      `json:"after"`
		address
	}
	names := func(v any) (all []string) {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(v)) {
			all = append(all, field.Tag.Get("json"))
		}
		return all
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fuzzbudget.Usual.Check(t, len(body), func() {
			var got, want request
			if decodeJSON(body, &got, false) != nil {
				return
			}
			var members map[string]json.RawMessage
			var contacts []map[string]json.RawMessage
			if err := errors.Join(json.Unmarshal(body, &members), json.Unmarshal(or(members["contacts"], "null"), &contacts)); err != nil {
				t.Fatalf("accepted %q: %v", body, err)
			}
			only(members, names(want))
			for _, contact := range contacts {
				only(contact, names(bridge.ContactCard{}))
			}
			if contacts != nil {
				members["contacts"], _ = json.Marshal(contacts)
			}
			exact, err := json.Marshal(members)
			if err := errors.Join(err, json.Unmarshal(exact, &want)); err != nil {
				t.Fatalf("accepted %q: %v", body, err)
			}
			got.After, want.After = compact(got.After), compact(want.After)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%q is %+v, want %+v", body, got, want)
			}
		})
	})
}

func or(raw json.RawMessage, other string) []byte {
	if raw == nil {
		return []byte(other)
	}
	return raw
}

// only leaves in members those of some names.
func only(members map[string]json.RawMessage, names []string) {
	for name := range members {
		if !slices.Contains(names, name) {
			delete(members, name)
		}
	}
}

// compact writes JSON in the one form that json.Marshal gives it.
func compact(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	out, err := json.Marshal(raw)
	if err != nil {
		panic(err)
	}
	return out
}
