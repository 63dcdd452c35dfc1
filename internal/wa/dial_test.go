package wa

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
)

// upgraded returns a dial with a websocket, its wire, and the far end.
func upgraded(t *testing.T, d *dial) (*wire, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	conn, err := d.track(near)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.onUpgrade(); err != nil {
		t.Fatal(err)
	}
	return conn.(*wire), far
}

// whatsmeow sets its handler for the end of a connection in the last step of the
// handshake, while the reader of an ending connection reads it: a data race.
func TestDial_TheEndIsHeldBackUntilTheHandshakeIsOver(t *testing.T) {
	for name, end := range map[string]func(d *dial, far net.Conn){
		"lost":     func(_ *dial, far net.Conn) { _ = far.Close() },
		"given up": func(d *dial, _ net.Conn) { d.giveUp() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDial(t.Context())
				conn, far := upgraded(t, d)
				read := make(chan error, 1)
				go func() {
					_, err := conn.Read(make([]byte, 1))
					read <- err
				}()
				end(d, far)
				synctest.Wait()
				select {
				case err := <-read:
					t.Fatalf("the reader learned of the end within the handshake: %v", err)
				default:
				}
				if d.ctx.Err() != nil {
					t.Error("the reader's context ended within the handshake")
				}
				d.onConnected(nil)
				if err := <-read; err == nil {
					t.Error("the end was lost")
				}
				d.finish()
			})
		})
	}
}

func TestDial_AFailedHandshakeEndsTheReader(t *testing.T) {
	d := newDial(t.Context())
	conn, far := upgraded(t, d)
	_ = far.Close()
	read := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}()
	_ = conn.Close() // as whatsmeow does before ConnectContext returns
	if err := <-read; err == nil {
		t.Error("the end was lost")
	}
}

func TestDial_GivenUpBeforeTheUpgradeEndsAtOnce(t *testing.T) {
	d := newDial(t.Context())
	d.giveUp()
	if d.ctx.Err() == nil {
		t.Error("the context of a dial that was given up goes on")
	}
	near, far := net.Pipe()
	if _, err := d.track(near); !errors.Is(err, errGivenUp) {
		t.Errorf("a connection that came late: %v, want %v", err, errGivenUp)
	}
	if _, err := far.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the connection that came late is open: %v", err)
	}
}

// closeable is a body that records its Close.
type closeable struct {
	io.Reader
	closed bool
}

func (c *closeable) Close() error { c.closed = true; return nil }

type answer struct{ resp *http.Response }

func (a answer) RoundTrip(*http.Request) (*http.Response, error) { return a.resp, nil }

func TestDial_GivenUpAtTheUpgradeIsNoWebsocket(t *testing.T) {
	d := newDial(t.Context())
	d.giveUp()
	body := &closeable{}
	req, err := http.NewRequestWithContext(context.WithoutCancel(d.ctx), http.MethodGet, "https://web.whatsapp.com/ws/chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = upgrades{answer{&http.Response{StatusCode: http.StatusSwitchingProtocols, Body: body}}}.RoundTrip(req)
	if !errors.Is(err, errGivenUp) || !body.closed {
		t.Errorf("error %v, body closed: %v", err, body.closed)
	}
}

func TestDial_EndsWithItsParent(t *testing.T) {
	parent, end := context.WithCancel(t.Context())
	d := newDial(parent)
	end()
	<-d.ctx.Done()
}
