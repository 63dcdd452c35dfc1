package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/document"
)

// content is what people wrote, in an API that has any number of it.
type content struct {
	text, name string
	few        int // reactions, options and the like
}

var (
	ordinary = content{text: "Shall we meet at the station at nine? I have the tickets, and I bring coffee for everybody.", name: "Sofía Ramírez", few: 1}
	hostile  = content{text: strings.Repeat("\u202e", 9000), name: strings.Repeat("\U000e0041", 120), few: 13}
	quotes   = content{text: strings.Repeat(`"<\`, 4000), name: strings.Repeat(`"<`, 60), few: 13}
)

const testChat = bridge.JID("15550100301@s.whatsapp.net")

func (c content) message(i int) bridge.Message {
	m := bridge.Message{
		ID: "3EB0" + strconv.Itoa(10000+i), SenderJID: testChat, PushName: c.name, MessageType: "conversation", Content: c.text,
		Timestamp: bridge.At(time.Unix(1764000000+int64(i), 0)), Reactions: []bridge.MessageReaction{},
	}
	if c.few == 1 {
		return m
	}
	m.ContextInfo = &bridge.ContextInfo{QuotedMsgID: &c.name}
	m.Quoted = &bridge.Quoted{MsgID: m.ID, ChatJID: m.Chat, SenderJID: m.SenderJID, PushName: c.name, MessageType: bridge.TypeText, Content: c.text, Origin: bridge.QuoteEmbedded}
	m.Transcript = &bridge.Transcript{Text: c.text}
	m.Media = &bridge.Media{Type: bridge.MediaDocument, FileName: c.name, MimeType: c.name}
	m.Location, m.Event, m.Referral = &bridge.Place{Name: c.name, Address: c.name}, &bridge.CalendarEvent{Name: c.name, Location: &bridge.Place{Name: c.name}}, &bridge.Referral{Headline: c.name, Body: c.name, SourceURL: c.name}
	m.Poll = &bridge.PollTally{Name: c.name}
	for range c.few {
		m.Reactions = append(m.Reactions, bridge.MessageReaction{SenderJID: testChat, Emoji: c.name})
		m.Poll.Options = append(m.Poll.Options, bridge.PollOption{Name: c.name})
		card := bridge.SharedContact{DisplayName: c.name}
		for range 3 {
			card.Phones = append(card.Phones, bridge.SharedPhone{Number: c.name})
			card.Emails = append(card.Emails, c.name)
		}
		m.Contacts = append(m.Contacts, card)
		m.ContextInfo.Mentions = append(m.ContextInfo.Mentions, bridge.Mention{JID: testChat, Name: c.name})
	}
	return m
}

func (c content) chat(i int) bridge.Chat {
	var labels []string
	for n := range c.few - 1 {
		labels = append(labels, strconv.Itoa(n))
	}
	return bridge.Chat{
		Labels: labels,
		JID:    bridge.JID(fmt.Sprintf("1555010%04d@s.whatsapp.net", i)), Name: c.name, Participants: 2, UnreadCount: 50, LastMessageAt: new(bridge.At(time.Unix(1764000000, 0))),
		LastMessage: &bridge.LastMessage{ID: "3EB01", PushName: c.name, MessageType: "conversation", Content: c.text},
	}
}

// ServeHTTP answers as the API does, with as many elements as are asked for.
func (c content) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	limit := 50
	if n, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil {
		limit = n
	}
	next := new("123")
	var answer any
	switch path := r.URL.Path; {
	case path == "/api/token":
		answer = client.OwnToken{Token: bridge.Token{Name: "agent", Scopes: bridge.Scopes()}}
	case path == "/api/auth/status":
		answer = bridge.Status{Status: bridge.StateOpen}
	case path == "/api/chats":
		answer = map[string]any{"chats": many(limit, c.chat), "nextCursor": next}
	case path == "/api/contacts":
		answer = map[string]any{"contacts": many(limit, func(i int) bridge.KnownContact {
			return bridge.KnownContact{JID: c.chat(i).JID, Name: c.name, PushName: c.name, Username: &c.name}
		}), "nextCursor": next}
	case path == "/api/labels":
		answer = map[string]any{"labels": many(20, func(i int) bridge.StoredLabel {
			return bridge.StoredLabel{Label: bridge.Label{ID: strconv.Itoa(i), Name: c.name + strconv.Itoa(i)}}
		})}
	case strings.HasSuffix(path, "/profile"):
		answer = bridge.Profile{JID: testChat, About: &c.text, Business: &bridge.BusinessProfile{
			Name: c.name, Description: c.text, Address: c.text, Email: c.text, Websites: many(c.few, func(int) string { return c.text }),
			Categories: many(c.few, func(int) string { return c.text }), Hours: &bridge.BusinessHours{Timezone: c.name, Days: many(50, func(int) bridge.BusinessDay { return bridge.BusinessDay{} })},
		}}
	case path == "/api/scheduled":
		answer = map[string]any{"scheduled": many(limit, func(i int) bridge.ScheduledMessage {
			return bridge.ScheduledMessage{ID: c.message(i).ID, Chat: testChat, Status: bridge.ScheduledWaiting, SendAt: c.message(i).Timestamp, Type: bridge.ScheduledTypeText, Content: c.text}
		}), "nextCursor": next}
	case path == "/api/messages/search":
		answer = map[string]any{"matches": many(limit, func(i int) bridge.Match {
			return bridge.Match{ChatJID: testChat, ChatName: c.name, MsgID: "3EB01", SenderJID: testChat, PushName: c.name, Content: c.text, Media: c.message(i).Media, Transcript: c.message(i).Transcript}
		}), "nextCursor": next}
	case path == "/api/events":
		answer = map[string]any{"events": many(limit, func(i int) bridge.Event {
			return bridge.Event{ID: int64(i), ChatJID: testChat, Message: new(c.message(i))}
		}), "nextCursor": "9"}
	case strings.HasPrefix(path, "/api/groups/"):
		group := bridge.StoredGroup{Group: bridge.Group{Name: c.name, Topic: c.text, Participants: many(1000, func(i int) bridge.Participant {
			return bridge.Participant{JID: c.chat(i).JID, DisplayName: c.name, Label: c.name}
		})}}
		answer = map[string]any{"jid": "120363025246125486@g.us", "stored": group, "live": nil}
	case strings.HasPrefix(path, "/api/chats/") && strings.HasSuffix(path, "/messages"):
		list := many(limit, c.message)
		if since := r.URL.Query().Get("since"); since == "" { // as the API, the newest first
			list[0].ID = "3EB0"
		}
		answer = map[string]any{"jid": testChat, "messages": list, "nextCursor": next}
	case strings.Contains(path, "/messages/media-info/"):
		answer = map[string]any{"media": bridge.Media{Type: bridge.MediaDocument, FileName: c.name, MimeType: "text/plain", Caption: c.text, Size: 100}}
	case strings.Contains(path, "/messages/media/"):
		_, _ = w.Write([]byte(strings.Repeat(c.text, 1+200_000/len(c.text))))
		return
	case strings.HasPrefix(path, "/api/chats/") && strings.Contains(path, "/messages/"):
		answer = map[string]any{"chatJid": testChat, "message": c.message(0)}
	case strings.HasPrefix(path, "/api/chats/"):
		answer = c.chat(301)
	default:
		w.WriteHeader(http.StatusNotFound)
		answer = map[string]any{"error": "nothing is at " + path, "code": "not_found"}
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err)
	}
}

