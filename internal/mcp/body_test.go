package mcp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/client"
	"bridged/internal/fuzzbudget"
)

// largest is the size of the largest body that an endpoint of the tests takes, in
// bytes.
const largest = 1 << 20

// endpointAnswer is what an endpoint answers, with the bytes that it allocated for that.
type endpointAnswer struct {
	*httptest.ResponseRecorder
	took int
}

// newEndpoint returns a way to post to an endpoint over an API that knows each token, and
// answers nothing else.
func newEndpoint(t testing.TB) (post func(body string, headers ...string) endpointAnswer) {
	t.Helper()
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"name":"agent","scopes":["read","send"],"chats":["15550100301@s.whatsapp.net"]}`
		if r.URL.Path != "/api/token" {
			w.WriteHeader(http.StatusForbidden)
			answer = `{"error":"this is not open","code":"forbidden"}`
		}
		if _, err := io.WriteString(w, answer); err != nil {
			t.Error(err)
		}
	})
	s := New(Options{Client: client.InProcess(api, ""), Send: true, SendsPerMinute: 1000, Log: zerolog.Nop()})
	endpoint := s.Handler(t.Context())
	return func(body string, headers ...string) endpointAnswer {
		r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer x")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		endpoint.ServeHTTP(w, r)
		runtime.ReadMemStats(&after)
		return endpointAnswer{w, int(after.TotalAlloc - before.TotalAlloc)}
	}
}

// A call costs what it holds: before, 8 MiB of empty lists took 779 MB.
func TestBody_ACallCostsWhatItHolds(t *testing.T) {
	post := newEndpoint(t)
	began := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	id := began.Header().Get("Mcp-Session-Id")
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id)
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	ways := map[string]func(tool, arguments string) endpointAnswer{
		"in a session": func(tool, arguments string) endpointAnswer {
			return post(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments), "Mcp-Session-Id", id)
		},
		"without one": func(tool, arguments string) endpointAnswer {
			return post(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{%s,"name":%q,"arguments":%s}}`, meta, tool, arguments),
				"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
		},
	}
	fill := func(unit string, size int) string {
		return `{"q":[` + strings.TrimSuffix(strings.Repeat(unit, size/len(unit)), ",") + `]}`
	}
	file := fmt.Sprintf(`{"jid":"15550100301@s.whatsapp.net","type":"document","data":%q}`, strings.Repeat("QUFB", maxFile/3))
	for _, c := range []struct {
		name, tool, arguments, want string
		most                        int // bytes allocated
	}{
		{"lists beyond the body's limit", "list_chats", fill("[],", 8<<20), "larger than 1 MiB", 8 << 20},
		{"lists", "list_chats", fill("[],", largest-1000), "at most 2000 values", 8 << 20},
		{"objects", "list_chats", fill(`{"":0},`, largest-1000), "at most 2000 values", 8 << 20},
		{"depth", "list_chats", strings.Repeat(`{"q":`, 200) + "1" + strings.Repeat("}", 200), "32 deep", 1 << 20},
		{"one text", "list_chats", fmt.Sprintf(`{"nothing":%q}`, strings.Repeat("x", largest-1000)), "there is no argument", 48 << 20},
		{"a file", "send_file", file, "this is not open", 48 << 20},
		{"nothing", "status", `{}`, `"scopes"`, 1 << 20},
	} {
		for way, call := range ways {
			t.Run(c.name+" "+way, func(t *testing.T) {
				call("status", `{}`) // what is built once
				answer := call(c.tool, c.arguments)
				if body := answer.Body.String(); !strings.Contains(body, c.want) {
					t.Errorf("%d %.300s, want %q", answer.Code, body, c.want)
				}
				if t.Logf("%d KiB for arguments of %d KiB", answer.took>>10, len(c.arguments)>>10); answer.took > c.most {
					t.Errorf("allocated %d bytes, want at most %d", answer.took, c.most)
				}
			})
		}
	}
}

// Whatever is posted, in a session or without, is answered, and costs what it
// holds.
func FuzzMessage(f *testing.F) {
	post := newEndpoint(f)
	began := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	id := began.Header().Get("Mcp-Session-Id")
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	for _, params := range []string{
		`"name":"list_chats","arguments":{"limit":2e1,"q":"x"}`, `"name":"send_text","arguments":{"jid":"15550100301@s.whatsapp.net","text":"\ud800"},"inputResponses":{"confirm":{"action":"accept"}},"requestState":"x"`,
		`"name":"send_file","arguments":{"jid":"1@g.us","data":"====","type":"image"}`, `"name":"status"`, `"name":[[[[[]]]]]`,
	} {
		f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{`+meta+`,`+params+`}}`), "tools/call", "list_chats", false)
		f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{`+params+`}}`), "", "", true)
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{`+meta+`,"uri":"bridged://chats/%2e%2e"}}`), "resources/read", "bridged://chats/%2e%2e", false)
	f.Add([]byte(`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`), "", "", true)
	perMessage := fuzzbudget.Budget{Base: 4 << 20, PerByte: 256, Time: time.Second}
	f.Fuzz(func(t *testing.T, body []byte, method, name string, inSession bool) {
		headers := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name}
		if inSession {
			headers = []string{"Mcp-Session-Id", id}
			if bytes.Contains(body, []byte("wait_for_messages")) {
				return
			}
		}
		perMessage.Check(t, len(body), func() {
			if answer := post(string(body), headers...); answer.Code >= 500 || answer.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%q: %d %v", body, answer.Code, answer.Header())
			}
		})
	})
}
