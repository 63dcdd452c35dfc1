package traffic

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
)

// soakClient calls a program that is killed or loses its connection to the network now and then. It counts answers, and
// fails the test on errors that this does not explain.
type soakClient struct {
	t    testing.TB
	http *http.Client

	mu     sync.Mutex
	base   string      // guarded by mu
	counts map[int]int // by status, 0 if none; guarded by mu
}

func NewSoakClient(t testing.TB, address string) *soakClient {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &soakClient{t: t, http: &http.Client{Transport: transport}, base: "http://" + address, counts: map[int]int{}}
}

// MoveTo sets the program's address, which changes at each start.
func (c *soakClient) MoveTo(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = "http://" + address
}

func (c *soakClient) url(path string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base + path
}

// request returns a request with the token. headers are names, each followed by its value.
func (c *soakClient) request(ctx context.Context, method, path, body string, headers ...string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, method, c.url(path), strings.NewReader(body))
	if err != nil {
		panic(err) // the path is a constant of this file
	}
	req.Header.Set("Authorization", "Bearer "+TestToken)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

// call sends a request and reads the whole answer. The status is 0 if the connection broke.
func (c *soakClient) call(req *http.Request) (status int, body []byte) {
	resp, err := c.http.Do(req)
	if err == nil {
		status = resp.StatusCode
		if body, err = io.ReadAll(resp.Body); err != nil {
			status = 0
		}
		_ = resp.Body.Close() // it was read, or is broken
	}
	if req.Context().Err() != nil {
		return 0, nil
	}
	c.count(req, status, body)
	return status, body
}

// count records an answer. It fails the test unless the call succeeded, or the program was down, not connected or busy
// with an earlier attempt.
func (c *soakClient) count(req *http.Request, status int, body []byte) {
	switch status {
	case 0, http.StatusOK, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusConflict:
	default:
		c.t.Errorf("%s %s: %d: %.300s", req.Method, req.URL.Path, status, body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[status]++
}

// Answers returns the number of answers by status.
func (c *soakClient) Answers() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, status := range slices.Sorted(maps.Keys(c.counts)) {
		name := fmt.Sprint(status)
		if status == 0 {
			name = "none"
		}
		list = append(list, fmt.Sprintf("%d of %s", c.counts[status], name))
	}
	return strings.Join(list, ", ")
}

// Browse reads what people and programs read: lists, pages, searches and the log of events.
func (s *Soak) Browse(ctx context.Context) {
	group, person := s.Load.Chats[2].JID.Escaped(), s.Load.Chats[0].JID.Escaped()
	words := []string{"message", "edited", "ess", "1", "file", "no such words"}
	for Pause(ctx, time.Duration(rand.IntN(200))*time.Millisecond) == nil {
		path := []string{
			"/api/chats?limit=50", "/api/chats?q=Sam", "/api/groups/" + group, "/api/auth/status", "/readyz",
			fmt.Sprintf("/api/groups/%s/messages?limit=%d&offset=%d", group, 1+rand.IntN(200), rand.IntN(500)),
			"/api/messages/individual/" + person + "?order=asc&q=" + url.QueryEscape(words[rand.IntN(len(words))]),
			"/api/messages/search?limit=50&q=" + url.QueryEscape(words[rand.IntN(len(words))]),
			fmt.Sprintf("/api/events?limit=100&after=%d", rand.IntN(1000)),
		}[rand.IntN(9)]
		s.Calls.call(s.Calls.request(ctx, http.MethodGet, path, ""))
	}
}

// HangUp begins requests and closes their connections before the bodies are complete.
func (s *Soak) HangUp(ctx context.Context) {
	for Pause(ctx, time.Duration(rand.IntN(2000))*time.Millisecond) == nil {
		address, _ := strings.CutPrefix(s.Calls.url(""), "http://")
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			continue
		}
		_, _ = fmt.Fprintf(conn, "POST /api/messages/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{", TestToken)
		_ = conn.Close()
	}
}

// soakSends records the texts that the API was asked to send to Lee.
type soakSends struct {
	mu   sync.Mutex
	Sent map[string]bool // whether a send was answered with 200, by text; guarded by mu
}

func (k *soakSends) Note(text string, status int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.Sent == nil {
		k.Sent = map[string]bool{}
	}
	k.Sent[text] = k.Sent[text] || status == http.StatusOK
}

// SendTexts sends texts. Two of three have a key and are repeated until they succeed; the others are tried once.
func (s *Soak) SendTexts(ctx context.Context) {
	to := bridge.PhoneJID(s.Lee.Number())
	for n := 0; Pause(ctx, time.Duration(200+rand.IntN(600))*time.Millisecond) == nil; n++ {
		text := fmt.Sprintf("sent-%d", n)
		body := fmt.Sprintf(`{"jid":%q,"text":%q}`, to, text)
		if n%3 == 0 {
			s.Sends.Note(text, 0)
			status, _ := s.Calls.call(s.Calls.request(ctx, http.MethodPost, "/api/messages/send", body))
			s.Sends.Note(text, status)
			continue
		}
		s.Sends.Note(text, s.UntilDone(ctx, http.MethodPost, "/api/messages/send", body, "key-"+text))
	}
}

// UntilDone repeats a call with a key until it succeeds, or the run ends.
func (s *Soak) UntilDone(ctx context.Context, method, path, body, key string) (status int) {
	for status != http.StatusOK && ctx.Err() == nil {
		if status, _ = s.Calls.call(s.Calls.request(ctx, method, path, body, "Idempotency-Key", key)); status != http.StatusOK {
			_ = Pause(ctx, 200*time.Millisecond) // the loop checks ctx itself
		}
	}
	return status
}

// SendKinds sends a document, a location, a poll and a contact in turn.
func (s *Soak) SendKinds(ctx context.Context) {
	jid := fmt.Sprintf(`"jid":%q`, bridge.PhoneJID(s.Lee.Number()))
	kinds := []struct{ path, body string }{
		{"send-media", `{` + jid + `,"type":"document","url":"` + s.Files.URL + `"}`},
		{"send-location", `{` + jid + `,"latitude":52.5,"longitude":13.4}`},
		{"send-poll", `{` + jid + `,"name":"which?","values":["a","b"]}`},
		{"send-contact", `{` + jid + `,"contacts":[{"displayName":"Dora","phone":"491510000077"}]}`},
	}
	for n := 0; Pause(ctx, time.Duration(500+rand.IntN(1500))*time.Millisecond) == nil; n++ {
		kind := kinds[n%len(kinds)]
		s.UntilDone(ctx, http.MethodPost, "/api/messages/"+kind.path, kind.body, fmt.Sprint("kind-", n))
	}
}