func many[T any](n int, make func(int) T) []T {
	list := []T{}
	for i := range n {
		list = append(list, make(i))
	}
	return list
}

// toolsOver returns a way to call the tools over an API, and to list them.
func toolsOver(t *testing.T, api http.Handler) func(method, name string, params map[string]any) map[string]any {
	t.Helper()
	s := New(Options{
		Client: client.InProcess(api, ""), Log: zerolog.Nop(),
		Text: document.NewReader("").Part,
	})
	endpoint := s.Handler(t.Context())
	return func(method, name string, params map[string]any) map[string]any {
		t.Helper()
		params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": sessionless, "io.modelcontextprotocol/clientCapabilities": map[string]any{}}
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, Path, bytes.NewReader(body))
		for header, value := range map[string]string{
			"Authorization": "Bearer x", "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": sessionless, "Mcp-Method": method, "Mcp-Name": name,
		} {
			r.Header.Set(header, value)
		}
		w := httptest.NewRecorder()
		endpoint.ServeHTTP(w, r)
		var answer struct{ Result map[string]any }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Result == nil {
			t.Fatalf("%s %s: %d %.500s", method, name, w.Code, w.Body)
		}
		answer.Result["sent"] = utf8.RuneCount(w.Body.Bytes())
		return answer.Result
	}
}

// toolCall is a call of a tool for some number of entries.
type toolCall struct {
	tool      string
	arguments func(count int) map[string]any
}

