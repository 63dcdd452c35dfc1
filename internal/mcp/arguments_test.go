package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Arguments that their schema refuses are refused with what to change, and those
// that models write in their own way are understood.
func TestArguments_AreCheckedAsTheirSchemaSays(t *testing.T) {
	schema := argumentsOf(reflect.TypeFor[listMessages]())
	decode := func(arguments string) (in listMessages, err error) {
		err = decodeArguments(json.RawMessage(arguments), schema, &in)
		return in, err
	}
	for arguments, want := range map[string]string{
		`{}`: "jid is missing", ``: "jid is missing", `null`: "jid is missing", `{"jid":"x","chat":"y"}`: `no argument "chat"`, `{"JID":"x"}`: `no argument "JID"`, `[]`: "must be an object", `"x"`: "must be an object",
		`{"jid":5}`: "jid must be a text, not a JSON number", `{"jid":"x","limit":"many"}`: "not a whole number", `{"jid":"x","limit":2.5}`: "not a whole number",
		`{"jid":"x","limit":1e300}`: "limit must be between 1 and 50", `{"jid":"x","limit":0}`: "limit must be between 1 and 50", `{"jid":"x","limit":51}`: "limit must be between 1 and 50", `{"jid":"x","order":"up"}`: "order must be one of desc asc", `{"jid":"x"`: "not valid JSON", `{"jid":"x","since":{"a":1}}`: "since must be a text, not a JSON object",
	} {
		if got, err := decode(arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", arguments, got, err, want)
		}
	}
	for _, arguments := range []string{`{"jid":"x","limit":20}`, `{"jid":"x","limit":20.0,"q":null}`, `{"limit":2e1,"jid":"x"}`} {
		if got, err := decode(arguments); err != nil || got != (listMessages{inChat: inChat{JID: "x"}, paged: paged{Limit: 20}}) {
			t.Errorf("%s: %+v, %v", arguments, got, err)
		}
	}
}
