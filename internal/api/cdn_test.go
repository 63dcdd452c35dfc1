package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	"bridged/internal/media"
	"bridged/internal/media/cdn"
	"bridged/internal/media/files"
	"bridged/internal/urlguard"
)

// web is a server whose files are sent; it counts as public. Its paths name
// what it answers.
var web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	webAsked.note(r.URL.RequestURI())
	switch r.URL.Path {
	case "/paper.txt":
		_, _ = w.Write([]byte("the words of a paper"))
	case "/picture.png":
		_, _ = w.Write(demo.Picture(40, 30))
	case "/empty":
	case "/page":
		_, _ = w.Write([]byte("<!DOCTYPE html><html><body>Sorry!</body></html>"))
	default:
		http.NotFound(w, r)
	}
}))

// webAsked counts what was fetched, by path and query. Tests that look at it use addresses of their own.
var webAsked = new(counts)

type counts struct {
	mu    sync.Mutex
	times map[string]int // guarded by mu
}

func (c *counts) note(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times == nil {
		c.times = map[string]int{}
	}
	c.times[uri]++
}

func (c *counts) of(uri string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.times[uri]
}

func newPreparer(t testing.TB, tmp string) *media.Preparer {
	t.Helper()
	guard := urlguard.New(urlguard.Options{AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	return media.NewPreparer(media.PreparerOptions{Guard: guard, TempDir: tmp, MaxBytes: 1 << 10, Log: zerolog.Nop()})
}

func newFiles(t testing.TB, fake *fakeCDN, keep int64, kept *files.Imported) *files.Cache {
	t.Helper()
	authority := x509.NewCertPool()
	authority.AddCert(fake.server.Certificate())
	servers := cdn.New(cdn.Options{Authority: authority, TempDir: t.TempDir(), Log: zerolog.Nop()})
	c, err := files.NewCache(files.CacheOptions{Dir: t.TempDir(), MaxBytes: keep, MaxFile: 1 << 20, CDN: servers, Account: fake, Imported: kept, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// fakeCDN is the network's media server, and what the account knows of it.
type fakeCDN struct {
	account *account
	server  *httptest.Server

	mu     sync.Mutex
	files  map[string][]byte // encrypted, by path; guarded by mu
	asked  int               // guarded by mu
	answer http.HandlerFunc  // in place of the files, if set; guarded by mu

	pictured int   // how often it was asked where a picture is; guarded by mu
	refused  error // of every such question, if set; guarded by mu
}

func newCDN(t testing.TB, a *account) *fakeCDN {
	c := &fakeCDN{account: a, files: map[string][]byte{}}
	c.server = httptest.NewTLSServer(c)
	t.Cleanup(c.server.Close)
	return c
}

func (c *fakeCDN) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.asked++
	file, found, answer := c.files[r.URL.Path], c.files[r.URL.Path] != nil, c.answer
	c.mu.Unlock()
	switch {
	case answer != nil:
		answer(w, r)
	case found:
		_, _ = w.Write(file)
	default:
		w.WriteHeader(http.StatusGone)
	}
}

func (c *fakeCDN) requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

func (c *fakeCDN) answers(answer http.HandlerFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = answer
}

// MediaConn is part of files.Account.
func (c *fakeCDN) MediaConn(context.Context, bool) (bridge.MediaConn, error) {
	return bridge.MediaConn{Hosts: []string{strings.TrimPrefix(c.server.URL, "https://")}}, c.account.Ready()
}

// Reupload is part of files.Account: the phone has lost everything.
func (c *fakeCDN) Reupload(context.Context, bridge.Message) (string, error) {
	return "", bridge.Fail(bridge.CodeMediaGone, "the network no longer has the file, and the phone could not upload it again")
}

// send puts a file on the CDN that came in from Grace at noon.
func (c *fakeCDN) send(s *server, id string, file bridge.Media, content string) {
	s.t.Helper()
	file.Size = int64(len(content))
	sum := sha256.Sum256([]byte(content))
	c.sendClaiming(s, id, file, content, sum[:])
}

// sendClaiming does so for a message that says of the contents what it will.
func (c *fakeCDN) sendClaiming(s *server, id string, file bridge.Media, content string, sum []byte) {
	s.t.Helper()
	var sealed bytes.Buffer
	sums, err := cdn.Encrypt(&sealed, strings.NewReader(content), file.Type)
	if err != nil {
		s.t.Fatal(err)
	}
	file.Ref = bridge.MediaRef{DirectPath: "/v/" + bridge.PathID(id), MediaKey: sums.MediaKey, FileSHA256: sum, FileEncSHA256: sums.FileEncSHA256}
	c.mu.Lock()
	c.files["/v/"+bridge.PathID(id)] = sealed.Bytes()
	c.mu.Unlock()
	m := say(grace, grace, id, file.Caption, 0)
	m.MessageType, m.Media = string(file.Type)+"Message", &file
	s.know(m)
}
