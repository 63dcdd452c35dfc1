package bounds

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/agent"
	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

// memoryOfUnreadAnswers is what all callers hold together, and what is collected later.
const memoryOfUnreadAnswers = 250 << 20

// unreadScene is a bridge with long messages, a file and a group, and all ways in.
type unreadScene struct {
	CompatScene
	file, one string // ids of messages
	group     simnet.JID
	idle      int // bytes of memory before the first of many requests
}

// Callers that do not read their answers make the program hold little memory: pages and lists are
// limited in bytes and written while they are encoded, and all answers together have a limit.
func TestUnread_AnswersHoldLittleMemory(t *testing.T) {
	t.Parallel()
	s := newUnreadScene(t)
	t.Run("pages", s.pages)
	t.Run("lists of compatibility APIs", s.lists)
	t.Run("all routes", s.allRoutes)
}

func newUnreadScene(t *testing.T) unreadScene {
	t.Helper()
	s := unreadScene{CompatScene: NewCompatScene(t, "COMPAT=waha,evolution,cloud", "MCP=read", "LOG_LEVEL=info", "HISTORY_IMPORT=recent")}
	text := strings.Repeat("long ", longText/len("long "))
	ids := Must(simnet.Burst(t.Context(), []*simnet.Phone{s.Friend}, s.Owner.PN(), longTexts, func(int) string { return text }))(t)
	paper := []byte(strings.Repeat("a line of a long paper\n", 200_000))
	s.file = Must(s.Friend.SendDocument(Within(t), s.Owner.PN(), simnet.Media{Data: paper, Mimetype: "text/plain", FileName: "paper.txt"}))(t)
	if err := s.Device.WaitAcknowledged(t.Context(), append(ids, s.file)...); err != nil {
		t.Fatal(err)
	}
	s.one, s.idle = ids[0], s.Memory(t)
	s.group = Must(s.Friend.CreateGroup(Within(t), simnet.GroupOptions{Subject: "Readers", Members: []*simnet.Phone{s.Owner}}))(t).JID()
	return s
}

// readings returns a request for each route that answers what is stored, by the name of the route.
func (s unreadScene) readings(t *testing.T, token string) map[string]string {
	t.Helper()
	requests := make(map[string]string)
	head := "Host: bridged\r\n" + foreignHeader(token)
	number, chat := s.Friend.PN().User, s.Friend.PN().String()
	names := strings.NewReplacer("groups/{jid}", "groups/"+s.group.String(), "{jid}", chat, "{chatJid}", chat, "/{chatJid}/{msgId}", "/"+chat+"/"+s.file, "{msgId}", s.one, "{id}", "1")
	for route, item := range Must(apitest.Document())(t).Paths.Map() {
		if item.Get == nil {
			continue
		}
		query := ""
		for _, parameter := range item.Get.Parameters {
			switch p := parameter.Value; {
			case p.Name == "limit":
				query += fmt.Sprintf("&limit=%.0f", *p.Schema.Value.Max)
			case p.Name == "q" && route == "/api/messages/search":
				query += "&q=long"
			case p.Name == "after":
				query += "&after=0"
			}
		}
		requests["GET "+route] = fmt.Sprintf("GET %s?%s HTTP/1.1\r\n%s\r\n\r\n", names.Replace(route), strings.TrimPrefix(query, "&"), head)
	}
	requests["the stream of events"] = "GET /api/events?after=0 HTTP/1.1\r\nAccept: text/event-stream\r\n" + head + "\r\n\r\n"
	for _, path := range []string{
		"chats", "chats/overview", "groups", "chats/" + number + "@c.us/messages?limit=300",
	} {
		requests["WAHA's "+path] = "GET /waha/api/default/" + path + " HTTP/1.1\r\n" + head + "\r\n\r\n"
	}
	requests["WAHA's contacts"] = "GET /waha/api/contacts/all?session=default HTTP/1.1\r\n" + head + "\r\n\r\n"
	for path, body := range map[string]string{
		"chat/findMessages": `{"where":{"key":{"remoteJid":"` + number + `"}},"offset":1000}`, "chat/findChats": `{}`, "chat/findContacts": `{}`,
		"chat/getBase64FromMediaMessage": `{"message":{"key":{"id":"` + s.file + `","remoteJid":"` + number + `@s.whatsapp.net"}}}`,
	} {
		requests["Evolution's "+path] = fmt.Sprintf(asPost("/evolution/"+path+"/bridged", body), head)
	}
	agent := Single{T: t, At: s.Address, Token: token, Capabilities: `{}`}
	arguments := Fields{"jid": chat, "msgId": s.one, "q": "long", "limit": 50, "timeout": 1}
	for _, tool := range agent.Result("tools/list", "", nil)["tools"].([]any) {
		name := tool.(Fields)["name"].(string)
		known := Must(json.Marshal(At(tool, "inputSchema.properties")))(t)
		given := Fields{}
		for argument, value := range arguments {
			if strings.Contains(string(known), `"`+argument+`":`) {
				given[argument] = value
			}
		}
		if name == "read_file" || name == "get_media" {
			given["msgId"] = s.file
		}
		requests["the tool "+name] = request(agent, "tools/call", name, Fields{"name": name, "arguments": given})
	}
	return requests
}

