package agents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/agent"
)

// single is a client that speaks only the protocol of 2026-07-28, over plain HTTP:
// there is no session, and each request states the client's capabilities.
type single struct {
	t            *testing.T
	at, token    string
	capabilities string
}

// fields is a JSON object.
type fields = map[string]any

// ask makes one request and returns its HTTP and JSON-RPC answers.
func (c single) ask(method, name string, params fields) (*http.Response, fields) {
	c.t.Helper()
	if params == nil {
		params = fields{}
	}
	params["_meta"] = fields{
		"io.modelcontextprotocol/protocolVersion": WithoutSessions, "io.modelcontextprotocol/clientCapabilities": json.RawMessage(c.capabilities),
		"io.modelcontextprotocol/clientInfo": fields{"name": "single", "version": "1"},
	}
	body := Must(json.Marshal(fields{"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))(c.t)
	req := Must(http.NewRequestWithContext(Within(c.t), http.MethodPost, "http://"+c.at+"/mcp", bytes.NewReader(body)))(c.t)
	for header, value := range map[string]string{
		"Authorization": "Bearer " + c.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": WithoutSessions, "Mcp-Method": method, "Mcp-Name": name,
	} {
		if value != "" {
			req.Header.Set(header, value)
		}
	}
	resp := Must(http.DefaultClient.Do(req))(c.t)
	defer resp.Body.Close()
	data := Must(io.ReadAll(resp.Body))(c.t)
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		data = lastEvent(data)
	}
	var answer fields
	if err := json.Unmarshal(data, &answer); err != nil {
		c.t.Fatalf("%s: %d %s: %v", method, resp.StatusCode, data, err)
	}
	if resp.Header.Get("Mcp-Session-Id") != "" || resp.Header.Get("Cache-Control") != "no-store" {
		c.t.Errorf("%s: headers %v", method, resp.Header)
	}
	return resp, answer
}

// lastEvent returns the data of a stream's last event, which is the answer.
func lastEvent(stream []byte) []byte {
	_, data, _ := bytes.Cut(stream[bytes.LastIndex(stream, []byte("event: message")):], []byte("data: "))
	return bytes.TrimSpace(data)
}

// result returns the result of a request, which must succeed.
func (c single) result(method, name string, params fields) fields {
	c.t.Helper()
	resp, answer := c.ask(method, name, params)
	result, ok := answer["result"].(fields)
	if resp.StatusCode != http.StatusOK || !ok {
		c.t.Fatalf("%s: %d %v", method, resp.StatusCode, answer)
	}
	return result
}

func (c single) call(tool string, params fields) fields {
	c.t.Helper()
	params["name"] = tool
	return c.result("tools/call", tool, params)
}

func newSingle(s AgentScene, t *testing.T, capabilities string) single {
	return single{t: t, at: s.Address, token: s.Token, capabilities: capabilities}
}

// textOf returns the first text of a tool's answer.
func textOf(result fields) string {
	return result["content"].([]any)[0].(fields)["text"].(string)
}

// A client without sessions and handshake can do everything that others can, and
// its answers may not be cached for others.
func TestAgents_WithoutSessions(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t)
	c, sam := newSingle(s, t, `{}`), s.Sam.PN().String()

	if found := fmt.Sprint(c.result("server/discover", "", nil)); !strings.Contains(found, WithoutSessions) || !strings.Contains(found, "untrusted") || strings.Contains(found, "listChanged:true") {
		t.Errorf("discovered %s", found)
	}
	for method, params := range map[string]fields{
		"server/discover": nil, "tools/list": nil, "prompts/list": nil, "resources/list": nil, "resources/templates/list": nil, "resources/read": {"uri": "bridged://chats/" + sam},
	} {
		name, _ := params["uri"].(string)
		if result := c.result(method, name, params); result["cacheScope"] != "private" || result["ttlMs"] != 0.0 || result["resultType"] != "complete" {
			t.Errorf("%s: %v, want it private", method, result)
		}
	}
	if text := textOf(c.call("list_chats", fields{})); !strings.Contains(text, sam) || strings.Contains(text, "words of Kim") {
		t.Errorf("the chats are %s", text)
	}
	if prompt := fmt.Sprint(c.result("prompts/get", "draft_reply", fields{"name": "draft_reply", "arguments": fields{"jid": sam}})); !strings.Contains(prompt, "untrusted") {
		t.Errorf("the prompt: %s", prompt)
	}
	for range 2 {
		c.call("send_text", fields{"arguments": fields{"jid": sam, "text": "without a session", "idempotencyKey": "once"}})
	}
	c.call("send_text", fields{"arguments": fields{"jid": sam, "text": "the last"}})
	Must(s.Sam.ReceivedText(Within(t), "the last"))(t)
	count := 0
	for _, m := range s.Sam.Messages() {
		if m.Text() == "without a session" {
			count++
		}
	}
	if count != 1 {
		t.Errorf("sent %d times, want once", count)
	}
	if refused := c.call("send_text", fields{"arguments": fields{"jid": s.Kim.PN().String(), "text": "no"}}); refused["isError"] != true || !strings.Contains(textOf(refused), "there is no chat") {
		t.Errorf("outside: %v", refused)
	}
	// There are no changes to listen for.
	c.result("subscriptions/listen", "", fields{"notifications": fields{"toolsListChanged": true}})
	for _, removed := range []string{"initialize", "ping", "resources/subscribe"} {
		if resp, answer := c.ask(removed, "", fields{"uri": "bridged://status", "protocolVersion": WithoutSessions, "capabilities": fields{}, "clientInfo": fields{"name": "x", "version": "1"}}); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d %v", removed, resp.StatusCode, answer)
		}
	}
	req := Must(http.NewRequest(http.MethodPost, "http://"+s.Address+"/mcp", strings.NewReader("{}")))(t)
	req.Header.Set("Authorization", "Bearer brt_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	req.Header.Set("Mcp-Protocol-Version", WithoutSessions)
	resp := Must(http.DefaultClient.Do(req))(t)
	if resp.Body.Close(); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", resp.StatusCode)
	}
}

