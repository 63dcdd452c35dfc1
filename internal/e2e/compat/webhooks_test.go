package compat

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	. "bridged/internal/e2e/harness"
)

// post is a request that a receiver of a webhook got.
type post struct {
	path   string
	header http.Header
	body   []byte
	json   any
}

// receiver keeps what is posted to it. verify checks a signature over the raw bytes.
type receiver struct {
	*httptest.Server
	t      *testing.T
	verify func(post) error

	mu    sync.Mutex
	posts []post
}

func newReceiver(t *testing.T, verify func(post) error) *receiver {
	t.Helper()
	r := &receiver{t: t, verify: verify}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	p := post{path: req.URL.Path, header: req.Header}
	var err error
	if p.body, err = io.ReadAll(req.Body); err == nil {
		err = json.Unmarshal(p.body, &p.json)
	}
	if err == nil && r.verify != nil {
		err = r.verify(p)
	}
	if err != nil {
		r.t.Errorf("posted to %s: %v: %.300s", p.path, err, p.body)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts = append(r.posts, p)
}

// wait returns the first post that has all values, by path as in [compatCase].
func (r *receiver) wait(reads map[string]any) (found post) {
	r.t.Helper()
	Eventually(r.t, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		i := slices.IndexFunc(r.posts, func(p post) bool {
			for path, want := range reads {
				if !isValue(At(p.json, path), want) {
					return false
				}
			}
			return true
		})
		if i < 0 {
			return fmt.Errorf("no post has %v among %d: %s", reads, len(r.posts), r.bodies())
		}
		found = r.posts[i]
		return nil
	})
	return found
}

// bodies returns what came; mu is held.
func (r *receiver) bodies() (all string) {
	for _, p := range r.posts {
		all += "\n" + p.path + " " + string(p.body)
	}
	return all
}

// count returns how many posts have a value.
func (r *receiver) count(path string, want any) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.posts {
		if isValue(At(p.json, path), want) {
			n++
		}
	}
	return n
}
