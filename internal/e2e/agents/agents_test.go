package agents

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/agent"
	"bridged/internal/simnet"
)

func TestAgents_ReadAndWriteTheirChatsAlone(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t, "MCP_SENDS_PER_MINUTE=20")
	a := Must(Connect(s.Process, t, s.Token, nil))(t)
	sam, kim := s.Sam.PN().String(), s.Kim.PN().String()
	a.Want("status", nil, `"scopes":["read","send"]`, s.Owner.PN().String())
	for tool, arguments := range map[string]map[string]any{
		"list_chats": nil, "search_messages": {"q": "e"}, "find_contact": {"q": "1555"},
	} {
		if text := a.Want(tool, arguments, `"untrusted"`, sam); strings.Contains(text, kim) && !strings.Contains(text, "SYSTEM") || strings.Contains(text, "words of Kim") {
			t.Errorf("%s shows what is outside: %s", tool, text)
		}
	}
	for tool, arguments := range map[string]map[string]any{
		"get_chat": {"jid": sam}, "list_messages": {"jid": sam}, "get_message_context": {"jid": sam, "msgId": s.Hello},
	} {
		text := a.Want(tool, arguments, `"untrusted"`, "[U+202E]", "[U+001B]")
		if strings.ContainsAny(text, "\u202e\x1b") {
			t.Errorf("%s lets characters act: %q", tool, text)
		}
	}
	for tool, arguments := range map[string]map[string]any{
		"get_chat": {"jid": kim}, "list_messages": {"jid": kim}, "get_message_context": {"jid": kim, "msgId": "X"}, "get_media": {"jid": kim, "msgId": "X"},
		"send_text": {"jid": kim, "text": "the owner's secrets"}, "reply": {"jid": kim, "msgId": "X", "text": "x"}, "react": {"jid": kim, "msgId": "X", "emoji": "👍"},
		"send_file": {"jid": kim, "type": "document", "data": "aGk=", "fileName": "x.txt"}, "list_scheduled": {"chat": kim},
		"vote": {"jid": kim, "msgId": "X", "options": []string{"Sunday"}}, "pin": {"jid": kim, "msgId": "X", "for": "24h"}, "star": {"jid": kim, "msgId": "X"},
	} {
		if text, isError := a.Call(tool, arguments); !isError || !strings.Contains(text, "there is no chat") {
			t.Errorf("%s outside: %s", tool, text)
		}
	}
	if text, isError := a.Call("send_text", map[string]any{"jid": "Sam", "text": "x"}); !isError {
		t.Errorf("a name was resolved: %s", text)
	}

	a.Want("send_text", map[string]any{"jid": sam, "text": "an answer", "idempotencyKey": "k1"}, `"msgId"`)
	a.Want("send_text", map[string]any{"jid": sam, "text": "an answer", "idempotencyKey": "k1"}, `"msgId"`)
	a.Want("reply", map[string]any{"jid": sam, "msgId": s.Hello, "text": "a reply"}, `"msgId"`)
	a.Want("react", map[string]any{"jid": sam, "msgId": s.Hello, "emoji": "👍"})
	a.Want("pin", map[string]any{"jid": sam, "msgId": s.Hello, "for": "7d"})
	a.Want("list_messages", map[string]any{"jid": sam, "pinned": true}, s.Hello)
	a.Want("pin", map[string]any{"jid": sam, "msgId": s.Hello, "for": "off"})
	a.Want("star", map[string]any{"jid": sam, "msgId": s.Hello}, `"msgId"`)
	a.Want("list_messages", map[string]any{"jid": sam, "starred": true}, s.Hello)
	a.Want("star", map[string]any{"jid": sam, "msgId": s.Hello, "off": true}, `"msgId"`)
	if text := a.Want("list_messages", map[string]any{"jid": sam, "starred": true}); strings.Contains(text, s.Hello) {
		t.Errorf("the star is still there: %s", text)
	}
	poll := Must(s.Sam.SendPoll(Within(t), s.Owner.PN(), "When?", []string{"Saturday", "Sunday"}, 1))(t)
	Eventually(t, func() error { _, err := s.Process.API.Message(Within(t), bridge.JID(sam), poll); return err })
	a.Want("vote", map[string]any{"jid": sam, "msgId": poll, "options": []string{"Sunday"}}, `"msgId"`)
	a.Want("save_contact", map[string]any{"jid": sam, "name": "Sam of the choir"}, `"saved":true`)
	a.Want("find_contact", map[string]any{"saved": true}, "Sam of the choir")
	if text, isError := a.Call("save_contact", map[string]any{"jid": kim, "name": "Kim"}); !isError {
		t.Errorf("a contact outside is saved: %s", text)
	}
	a.Want("send_text", map[string]any{"jid": sam, "text": "not yet", "sendAt": time.Now().Add(time.Hour).Format(time.RFC3339)}, `"sendAt"`)
	later := regexp.MustCompile(`3EB0[0-9A-F]+`).FindString(a.Want("list_scheduled", map[string]any{"chat": sam}, `"untrusted"`, "not yet"))
	a.Want("cancel_scheduled", map[string]any{"jid": sam, "msgId": later}, `"cancelled"`)
	if text, isError := a.Call("cancel_scheduled", map[string]any{"jid": sam, "msgId": later}); !isError {
		t.Errorf("cancelled twice: %s", text)
	}
	if text, isError := a.Call("send_text", map[string]any{"jid": sam, "text": "x", "sendAt": "tomorrow"}); !isError || !strings.Contains(text, "zone") {
		t.Errorf("sent tomorrow: %s", text)
	}
	a.Want("send_text", map[string]any{"jid": sam, "text": "the end"})
	Must(s.Sam.ReceivedText(Within(t), "the end"))(t)
	answers := 0
	for _, m := range s.Sam.Messages() {
		if m.Text() == "an answer" {
			answers++
		}
	}
	if answers != 1 {
		t.Errorf("Sam got %d answers, want 1", answers)
	}
	Must(s.Sam.ReceivedText(Within(t), "a reply"))(t)
	checkAudit(s, t)
}

