package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
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
	// maxSessions and maxLinks bound what is remembered; the one that would end
	// first makes room.
	maxSessions = 64
	maxOfFamily = 16 // of one token with those that it made, so that it cannot end the sessions of others
	maxLinks    = 16
)

// session is one browser that has logged in.
type session struct {
	ctx  context.Context // ends with the session
	end  context.CancelFunc
	csrf string // what its forms carry
	ends time.Time

	api    *client.Client // with the token that was logged in with
	token  bridge.Token   // what that may do
	family int64          // whose share that takes

	zone   atomic.Pointer[time.Location] // of the visitor
	notice atomic.Pointer[notice]        // for the next page that is shown
}

// notice is a sentence for the next page that is shown.
type notice struct {
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

// sessions are the browsers that have logged in, and the links that do so once.
// They are kept in memory under the hashes of their names.
type sessions struct {
	now func() time.Time

	mu    sync.Mutex // guards all below
	byID  map[[sha256.Size]byte]*session
	links map[[sha256.Size]byte]time.Time
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, byID: make(map[[sha256.Size]byte]*session), links: make(map[[sha256.Size]byte]time.Time)}
}

// open begins a session for the holder of a token and returns the value of its
// cookie.
func (s *sessions) open(api *client.Client, token bridge.Token, family int64) (id string, opened *session) {
	id = rand.Text()
	ctx, end := context.WithCancel(context.Background())
	opened = &session{ctx: ctx, end: end, csrf: rand.Text(), ends: s.now().Add(sessionTime), api: api, token: token, family: family}
	opened.zone.Store(time.UTC)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	for s.countOf(family) >= maxOfFamily {
		s.endFirst(func(one *session) bool { return one.family == family })
	}
	for len(s.byID) >= maxSessions {
		s.endFirst(func(one *session) bool { return one.family != intake.Operator })
	}
	s.byID[sha256.Sum256([]byte(id))] = opened
	return id, opened
}

// prune ends the sessions whose time is over. The caller holds mu.
func (s *sessions) prune() {
	now := s.now()
	for id, one := range s.byID {
		if !now.Before(one.ends) {
			one.end()
			delete(s.byID, id)
		}
	}
}

// countOf returns how many sessions a family has. The caller holds mu.
func (s *sessions) countOf(family int64) (count int) {
	for _, one := range s.byID {
		if one.family == family {
			count++
		}
	}
	return count
}

// endFirst ends the session among some that would end first. The caller holds
// mu.
func (s *sessions) endFirst(among func(*session) bool) {
	var first [sha256.Size]byte
	var found *session
	for id, one := range s.byID {
		if among(one) && (found == nil || one.ends.Before(found.ends)) {
			first, found = id, one
		}
	}
	found.end()
	delete(s.byID, first)
}

// get returns the session of a cookie's value; nil for none.
func (s *sessions) get(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byID[sha256.Sum256([]byte(id))]
	if one == nil || !s.now().Before(one.ends) {
		return nil
	}
	return one
}

// close ends the session of a cookie's value.
func (s *sessions) close(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(id))
	if one := s.byID[key]; one != nil {
		one.end()
		delete(s.byID, key)
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
	s.links[sha256.Sum256([]byte(link))] = now.Add(linkTime)
	return link
}

// useLink reports whether a link is good, and makes it useless.
func (s *sessions) useLink(link string) bool {
	key := sha256.Sum256([]byte(link))
	s.mu.Lock()
	defer s.mu.Unlock()
	ends, known := s.links[key]
	delete(s.links, key)
	return known && s.now().Before(ends)
}
