package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bridged/internal/intake/intaketest"
	"bridged/internal/longtest"
)

// textCopies is what a text of a megabyte may allocate: the SDK decodes a message in several steps,
// each of which copies it.
const textCopies = 48 << 20

// A call of a tool allocates little memory, whatever its arguments contain. The same holds for
// messages that are not calls or not JSON.
func TestBodies_OfEveryToolHoldLittleMemory(t *testing.T) {
	post := newEndpoint(t)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	ask := func(method, name, params string) endpointAnswer {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":{%s%s}}`, method, meta, params)
		return post(body, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name)
	}
	var listed struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema struct {
					Properties map[string]struct{ Type string }
				}
			}
		}
	}
	if err := json.Unmarshal(ask("tools/list", "", "").Body.Bytes(), &listed); err != nil || len(listed.Result.Tools) < 10 {
		t.Fatalf("%d tools, %v", len(listed.Result.Tools), err)
	}
	for i, tool := range listed.Result.Tools {
		// The SDK and the decoder of arguments are the same for each tool, so only the first gets all bodies.
		kinds := []string{"empty objects as ", "a text of commas as "}
		if !longtest.Enabled() {
			kinds = kinds[i%2:][:1]
		}
		arguments := make(map[string]any)
		for name, property := range tool.InputSchema.Properties {
			arguments[name] = map[string]any{"integer": 1, "boolean": true, "array": []any{testChat}, "string": testChat}[property.Type]
		}
		legal, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range intaketest.Bodies(string(legal)) {
			if i > 0 && !slices.ContainsFunc(kinds, func(kind string) bool { return strings.Contains(body.Where, kind) }) {
				continue
			}
			intaketest.Check(t, tool.Name+" with "+body.Where, textCopies, func() int {
				return ask("tools/call", tool.Name, fmt.Sprintf(`,"name":%q,"arguments":%s`, tool.Name, body.Text)).Code
			})
		}
	}
	for _, method := range []string{"initialize", "resources/read", "prompts/get"} {
		for _, body := range intaketest.Bodies(`{"uri":"bridged://status","name":"catch_me_up","arguments":{"jid":"x"}}`) {
			intaketest.Check(t, method+" with "+body.Where, textCopies, func() int {
				return post(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":%s}`, method, body.Text)).Code
			})
		}
	}
	for _, body := range append(intaketest.Others(), intaketest.Typed{Name: "two calls", Type: "application/json", Text: `[{"jsonrpc":"2.0","method":"ping"}]`}) {
		intaketest.Check(t, body.Name, textCopies, func() int { return post(body.Text, "Content-Type", body.Type, "Content-Encoding", body.Encoding).Code })
	}
}
