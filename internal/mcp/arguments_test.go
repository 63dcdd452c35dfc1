package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

// Arguments that their schema refuses are refused with what to change, and those
// that models write in their own way are understood.
func TestArguments_AreCheckedAsTheirSchemaSays(t *testing.T) {
	schema := schemaOf[listMessages]()
	for arguments, want := range map[string]string{
		`{}`: "jid is missing", ``: "jid is missing", `null`: "jid is missing", `{"jid":"x","chat":"y"}`: `no argument "chat"`, `{"JID":"x"}`: `no argument "JID"`, `[]`: "must be an object", `"x"`: "must be an object",
		`{"jid":5}`: "jid must be a text, not a JSON number", `{"jid":"x","limit":"many"}`: "no whole number", `{"jid":"x","limit":2.5}`: "no whole number",
		`{"jid":"x","limit":1e300}`: "no whole number", `{"jid":"x"`: "not valid JSON", `{"jid":"x","since":{"a":1}}`: "since must be a text, not a JSON object",
	} {
		if got, err := decodeArguments[listMessages](json.RawMessage(arguments), schema); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", arguments, got, err, want)
		}
	}
	for _, arguments := range []string{`{"jid":"x","limit":20}`, `{"jid":"x","limit":20.0,"q":null}`, `{"limit":2e1,"jid":"x"}`} {
		if got, err := decodeArguments[listMessages](json.RawMessage(arguments), schema); err != nil || got != (listMessages{inChat: inChat{JID: "x"}, Limit: 20}) {
			t.Errorf("%s: %+v, %v", arguments, got, err)
		}
	}
}
