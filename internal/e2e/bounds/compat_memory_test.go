package bounds

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
)

const (
	memoryOfForeignBodies = 30 << 20
	// memoryOfForeignFiles is what bodies with files in base64 may hold together: two of 44 MiB, and the
	// garbage of earlier ones.
	memoryOfForeignFiles = 180 << 20
	// memoryOfForeignLists is what lists may hold together, and what is collected later.
	memoryOfForeignLists = 160 << 20
)

// foreignHeader has the key of a token as each compatibility API takes it.
func foreignHeader(token string) string {
	return "Authorization: Bearer " + token + "\r\nX-Api-Key: " + token + "\r\napikey: " + token
}

// Bodies that grow when they are decoded hold little memory at the compatibility APIs, too:
// one or four at once, by a token to read one chat and by one to send to it.
func TestCompat_BodiesHoldLittleMemory(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t, "COMPAT=waha,evolution,cloud", "LOG_LEVEL=info")
	chat := []bridge.JID{bridge.JID(s.Friend.PN().String())}
	reader, sender := s.Token(t, "one chat", chat, bridge.ScopeRead), s.Token(t, "sends", chat, bridge.ScopeRead, bridge.ScopeSend)
	manager := s.Token(t, "manages", chat, bridge.ScopeRead, bridge.ScopeManage)
	own := s.Owner.PN().User
	empty := "[{}" + strings.Repeat(",{}", 349_000) + "]"
	for _, c := range []struct{ name, path, body, token string }{
		{"contacts of the Cloud API", "/cloud/v21.0/" + own + "/messages", `{"type":"contacts","contacts":` + empty + `}`, sender},
		{"contacts of the Cloud API in a text", "/cloud/v21.0/" + own + "/messages", `{"type":"contacts","contacts":"` + empty + `"}`, sender},
		{"contacts of Evolution", "/evolution/message/sendContact/bridged", `{"number":"` + chat[0].User() + `","contact":` + empty + `}`, sender},
		{"numbers of Evolution in a text", "/evolution/chat/whatsappNumbers/bridged", `{"numbers":"` + strings.Repeat(",1", 500_000) + `"}`, reader},
		{"webhooks of WAHA", "/waha/api/sessions", `{"name":"default","config":{"webhooks":` + empty + `}}`, manager},
	} {
		for _, token := range []string{reader, c.token} {
			for _, atOnce := range []int{1, 4} {
				before := s.Memory(t)
				s.ResetPeak(t)
				var posting sync.WaitGroup
				for range atOnce {
					posting.Go(func() {
						status := s.SendAnew(t, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: bridged\r\n%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", c.path, foreignHeader(token), len(c.body), c.body))
						if status != http.StatusBadRequest && status != http.StatusForbidden {
							t.Errorf("%s: %d", c.name, status)
						}
					})
				}
				posting.Wait()
				peak := s.Peak(t)
				t.Logf("%d bodies with %s: +%d MB at the most, of %d", atOnce, c.name, (peak-before)>>20, before>>20)
				if !UnderRaceDetector && peak-before > memoryOfForeignBodies {
					t.Errorf("%d bodies with %s take %d MB, want at most %d", atOnce, c.name, (peak-before)>>20, memoryOfForeignBodies>>20)
				}
			}
		}
	}
}

// Bodies with files in base64 are in memory one at a time for a token tree, and two at most together.
// What is in them beside the file has the bounds of any body.
func TestCompat_FilesInBase64HoldLittleMemory(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t, "COMPAT=evolution", "LOG_LEVEL=info")
	chat := []bridge.JID{bridge.JID(s.Friend.PN().String())}
	senders := []string{TestToken, s.Token(t, "sends", chat, bridge.ScopeSend), s.Token(t, "sends too", chat, bridge.ScopeSend)}
	const (
		path = "/evolution/message/sendMedia/bridged"
		most = 43 << 20 // in base64, a little more than 32 MiB
	)
	start := `{"number":"` + chat[0].User() + `","mediatype":"document",`
	for _, c := range []struct {
		name, body string
		want       int
	}{
		{"a file that is broken at its end", start + `"media":"` + strings.Repeat("A", most) + `%"}`, http.StatusBadRequest},
		{"a file of escapes", start + `"media":"` + strings.Repeat(`\u0041`, most/6) + `%"}`, http.StatusBadRequest},
		{"empty objects", start + `"media":"AAAA","x":[{}` + strings.Repeat(",{}", most/3) + `]}`, http.StatusRequestEntityTooLarge},
		{"a long caption", start + `"caption":"` + strings.Repeat("A", most) + `"}`, http.StatusRequestEntityTooLarge},
		{"a long name", start + `"` + strings.Repeat("A", most) + `":"AAAA"}`, http.StatusRequestEntityTooLarge},
	} {
		before := s.Memory(t)
		s.ResetPeak(t)
		var posting sync.WaitGroup
		for range 2 {
			for _, token := range senders {
				posting.Go(func() {
					resp, answer := s.Ask(t, CompatRequest{Method: "POST", Address: s.Address + path, Header: map[string]string{"apikey": token}, Body: c.body})
					if resp.StatusCode != c.want {
						t.Errorf("%s: %d %v, want %d", c.name, resp.StatusCode, answer, c.want)
					}
				})
			}
		}
		posting.Wait()
		peak := s.Peak(t)
		t.Logf("six bodies with %s: +%d MB at the most, of %d", c.name, (peak-before)>>20, before>>20)
		if !UnderRaceDetector && peak-before > memoryOfForeignFiles {
			t.Errorf("six bodies with %s take %d MB, want at most %d", c.name, (peak-before)>>20, memoryOfForeignFiles>>20)
		}
	}
	larger := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: bridged\r\n%s\r\nContent-Length: %d\r\n\r\n", path, foreignHeader(TestToken), most+2<<20)
	if status := s.SendAnew(t, larger); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a larger file: %d", status)
	}
}

