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
	// maxSessions and maxLinks bound the memory; the session that ends first makes room.
	maxSessions = 64
	maxOfFamily = 16 // of one token with those that it made, so that it cannot end the sessions of others
	maxLinks    = 16
)

// session is one browser that has logged in.
type session struct {
	ctx  context.Context // ends with the session
	end  context.CancelFunc
	csrf string // the token in its forms
	ends time.Time

	api    *client.Client
	token  bridge.Token // of api
	family int64        // whose share the token takes

	zone   atomic.Pointer[time.Location] // of the visitor
	notice atomic.Pointer[Notice]        // for the next page that is shown
}

// visitor returns a name for those who come with one token, which stays the same over
// sessions: a browser keeps unsent texts by it.
func (s *session) visitor() string {
	hash := hashOf("visitor " + s.api.Token())
	return base64.RawURLEncoding.EncodeToString(hash[:12])
}

// Notice is a sentence for the next page that is shown.
type Notice struct {
	Text   string
	Failed bool
}

// setZone notes the visitor's time zone by its name, if there is such a zone.
func (s *session) setZone(name string) {
	if name == "" || len(name) > 64 || name == "Local" {
		return
	}
	if zone, err := time.LoadLocation(name); err == nil {
		s.zone.Store(zone)
	}
}

// hash is the key of a session or a link: their names are not kept.
type hash [sha256.Size]byte

func hashOf(name string) hash { return sha256.Sum256([]byte(name)) }

// sessions holds the browsers that have logged in, and the links that do so once.
type sessions struct {
	now func() time.Time

	mu    sync.Mutex // guards all below
	byID  map[hash]*session
	links map[hash]time.Time // when they end
}

// open begins a session for the holder of a token. Its id is the value of its cookie.
func (s *sessions) open(api *client.Client, token bridge.Token, family int64) (id string, opened *session) {
	id = rand.Text()
	ctx, end := context.WithCancel(context.Background())
	opened = &session{ctx: ctx, end: end, csrf: rand.Text(), ends: s.now().Add(sessionTime), api: api, token: token, family: family}
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
	s.makeRoom(maxOfFamily, func(one *session) bool { return one.family == family })
	if len(s.byID) >= maxSessions {
		s.makeRoom(1, func(one *session) bool { return one.family != intake.Operator })
	}
	s.byID[hashOf(id)] = opened
	return id, opened
}

// makeRoom ends the first to end among some, if there are most of them. The caller holds mu.
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

// get returns the session of a cookie's value; nil for none.
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

// newLink returns a value that [sessions.useLink] takes once.
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

// useLink reports whether a link is good, and makes it useless.
func (s *sessions) useLink(link string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ends, known := s.links[hashOf(link)]
	delete(s.links, hashOf(link))
	return known && s.now().Before(ends)
}
