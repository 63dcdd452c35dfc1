package agents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/agent"
)

// maxCalls is how many calls of tools one task takes at most.
const maxCalls = 4

// clerk solves tasks with an agent's tools, without a model.
type clerk struct {
	*testing.T
	Agent
	calls int
}

// found is what the tasks read of the answers.
type found struct {
	ChatJID, MsgID, NextCursor string
	Untrusted                  struct {
		Text     string
		Name     string
		Chats    []foundChat
		People   []struct{ JID, Name string }
		Matches  []foundMessage
		Messages []foundMessage
		Members  []struct{ Name string }
	}
}

type foundChat struct {
	JID, Name   string
	UnreadCount int
	LastMessage struct{ MsgID, Text string }
	Messages    []foundMessage
}

type foundMessage struct {
	ChatJID, MsgID, SenderJID, SenderName, MessageType, Text, Excerpt string
	Location                                                          *struct{ Name, Address string }
	Contacts                                                          []struct {
		Name   string
		Phones []struct{ Number string }
	}
	Poll *struct{ Options []struct{ Name string } }
}

func (c *clerk) use(tool string, arguments map[string]any) (answer found, result *sdk.CallToolResult) {
	c.Helper()
	if c.calls++; c.calls > maxCalls {
		c.Fatalf("call %d of %s", c.calls, tool)
	}
	result, err := c.CallTool(Within(c.T), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || result.IsError {
		c.Fatalf("%s %v: %v, %+v", tool, arguments, err, result)
	}
	encoded := Must(json.Marshal(result.StructuredContent))(c.T)
	if err := json.Unmarshal(encoded, &answer); err != nil {
		c.Fatal(err)
	}
	return answer, result
}

// person returns the JID of somebody by their name.
func (c *clerk) person(name string) string {
	c.Helper()
	people := first(c.use("find_contact", map[string]any{"q": name})).Untrusted.People
	if len(people) != 1 {
		c.Fatalf("%d people are called %s", len(people), name)
	}
	return people[0].JID
}

// hit returns the message with some words, of one person where they are named.
func (c *clerk) hit(words, sender string) foundMessage {
	c.Helper()
	for _, m := range first(c.use("search_messages", map[string]any{"q": words})).Untrusted.Matches {
		if strings.Contains(m.SenderName, sender) {
			return m
		}
	}
	c.Fatalf("nothing with %q of %q", words, sender)
	return foundMessage{}
}

// whole returns a message that was found.
func (c *clerk) whole(hit foundMessage) foundMessage {
	c.Helper()
	around := first(c.use("get_message_context", map[string]any{"jid": hit.ChatJID, "msgId": hit.MsgID, "before": 0, "after": 0}))
	return around.Untrusted.Messages[0]
}

func first[T, U any](one T, _ U) T { return one }

// TestAgents_TenTasks solves what people ask their agents for, with at most four calls
// each, in both versions of the protocol. The third client has no token: it registers itself, is
// granted one by the owner, and loses it.
func TestAgents_TenTasks(t *testing.T) {
	t.Parallel()
	address := "http://127.0.0.1:" + FreePort(t)
	StartDemo(t, "MCP=send", "BRIDGE_TOKEN="+TestToken, "MCP_SENDS_PER_MINUTE=100", "LISTEN_ADDR="+strings.TrimPrefix(address, "http://"), "MCP_OAUTH=true", "PUBLIC_URL="+address)
	api := client.New(address, TestToken)
	defer api.Close()
	var chats []bridge.JID
	consent := url.Values{"decision": {"allow"}, "rights": {"read send"}}
	for chat, err := range api.AllChats(Within(t), bridge.ChatQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		chats = append(chats, chat.JID)
		consent.Add("chats", string(chat.JID))
	}
	token := Must(api.CreateToken(Within(t), client.NewToken{Name: "clerk", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeSend}, Chats: chats}))(t)
	solve := func(t *testing.T, version string, transport *sdk.StreamableClientTransport) {
		a := Must(Begin(t, transport, version, nil))(t)
		for _, task := range tasks {
			t.Run(task.asked, func(t *testing.T) {
				task.solve(&clerk{T: t, Agent: Agent{ClientSession: a.ClientSession, T: t}})
			})
		}
	}
	for _, version := range []string{WithSessions, WithoutSessions} {
		t.Run(version, func(t *testing.T) {
			solve(t, version, &sdk.StreamableClientTransport{Endpoint: address + "/mcp", HTTPClient: BearerClient(token.Secret)})
		})
	}
	t.Run("OAuth", func(t *testing.T) {
		var back url.URL
		handler := NewOwnerOf(t, TestToken).Handler(consent, &back)
		solve(t, WithSessions, &sdk.StreamableClientTransport{Endpoint: address + "/mcp", OAuthHandler: handler})
		granted := granted(t, api)
		if granted.Name != "Clerk" || *granted.OAuthClient != "localhost" || len(granted.Chats) != len(chats) || !granted.Allows(bridge.ScopeSend) || granted.LastUsedAt == nil {
			t.Errorf("the API lists %+v", granted)
		}
		secret := Must(Must(handler.TokenSource(Within(t)))(t).Token())(t).AccessToken
		if err := api.RevokeToken(Within(t), granted.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := client.New(address, secret).OwnToken(Within(t)); bridge.CodeOf(err) != bridge.CodeUnauthorized {
			t.Errorf("a revoked token: %v", err)
		}
	})
}

// granted returns the only token that an OAuth client has.
func granted(t *testing.T, api *client.Client) (token bridge.Token) {
	t.Helper()
	count := 0
	for _, one := range Must(api.Tokens(Within(t)))(t) {
		if one.OAuthClient != nil {
			token = one
			count++
		}
	}
	if count != 1 {
		t.Fatalf("OAuth clients have %d tokens, want one", count)
	}
	return token
}

var tasks = []struct {
	asked string
	solve func(*clerk)
}{
	{"what is unread?", func(c *clerk) {
		unread := first(c.use("catch_me_up", nil)).Untrusted.Chats
		if len(unread) == 0 || unread[0].UnreadCount == 0 || len(unread[0].Messages) == 0 {
			c.Errorf("unread: %+v", unread)
		}
	}},
	{"send Sofía the address that Jonas sent", func(c *clerk) {
		place := c.whole(c.hit("Hauptstraße 12", "Jonas")).Location
		if place == nil {
			c.Fatal("the place is not shown")
		}
		sent, _ := c.use("send_text", map[string]any{"jid": c.person("Sofía"), "text": strings.TrimSpace(place.Name + " " + place.Address)})
		if sent.MsgID == "" {
			c.Errorf("sent %+v", sent)
		}
	}},
	{"which invoice is due?", func(c *clerk) {
		hit := c.hit("invoice", "")
		text := first(c.use("read_file", map[string]any{"jid": hit.ChatJID, "msgId": hit.MsgID})).Untrusted.Text
		if !strings.Contains(text, "Invoice 4711") || !strings.Contains(text, "due on 30 November") {
			c.Errorf("the file says %q", text)
		}
	}},
	{"what did I miss in the hiking group?", func(c *clerk) {
		groups := first(c.use("list_chats", map[string]any{"q": "Wandern", "type": "group"})).Untrusted.Chats
		messages := first(c.use("get_chat", map[string]any{"jid": groups[0].JID, "limit": 50})).Untrusted.Messages
		if !slices.ContainsFunc(messages, func(m foundMessage) bool { return strings.Contains(m.Text, "See you all on Saturday") }) {
			c.Errorf("messages: %+v", messages)
		}
	}},
	{"what is Ayşe's number?", func(c *clerk) {
		card := c.whole(c.hit("Ayşe", "")).Contacts
		if len(card) != 1 || len(card[0].Phones) != 1 || !strings.Contains(card[0].Phones[0].Number, "905300100199") {
			c.Errorf("the card is %+v", card)
		}
	}},
	{"when do we leave, by the poll?", func(c *clerk) {
		poll := c.whole(c.hit("hora salimos", "")).Poll
		if poll == nil || fmt.Sprint(poll.Options) != "[{8:00} {9:00} {10:00}]" {
			c.Errorf("the poll is %+v", poll)
		}
	}},
	{"whom do I owe an answer?", func(c *clerk) {
		open := first(c.use("list_chats", map[string]any{"unanswered": true})).Untrusted.Chats
		if !slices.ContainsFunc(open, func(chat foundChat) bool { return strings.Contains(chat.Name, "Jonas") }) {
			c.Errorf("open: %+v", open)
		}
	}},
	{"show me the picture of the route", func(c *clerk) {
		hit := c.hit("Die Route", "")
		_, result := c.use("get_media", map[string]any{"jid": hit.ChatJID, "msgId": hit.MsgID})
		if picture, ok := result.Content[0].(*sdk.ImageContent); !ok || picture.MIMEType != "image/jpeg" || len(picture.Data) == 0 {
			c.Errorf("shown: %+v", result.Content)
		}
	}},
	{"who comes along on the hike?", func(c *clerk) {
		groups := first(c.use("list_chats", map[string]any{"q": "Wandern"})).Untrusted.Chats
		members := first(c.use("get_group", map[string]any{"jid": groups[0].JID})).Untrusted.Members
		if len(members) != 5 || !slices.ContainsFunc(members, func(m struct{ Name string }) bool { return m.Name == "Elif Yılmaz" }) {
			c.Errorf("members: %+v", members)
		}
	}},
	{"ask Jonas whether he has the tickets, and tell me what he says", func(c *clerk) {
		before := first(c.use("wait_for_messages", map[string]any{"timeout": 1})).NextCursor
		jonas := c.person("Jonas Weber")
		c.use("send_text", map[string]any{"jid": jonas, "text": "Hast du die Karten?"})
		answers := first(c.use("wait_for_messages", map[string]any{"chats": []string{jonas}, "after": before, "timeout": 30})).Untrusted.Messages
		if len(answers) == 0 || !strings.Contains(cmp.Or(answers[len(answers)-1].Text, "nothing"), "Hast du die Karten?") {
			c.Errorf("he says %+v", answers)
		}
	}},
}
