package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

const healthz = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

// places serves on pipes with 16 slots, 4 of them for unauthenticated clients. Calls of
// /api/auth/pair wait until they are released.
func places(t *testing.T, test func(t *testing.T, connections *front.Connections, dial func() net.Conn, release chan struct{})) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		acc := newAccount(nil)
		accept := acc.pair
		acc.pair = func(ctx context.Context, phone string) (bridge.PairingCode, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return accept(ctx, phone)
		}
		connections := front.NewConnections(16)
		handler := api.New(api.Options{Account: acc, Token: token, PhoneNumber: me.User(), Connections: connections, Log: zerolog.Nop()})
		serveConnectionsOnPipes(t, t.Context(), handler, connections, func(dial func() net.Conn) {
			test(t, connections, dial, release)
			synctest.Wait()
		})
	})
}

// ask writes a request and returns the answer's status and body.
func ask(t *testing.T, conn net.Conn, request string) (int, string) {
	t.Helper()
	write(t, conn, request)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// isClosed reports whether the server has closed a connection on which it has
// nothing to say.
func isClosed(conn net.Conn) bool {
	_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := conn.Read(make([]byte, 1))
	_ = conn.SetReadDeadline(time.Time{})
	return err == io.EOF
}

// Who has waited longest makes room: heads that do not come to their end, and
// connections between two requests.
func TestConnections_WaitingStrangersMakeRoom(t *testing.T) {
	t.Parallel()
	places(t, func(t *testing.T, _ *front.Connections, dial func() net.Conn, _ chan struct{}) {
		var slow []net.Conn
		for i := range 4 {
			slow = append(slow, dial())
			if i%2 == 0 {
				write(t, slow[i], "GET /healthz HTTP/1.1\r\nA:\r\n")
			} else if status, _ := ask(t, slow[i], healthz); status != http.StatusOK {
				t.Fatalf("status %d", status)
			}
			synctest.Wait()
		}
		for i := range 4 {
			if status, _ := ask(t, dial(), healthz); status != http.StatusOK {
				t.Errorf("status %d", status)
			}
			synctest.Wait()
			for j, conn := range slow {
				if isClosed(conn) != (j <= i) {
					t.Errorf("after %d new ones, %d is closed: %v", i+1, j, isClosed(conn))
				}
			}
		}
	})
}

// However many unauthenticated clients connect, requests with the token stay; and however much
// carries the token, /healthz answers.
func TestConnections_PartsDoNotTakeEachOthersPlaces(t *testing.T) {
	t.Parallel()
	places(t, func(t *testing.T, _ *front.Connections, dial func() net.Conn, release chan struct{}) {
		var known []net.Conn
		for range 12 {
			known = append(known, dial())
			write(t, known[len(known)-1], "POST /api/auth/pair"+posting+"\r\n")
			synctest.Wait()
		}
		for range 40 {
			write(t, dial(), "GET /healthz HTTP/1.1\r\nA:\r\n")
			synctest.Wait()
		}
		if status, _ := ask(t, dial(), healthz); status != http.StatusOK {
			t.Errorf("healthz: %d", status)
		}
		conn := dial()
		status, body := ask(t, conn, "GET /api/auth/status"+posting+"\r\n")
		if status != http.StatusServiceUnavailable || !strings.Contains(body, `"code":"too_many_connections"`) || !isClosed(conn) {
			t.Errorf("one more with the token: %d %s", status, body)
		}
		close(release)
		for i, conn := range known {
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("call %d: %v, %v", i, resp, err)
				continue
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if status, body := ask(t, dial(), "GET /api/auth/status"+posting+"\r\n"); status != http.StatusOK {
			t.Errorf("when others are idle: %d %s", status, body)
		}
		synctest.Wait()
		open := 0
		for _, conn := range known {
			if !isClosed(conn) {
				open++
			}
		}
		if open != 11 {
			t.Errorf("%d idle ones are left, want 11", open)
		}
	})
}

// If as many unauthenticated clients are answered as may be, one more is refused at once;
// those that take long make room then. Callers with a token get through.
func TestConnections_BusyStrangers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		connections := front.NewConnections(16)
		api.New(api.Options{Token: token, Connections: connections})
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				select {
				case <-over:
				case <-r.Context().Done():
				}
			}
		})
		defer close(over)
		serveConnectionsOnPipes(t, t.Context(), handler, connections, func(dial func() net.Conn) {
			for range 2 {
				write(t, dial(), "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
				synctest.Wait()
			}
			start := time.Now()
			conn := dial()
			write(t, conn, "GET /quick HTTP/1.1\r\nHost: x\r\n\r\n")
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "1" || time.Since(start) > time.Second {
				t.Errorf("%v, %v after %s", resp, err, time.Since(start))
			}
			for range 20 {
				write(t, dial(), "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n")
				synctest.Wait()
			}
			if status, _ := ask(t, dial(), "GET /quick"+posting+"\r\n"); status != http.StatusOK {
				t.Errorf("with a token: status %d", status)
			}
			time.Sleep(3 * time.Second)
			if status, _ := ask(t, dial(), "GET /quick HTTP/1.1\r\nHost: x\r\n\r\n"); status != http.StatusOK {
				t.Errorf("status %d", status)
			}
		})
	})
}

