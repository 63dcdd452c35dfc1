package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"bridged/internal/simnet"
)

// fewConnections leaves 16 places to strangers, 48 to callers with a token.
const fewConnections = "MAX_CONNECTIONS=64"

// newToken creates a token and returns its id and its secret.
func (p *process) newToken(t *testing.T, name string, scopes ...string) (id int64, secret string) {
	t.Helper()
	var made struct {
		ID     int64
		Secret string
	}
	p.Post("/api/tokens", object{"name": name, "scopes": scopes, "chats": []string{"15550100999@s.whatsapp.net"}}).Want(http.StatusCreated).Decode(&made)
	p.secrets = append(p.secrets, made.Secret)
	return made.ID, made.Secret
}

// hold opens connections that send a text and then nothing.
func (p *process) hold(t *testing.T, count int, text string) (conns []net.Conn) {
	t.Helper()
	for range count {
		conn := must(net.Dial("tcp", p.address))(t)
		t.Cleanup(func() { conn.Close() })
		_, _ = io.WriteString(conn, text) // the program may have closed it already
		conns = append(conns, conn)
	}
	return conns
}

// askAnew makes a request on a new connection and returns the status.
func (p *process) askAnew(t *testing.T, token, method, path, body string) int {
	t.Helper()
	return p.sendAnew(t, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: bridged\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", method, path, token, len(body), body))
}

// sendAnew sends a raw request on a new connection and returns the status; 0 for no
// answer.
func (p *process) sendAnew(t *testing.T, request string) int {
	t.Helper()
	conn := must(net.Dial("tcp", p.address))(t)
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(testPatience / 4)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Error(err)
		return 0
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Error(err)
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// waitForKnown waits until that many connections of known callers are open.
func (p *process) waitForKnown(t *testing.T, count int) {
	t.Helper()
	eventually(t, func() error {
		_, rest, _ := strings.Cut(string(p.Get("/metrics").Body), `bridged_http_connections{caller="known"} `)
		if line, _, _ := strings.Cut(rest, "\n"); must(strconv.Atoi(line))(t) < count {
			return fmt.Errorf("%s are open, want %d", line, count)
		}
		return nil
	})
}

const oneByteLogin = "POST /login HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 400\r\n\r\nt"

// Strangers who try to log in endlessly take no places from callers with a session
// or a token, or from people who log in.
func TestStrangers_LoginsTakeNoPlaceOfCallers(t *testing.T) {
	network, _ := newOwner(t, simnet.PhoneOptions{})
	p := startBridge(t, network, fewConnections, "LOG_LEVEL=info")
	v := newVisitor(t, p)
	if status, page := v.logIn(testToken); status != http.StatusOK {
		t.Fatalf("login: %d\n%s", status, page)
	}
	p.hold(t, 64, oneByteLogin)
	pages, calls := 0, 0
	for range 40 {
		p.hold(t, 1, oneByteLogin)
		if status, _ := v.get("/console/settings"); status == http.StatusOK {
			pages++
		}
		p.hold(t, 1, oneByteLogin)
		if p.askAnew(t, testToken, "GET", "/api/chats", "") == http.StatusOK {
			calls++
		}
	}
	t.Logf("while strangers log in: %d of 40 pages, %d of 40 calls", pages, calls)
	if pages != 40 || calls != 40 {
		t.Errorf("%d of 40 pages, %d of 40 calls", pages, calls)
	}
	if status, _ := newVisitor(t, p).logIn(testToken); status != http.StatusOK {
		t.Errorf("another login: %d", status)
	}
}

// Streams of a token for one chat leave places to BRIDGE_TOKEN, which can revoke
// it, and to other tokens.
func TestShares_StreamsOfOneTokenBlockNoOthers(t *testing.T) {
	network, _ := newOwner(t, simnet.PhoneOptions{})
	p := startBridge(t, network, fewConnections, "LOG_LEVEL=info")
	id, small := p.newToken(t, "small", "read")
	_, other := p.newToken(t, "other", "read")
	open, refused := 0, 0
	for range 64 {
		conn := p.hold(t, 1, "GET /api/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer "+small+"\r\n\r\n")[0]
		switch must(http.ReadResponse(bufio.NewReader(conn), nil))(t).StatusCode {
		case http.StatusOK:
			open++
		case http.StatusServiceUnavailable:
			refused++
		}
	}
	if open != 18 || refused != 46 {
		t.Errorf("%d streams are open and %d refused, want 18 and 46", open, refused)
	}
	p.hold(t, 12, "POST /api/contacts/check HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nAuthorization: Bearer "+small+"\r\n\r\n")
	for range 20 {
		if status := p.askAnew(t, testToken, "GET", "/api/chats", ""); status != http.StatusOK {
			t.Errorf("BRIDGE_TOKEN: %d", status)
		}
		if status := p.askAnew(t, other, "GET", "/api/chats", ""); status != http.StatusOK {
			t.Errorf("another token: %d", status)
		}
	}
	if status := p.askAnew(t, testToken, "DELETE", fmt.Sprint("/api/tokens/", id), ""); status != http.StatusOK {
		t.Errorf("revoked: %d", status)
	}
}

// Requests that announce a megabyte to a hook without knowing its secret hold up
// neither larger calls nor larger deliveries to that hook.
func TestBodies_AnnouncedIsNotSent(t *testing.T) {
	network, _ := newOwner(t, simnet.PhoneOptions{})
	p := startBridge(t, network, fewConnections, "LOG_LEVEL=info")
	var hook struct{ Path string }
	p.Post("/api/hooks", object{"name": "alerts", "chatJid": "15550100999@s.whatsapp.net", "template": "json", "secret": "signs-in-the-tests"}).Want(http.StatusCreated).Decode(&hook)
	p.secrets = append(p.secrets, "signs-in-the-tests", hook.Path[strings.Index(hook.Path, ".")+1:])
	large := `{"jid":"15550100999@s.whatsapp.net","text":"` + strings.Repeat("x", 300<<10) + `"}`
	for what, came := range map[string]int{"nothing": 0, "a part": 200 << 10} {
		t.Run(what+" comes", func(t *testing.T) {
			p.hold(t, 8, "POST "+hook.Path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n"+strings.Repeat("x", came))
			p.waitForKnown(t, 8)
			if status := p.askAnew(t, testToken, "POST", "/api/messages/send", large); status != http.StatusBadRequest {
				t.Errorf("a larger call: %d, want 400 for its length", status)
			}
			if status := p.askAnew(t, "", "POST", hook.Path, large); status != http.StatusUnauthorized {
				t.Errorf("a larger delivery: %d, want 401 for its signature", status)
			}
		})
	}
}

// Five wrong tokens from an address do not block a right one from there.
func TestConsole_WrongTokensDoNotBlockARightOne(t *testing.T) {
	network, _ := newOwner(t, simnet.PhoneOptions{})
	p := startBridge(t, network, "LOG_LEVEL=info")
	stranger := newVisitor(t, p)
	statuses := make(map[int]int)
	for range 7 {
		status, _ := stranger.logIn("not-the-token-of-this-bridge")
		statuses[status]++
	}
	if statuses[http.StatusForbidden] != 5 || statuses[http.StatusTooManyRequests] != 2 {
		t.Errorf("wrong tokens are answered %v", statuses)
	}
	if status, _ := newVisitor(t, p).logIn(testToken); status != http.StatusOK {
		t.Errorf("the right token from the same address: %d", status)
	}
}
