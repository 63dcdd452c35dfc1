package mcp

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
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
		`{}`: "jid is missing", ``: "jid is missing", `null`: "jid is missing", `[]`: "must be an object", `"x"`: "must be an object",
		`{"jid":"x","chat":"y"}`: `no argument "chat": the arguments are jid, since, until, q, sender, type, pinned, starred, order, limit, cursor`,
		`{"JID":"x"}`:            `no argument "JID": did you mean jid?`, `{"jid":"x","limti":1}`: "did you mean limit?", `{"x":1}`: "the arguments are",
		`{"jid":5}`: "jid must be a text, not a JSON number", `{"jid":"x","limit":"many"}`: `limit: "many" is not a whole number`, `{"jid":"x","limit":2.5}`: "limit: 2.5 is not a whole number",
		`{"jid":"x","limit":1e300}`: "limit must be between 1 and 50", `{"jid":"x","limit":0}`: "limit must be between 1 and 50", `{"jid":"x","limit":51}`: "limit must be between 1 and 50", `{"jid":"x","order":"up"}`: "order must be one of desc asc", `{"jid":"x"`: "not valid JSON", `{"jid":"x","since":{"a":1}}`: "since must be a text, not a JSON object",
		`{"jid":"x","limit":"51"}`: "limit must be between 1 and 50", `{"jid":"x","limit":""}`: "not a whole number", `{"jid":"x","limit":"0x5"}`: "not a whole number", `{"jid":"x","limit":true}`: "limit: true is not a whole number",
	} {
		if got, err := decode(arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", arguments, got, err, want)
		}
	}
	for _, arguments := range []string{`{"jid":"x","limit":20}`, `{"jid":"x","limit":20.0,"q":null}`, `{"limit":2e1,"jid":"x"}`, `{"limit":"20","jid":"x"}`, `{"limit":" 20.0 ","jid":"x"}`} {
		if got, err := decode(arguments); err != nil || got != (listMessages{inChat: inChat{JID: "x"}, paged: paged{Limit: 20}}) {
			t.Errorf("%s: %+v, %v", arguments, got, err)
		}
	}
}

func TestArguments_TextsAreReadAsTheirType(t *testing.T) {
	for arguments, want := range map[string]*bool{`{"unread":"true"}`: new(true), `{"unread":"False"}`: new(false), `{"unread":true}`: new(true), `{"unread":null}`: nil} {
		var in listChats
		if err := decodeArguments(json.RawMessage(arguments), argumentsOf(reflect.TypeFor[listChats]()), &in); err != nil || !reflect.DeepEqual(in.Unread, want) {
			t.Errorf("%s: %v, %v", arguments, in.Unread, err)
		}
	}
	const one, other = testChat, bridge.JID("120363025246125486@g.us")
	wait := argumentsOf(reflect.TypeFor[waitForMessages]())
	for chats, want := range map[string][]bridge.JID{
		`"` + string(one) + `"`: {one}, `["` + string(one) + `"]`: {one}, `[]`: {}, `null`: nil,
		`"[\"` + string(one) + `\", \"` + string(other) + `\"]"`: {one, other}, `"[]"`: {},
	} {
		var in waitForMessages
		if err := decodeArguments(json.RawMessage(`{"chats":`+chats+`}`), wait, &in); err != nil || !slices.Equal(in.Chats, want) {
			t.Errorf("%s: %v, %v, want %v", chats, in.Chats, err, want)
		}
	}
	for _, chats := range []string{`""`, `"a@g.us,b@g.us"`, `"a@g.us b@g.us"`, `"[1]"`, `"[\"a\""`, `5`, `{}`} {
		if err := decodeArguments(json.RawMessage(`{"chats":`+chats+`}`), wait, new(waitForMessages)); err == nil || !strings.Contains(err.Error(), "chats must be a list") {
			t.Errorf("%s: %v", chats, err)
		}
	}
	if err := decodeArguments(json.RawMessage(`{"unread":"yes"}`), argumentsOf(reflect.TypeFor[listChats]()), new(listChats)); err == nil || !strings.Contains(err.Error(), "unread must be true or false") {
		t.Error(err)
	}
}

// A tool that needs no arguments ignores what models invent for it.
func TestArguments_StatusIgnoresUnknownOnes(t *testing.T) {
	call := toolsOver(t, ordinary)
	want := call("tools/call", "status", map[string]any{"name": "status"})
	for _, arguments := range []map[string]any{{}, {"random_string": "x", "LIMIT": -5}, {"limit": "1", "dummy": map[string]any{"a": []int{1}}}, {"limit": nil}} {
		if got := call("tools/call", "status", map[string]any{"name": "status", "arguments": arguments}); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %v, want %v", arguments, got, want)
		}
	}
	if got := call("tools/call", "status", map[string]any{"name": "status", "arguments": map[string]any{"limit": 0}}); got["isError"] != true {
		t.Errorf("no chats at all: %v", got)
	}
}

// fitting ends although its source never returns fewer entries.
func TestFitting_Ends(t *testing.T) {
	long := &messagesAnswer{}
	for range 50 {
		long.Untrusted.Messages = append(long.Untrusted.Messages, messageView{Text: strings.Repeat("x", 1000)})
	}
	asked := []int{}
	if _, err := fitting(50, func(most int) (*messagesAnswer, int, error) {
		asked = append(asked, most)
		return long, 50, nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(asked) > maxTries+2 || asked[len(asked)-1] != 1 {
		t.Errorf("asked for %v entries", asked)
	}
}
