package agents

import (
	"context"
	"errors"
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

// A person who is asked sees names, the message that is answered and the file's name.
func TestAgents_QuestionsCanBeJudged(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t, "MCP_CONFIRM=true")
	asked := ""
	a := Must(Connect(s.Process, t, s.Token, func(q *sdk.ElicitParams) string { asked = q.Message; return "decline" }))(t)
	sam := s.Sam.PN().String()
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      []string
	}{
		{"send_text", map[string]any{"text": "the words"}, []string{"Send this text to “Sam” (" + sam + ")?", "\n\nthe words"}},
		{"reply", map[string]any{"msgId": s.Hello, "text": "the words"}, []string{"this reply to “Sam”", "the message of “Sam” (" + sam + "): “hello [U+202E]kcatta", "the words"}},
		{"react", map[string]any{"msgId": s.Hello, "emoji": "👍"}, []string{"the reaction 👍 to “Sam”", "“hello [U+202E]kcatta"}},
		{"pin", map[string]any{"msgId": s.Hello, "for": "30d"}, []string{"Pin a message for 30d in “Sam” (" + sam + ")?", "“hello [U+202E]kcatta"}},
		{"star", map[string]any{"msgId": s.Hello}, []string{"Star a message in “Sam” (" + sam + ")?", "“hello [U+202E]kcatta"}},
		{"star", map[string]any{"msgId": s.Hello, "off": true}, []string{"Remove the star of a message in “Sam” (" + sam + ")?"}},
		{"save_contact", map[string]any{"name": "Sam K."}, []string{"Save the name “Sam K.” in the address book for “Sam” (" + sam + ")?"}},
		{"vote", map[string]any{"msgId": s.Hello, "options": []string{"Sunday"}}, []string{"Send the vote “Sunday” to “Sam” (" + sam + ")?"}},
		{"send_file", map[string]any{"type": "document", "data": "aGk=", "fileName": "invoice.pdf", "caption": "see"}, []string{"the document “invoice.pdf” of 2 bytes to “Sam”", "\n\nsee"}},
		{"send_file", map[string]any{"type": "image", "url": "https://example.org/a/route.jpg"}, []string{"the image “route.jpg” from https://example.org/a/route.jpg to “Sam”"}},
		{"send_file", map[string]any{"type": "image", "data": "aGk=", "fileName": "me.jpg", "viewOnce": true}, []string{"the image “me.jpg” of 2 bytes (to be seen once) to “Sam”"}},
		{"send_file", map[string]any{"type": "image", "urls": []string{"https://example.org/a.jpg", "https://example.org/b.mp4"}, "caption": "see"}, []string{"the album of 2 pictures and videos to “Sam”", "\n\nsee\n", "\nhttps://example.org/a.jpg\nhttps://example.org/b.mp4"}},
	} {
		c.arguments["jid"], asked = sam, ""
		if text, isError := a.Call(c.tool, c.arguments); !isError || !strings.Contains(text, "did not confirm") {
			t.Errorf("%s, declined: %s", c.tool, text)
		}
		for _, want := range c.want {
			if !strings.Contains(asked, want) {
				t.Errorf("%s asks %q, want %q in it", c.tool, asked, want)
			}
		}
	}
	asked = ""
	if text, isError := a.Call("reply", map[string]any{"jid": sam, "msgId": "3EB0AAAA", "text": "x"}); !isError || !strings.Contains(text, "3EB0AAAA") || asked != "" {
		t.Errorf("a reply to nothing: %s, asked %q", text, asked)
	}
}

// A client that says that it can ask, and fails, gets a sentence of ours.
func TestAgents_AQuestionThatCannotBeShown(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t, "MCP_CONFIRM=true")
	options := &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return nil, errors.New("there is no window to show it in")
	}}
	transport := &sdk.StreamableClientTransport{Endpoint: "http://" + s.Address + "/mcp", HTTPClient: BearerClient(s.Token)}
	session := Must(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options).Connect(Within(t), transport, &sdk.ClientSessionOptions{ProtocolVersion: WithSessions}))(t)
	defer session.Close()
	text, isError := Agent{ClientSession: session, T: t}.Call("send_text", map[string]any{"jid": s.Sam.PN().String(), "text": "x"})
	if !isError || !strings.Contains(text, "a person must confirm each send, and this client cannot ask one") {
		t.Errorf("answered %q", text)
	}
}

// Waiting ends with other people's messages of the chats that are named alone.
func TestAgents_WaitForOthersInSomeChats(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t)
	made := Must(s.API.CreateToken(Within(t), client.NewToken{Name: "both", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeSend}, Chats: []bridge.JID{
		bridge.JID(s.Sam.PN().String()), bridge.JID(s.Kim.PN().String()),
	}}))(t)
	s.Secrets = append(s.Secrets, made.Secret)
	a := Must(Connect(s.Process, t, made.Secret, nil))(t)
	sam := s.Sam.PN()
	began := time.Now()
	text := a.Want("wait_for_messages", map[string]any{"timeout": 1})
	if strings.Contains(text, "words of Kim") || time.Since(began) < 900*time.Millisecond {
		t.Errorf("nothing came, but after %v: %s", time.Since(began), text)
	}
	cursor := Must(s.API.LastEvent(Within(t)))(t)
	answered := make(chan string)
	go func() {
		text, _ := a.Call("wait_for_messages", map[string]any{"timeout": 30, "after": cursor, "chats": []string{sam.String()}})
		answered <- text
	}()
	a.Want("send_text", map[string]any{"jid": sam.String(), "text": "of my own"})
	s.WantSentBy(t, s.Sam, "of my own", "by an agent with the token "+made.Name)
	Must(s.Kim.SendText(Within(t), s.Owner.PN(), "from elsewhere"))(t)
	Must(s.Sam.SendText(Within(t), s.Owner.PN(), "at last", simnet.At(time.Now())))(t)
	if text := <-answered; !strings.Contains(text, "at last") || strings.Contains(text, "of my own") || strings.Contains(text, "from elsewhere") {
		t.Errorf("woken by %s", text)
	}
	for _, arguments := range []map[string]any{{"timeout": 60}, {"timeout": 0}, {"chats": []string{"Kim"}}} {
		if text, isError := a.Call("wait_for_messages", arguments); !isError {
			t.Errorf("%v: %s", arguments, text)
		}
	}
	if text, isError := a.Call("wait_for_messages", map[string]any{"chats": []string{"15550100399@s.whatsapp.net"}, "timeout": 1}); !isError || !strings.Contains(text, "there is no chat") {
		t.Errorf("a chat outside of the token: %s", text)
	}
}
