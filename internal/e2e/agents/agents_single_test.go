package agents

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/agent"
)

func newSingle(s AgentScene, t *testing.T, capabilities string) Single {
	return Single{T: t, At: s.Address, Token: s.Token, Capabilities: capabilities}
}

// A client without sessions and handshake can do everything that others can, and
// its answers may not be cached for others.
func TestAgents_WithoutSessions(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t)
	c, sam := newSingle(s, t, `{}`), s.Sam.PN().String()

	if found := fmt.Sprint(c.Result("server/discover", "", nil)); !strings.Contains(found, WithoutSessions) || !strings.Contains(found, "untrusted") || strings.Contains(found, "listChanged:true") {
		t.Errorf("discovered %s", found)
	}
	for method, params := range map[string]Fields{
		"server/discover": nil, "tools/list": nil, "prompts/list": nil, "resources/list": nil, "resources/templates/list": nil, "resources/read": {"uri": "bridged://chats/" + sam},
	} {
		name, _ := params["uri"].(string)
		if result := c.Result(method, name, params); result["cacheScope"] != "private" || result["ttlMs"] != 0.0 || result["resultType"] != "complete" {
			t.Errorf("%s: %v, want it private", method, result)
		}
	}
	if text := TextOf(c.Call("list_chats", Fields{})); !strings.Contains(text, sam) || strings.Contains(text, "words of Kim") {
		t.Errorf("the chats are %s", text)
	}
	if prompt := fmt.Sprint(c.Result("prompts/get", "draft_reply", Fields{"name": "draft_reply", "arguments": Fields{"jid": sam}})); !strings.Contains(prompt, "untrusted") {
		t.Errorf("the prompt: %s", prompt)
	}
	for range 2 {
		c.Call("send_text", Fields{"arguments": Fields{"jid": sam, "text": "without a session", "idempotencyKey": "once"}})
	}
	c.Call("send_text", Fields{"arguments": Fields{"jid": sam, "text": "the last"}})
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
	if refused := c.Call("send_text", Fields{"arguments": Fields{"jid": s.Kim.PN().String(), "text": "no"}}); refused["isError"] != true || !strings.Contains(TextOf(refused), "there is no chat") {
		t.Errorf("outside: %v", refused)
	}
	// There are no changes to listen for.
	c.Result("subscriptions/listen", "", Fields{"notifications": Fields{"toolsListChanged": true}})
	for _, removed := range []string{"initialize", "ping", "resources/subscribe"} {
		if resp, answer := c.Ask(removed, "", Fields{"uri": "bridged://status", "protocolVersion": WithoutSessions, "capabilities": Fields{}, "clientInfo": Fields{"name": "x", "version": "1"}}); resp.StatusCode != http.StatusNotFound {
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
	arguments := func(text string) Fields { return Fields{"jid": s.Sam.PN().String(), "text": text} }
	asked := func(result Fields, text string) string {
		t.Helper()
		if state, _ := result["requestState"].(string); result["resultType"] == "input_required" && state != "" && strings.Contains(fmt.Sprint(result["inputRequests"]), text) {
			return state
		}
		t.Fatalf("not asked for %q: %v", text, result)
		return ""
	}
	state := asked(c.Call("send_text", Fields{"arguments": arguments("the words")}), "the words")
	says := func(text, state, action string) Fields {
		return c.Call("send_text", Fields{"arguments": arguments(text), "requestState": state, "inputResponses": Fields{"confirm": Fields{"action": action, "content": Fields{}}}})
	}
	asked(says("other words", state, "accept"), "other words")
	asked(says("the words", "made up", "accept"), "the words")
	for _, no := range []string{"decline", "cancel"} {
		if refused := says("the words", state, no); refused["isError"] != true || !strings.Contains(TextOf(refused), "did not confirm") {
			t.Errorf("%s: %v", no, refused)
		}
	}
	if sent := says("the words", state, "accept"); sent["isError"] == true || !strings.Contains(TextOf(sent), "msgId") {
		t.Errorf("confirmed: %v", sent)
	}
	Must(s.Sam.ReceivedText(Within(t), "the words"))(t)
	if len(s.Sam.Messages()) != 1 {
		t.Errorf("Sam got %v", s.Sam.Messages())
	}
	for _, capabilities := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
		mute := newSingle(s, t, capabilities)
		if refused := mute.Call("send_text", Fields{"arguments": arguments("x")}); refused["isError"] != true || !strings.Contains(TextOf(refused), "a client with elicitation") {
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