func calls() []toolCall {
	in := func(more map[string]any) map[string]any {
		more["jid"] = testChat
		return more
	}
	return []toolCall{
		{"status", func(int) map[string]any { return map[string]any{} }},
		{"list_chats", func(n int) map[string]any { return map[string]any{"limit": n} }},
		{"get_chat", func(n int) map[string]any { return in(map[string]any{"limit": n}) }},
		{"get_group", func(int) map[string]any { return map[string]any{"jid": "120363025246125486@g.us"} }},
		{"find_contact", func(n int) map[string]any { return map[string]any{"q": "x", "limit": n} }},
		{"list_messages", func(n int) map[string]any { return in(map[string]any{"limit": n}) }},
		{"search_messages", func(n int) map[string]any { return map[string]any{"q": "tickets", "limit": n} }},
		{"get_message_context", func(n int) map[string]any {
			return in(map[string]any{"msgId": "3EB010000", "before": n / 2, "after": n / 2})
		}},
		{"list_scheduled", func(n int) map[string]any { return map[string]any{"limit": n} }},
		{"catch_me_up", func(n int) map[string]any { return map[string]any{"limit": n} }},
		{"wait_for_messages", func(int) map[string]any { return map[string]any{"after": "1"} }},
		{"get_media", func(int) map[string]any { return in(map[string]any{"msgId": "3EB010000"}) }},
		{"read_file", func(int) map[string]any { return in(map[string]any{"msgId": "3EB010000"}) }},
	}
}

// TestAnswers_EndBySize measures what each tool sends of ordinary and of hostile content:
// before, 50 messages of U+202E were 811,000 characters. It holds the table in
// docs/agents.md, each answer to its schema, and the text to be shorter than the structure.
func TestAnswers_EndBySize(t *testing.T) {
	table := "| Tool | 20 ordinary | 50 ordinary | 20 hostile | 50 hostile |\n|---|---|---|---|---|\n"
	schemas := schemasOf(t)
	for _, c := range calls() {
		row := "| `" + c.tool + "` |"
		for _, made := range []content{ordinary, hostile, quotes} {
			call := toolsOver(t, made)
			for _, count := range []int{20, 50} {
				if made.text == quotes.text && count == 20 { // the table leaves it out
					continue
				}
				result := call("tools/call", c.tool, map[string]any{"name": c.tool, "arguments": c.arguments(count)})
				sent := result["sent"].(int)
				if result["isError"] == true {
					t.Fatalf("%s: %v", c.tool, result["content"])
				}
				most := maxAnswer
				if c.tool == "read_file" {
					most = maxText
				}
				if sent > most+300 { // the envelope
					t.Errorf("%s sends %d characters of %.20q, at most %d are wanted", c.tool, sent, made.text, most)
				}
				if err := schemas[c.tool].Validate(result["structuredContent"]); err != nil {
					t.Errorf("%s is not as its schema says: %v", c.tool, err)
				}
				text := result["content"].([]any)[0].(map[string]any)["text"].(string)
				structure, err := json.Marshal(result["structuredContent"])
				if err != nil {
					t.Fatal(err)
				}
				if utf8.RuneCountInString(text) >= utf8.RuneCount(structure) {
					t.Errorf("the text of %s is no shorter than the structure: %.300s", c.tool, text)
				}
				if strings.ContainsAny(text+string(structure), "\u202e\U000e0041") {
					t.Errorf("%s shows what acts", c.tool)
				}
				if made.text != quotes.text {
					row += fmt.Sprintf(" %s |", rounded(sent))
				}
			}
		}
		table += row + "\n"
	}
	docs, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(docs), table) {
		t.Errorf("docs/agents.md does not have this table:\n%s", table)
	}
}

func rounded(n int) string {
	n = (n + 50) / 100 * 100
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// schemasOf returns the schema of each tool's answers; there is none without.
func schemasOf(t *testing.T) map[string]*jsonschema.Resolved {
	t.Helper()
	found := make(map[string]*jsonschema.Resolved)
	for _, one := range toolsOver(t, ordinary)("tools/list", "", map[string]any{})["tools"].([]any) {
		tool := one.(map[string]any)
		encoded, err := json.Marshal(tool["outputSchema"])
		var schema *jsonschema.Schema
		if err == nil {
			err = json.Unmarshal(encoded, &schema)
		}
		if err != nil || schema == nil {
			t.Fatalf("%v has no schema of its answers: %v", tool["name"], err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatalf("%v: %v", tool["name"], err)
		}
		found[tool["name"].(string)] = resolved
	}
	return found
}