// A refusal waits a moment for the body, not as long as a caller may take whose
// body is wanted.
func TestConnections_StrangersBodiesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	places(t, func(t *testing.T, _ *front.Connections, dial func() net.Conn, _ chan struct{}) {
		conn := dial()
		write(t, conn, "POST /api/messages/send HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
		got, after := waitForEnd(conn)
		if !strings.HasPrefix(got, "HTTP/1.1 401 ") || after > 2*time.Second {
			t.Errorf("after %s: %s", after, got)
		}
	})
}

// Bodies that nobody reads hold no place: the answer is made, and the rest may
// come or not.
func TestConnections_UnreadBodiesMakeRoom(t *testing.T) {
	t.Parallel()
	places(t, func(t *testing.T, _ *front.Connections, dial func() net.Conn, _ chan struct{}) {
		for range 8 {
			write(t, dial(), "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{")
			synctest.Wait()
		}
		if status, _ := ask(t, dial(), healthz); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	})
}

func TestConnections_AreShown(t *testing.T) {
	t.Parallel()
	places(t, func(t *testing.T, _ *front.Connections, dial func() net.Conn, _ chan struct{}) {
		for range 6 {
			write(t, dial(), "G")
			synctest.Wait()
		}
		_, body := ask(t, dial(), "GET /metrics"+posting+"\r\n")
		for _, line := range []string{
			`bridged_http_connections{caller="known"} 1`, `bridged_http_connections{caller="stranger"} 3`,
			`bridged_http_connections_limit{caller="known"} 12`, `bridged_http_connections_limit{caller="stranger"} 4`,
			`bridged_http_connections_displaced_total{caller="stranger"} 3`, `bridged_http_connections_refused_total{caller="known"} 0`,
		} {
			if !strings.Contains(body, "\n"+line+"\n") {
				t.Errorf("%s is not there", line)
			}
		}
	})
}

// The head of a request is bounded in bytes and in fields: tiny fields cost
// fifty times what they weigh.
func TestHead_IsBounded(t *testing.T) {
	t.Parallel()
	fields := func(n int) string { return strings.Repeat("A:\r\n", n) }
	head := func(size int) string {
		const begin, end = "GET /healthz HTTP/1.1\r\nHost: x\r\nX: ", "\r\n\r\n"
		return begin + strings.Repeat("x", size-len(begin)-len(end)) + end
	}
	const health = "GET /healthz HTTP/1.1\r\nHost: x\r\n"
	post := func(body string) string {
		return "POST /api/auth/pair" + posting + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	for name, c := range map[string]struct {
		sent     string
		statuses []int
	}{
		"largest":                   {head(8 << 10), []int{200}},
		"too large":                 {head(8<<10 + 1), []int{431}},
		"far too large":             {head(64 << 10), []int{431}},
		"most fields":               {health + fields(99) + "\r\n", []int{200}},
		"too many fields":           {health + fields(100) + "\r\n", []int{431}},
		"folded":                    {health + "A: b\r\n" + strings.Repeat(" c\r\n", 200) + "\r\n", []int{431}},
		"bare line feeds":           {strings.ReplaceAll(health+fields(99)+"\r\n", "\r\n", "\n"), []int{200}},
		"the second, pipelined":     {health + "\r\n" + health + fields(100) + "\r\n", []int{200, 431}},
		"two, pipelined":            {health + fields(99) + "\r\n" + head(8<<10) + health + "\r\n", []int{200, 200, 200}},
		"a body is no head":         {post("{}" + strings.Repeat("\n", 20_000)), []int{200}},
		"behind a body":             {"POST" + strings.TrimPrefix(health, "GET") + "Content-Length: 2\r\n\r\n{}" + health + fields(100) + "\r\n", []int{405}},
		"behind a body that is ok":  {post("{}\n\n") + health + fields(99) + "\r\n", []int{200, 200}},
		"empty lines first":         {"\r\n\r\n" + health + "\r\n", []int{400}},
		"empty lines behind a POST": {post("{}") + "\r\n\r\n" + health + fields(100) + "\r\n", []int{200, 431}},
		"empty line behind a POST":  {post("{}") + "\r\n" + health + fields(99) + "\r\n", []int{200, 200}},
	} {
		for _, pieces := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprint(name, ", in pieces of ", pieces), func(t *testing.T) {
				onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
					conn := dial()
					go func() {
						for rest := c.sent; rest != ""; {
							n := min(pieces, len(rest))
							if _, err := io.WriteString(conn, rest[:n]); err != nil {
								return // what was refused is not read to its end
							}
							rest = rest[n:]
						}
					}()
					answers := bufio.NewReader(conn)
					defer func() {
						if rest, _ := io.ReadAll(answers); strings.Contains(string(rest), " 200 ") {
							t.Errorf("one answer too many: %s", rest)
						}
					}()
					for i, want := range c.statuses {
						resp, err := http.ReadResponse(answers, nil)
						if err != nil {
							t.Fatal(err)
						}
						body, err := io.ReadAll(resp.Body)
						if err != nil || resp.StatusCode != want {
							t.Errorf("answer %d: %d, %v; want %d", i, resp.StatusCode, err, want)
						}
						if want == 431 && !strings.Contains(string(body), "payload_too_large") {
							t.Errorf("body %s", body)
						}
					}
				})
			})
		}
	}
}
