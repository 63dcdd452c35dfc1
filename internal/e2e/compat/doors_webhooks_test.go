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

// doorPost is what came to a receiver of a door's webhook.
type doorPost struct {
	path   string
	header http.Header
	body   []byte
	json   any
}

// doorReceiver keeps what is posted to it. verify checks a signature over the raw bytes.
type doorReceiver struct {
	*httptest.Server
	t      *testing.T
	verify func(doorPost) error

	mu    sync.Mutex
	posts []doorPost
}

func newDoorReceiver(t *testing.T, verify func(doorPost) error) *doorReceiver {
	t.Helper()
	r := &doorReceiver{t: t, verify: verify}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *doorReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	p := doorPost{path: req.URL.Path, header: req.Header}
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

// wait returns the first post that has all values, by path as in [doorCase].
func (r *doorReceiver) wait(reads map[string]any) (found doorPost) {
	r.t.Helper()
	Eventually(r.t, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		i := slices.IndexFunc(r.posts, func(p doorPost) bool {
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
func (r *doorReceiver) bodies() (all string) {
	for _, p := range r.posts {
		all += "\n" + p.path + " " + string(p.body)
	}
	return all
}

// count returns how many posts have a value.
func (r *doorReceiver) count(path string, want any) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.posts {
		if isValue(At(p.json, path), want) {
			n++
		}
	}
	return n
}
