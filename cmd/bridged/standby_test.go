package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/config"
)

// A process whose directory another machine uses says so, opens nothing in it, and
// takes it once it is free: its lock, and then the account's key.
func TestStandby_TakesTheDirectoryOnceItIsFree(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	holder, err := openDataDir(path)
	if err != nil {
		t.Fatal(err)
	}
	keys := make(chan error)
	s := newStandby(config.Config{DataDir: path, Token: testToken}, zerolog.Nop())
	s.pause = time.Millisecond
	s.inUse = func(context.Context, *dataDir) error { return <-keys }
	if _, err := s.try(t.Context()); !isInUse(err) {
		t.Fatalf("a directory that is in use: %v", err)
	}
	taken := make(chan error)
	go func() {
		dir, err := s.wait(t.Context())
		if err == nil {
			err = dir.close()
		}
		taken <- err
	}()
	answers(t, s, "another bridged is using DATA_DIR")
	if err := holder.close(); err != nil {
		t.Fatal(err)
	}
	keys <- bridge.NotConnected("another process runs this account (on node-a)")
	answers(t, s, "(on node-a)")
	keys <- nil
	if err := <-taken; err != nil {
		t.Error(err)
	}

	stopped, stop := context.WithCancel(t.Context())
	stop()
	go func() { keys <- bridge.NotConnected("in use") }()
	if _, err := s.wait(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("a stop while it waits: %v", err)
	}
}

// answers waits until a standby says why, and checks all that it answers.
func answers(t *testing.T, s *standby, why string) {
	t.Helper()
	get := func(path, bearer string) (int, string) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+bearer)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		body, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return w.Code, string(body)
	}
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		status, body := get("/api/auth/status", testToken)
		if status == http.StatusOK && strings.Contains(body, `"status":"closed"`) && strings.Contains(body, why) {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("status: %d %s", status, body)
		}
	}
	if status, body := get("/readyz", testToken); status != http.StatusServiceUnavailable || !strings.Contains(body, why) || !strings.Contains(body, "not_connected") {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if status, body := get("/api/chats", "wrong"); status != http.StatusUnauthorized || strings.Contains(body, why) {
		t.Errorf("a stranger: %d %s", status, body)
	}
	if status, _ := get("/healthz", ""); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
}

// What is checked at the bridge's door is checked at a standby's: heads, bodies,
// and how many connections strangers may have.
func TestStandby_HasTheBridgesDoor(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newStandby(config.Config{Token: testToken}, zerolog.Nop())
	stop := s.serve(t.Context(), listener, front.MinConnections)
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	dial := func(text string) net.Conn {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	const get, post = "GET /healthz HTTP/1.1\r\nHost: x\r\n", "POST /api/chats HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + testToken + "\r\n"
	for name, c := range map[string]struct{ sent, want string }{
		"a large head":       {get + strings.Repeat("A:\r\n", 200) + "\r\n", "431"},
		"an ambiguous one":   {get + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
		"an announced body":  {post + "Content-Length: 1048576\r\n\r\n", "503"},
		"a head behind one":  {post + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + get + "\r\n", "503"},
		"a stranger's chunk": {"POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "200"},
	} {
		// All of it comes to an end, because the connection is closed.
		answers, err := io.ReadAll(dial(c.sent))
		if err != nil || strings.Count(string(answers), "HTTP/1.1 ") != 1 || !strings.HasPrefix(string(answers), "HTTP/1.1 "+c.want) {
			t.Errorf("%s: %v, %s, want one %s", name, err, answers, c.want)
		}
	}
	// A quarter of the places is for strangers, and the one that waits longest
	// makes room.
	known := dial("")
	answers := bufio.NewReader(known)
	ask := func(head string) int {
		t.Helper()
		if _, err := io.WriteString(known, head+"\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	if status := ask(strings.Replace(post, "POST /api/chats", "GET /api/auth/status", 1)); status != http.StatusOK {
		t.Fatalf("the status: %d", status)
	}
	first := dial(get)
	for range front.MinConnections {
		dial(get)
	}
	if rest, err := io.ReadAll(first); len(rest) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the first stranger got %q, %v", rest, err)
	}
	if status := ask(post); status != http.StatusServiceUnavailable {
		t.Errorf("a caller with the token, beside strangers: %d", status)
	}
}
