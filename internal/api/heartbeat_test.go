package api_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/api/front"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
)

// pipe is a listener whose connections lie in memory, where time is the test's.
type pipe struct{ conns chan net.Conn }

func (p pipe) Accept() (net.Conn, error) {
	conn, open := <-p.conns
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (p pipe) Close() error   { return nil }
func (p pipe) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

// request sends a request over the pipe.
func (p pipe) request(t *testing.T, head string) net.Conn {
	t.Helper()
	near, far := net.Pipe()
	p.conns <- far
	t.Cleanup(func() { near.Close() })
	if _, err := near.Write([]byte(head)); err != nil {
		t.Fatal(err)
	}
	return near
}

// dial opens a stream over the pipe.
func (p pipe) dial(t *testing.T, query string) *stream {
	t.Helper()
	near := p.request(t, "GET /api/events"+query+" HTTP/1.1\r\nHost: bridged\r\nAuthorization: Bearer "+token+"\r\nAccept: text/event-stream\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(near), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &stream{t: t, body: near, lines: bufio.NewReader(resp.Body)}
}

// inBubble serves a store over a pipe, in time that passes when all wait.
func inBubble(t *testing.T) (pipe, *store.Store) {
	t.Helper()
	st, err := store.Open(t.Context(), store.Options{Path: storetest.NewFile(t), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	p := pipe{make(chan net.Conn)}
	lifetime, end := context.WithCancel(context.Background())
	server := front.NewServer(lifetime, api.New(api.Options{Store: st, Account: newAccount(st), Token: token, Streams: lifetime, Log: zerolog.Nop()}), front.NewConnections(64), zerolog.Nop())
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(p); err != net.ErrClosed && err != http.ErrServerClosed {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		end()
		close(p.conns)
		<-served
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, st
}

// A quiet stream says every 15 seconds that it is alive, and passes on how far
// it has looked where it had nothing to tell.
func TestStream_Heartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, st := inBubble(t)
		quiet := p.dial(t, "?types=account.status")
		first, err := quiet.next()
		if err != nil || first.id != "0" {
			t.Fatalf("got %+v, %v", first, err)
		}
		began := time.Now()
		beat, err := quiet.next()
		if err != nil || beat.comment != "heartbeat" || beat.id != "" || time.Since(began) != 15*time.Second {
			t.Errorf("after %v: %+v, %v", time.Since(began), beat, err)
		}
		if err := st.Save(t.Context(), say(grace, grace, "A1", "not asked for", 1)); err != nil {
			t.Fatal(err)
		}
		beat, err = quiet.next()
		if err != nil || beat.comment != "heartbeat" || beat.id != "2" {
			t.Errorf("passing over two events: %+v, %v", beat, err)
		}
		for time.Since(began) < 2*time.Hour { // longer than any other answer may take
			if beat, err = quiet.next(); err != nil {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
		}
	})
}

// A stream that nobody reads is cut off after a minute, and not before.
func TestStream_UnreadIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, st := inBubble(t)
		unread := p.dial(t, "?types=message.created")
		if _, err := unread.next(); err != nil {
			t.Fatal(err)
		}
		say := say(grace, grace, "A1", strings.Repeat("x", 60_000), 1)
		if err := st.Save(t.Context(), say); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if got := unread.event(); got.Message.ID != "A1" {
			t.Errorf("got %s", toldLine(got))
		}
		say.ID = "A2"
		if err := st.Save(t.Context(), say); err != nil {
			t.Fatal(err)
		}
		time.Sleep(61 * time.Second)
		if got, err := unread.next(); err == nil {
			t.Errorf("after a minute: %.100v", got)
		}
	})
}
