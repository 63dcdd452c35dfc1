package urlguard

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Files are served from one loopback address, which the guards of these tests
// make an exception of; canaries sit on the others.
const (
	allowedIP = "127.0.0.2"
	canaryIP  = "127.0.0.1"
)

func newGuard(o Options) *Guard {
	o.AllowPrefixes = append(o.AllowPrefixes, netip.MustParsePrefix(allowedIP+"/32"))
	return New(o)
}

func listen(t *testing.T, ip string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		t.Skipf("this system has no %s to listen on: %v", ip, err)
	}
	return l
}

// serve starts a web server on the allowed address and returns its base URL.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := unstarted(t, h)
	s.Start()
	return s.URL
}

func unstarted(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = listen(t, allowedIP)
	t.Cleanup(s.Close)
	return s
}

func portOf(t *testing.T, baseURL string) string {
	t.Helper()
	return baseURL[strings.LastIndexByte(baseURL, ':')+1:]
}

func fetch(t *testing.T, g *Guard, url string, maxBytes int64) (Result, []byte, error) {
	t.Helper()
	var w bytes.Buffer
	result, err := g.Fetch(t.Context(), url, maxBytes, &w)
	return result, w.Bytes(), err
}

// wantRefusal checks that an error is one for callers, that it says what is
// expected, and that it gives nothing away.
func wantRefusal(t *testing.T, err error, reason string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v (%T), want an *Error: %s", err, err, reason)
	}
	if !strings.HasPrefix(err.Error(), "fetch failed: ") || !strings.Contains(err.Error(), reason) {
		t.Fatalf("got %q, want fetch failed: … %s …", err, reason)
	}
	for _, secret := range []string{"127.", "::", "10.0.", "hunter2", "dial tcp", "lookup"} {
		if strings.Contains(err.Error(), secret) {
			t.Fatalf("%q gives %q away", err, secret)
		}
	}
}

// canary is a listener that nobody may connect to.
type canary struct {
	t        *testing.T
	listener net.Listener
}

func newCanary(t *testing.T, ip string) *canary {
	t.Helper()
	c := &canary{t, listen(t, ip)}
	t.Cleanup(func() { c.listener.Close() })
	return c
}

func (c *canary) addr() string { return c.listener.Addr().String() }

func (c *canary) port() string {
	_, port, _ := net.SplitHostPort(c.addr())
	return port
}

// untouched reports whether nobody connected. Connections are accepted in the
// order in which they were made, so the canary's own must be the first: that
// makes "nobody came" an observation and not a matter of waiting long enough.
func (c *canary) untouched() bool {
	c.t.Helper()
	own, err := net.Dial("tcp", c.addr())
	if err != nil {
		c.t.Fatal(err)
	}
	defer own.Close()
	first, err := c.listener.Accept()
	if err != nil {
		c.t.Fatal(err)
	}
	defer first.Close()
	return first.RemoteAddr().String() == own.LocalAddr().String()
}

func (c *canary) mustBeUntouched() {
	c.t.Helper()
	if !c.untouched() {
		c.t.Error("a connection was made to an address that is not public")
	}
}

// careless resolves every name to the same addresses, as a hosts file or a
// hostile name server might.
type careless []netip.Addr

func (c careless) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return c, nil
}

func addrs(texts ...string) careless {
	var list careless
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

// nameServer speaks DNS on loopback. A name has a list of answers: each look-up
// gets the next, and the last stays.
type nameServer struct {
	conn net.PacketConn
	done chan struct{}

	mu      sync.Mutex // guards the maps
	answers map[string][]careless
	asked   map[string]int // by name and type
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ns := &nameServer{
		conn: conn, done: make(chan struct{}),
		answers: map[string][]careless{}, asked: map[string]int{},
	}
	go ns.run()
	t.Cleanup(func() { conn.Close(); <-ns.done })
	return ns
}

func (ns *nameServer) set(name string, answers ...careless) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.answers[name+"."] = answers
}

// lookUps returns how often a name's addresses were asked for.
func (ns *nameServer) lookUps(name string) int {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	return ns.asked[name+"."+dnsmessage.TypeA.String()]
}

// resolver returns a real resolver that asks this server instead of the system's.
func (ns *nameServer) resolver() *net.Resolver {
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", ns.conn.LocalAddr().String())
		},
	}
}

func (ns *nameServer) run() {
	defer close(ns.done)
	buf := make([]byte, 1500)
	for {
		n, from, err := ns.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if answer, err := ns.answer(buf[:n]); err == nil {
			ns.conn.WriteTo(answer, from)
		}
	}
}

func (ns *nameServer) answer(packet []byte) ([]byte, error) {
	var query dnsmessage.Message
	if err := query.Unpack(packet); err != nil {
		return nil, err
	}
	question := query.Questions[0]
	list, known := ns.next(question)
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: query.ID, Response: true, Authoritative: true, RecursionAvailable: true},
		Questions: query.Questions,
	}
	if !known {
		reply.RCode = dnsmessage.RCodeNameError
	}
	header := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}
	for _, addr := range list {
		switch {
		case addr.Is4() && question.Type == dnsmessage.TypeA:
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && question.Type == dnsmessage.TypeAAAA:
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	return reply.Pack()
}

func (ns *nameServer) next(q dnsmessage.Question) (list careless, known bool) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	answers, known := ns.answers[q.Name.String()]
	if !known {
		return nil, false
	}
	key := q.Name.String() + q.Type.String()
	i := min(ns.asked[key], len(answers)-1)
	ns.asked[key]++
	return answers[i], true
}

// shortly is a time-out for tests in which it strikes; elsewhere the default of a
// minute stays.
const shortly = 100 * time.Millisecond