// lists asks for lists of the longest messages. A client that follows the pages gets every message once.
func (s unreadScene) lists(t *testing.T) {
	number := s.Friend.PN().User
	for name, request := range map[string]string{
		"Evolution's messages filtered": asPost("/evolution/chat/findMessages/bridged", `{"where":{"key":{"remoteJid":"`+number+`","fromMe":false}},"offset":1000}`),
		"WAHA's messages":               "GET /waha/api/default/chats/" + number + "@c.us/messages?limit=300 HTTP/1.1\r\nContent-Length: 0\r\n%s\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			request := fmt.Sprintf(request, "Host: bridged\r\n"+foreignHeader(s.Reader))
			s.ResetPeak(t)
			var conns []net.Conn
			for range 2 * unreadPages {
				conns = append(conns, sendWithoutReading(s.Process, t, request))
			}
			for begun := 0; begun <= shareOfLists; { // one more gets room once one is cut off
				begun += waitForOne(t, &conns)
			}
			status := s.SendAnew(t, fmt.Sprintf("GET /waha/api/default/chats HTTP/1.1\r\nHost: bridged\r\n%s\r\n\r\n", foreignHeader(TestToken)))
			peak := s.Peak(t)
			t.Logf("%d unread lists: +%d MB at the most, of %d", 2*unreadPages, (peak-s.idle)>>20, s.idle>>20)
			if !UnderRaceDetector && peak-s.idle > memoryOfForeignLists {
				t.Errorf("%d unread lists take %d MB, want at most %d", 2*unreadPages, (peak-s.idle)>>20, memoryOfForeignLists>>20)
			}
			if status != http.StatusOK {
				t.Errorf("a list of BRIDGE_TOKEN meanwhile: %d", status)
			}
		})
	}
	for name, where := range map[string]string{"all": "", "filtered": `,"fromMe":false`} {
		seen := make(map[any]bool)
		for page := 1; page <= 8; page++ {
			_, answer := s.Ask(t, CompatRequest{
				Method: "POST", Address: s.Address + "/evolution/chat/findMessages/bridged",
				Header: map[string]string{"apikey": s.Reader},
				Body:   fmt.Sprintf(`{"where":{"key":{"remoteJid":"%s"%s}},"page":%d,"offset":50}`, number, where, page),
			})
			for _, record := range At(answer, "messages.records").([]any) {
				id := At(record, "key.id")
				if seen[id] {
					t.Errorf("%s: %v comes twice", name, id)
				}
				seen[id] = true
			}
		}
		if len(seen) != longTexts+2 { // with the first one and the file
			t.Errorf("%s: a client that follows the pages found %d of %d messages", name, len(seen), longTexts+2)
		}
	}
}

func asPost(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%%s\r\n\r\n%s", path, len(body), body)
}

// sendWithoutReading sends a request whose answer is never read.
func sendWithoutReading(p *Process, t *testing.T, request string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(smallestReceive); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return conn
}

// shareOfLists is how many lists of messages one token writes at once.
const shareOfLists = 4

// waitForOne waits until one of some answers has begun, takes it out of the list and
// returns 1.
func waitForOne(t *testing.T, conns *[]net.Conn) int {
	t.Helper()
	first := make([]byte, len("HTTP/1.1 200"))
	for end := time.Now().Add(TestTimeout); time.Now().Before(end); {
		for i, conn := range *conns {
			if err := conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if n, _ := io.ReadFull(conn, first); n == len(first) {
				if string(first) != "HTTP/1.1 200" {
					t.Errorf("a list is answered %q", first)
				}
				*conns = slices.Delete(*conns, i, i+1)
				return 1
			}
		}
	}
	t.Fatal("no list begins")
	return 0
}
