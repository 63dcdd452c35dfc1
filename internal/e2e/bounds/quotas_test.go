package bounds

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// hold opens connections that send a text and then nothing.
func hold(p *Process, t *testing.T, count int, text string) (conns []net.Conn) {
	t.Helper()
	for range count {
		conn := Must(net.Dial("tcp", p.Address))(t)
		t.Cleanup(func() { conn.Close() })
		_, _ = io.WriteString(conn, text) // the program may have closed it already
		conns = append(conns, conn)
	}
	return conns
}

// askAnew makes a request on a new connection and returns the status.
func askAnew(p *Process, t *testing.T, token, method, path, body string) int {
	t.Helper()
	return p.SendAnew(t, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: bridged\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", method, path, token, len(body), body))
}

const oneByteLogin = "POST /login HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 400\r\n\r\nt"

// Clients that try to log in endlessly take no connections from callers with a session
// or a token, or from people who log in.
func TestUnauthenticated_LoginsTakeNoSlotOfCallers(t *testing.T) {
	network, _ := NewOwner(t, simnet.PhoneOptions{})
	p := StartBridge(t, network, FewConnections, "LOG_LEVEL=info")
	v := NewVisitor(t, "http://"+p.Address)
	if status, page := v.LogIn(TestToken); status != http.StatusOK {
		t.Fatalf("login: %d\n%s", status, page)
	}
	hold(p, t, 64, oneByteLogin)
	pages, calls := 0, 0
	for range 40 {
		hold(p, t, 1, oneByteLogin)
		if status, _ := v.Get("/console/settings"); status == http.StatusOK {
			pages++
		}
		hold(p, t, 1, oneByteLogin)
		if askAnew(p, t, TestToken, "GET", "/api/chats", "") == http.StatusOK {
			calls++
		}
	}
	t.Logf("while others try to log in: %d of 40 pages, %d of 40 calls", pages, calls)
	if pages != 40 || calls != 40 {
		t.Errorf("%d of 40 pages, %d of 40 calls", pages, calls)
	}
	if status, _ := NewVisitor(t, "http://"+p.Address).LogIn(TestToken); status != http.StatusOK {
		t.Errorf("another login: %d", status)
	}
}

// Streams of a token for one chat leave places to BRIDGE_TOKEN, which can revoke
// it, and to other tokens.
func TestQuotas_StreamsOfOneTokenBlockNoOthers(t *testing.T) {
	network, _ := NewOwner(t, simnet.PhoneOptions{})
	p := StartBridge(t, network, FewConnections, "LOG_LEVEL=info")
	id, small := p.NewToken(t, "small", "read")
	_, other := p.NewToken(t, "other", "read")
	open, refused := 0, 0
	for range 64 {
		conn := hold(p, t, 1, "GET /api/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer "+small+"\r\n\r\n")[0]
		switch Must(http.ReadResponse(bufio.NewReader(conn), nil))(t).StatusCode {
		case http.StatusOK:
			open++
		case http.StatusServiceUnavailable:
			refused++
		}
	}
	if open != 18 || refused != 46 {
		t.Errorf("%d streams are open and %d refused, want 18 and 46", open, refused)
	}
	hold(p, t, 12, "POST /api/contacts/check HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nAuthorization: Bearer "+small+"\r\n\r\n")
	for range 20 {
		if status := askAnew(p, t, TestToken, "GET", "/api/chats", ""); status != http.StatusOK {
			t.Errorf("BRIDGE_TOKEN: %d", status)
		}
		if status := askAnew(p, t, other, "GET", "/api/chats", ""); status != http.StatusOK {
			t.Errorf("another token: %d", status)
		}
	}
	if status := askAnew(p, t, TestToken, "DELETE", fmt.Sprint("/api/tokens/", id), ""); status != http.StatusOK {
		t.Errorf("revoked: %d", status)
	}
}

// Requests that announce a megabyte to a hook without knowing its secret hold up
// neither larger calls nor larger deliveries to that hook.
func TestBodies_AnnouncedIsNotSent(t *testing.T) {
	t.Parallel()
	network, _ := NewOwner(t, simnet.PhoneOptions{})
	p := StartBridge(t, network, FewConnections, "LOG_LEVEL=info")
	var hook struct{ Path string }
	p.Post("/api/hooks", Object{"name": "alerts", "chatJid": "15550100999@s.whatsapp.net", "template": "json", "secret": "signs-in-the-tests"}).Want(http.StatusCreated).Decode(&hook)
	p.Secrets = append(p.Secrets, "signs-in-the-tests", hook.Path[strings.Index(hook.Path, ".")+1:])
	large := `{"jid":"15550100999@s.whatsapp.net","text":"` + strings.Repeat("x", 300<<10) + `"}`
	for what, came := range map[string]int{"nothing": 0, "a part": 200 << 10} {
		t.Run(what+" comes", func(t *testing.T) {
			hold(p, t, 8, "POST "+hook.Path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n"+strings.Repeat("x", came))
			p.WaitForKnown(t, 8)
			if status := askAnew(p, t, TestToken, "POST", "/api/messages/send", large); status != http.StatusBadRequest {
				t.Errorf("a larger call: %d, want 400 for its length", status)
			}
			if status := askAnew(p, t, "", "POST", hook.Path, large); status != http.StatusUnauthorized {
				t.Errorf("a larger delivery: %d, want 401 for its signature", status)
			}
		})
	}
}

// Five wrong tokens from an address do not block a right one from there.
func TestConsole_WrongTokensDoNotBlockARightOne(t *testing.T) {
	t.Parallel()
	network, _ := NewOwner(t, simnet.PhoneOptions{})
	p := StartBridge(t, network, "LOG_LEVEL=info")
	other := NewVisitor(t, "http://"+p.Address)
	statuses := make(map[int]int)
	for range 7 {
		status, _ := other.LogIn("not-the-token-of-this-bridge")
		statuses[status]++
	}
	if statuses[http.StatusForbidden] != 5 || statuses[http.StatusTooManyRequests] != 2 {
		t.Errorf("wrong tokens are answered %v", statuses)
	}
	if status, _ := NewVisitor(t, "http://"+p.Address).LogIn(TestToken); status != http.StatusOK {
		t.Errorf("the right token from the same address: %d", status)
	}
}
