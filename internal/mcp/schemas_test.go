package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// The sentences with which APIs refuse a whole request because of one schema in it.
const (
	anthropicType    = "Anthropic: tools.0.custom.input_schema.type: Input should be 'object'"
	anthropicOneOf   = "Anthropic: input_schema does not support oneOf, allOf, or anyOf at the top level"
	anthropicKeys    = "Anthropic: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
	geminiEmpty      = "Gemini: parameters.properties: should be non-empty for OBJECT type"
	geminiEnum       = "Gemini: enum: only allowed for STRING type"
	geminiEnumEmpty  = "Gemini: enum[0]: cannot be empty"
	geminiKeyword    = "Gemini: Invalid JSON payload received. Unknown name %q: Cannot find field."
	geminiList       = `Gemini: Invalid JSON payload received. Unknown name "type": Proto field is not repeating, cannot start list.`
	geminiRequired   = "Gemini: required[0]: property is not defined"
	openAIItems      = "OpenAI: array schema missing items."
	openAIName       = "OpenAI: Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
	openAIProperties = "OpenAI: object schema missing properties."
	openAIType       = "OpenAI: schema must have a 'type' key."
)

// The names that all APIs take.
var (
	argumentName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	toolName     = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// refusals returns what the APIs of models say about the schema of a tool's arguments: OpenAI's function
// calling, also in strict mode as far as clients do not convert the schema for it, Gemini's subset of
// OpenAPI's schemas, and Anthropic's tools.
func refusals(schema any) (found []string) {
	object, ok := schema.(map[string]any)
	if !ok || object["type"] != "object" {
		found = append(found, anthropicType)
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		if object[keyword] != nil {
			found = append(found, anthropicOneOf)
		}
	}
	return append(found, refusalsWithin(schema)...)
}

func refusalsWithin(schema any) (found []string) {
	object, ok := schema.(map[string]any)
	if !ok || len(object) == 0 {
		return []string{openAIType}
	}
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains([]string{"type", "description", "properties", "required", "items", "enum", "minimum", "maximum"}, keyword) {
			found = append(found, fmt.Sprintf(geminiKeyword, keyword))
		}
	}
	kind, isText := object["type"].(string)
	switch {
	case object["type"] == nil:
		found = append(found, openAIType)
	case !isText:
		found = append(found, geminiList)
	}
	properties, given := object["properties"].(map[string]any)
	switch {
	case kind == "object" && !given:
		found = append(found, openAIProperties)
	case kind == "object" && len(properties) == 0:
		found = append(found, geminiEmpty)
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !argumentName.MatchString(name) {
			found = append(found, anthropicKeys)
		}
		found = append(found, refusalsWithin(properties[name])...)
	}
	required, _ := object["required"].([]any)
	for _, name := range required {
		if properties[name.(string)] == nil {
			found = append(found, geminiRequired)
		}
	}
	switch items := object["items"]; {
	case kind == "array" && items == nil:
		found = append(found, openAIItems)
	case items != nil:
		found = append(found, refusalsWithin(items)...)
	}
	enum, _ := object["enum"].([]any)
	for _, one := range enum {
		switch text, isText := one.(string); {
		case kind != "string" || !isText:
			found = append(found, geminiEnum)
		case text == "":
			found = append(found, geminiEnumEmpty)
		}
	}
	return found
}

