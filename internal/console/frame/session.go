package frame

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/intake"
)

const (
	sessionTime = 12 * time.Hour
	linkTime    = time.Hour
	// maxSessions and maxLinks limit the memory; the session that ends first is closed.
	maxSessions = 64
	maxOfTree   = 16 // of one token tree, so that it cannot end the sessions of others
	maxLinks    = 16
)

// session is the session of one browser.
type session struct {
	ctx  context.Context // ends with the session
	end  context.CancelFunc
	csrf string // in its forms
	ends time.Time

	api   *client.Client
	token bridge.Token // of api
	tree  int64        // the token tree whose quota it uses

	zone   atomic.Pointer[time.Location] // of the visitor
	notice atomic.Pointer[Notice]        // for the next page
	result atomic.Pointer[result]        // for the next request of its page
	used   usedKeys                      // of forms
}

// visitor identifies the token. The browser stores unsent texts under it, over sessions. Bridges at one
// address share that storage, so the base path tells them apart if they have the same token.
func (s *session) visitor(basePath string) string {
	hash := hashOf("visitor " + basePath + " " + s.api.Token())
	return base64.RawURLEncoding.EncodeToString(hash[:12])
}

// Notice is a sentence for the next page that is shown.
type Notice struct {
	Text    string
	Details string // the API's sentence
	Failed  bool
}

// setZone sets the visitor's time zone, if there is one with this name.
func (s *session) setZone(name string) {
	if name == "" || len(name) > 64 || name == "Local" {
		return
	}
	if zone, err := time.LoadLocation(name); err == nil {
		s.zone.Store(zone)
	}
}

// hash identifies a session or a link. Their secrets are not stored.
type hash [sha256.Size]byte

func hashOf(name string) hash { return sha256.Sum256([]byte(name)) }

// sessions has the open sessions and the unused login links.
type sessions struct {
	now func() time.Time

	mu    sync.Mutex // guards the fields after it
	byID  map[hash]*session
	links map[hash]time.Time // when they end
}

// open opens a session for a token. The cookie has its id.
func (s *sessions) open(api *client.Client, token bridge.Token, tree int64) (id string, opened *session) {
	id = rand.Text()
	ctx, end := context.WithCancel(context.Background())
	opened = &session{ctx: ctx, end: end, csrf: rand.Text(), ends: s.now().Add(sessionTime), api: api, token: token, tree: tree}
	opened.zone.Store(time.UTC)
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.byID, func(_ hash, one *session) bool {
		over := !s.now().Before(one.ends)
		if over {
			one.end()
		}
		return over
	})
	s.makeRoom(maxOfTree, func(one *session) bool { return one.tree == tree })
	if len(s.byID) >= maxSessions {
		s.makeRoom(1, func(one *session) bool { return one.tree != intake.Operator })
	}
	s.byID[hashOf(id)] = opened
	return id, opened
}

// makeRoom closes the session that ends first among some, if there are most of them. The caller
// holds mu.
func (s *sessions) makeRoom(most int, among func(*session) bool) {
	var first hash
	count := 0
	for id, one := range s.byID {
		if among(one) {
			if count++; count == 1 || one.ends.Before(s.byID[first].ends) {
				first = id
			}
		}
	}
	if count >= most {
		s.byID[first].end()
		delete(s.byID, first)
	}
}

// get returns the session with an id; nil for none.
func (s *sessions) get(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byID[hashOf(id)]
	if one == nil || !s.now().Before(one.ends) {
		return nil
	}
	return one
}

func (s *sessions) close(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.byID[hashOf(id)]; one != nil {
		one.end()
		delete(s.byID, hashOf(id))
	}
}

// newLink returns a secret that [sessions.useLink] accepts once.
func (s *sessions) newLink() string {
	link := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for key, ends := range s.links {
		if !now.Before(ends) || len(s.links) >= maxLinks {
			delete(s.links, key)
		}
	}
	s.links[hashOf(link)] = now.Add(linkTime)
	return link
}

// useLink reports whether a link is valid, and removes it.
func (s *sessions) useLink(link string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ends, known := s.links[hashOf(link)]
	delete(s.links, hashOf(link))
	return known && s.now().Before(ends)
}
