package harness

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
)

// FewConnections leaves 16 connections to unauthenticated clients and 48 to callers with a token.
const FewConnections = "MAX_CONNECTIONS=64"

// NewToken creates a token and returns its id and its secret.
func (p *Process) NewToken(t *testing.T, name string, scopes ...string) (id int64, secret string) {
	t.Helper()
	var made struct {
		ID     int64
		Secret string
	}
	p.Post("/api/tokens", Object{"name": name, "scopes": scopes, "chats": []string{"15550100999@s.whatsapp.net"}}).Want(http.StatusCreated).Decode(&made)
	p.Secrets = append(p.Secrets, made.Secret)
	return made.ID, made.Secret
}

// SendAnew sends a raw request on a new connection and returns the status; 0 for no
// answer.
func (p *Process) SendAnew(t *testing.T, request string) int {
	t.Helper()
	conn := Must(net.Dial("tcp", p.Address))(t)
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(TestTimeout / 4)); err != nil {
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

// WaitForKnown waits until that many connections of known callers are open.
func (p *Process) WaitForKnown(t *testing.T, count int) {
	t.Helper()
	Eventually(t, func() error {
		_, rest, _ := strings.Cut(string(p.Get("/metrics").Body), `bridged_http_connections{caller="known"} `)
		if line, _, _ := strings.Cut(rest, "\n"); Must(strconv.Atoi(line))(t) < count {
			return fmt.Errorf("%s are open, want %d", line, count)
		}
		return nil
	})
}