// request returns a request as it goes over the connection.
func request(c Single, method, name string, params Fields) string {
	c.T.Helper()
	params["_meta"] = Fields{"io.modelcontextprotocol/protocolVersion": WithoutSessions, "io.modelcontextprotocol/clientCapabilities": Fields{}, "io.modelcontextprotocol/clientInfo": Fields{"name": "single", "version": "1"}}
	body := Must(json.Marshal(Fields{"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))(c.T)
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: bridged\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: %s\r\nMcp-Method: %s\r\nMcp-Name: %s\r\nContent-Length: %d\r\n\r\n%s", c.Token, WithoutSessions, method, name, len(body), body)
}

// allRoutes has callers of two tokens ask every route that reads. BRIDGE_TOKEN gets each answer meanwhile.
func (s unreadScene) allRoutes(t *testing.T) {
	chats := []bridge.JID{bridge.JID(s.Friend.PN().String())}
	tokens := []string{s.Token(t, "one", chats, bridge.ScopeRead), s.Token(t, "another", chats, bridge.ScopeRead)}
	own := s.readings(t, TestToken)
	delete(own, "the stream of events") // it does not end
	for name, request := range own {
		if s.SendAnew(t, request) >= http.StatusInternalServerError && !strings.Contains(name, "readyz") {
			t.Errorf("%s fails", name)
		}
	}
	s.ResetPeak(t)
	var conns []net.Conn
	for _, token := range tokens {
		for _, request := range s.readings(t, token) {
			for range longtest.Else(2, 6) {
				conns = append(conns, sendWithoutReading(s.CompatScene.Process, t, request))
			}
		}
	}
	waitForBegun(t, conns, len(conns)/2) // most answers are small, and begin at once
	for name, request := range own {
		if status := s.SendAnew(t, request); status == 0 || status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
			t.Errorf("%s by BRIDGE_TOKEN meanwhile: %d", name, status)
		}
	}
	peak := s.Peak(t)
	t.Logf("%d unread answers of %d routes: +%d MB at the most, of %d", len(conns), len(own), (peak-s.idle)>>20, s.idle>>20)
	if !UnderRaceDetector && peak-s.idle > memoryOfUnreadAnswers {
		t.Errorf("%d unread answers take %d MB, want at most %d", len(conns), (peak-s.idle)>>20, memoryOfUnreadAnswers>>20)
	}
}

// waitForBegun waits until so many of some answers have begun.
func waitForBegun(t *testing.T, conns []net.Conn, most int) {
	t.Helper()
	begun := make(map[net.Conn]bool)
	Eventually(t, func() error {
		for _, conn := range conns {
			if err := conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if n, _ := conn.Read(make([]byte, 1)); n == 1 {
				begun[conn] = true
			}
			if len(begun) >= most {
				return nil
			}
		}
		return fmt.Errorf("%d of %d answers have begun", len(begun), most)
	})
}
