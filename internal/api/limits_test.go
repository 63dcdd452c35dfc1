package api_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/api/download"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/media/files"
)

// pipes is a network of its own, on which time is the test's.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// onPipes serves acc on a network of pipes for the length of test, which dials
// with the function that it is given.
func onPipes(t *testing.T, test func(t *testing.T, acc *account, dial func() net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		acc := newAccount(nil)
		handler := api.New(api.Options{Account: acc, Token: token, EnableSend: true, PhoneNumber: me.User(), Log: zerolog.Nop()})
		serveOnPipes(t, handler, func(dial func() net.Conn) { test(t, acc, dial) })
	})
}

func serveOnPipes(t *testing.T, handler http.Handler, test func(dial func() net.Conn)) {
	lifetime, end := context.WithCancel(t.Context())
	defer end()
	serveConnectionsOnPipes(t, lifetime, handler, front.NewConnections(64), test)
}

func serveConnectionsOnPipes(t *testing.T, lifetime context.Context, handler http.Handler, connections *front.Connections, test func(dial func() net.Conn)) {
	server := front.NewServer(lifetime, handler, connections, zerolog.Nop())
	network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	served := make(chan error)
	go func() { served <- server.Serve(connections.Listen(network)) }()
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	test(func() net.Conn {
		here, there := net.Pipe()
		network.conns <- there
		t.Cleanup(func() { here.Close() })
		return here
	})
}

func write(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

const posting = " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n"

// waitForEnd reads until the server closes the connection, and says when.
func waitForEnd(conn net.Conn) (read string, after time.Duration) {
	start := time.Now()
	data, _ := io.ReadAll(conn) // however it ends
	return string(data), time.Since(start)
}

func TestLimits_SlowHead(t *testing.T) {
	t.Parallel()
	onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
		conn := dial()
		write(t, conn, "GET /healthz HTTP/1.1\r\nHost:")
		if _, after := waitForEnd(conn); after != 10*time.Second {
			t.Errorf("closed after %s", after)
		}
	})
}

func TestLimits_SlowBody(t *testing.T) {
	t.Parallel()
	onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
		for _, request := range []string{"POST /api/auth/pair", "POST /api/messages/send", "GET /healthz"} {
			conn := dial()
			write(t, conn, request+posting+"Content-Length: 100\r\n\r\n{")
			got, after := waitForEnd(conn)
			if after < 30*time.Second || after > 32*time.Second {
				t.Errorf("%s: closed after %s", request, after)
			}
			if strings.HasPrefix(request, "POST") && (!strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "did not arrive in time")) {
				t.Errorf("%s: answered %s", request, got)
			}
		}
	})
}

func TestLimits_SlowReader(t *testing.T) {
	t.Parallel()
	onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
		conn := dial()
		write(t, conn, "GET /openapi.yaml"+posting+"\r\n")
		time.Sleep(31 * time.Second)
		if got, _ := waitForEnd(conn); got != "" {
			t.Errorf("still sending: %d bytes", len(got))
		}
	})
}

func TestLimits_IdleConnection(t *testing.T) {
	t.Parallel()
	onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
		conn := dial()
		write(t, conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		got, after := waitForEnd(conn)
		if !strings.HasPrefix(got, "HTTP/1.1 200 ") || after != 2*time.Minute {
			t.Errorf("closed after %s: %s", after, got)
		}
	})
}

func TestLimits_HugeHead(t *testing.T) {
	t.Parallel()
	onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
		conn := dial()
		go func() {
			// The server stops reading half-way; that is the point.
			_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: "+strings.Repeat("x", 64<<10)+"\r\n\r\n")
		}()
		if got, _ := waitForEnd(conn); !strings.HasPrefix(got, "HTTP/1.1 431 ") {
			t.Errorf("answered %s", got)
		}
	})
}

// A body that is too large is refused before it is asked for.
func TestLimits_ExpectBeyondTheLimit(t *testing.T) {
	t.Parallel()
	onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
		for _, expect := range []string{"Expect: 100-continue\r\n", ""} {
			conn := dial()
			write(t, conn, "POST /api/messages/send"+posting+expect+"Content-Length: 1048577\r\n\r\n")
			got, after := waitForEnd(conn)
			if !strings.HasPrefix(got, "HTTP/1.1 413 ") || !strings.Contains(got, "\r\nConnection: close\r\n") || !strings.Contains(got, "payload_too_large") {
				t.Errorf("%s: answered %s", expect, got)
			}
			if after > time.Second {
				t.Errorf("%s: closed after %s", expect, after)
			}
		}
	})
}

// A body that will do is asked for once, and the connection goes on.
func TestLimits_ExpectWithinTheLimit(t *testing.T) {
	t.Parallel()
	onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
		conn := dial()
		answers := bufio.NewReader(conn)
		for range 2 {
			write(t, conn, "POST /api/auth/pair"+posting+"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
			resp, err := http.ReadResponse(answers, nil)
			if err != nil || resp.StatusCode != http.StatusContinue {
				t.Fatalf("%v, %v", resp, err)
			}
			write(t, conn, "{}")
			resp, err = http.ReadResponse(answers, nil)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%v, %v", resp, err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The caller's limits are not the service's: what takes long inside is waited
// for, and the body's time does not end it.
func TestLimits_LeaveLongWorkAlone(t *testing.T) {
	t.Parallel()
	onPipes(t, func(t *testing.T, acc *account, dial func() net.Conn) {
		accept := acc.pair
		acc.pair = func(ctx context.Context, phone string) (bridge.PairingCode, error) {
			select {
			case <-time.After(2 * time.Minute):
				return accept(ctx, phone)
			case <-ctx.Done():
				return bridge.PairingCode{}, ctx.Err()
			}
		}
		conn := dial()
		write(t, conn, "POST /api/auth/pair"+posting+"Content-Length: 2\r\n\r\n{}")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK {
			t.Errorf("status %d", resp.StatusCode)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A file is sent for as long as its reader keeps reading, and no longer.
func TestLimits_ReadersOfFiles(t *testing.T) {
	t.Parallel()
	const size, piece = 3 << 20, 256 << 10
	path := filepath.Join(t.TempDir(), "film")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		rests int // after so many pieces
		whole bool
	}{"slow": {size / piece, true}, "stalled": {2, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				m := bridge.Message{ID: "F", Timestamp: bridge.At(noon), Media: &bridge.Media{Type: bridge.MediaVideo, MimeType: "video/mp4"}}
				serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if err := download.Serve(w, r, &files.File{File: file, Size: size, ModTime: noon}, m, download.Inline); err != nil {
						t.Error(err)
					}
				})
				serveOnPipes(t, serve, func(dial func() net.Conn) {
					conn := dial()
					write(t, conn, "GET /"+posting+"\r\n")
					resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
					if err != nil {
						t.Fatal(err)
					}
					read := int64(0)
					for range c.rests {
						n, err := io.CopyN(io.Discard, resp.Body, piece)
						if read += n; err != nil {
							t.Fatalf("after %d bytes: %v", read, err)
						}
						time.Sleep(20 * time.Second)
					}
					if !c.whole {
						time.Sleep(30 * time.Second)
					}
					n, err := io.Copy(io.Discard, resp.Body)
					if read += n; c.whole != (read == size && err == nil) {
						t.Errorf("%d bytes of %d: %v", read, size, err)
					}
				})
			})
		})
	}
}