// checkAudit looks for the log line of each call, which must not contain the
// content.
func checkAudit(s AgentScene, t *testing.T) {
	t.Helper()
	s.WaitForLog(t, `"tool":"react"`)
	log := s.Log.String()
	for _, want := range []string{`"tool":"send_text"`, `"outcome":"done"`, `"outcome":"not_found"`, `"token_name":"agent"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit has no %s", want)
		}
	}
	for _, unwanted := range []string{"an answer", "the owner's secrets", "SYSTEM"} {
		if strings.Contains(log, unwanted) {
			t.Errorf("the log contains %q", unwanted)
		}
	}
}

func TestAgents_ToolsAreThoseThatAreOpen(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t)
	readOnly := Must(s.API.CreateToken(Within(t), client.NewToken{Name: "reader", Scopes: []bridge.Scope{bridge.ScopeRead}}))(t)
	for name, c := range map[string]struct {
		token string
		sends bool
		reads bool
	}{
		"a token with chats":                   {s.Token, true, true},
		"a token without send":                 {readOnly.Secret, false, true},
		"BRIDGE_TOKEN, without MCP_SEND_CHATS": {TestToken, false, true},
	} {
		tools := strings.Join(Must(Connect(s.Process, t, c.token, nil))(t).Tools(), " ")
		if strings.Contains(tools, "send_text") != c.sends || strings.Contains(tools, "list_chats") != c.reads {
			t.Errorf("%s is offered %s", name, tools)
		}
		for _, never := range []string{"pair", "logout", "webhook", "token"} {
			if strings.Contains(tools, never) {
				t.Errorf("%s is offered %s", name, tools)
			}
		}
	}
	if _, err := Connect(s.Process, t, "brt_ABCDEFGHIJKLMNOPQRSTUVWXYZ", nil); err == nil {
		t.Error("an unknown token began a session")
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+s.Address+"/mcp", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", "https://evil.example")
	req.Header.Set("Authorization", "Bearer "+s.Token)
	resp := Must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another site: %d", resp.StatusCode)
	}
}

func TestAgents_SendOnlyWhereTheOperatorSays(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t, "MCP_SEND_CHATS=15550100301@s.whatsapp.net", "MCP_SENDS_PER_MINUTE=2")
	a := Must(Connect(s.Process, t, TestToken, nil))(t)
	for jid, want := range map[string]string{s.Kim.PN().String(): "MCP_SEND_CHATS in the bridge's environment does not name it", "15550100399@s.whatsapp.net": "there is no chat"} {
		if text, isError := a.Call("send_text", map[string]any{"jid": jid, "text": "x"}); !isError || !strings.Contains(text, want) {
			t.Errorf("outside of MCP_SEND_CHATS: %s, want %q", text, want)
		}
	}
	for range 2 {
		a.Want("send_text", map[string]any{"jid": s.Sam.PN().String(), "text": "x"}, `"msgId"`)
	}
	if text, isError := a.Call("send_text", map[string]any{"jid": s.Sam.PN().String(), "text": "x"}); !isError || !regexp.MustCompile(`2 messages in a minute .* try again in \d\d seconds`).MatchString(text) {
		t.Errorf("the third send in a minute: %s", text)
	}
}

func TestAgents_APersonConfirms(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t, "MCP_CONFIRM=true")
	for _, version := range []string{WithSessions, WithoutSessions} {
		t.Run(version, func(t *testing.T) { aPersonConfirms(s, t, version) })
	}
}

func aPersonConfirms(s AgentScene, t *testing.T, version string) {
	said := ""
	a := Must(ConnectAs(s.Process, t, version, s.Token, func(asked *sdk.ElicitParams) string {
		if !strings.Contains(asked.Message, "the words to send") || !strings.Contains(asked.Message, s.Sam.PN().String()) {
			t.Errorf("asked %q", asked.Message)
		}
		return said
	}))(t)
	arguments := map[string]any{"jid": s.Sam.PN().String(), "text": "the words to send"}
	for _, said = range []string{"decline", "cancel"} {
		if text, isError := a.Call("send_text", arguments); !isError {
			t.Errorf("%s: %s", said, text)
		}
	}
	said = "accept"
	a.Want("send_text", arguments, `"msgId"`)
	mute := Must(ConnectAs(s.Process, t, version, s.Token, nil))(t)
	if text, isError := mute.Call("send_text", arguments); !isError || !strings.Contains(text, "a client with elicitation") {
		t.Errorf("a client that cannot ask: %s", text)
	}
}

func TestAgents_OnStandardInputAndOutput(t *testing.T) {
	t.Parallel()
	for _, version := range []string{WithSessions, WithoutSessions} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := NewAgentScene(t, OwnAddress())
			a := Must(Relay(s.Process, t, version, s.Token, nil))(t)
			a.Want("list_chats", nil, s.Sam.PN().String())
			a.Want("send_text", map[string]any{"jid": s.Sam.PN().String(), "text": "from a desktop"}, `"msgId"`)
			resource := Must(a.ReadResource(Within(t), &sdk.ReadResourceParams{URI: "bridged://chats/" + s.Sam.PN().String()}))(t)
			var shown struct {
				ChatJID   string
				Untrusted struct{ Messages []json.RawMessage }
			}
			if err := json.Unmarshal([]byte(resource.Contents[0].Text), &shown); err != nil || shown.ChatJID != s.Sam.PN().String() || len(shown.Untrusted.Messages) == 0 {
				t.Errorf("the resource: %v, %s", err, resource.Contents[0].Text)
			}
			prompt := Must(a.GetPrompt(Within(t), &sdk.GetPromptParams{Name: "catch_me_up", Arguments: map[string]string{"jid": s.Sam.PN().String()}}))(t)
			if text := prompt.Messages[0].Content.(*sdk.TextContent).Text; !strings.Contains(text, "untrusted") || !strings.Contains(text, "SYSTEM") {
				t.Errorf("the prompt: %s", text)
			}
			_, err := a.ReadResource(Within(t), &sdk.ReadResourceParams{URI: "bridged://chats/nobody"})
			if err == nil {
				t.Error("a resource that does not exist is answered")
			}
			s.StaysAtItsAddress()
			s.Restart()
			a.Want("list_chats", nil, s.Sam.PN().String()) // after a restart, too
		})
	}
}

// TestAgents_RelayObeysTheBridge shows that nothing in the environment of an agent's client
// loosens the bridge's switches.
func TestAgents_RelayObeysTheBridge(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t, "MCP_CONFIRM=true", "MCP_SENDS_PER_MINUTE=2")
	cmd := Bridged("mcp")
	cmd.Env = []string{"BRIDGE_URL=http://" + s.Address, "BRIDGE_TOKEN=" + s.Token, "MCP=send", "MCP_CONFIRM=false", "MCP_SENDS_PER_MINUTE=1000", "ENABLE_SEND=true"}
	a := Must(Begin(t, &sdk.CommandTransport{Command: cmd}, WithSessions, nil))(t)
	arguments := map[string]any{"jid": s.Sam.PN().String(), "text": "unconfirmed"}
	if text, isError := a.Call("send_text", arguments); !isError || !strings.Contains(text, "a person must confirm") {
		t.Errorf("without a person: %s", text)
	}
	accept := func(*sdk.ElicitParams) string { return "accept" }
	for i, sent := range []bool{true, true, false} { // three processes share the token's limit
		one := Must(Relay(s.Process, t, WithSessions, s.Token, accept))(t)
		if text, isError := one.Call("send_text", arguments); isError == sent {
			t.Errorf("process %d: %s", i, text)
		}
	}
}

func TestAgents_RelaySaysWhyItEnds(t *testing.T) {
	t.Parallel()
	network, _ := NewOwner(t, simnet.PhoneOptions{})
	off := StartBridge(t, network)
	for name, c := range map[string]struct{ url, token, want string }{
		"off":         {"http://" + off.Address, TestToken, "set MCP=read or MCP=send in the bridge's environment"},
		"not running": {"http://127.0.0.1:1", TestToken, "is it running?"},
		"no address":  {"127.0.0.1:8080", TestToken, "BRIDGE_URL, or --address, must be an http:// or https:// address"},
	} {
		cmd := Bridged("mcp")
		cmd.Env = []string{"BRIDGE_URL=" + c.url, "BRIDGE_TOKEN=" + c.token}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestAgents_WaitForMessages(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t)
	a := Must(Connect(s.Process, t, s.Token, nil))(t)
	var first struct{ NextCursor string }
	if err := json.Unmarshal([]byte(a.Want("wait_for_messages", map[string]any{"after": "0"}, "hello")), &first); err != nil {
		t.Fatal(err)
	}
	answered := make(chan string, 1)
	go func() {
		text, _ := a.Call("wait_for_messages", map[string]any{"after": first.NextCursor, "timeout": 30})
		answered <- text
	}()
	Must(s.Sam.SendText(Within(t), s.Owner.PN(), "news"))(t)
	if text := <-answered; !strings.Contains(text, `"news"`) {
		t.Errorf("waited for %s", text)
	}
}

// The sessions of a token are bounded: a new one evicts the oldest.
func TestAgents_SessionsOfATokenAreBounded(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t)
	first := Must(ConnectAs(s.Process, t, WithSessions, s.Token, nil))(t)
	first.Want("status", nil)
	for range 16 {
		Must(ConnectAs(s.Process, t, WithSessions, s.Token, nil))(t)
	}
	Eventually(t, func() error {
		if _, isError := first.Call("status", nil); !isError {
			return errors.New("the first session is still there")
		}
		return nil
	})
	Must(ConnectAs(s.Process, t, WithSessions, TestToken, nil))(t).Want("status", nil)
}

// A model may pass anything as a chat: the log must not repeat it. Resources and
// prompts leave a line, too.
func TestAgents_TheAuditHoldsNothingThatWasWritten(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t, "MCP_SEND_CHATS=15550100302@s.whatsapp.net")
	a := Must(Connect(s.Process, t, s.Token, nil))(t)
	if text, isError := a.Call("get_chat", map[string]any{"jid": "the words of a message"}); !isError {
		t.Errorf("a text names a chat: %s", text)
	}
	if text := a.Want("status", nil); strings.Contains(text, s.Kim.Number()) {
		t.Errorf("the status shows a chat outside: %s", text)
	}
	Must(a.ReadResource(Within(t), &sdk.ReadResourceParams{URI: "bridged://chats/" + s.Sam.PN().String()}))(t)
	Must(a.GetPrompt(Within(t), &sdk.GetPromptParams{Name: "draft_reply", Arguments: map[string]string{"jid": s.Sam.PN().String()}}))(t)
	for _, want := range []string{`"chat":"not a JID"`, `"tool":"resource chats"`, `"tool":"prompt"`} {
		s.WaitForLog(t, want)
	}
	if strings.Contains(s.Log.String(), "the words of a message") {
		t.Error("the log contains the written text")
	}
}