// A person confirms sends of such a client, too: the answer is the question, and
// the repeated call carries the person's decision.
func TestAgents_WithoutSessionsAPersonConfirms(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t, "MCP_CONFIRM=true")
	c := newSingle(s, t, `{"elicitation":{"form":{}}}`)
	arguments := func(text string) fields { return fields{"jid": s.Sam.PN().String(), "text": text} }
	asked := func(result fields, text string) string {
		t.Helper()
		if state, _ := result["requestState"].(string); result["resultType"] == "input_required" && state != "" && strings.Contains(fmt.Sprint(result["inputRequests"]), text) {
			return state
		}
		t.Fatalf("not asked for %q: %v", text, result)
		return ""
	}
	state := asked(c.call("send_text", fields{"arguments": arguments("the words")}), "the words")
	says := func(text, state, action string) fields {
		return c.call("send_text", fields{"arguments": arguments(text), "requestState": state, "inputResponses": fields{"confirm": fields{"action": action, "content": fields{}}}})
	}
	asked(says("other words", state, "accept"), "other words")
	asked(says("the words", "made up", "accept"), "the words")
	for _, no := range []string{"decline", "cancel"} {
		if refused := says("the words", state, no); refused["isError"] != true || !strings.Contains(textOf(refused), "did not confirm") {
			t.Errorf("%s: %v", no, refused)
		}
	}
	if sent := says("the words", state, "accept"); sent["isError"] == true || !strings.Contains(textOf(sent), "msgId") {
		t.Errorf("confirmed: %v", sent)
	}
	Must(s.Sam.ReceivedText(Within(t), "the words"))(t)
	if len(s.Sam.Messages()) != 1 {
		t.Errorf("Sam got %v", s.Sam.Messages())
	}
	for _, capabilities := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
		mute := newSingle(s, t, capabilities)
		if refused := mute.call("send_text", fields{"arguments": arguments("x")}); refused["isError"] != true || !strings.Contains(textOf(refused), "a client with elicitation") {
			t.Errorf("a client that cannot ask (%s): %v", capabilities, refused)
		}
	}
}

// After a call in chunks the connection ends, in every version of the protocol:
// further requests on it would go unchecked.
func TestAgents_NothingFollowsChunks(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t)
	const begun = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for name, token := range map[string]string{"a token": s.Token, "a stranger": "brt_ABCDEFGHIJKLMNOPQRSTUVWXYZ"} {
		conn := Must(net.Dial("tcp", s.Address))(t)
		defer conn.Close()
		head := "POST /mcp HTTP/1.1\r\nHost: " + s.Address + "\r\nAuthorization: Bearer " + token +
			"\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\n"
		second := head + strings.Repeat("A:\r\n", 200) + "Content-Length: 5\r\n\r\n0\r\n\r\n"
		Must(io.WriteString(conn, fmt.Sprintf("%s\r\n%x\r\n%s\r\n0\r\n\r\n%s", head, len(begun), begun, second)))(t)
		answers := Must(io.ReadAll(bufio.NewReader(conn)))(t)
		if strings.Count(string(answers), "HTTP/1.1 ") != 1 || !strings.Contains(string(answers), "Connection: close") {
			t.Errorf("%s: %s", name, answers)
		}
	}
}