// TestRefusals shows a schema for each sentence of the APIs.
func TestRefusals(t *testing.T) {
	property := func(schema string) string { return `{"type":"object","properties":{"x":` + schema + `}}` }
	unknown := func(keyword string) string { return fmt.Sprintf(geminiKeyword, keyword) }
	for schema, want := range map[string][]string{
		property(`{"type":"integer","minimum":1,"maximum":50,"description":"x"}`):              nil,
		property(`{"type":"array","items":{"type":"string"}}`):                                 nil,
		`{"type":"object","properties":{"x":{"type":"string","enum":["a"]}},"required":["x"]}`: nil,
		`{"type":"object"}`:                                                                   {openAIProperties},
		`{"type":"object","properties":{}}`:                                                   {geminiEmpty},
		`{"type":"object","properties":{"x y":{"type":"string"}}}`:                            {anthropicKeys},
		`{"type":"object","properties":{"x":{"type":"string"}},"required":["y"]}`:             {geminiRequired},
		`{"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":false}`: {unknown("additionalProperties")},
		`{"type":"object","properties":{"x":{"type":"string"}},"anyOf":[{"required":["x"]}]}`: {anthropicOneOf, unknown("anyOf")},
		`{"type":"string"}`:             {anthropicType},
		`{}`:                            {anthropicType, openAIType},
		property(`{}`):                  {openAIType},
		property(`true`):                {openAIType},
		property(`{"description":"x"}`): {openAIType},
		property(`{"type":["null","array"],"items":{"type":"string"}}`): {geminiList},
		property(`{"type":"array","items":{"type":["string","null"]}}`): {geminiList},
		property(`{"type":"array"}`):                                    {openAIItems},
		property(`{"type":"array","items":{}}`):                         {openAIType},
		property(`{"type":"object"}`):                                   {openAIProperties},
		property(`{"type":"string","const":"a"}`):                       {unknown("const")},
		property(`{"type":"string","format":"uri"}`):                    {unknown("format")},
		property(`{"type":"integer","default":5}`):                      {unknown("default")},
		property(`{"type":"integer","enum":[1]}`):                       {geminiEnum},
		property(`{"type":"string","enum":[""]}`):                       {geminiEnumEmpty},
		property(`{"$ref":"#/$defs/x"}`):                                {unknown("$ref"), openAIType},
		property(`{"anyOf":[{"type":"string"},{"type":"null"}]}`):       {unknown("anyOf"), openAIType},
	} {
		var decoded any
		if err := json.Unmarshal([]byte(schema), &decoded); err != nil {
			t.Fatal(err)
		}
		if got := refusals(decoded); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", schema, got, want)
		}
	}
}

// listedTool is a tool as clients get it.
type listedTool struct {
	Name, Description         string
	InputSchema, OutputSchema map[string]any
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + sessionless + `","io.modelcontextprotocol/clientCapabilities":{}}}}`

// listed returns the tools of an answer to listTools.
func listed(t *testing.T, answer []byte) []listedTool {
	t.Helper()
	var list struct{ Result struct{ Tools []listedTool } }
	if err := json.Unmarshal(answer, &list); err != nil {
		t.Fatalf("%v: %.500s", err, answer)
	}
	return list.Result.Tools
}

// TestTools_AreTakenByEveryModel holds the schemas of all tools, over HTTP and over standard input and
// output, to what the APIs of models take: clients pass schemas on as they are, and one that an API
// does not take makes it refuse each request.
func TestTools_AreTakenByEveryModel(t *testing.T) {
	t.Parallel()
	agents := New(Options{Client: client.InProcess(ordinary, ""), Send: true, Chats: []bridge.JID{testChat}, Log: zerolog.Nop()})
	running := httptest.NewServer(agents.Handler(t.Context()))
	defer running.Close()
	req := httptest.NewRequest("POST", Path, strings.NewReader(listTools))
	for header, value := range map[string]string{
		"Authorization": "Bearer x", "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": sessionless, "Mcp-Method": "tools/list",
	} {
		req.Header.Set(header, value)
	}
	w := httptest.NewRecorder()
	running.Config.Handler.ServeHTTP(w, req)
	var out bytes.Buffer
	if err := ServeStdio(t.Context(), running.URL, "x", io.NopCloser(strings.NewReader(listTools+"\n")), unclosed{&out}); err != nil {
		t.Fatal(err)
	}
	overHTTP, overStdio := listed(t, w.Body.Bytes()), listed(t, out.Bytes())
	if !reflect.DeepEqual(overHTTP, overStdio) {
		t.Errorf("the tools differ: %+v over HTTP, %+v over standard output", overHTTP, overStdio)
	}
	if len(overHTTP) != len(calls())+9 {
		t.Errorf("%d tools, want those that read, and 9 that send or change", len(overHTTP))
	}
	for _, tool := range overHTTP {
		if said := refusals(tool.InputSchema); said != nil {
			t.Errorf("%s is refused: %q", tool.Name, said)
		}
		if !toolName.MatchString(tool.Name) {
			t.Errorf("%s is refused: %s", tool.Name, openAIName)
		}
		if len(tool.Description) == 0 || len(tool.Description) > 1024 {
			t.Errorf("%s has a description of %d bytes; OpenAI takes 1024", tool.Name, len(tool.Description))
		}
		encoded, err := json.Marshal(tool.OutputSchema)
		var schema jsonschema.Schema
		if err == nil {
			err = json.Unmarshal(encoded, &schema)
		}
		if err == nil {
			_, err = schema.Resolve(nil)
		}
		if err != nil || schema.Type != "object" || len(schema.Properties) == 0 {
			t.Errorf("the schema of the answers of %s is not that of an object: %v %s", tool.Name, err, encoded)
		}
	}
}

// unclosed is a writer whose Close does nothing.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }
